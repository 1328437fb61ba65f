/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <string.h>

/* -- Time --------------------------------------------------------------------------------- */

static int now(void)
{
    static rota_ns before;
    rota_ns seen = rota_now();
    bool is_later = seen >= before;

    before = seen;
    return sweep_so(is_later);
}

static int sleep_a_little(void)
{
    return rota_sleep(ROTA_MS(1));
}

/* -- Interruption ------------------------------------------------------------------------- */

static struct {
    test_thread *thread;
    int status;
} sleeper;

static void sleep_for_ever(void *arg)
{
    sleeper.status = rota_sleep(ROTA_FOREVER);
}

static void set_sleeper(void)
{
    sleeper.thread = test_thread_start(sleep_for_ever, NULL);
    test_await_parked(test_thread_handle(sleeper.thread));
}

static int interrupt_sleeper(void)
{
    rota_thread_interrupt(test_thread_handle(sleeper.thread));
    return ROTA_OK;
}

static void was_interrupted(void)
{
    test_thread_join(sleeper.thread);
    test_check(sleeper.status == ROTA_EINTERRUPTED);
}

static const sweep_scene asleep = {"sleeping thread", set_sleeper, NULL, NULL};
static sweep_scenes a_sleeper = {&asleep, NULL};

static int self(void)
{
    return rota_thread_self() != NULL ? ROTA_OK : ROTA_ENOMEM;
}

static int interrupted(void)
{
    return sweep_so(!rota_interrupted());
}

static int is_interrupted(void)
{
    return sweep_so(!rota_is_interrupted());
}

/* -- The rest ----------------------------------------------------------------------------- */

static int cpu_count(void)
{
    return sweep_so(rota_cpu_count() > 0);
}

static int strerror_of(void)
{
    return sweep_so(strlen(rota_strerror(ROTA_ENOMEM)) > 0);
}

static int version(void)
{
    return sweep_so(strlen(rota_version()) > 0);
}

static void *no_memory(size_t size, void *ctx)
{
    return NULL;
}

static void no_free(void *block, size_t size, void *ctx)
{
}

static int set_allocator(void)
{
    return rota_set_allocator(&(rota_allocator){no_memory, no_free, NULL});
}

static const sweep_row rows[] = {
    {"rota_now", sweep_nowhere, now},
    {"rota_sleep", sweep_nowhere, sleep_a_little, .least = ROTA_MS(1)},
    {"rota_thread_interrupt", a_sleeper, interrupt_sleeper, was_interrupted},
    {"rota_thread_self", sweep_nowhere, self, SWEEP_NEEDS_TO_WAIT},
    {"rota_interrupted", sweep_nowhere, interrupted, .is_quiet = true},
    {"rota_is_interrupted", sweep_nowhere, is_interrupted, .is_quiet = true},
    {"rota_cpu_count", sweep_nowhere, cpu_count, .is_quiet = true},
    {"rota_strerror", sweep_nowhere, strerror_of, .is_quiet = true},
    {"rota_version", sweep_nowhere, version, .is_quiet = true},
    {"rota_set_allocator", sweep_nowhere, set_allocator, .status = ROTA_EBUSY, .is_quiet = true},
};
SWEEP_PART(sweep_base, rows);
