/* SPDX-License-Identifier: MIT */
#include "rota_test_tasks.h"

#include "exec/run.h"
#include "rota_test_internal.h"

/* -- Tasks -------------------------------------------------------------------------------- */

static int keep(void *self, rota_task *task)
{
    rota_task **kept = self;

    *kept = task;
    return ROTA_OK;
}

static rota_executor *keeper_new(rota_task **kept)
{
    const rota_executor_ops ops = {.execute = keep};
    rota_executor *keeper = NULL;

    test_check(rota_executor_new(&ops, kept, &keeper) == ROTA_OK);
    return keeper;
}

rota_task *test_task(rota_call call, rota_future **out)
{
    rota_task *task = NULL;
    rota_executor *keeper = keeper_new(&task);

    test_check(rota_submit_call(keeper, &call, out) == ROTA_OK);
    test_check(rota_close(keeper) == ROTA_OK);
    return task;
}

rota_task *test_plain_task(rota_fn *fn, void *arg)
{
    rota_task *task = NULL;
    rota_executor *keeper = keeper_new(&task);

    test_check(rota_execute(keeper, fn, arg) == ROTA_OK);
    test_check(rota_close(keeper) == ROTA_OK);
    return task;
}

static void run_task(void *arg)
{
    rota_task_run(arg);
}

test_thread *test_run_on_thread(rota_task *task)
{
    return test_thread_start(run_task, task);
}

static bool is_running(void *arg)
{
    const rota_future *const *future = arg;

    return rota_future_state_of(*future) == ROTA_FUTURE_RUNNING;
}

void test_await_running(const rota_future *future)
{
    test_until(is_running, &future);
}

/* -- Runs --------------------------------------------------------------------------------- */

void test_future_run(rota_future *future)
{
    rota__future_pin(future);
    rota_task_run(&future->task);
}

static rota__run_mode run_periodic(rota_executor *ex, rota_future *future)
{
    return ROTA__RUN_PERIODIC;
}

static bool keep_pending(rota_executor *ex, rota_future *future)
{
    return true;
}

static void keep_reference(rota_executor *ex, rota_future *future)
{
    rota__future_pin(future); /* in place of the task's, which the run gives up */
}

static const rota__run_ops periodic_ops = {run_periodic, keep_pending, keep_reference};

bool test_future_run_and_reset(rota_future *future)
{
    rota__run run;

    rota__run_init(&run, NULL, &rota__no_hooks, &periodic_ops, NULL, NULL);
    rota__run_nested(&run, &future->task);
    return rota_future_state_of(future) == ROTA_FUTURE_PENDING;
}

/* -- Probes ------------------------------------------------------------------------------- */

static void *probe_run(void *arg)
{
    test_probe *probe = arg;

    atomic_fetch_add(&probe->runs, 1);
    if (probe->during != NULL)
        probe->during(probe->arg);
    if (probe->error != 0)
        rota_fail(probe->error);
    return probe;
}

static void probe_discard(void *arg)
{
    test_probe *probe = arg;

    atomic_fetch_add(&probe->discards, 1);
}

static void probe_free(void *result)
{
    test_probe *probe = result;

    atomic_fetch_add(&probe->frees, 1);
}

rota_call test_probe_call(test_probe *probe)
{
    return (rota_call){
        .fn = probe_run,
        .arg = probe,
        .discard = probe_discard,
        .free_result = probe_free,
        .name = "probe",
    };
}

/* -- Threads in rota_future_get ----------------------------------------------------------- */

char test_untouched;

static void getter_main(void *arg)
{
    test_getter *getter = arg;

    if (getter->timeout == ROTA_FOREVER)
        getter->status = rota_future_get(getter->future, &getter->result);
    else
        getter->status = rota_future_get_timed(getter->future, getter->timeout, &getter->result);
    getter->interrupted = rota_is_interrupted();
}

void test_getter_start(test_getter *getter, rota_future *future, rota_ns timeout)
{
    *getter = (test_getter){.future = future, .timeout = timeout, .result = TEST_UNTOUCHED};
    getter->thread = test_thread_start(getter_main, getter);
    test_await_parked(test_thread_handle(getter->thread));
}

void test_getter_ends(test_getter *getter, int status, const void *result)
{
    test_thread_join(getter->thread);
    assert_status(getter->status, status);
    assert_ptr_equal(getter->result, result);
    assert_false(getter->interrupted);
}
