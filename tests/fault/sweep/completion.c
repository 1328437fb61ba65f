/* SPDX-License-Identifier: MIT */
#include "sweep.h"

static rota_completion *service;

/* -- Making ------------------------------------------------------------------------------- */

static int make(void)
{
    return rota_completion_new(stage.pool, &given.completion);
}

static void it_works(void)
{
    rota_future *done;

    test_check(rota_completion_submit(
                   given.completion, &(rota_call){.fn = test_count, .arg = &stage.probe.runs}, NULL)
               == ROTA_OK);
    test_check(rota_completion_take(given.completion, &done) == ROTA_OK);
    rota_future_unref(done);
    rota_completion_free(given.completion);
}

/* -- With one, on an executor ------------------------------------------------------------- */

static void set_on(const sweep_scene *executor)
{
    executor->set();
    test_check(rota_completion_new(stage.pool, &service) == ROTA_OK);
}

static void set_idle(void)
{
    set_on(&sweep_idle_pool);
}

static void set_busy(void)
{
    set_on(&sweep_busy_forkjoin);
}

static void nothing_came(void)
{
    rota_future *done;

    test_check(rota_completion_poll(service, &done) == ROTA_EEMPTY); /* ECS-05 */
    test_check(stage.probe.runs + stage.probe.discards == 0);
}

static void strike_idle(void)
{
    rota_completion_free(service);
    sweep_idle_pool.strike();
}

static void strike_busy(void)
{
    rota_completion_free(service);
    sweep_busy_forkjoin.strike();
}

static const sweep_scene idle = {"on idle pool", set_idle, nothing_came, strike_idle};
static const sweep_scene busy = {"on busy f/j", set_busy, nothing_came, strike_busy};
static sweep_scenes services = {&idle, &busy, NULL};

static int submit(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_completion_submit(service, &call, &given.future);
}

static void it_comes_out(void)
{
    rota_future *done;

    sweep_open_gate();
    test_check(rota_completion_take(service, &done) == ROTA_OK);
    test_check(done == given.future);
    rota_future_unref(done);
    rota_future_unref(given.future);
}

/* -- With a task under way ---------------------------------------------------------------- */

/* It waits at the gate. */
static void set_under_way(void)
{
    set_idle();
    stage.is_open = false;
    test_gate_init(&stage.gate);
    test_check(
        rota_completion_submit(service, &(rota_call){.fn = test_wait_at, .arg = &stage.gate}, NULL)
        == ROTA_OK);
    test_await_count(&stage.gate.begun, 1);
}

static void strike_under_way(void)
{
    sweep_open_gate();
    strike_idle();
}

static const sweep_scene under_way = {"task under way", set_under_way, NULL, strike_under_way};
static sweep_scenes with_task = {&under_way, NULL};

static int take(void)
{
    return rota_completion_take(service, &given.future);
}

static int poll_timed(void)
{
    return rota_completion_poll_timed(service, ROTA_MINUTES(30), &given.future);
}

static int poll_in_vain(void)
{
    return rota_completion_poll_timed(service, ROTA_MS(1), &given.future);
}

static int poll(void)
{
    return rota_completion_poll(service, &given.future);
}

static void it_is_done(void)
{
    test_check(rota_future_is_done(given.future));
    rota_future_unref(given.future);
}

static int fd;

static int get_fd(void)
{
    fd = -1;
    return rota_completion_fd(service, &fd);
}

static void fd_is_good(void)
{
    test_check(fd >= 0);
}

static int free_it(void)
{
    rota_completion_free(service);
    service = NULL;
    return ROTA_OK;
}

static const sweep_row rows[] = {
    {"rota_completion_new", sweep_a_pool, make, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_completion_submit", services, submit, it_comes_out,
     .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_THREAD] = {ROTA_EAGAIN}}},
    {"rota_completion_take", with_task, take, it_is_done, sweep_open_gate, SWEEP_NEEDS_TO_WAIT},
    {"rota_completion_poll_timed", with_task, poll_timed, it_is_done, sweep_open_gate, SWEEP_TIMED},
    {"rota_completion_poll_timed", with_task, poll_in_vain, .status = ROTA_ETIMEDOUT,
     .least = ROTA_MS(1), SWEEP_NEEDS_TO_WAIT},
    {"rota_completion_poll", with_task, poll, .status = ROTA_EEMPTY, .is_quiet = true},
    {"rota_completion_fd", with_task, get_fd, fd_is_good, .may = {[SWEEP_EVENT] = {ROTA_EAGAIN}}},
    {"rota_completion_free", with_task, free_it, .is_quiet = true},
};
SWEEP_PART(sweep_completion, rows);
