/* SPDX-License-Identifier: MIT */
#include "sweep.h"

static int value; /* what the source is completed with */

/* -- Making and waiting ------------------------------------------------------------------- */

static int make_promise(void)
{
    return rota_promise_new(&given.future);
}

static void promise_works(void)
{
    test_check(rota_promise_complete(given.future, &value));
    test_check(rota_future_get_now(given.future, NULL) == &value);
    rota_future_unref(given.future);
}

static void complete(void)
{
    rota_promise_complete(stage.source, &value);
}

static int get(void)
{
    return rota_future_get(stage.source, &given.any);
}

static int get_timed(void)
{
    return rota_future_get_timed(stage.source, ROTA_MINUTES(30), &given.any);
}

static void got_value(void)
{
    test_check(given.any == &value);
}

static int get_in_vain(void)
{
    return rota_future_get_timed(stage.source, ROTA_MS(1), &given.any);
}

/* -- Ending it ---------------------------------------------------------------------------- */

static int complete_here(void)
{
    return sweep_so(rota_promise_complete(stage.source, &value));
}

static int fail_here(void)
{
    return sweep_so(rota_promise_fail(stage.source, 7));
}

static int cancel(void)
{
    return sweep_so(rota_future_cancel(stage.source));
}

static int cancel_now(void)
{
    return sweep_so(rota_future_cancel_now(stage.source));
}

static void getter_has_value(void)
{
    sweep_getter_gets(ROTA_OK);
    test_check(stage.getter.result == &value);
}

static void getter_has_failed(void)
{
    sweep_getter_gets(ROTA_EFAILED);
}

static void getter_was_cancelled(void)
{
    sweep_getter_gets(ROTA_ECANCELED);
}

/* -- Its descriptor ----------------------------------------------------------------------- */

static int fd;

static int get_fd(void)
{
    fd = -1;
    return rota_future_fd(stage.source, &fd);
}

static void fd_is_good(void)
{
    test_check(fd >= 0);
    complete();
}

/* -- Looking ------------------------------------------------------------------------------ */

static int is_done(void)
{
    return sweep_so(!rota_future_is_done(stage.source));
}

static int state_of(void)
{
    return sweep_so(rota_future_state_of(stage.source) == ROTA_FUTURE_PENDING);
}

static int error_of(void)
{
    return sweep_so(rota_future_error(stage.source) == 0);
}

static int ref(void)
{
    return sweep_so(rota_future_ref(stage.source) == stage.source);
}

static void let_go(void)
{
    rota_future_unref(stage.source);
}

static int unref(void)
{
    rota_future_ref(stage.source);
    rota_future_unref(stage.source);
    return ROTA_OK;
}

static void keep(void *result)
{
}

static int own_result(void)
{
    return rota_future_own_result(stage.source, keep);
}

static const sweep_row rows[] = {
    {"rota_promise_new", sweep_nowhere, make_promise, promise_works, SWEEP_NEEDS_MEMORY},
    {"rota_future_get", sweep_promise, get, got_value, complete, SWEEP_NEEDS_TO_WAIT},
    {"rota_future_get_timed", sweep_promise, get_timed, got_value, complete, SWEEP_TIMED},
    {"rota_future_get_timed", sweep_promise, get_in_vain, .status = ROTA_ETIMEDOUT,
     .least = ROTA_MS(1), SWEEP_NEEDS_TO_WAIT},
    {"rota_promise_complete", sweep_awaited, complete_here, getter_has_value},
    {"rota_promise_fail", sweep_awaited, fail_here, getter_has_failed},
    {"rota_future_cancel", sweep_awaited, cancel, getter_was_cancelled},
    {"rota_future_cancel_now", sweep_awaited, cancel_now, getter_was_cancelled},
    {"rota_future_fd", sweep_promise, get_fd, fd_is_good,
     .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_EVENT] = {ROTA_EAGAIN}}},
    {"rota_future_is_done", sweep_promise, is_done, .is_quiet = true},
    {"rota_future_state_of", sweep_promise, state_of, .is_quiet = true},
    {"rota_future_error", sweep_promise, error_of, .is_quiet = true},
    {"rota_future_ref", sweep_promise, ref, let_go, .is_quiet = true},
    {"rota_future_unref", sweep_promise, unref, .is_quiet = true},
    {"rota_future_own_result", sweep_promise, own_result, .is_quiet = true},
};
SWEEP_PART(sweep_future, rows);
