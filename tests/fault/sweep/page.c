/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <rota/observe.h>

static unsigned port;

static int start(void)
{
    int status = rota_page_start(NULL, &port);

    test_check((status == ROTA_OK) == (port != 0));
    return status;
}

static void it_is_there(void)
{
    test_check(rota_page_start(NULL, NULL) == ROTA_EBUSY);
    test_check(rota_page_stop() == ROTA_OK);
    port = 0;
}

static void set_page(void)
{
    test_check(rota_page_start(NULL, NULL) == ROTA_OK);
}

static void is_gone(void)
{
    test_check(rota_page_start(NULL, NULL) == ROTA_OK);
    test_check(rota_page_stop() == ROTA_OK);
}

static const sweep_scene page = {"page", set_page, NULL, NULL};
static sweep_scenes a_page = {&page, NULL};

static const sweep_row rows[] = {
    {"rota_page_start", sweep_nowhere, start, it_is_there,
     .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM},
             [SWEEP_THREAD] = {ROTA_EAGAIN},
             [SWEEP_EVENT] = {ROTA_EAGAIN}}},
    {"rota_page_stop", a_page, rota_page_stop, is_gone},
};
SWEEP_PART(sweep_page, rows);
