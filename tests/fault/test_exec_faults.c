/* SPDX-License-Identifier: MIT */
/*
 * Executors when memory runs out: every allocation of every call of executor.h fails, once and from
 * there on. The call then says so, nothing has happened, and the next one works.
 */
#include "executors.h"
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include "os/fault.h"

enum { CALLS = 150 }; /* more than two chunks of futures */

static rota_executor *direct; /* runs a task at once */
static rota_executor *hand;   /* keeps it in `manual` */
static rota_executor *made;
static test_manual *manual;
static test_probe probe; /* of all calls */
static rota_call calls[CALLS];
static rota_future *futures[CALLS];

static void start_again(void)
{
    probe = (test_probe){.error = 0};
    made = NULL;
    for (size_t i = 0; i < CALLS; i++) {
        calls[i] = test_probe_call(&probe);
        futures[i] = TEST_UNTOUCHED;
    }
}

static int prepare(void **state)
{
    start_again();
    manual = test_executor_manual(&hand);
    return test_executor_direct(&direct);
}

static int clean_up(void **state)
{
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    return rota_close(direct) == ROTA_OK && rota_close(hand) == ROTA_OK ? 0 : -1;
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

static void assert_nothing_happened(void)
{
    assert_int_equal(probe.runs + probe.discards + probe.frees, 0);
    assert_null(made);
    for (size_t i = 0; i < CALLS; i++)
        assert_ptr_equal(futures[i], TEST_UNTOUCHED);
    assert_int_equal(test_manual_count(manual), 0);
}

/* -- Memory ------------------------------------------------------------------------------- */

/* A call, and the end of what it made. */
struct attempt {
    int (*make)(void);
    void (*end)(void);
};

static void assert_memory(size_t before)
{
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), before);
}

static void end_what_was_made(const struct attempt *attempt, size_t before)
{
    attempt->end();
    start_again();
    assert_memory(before);
}

/* With its nth allocation failing. False: it does not make so many. */
static bool fails_at(const struct attempt *attempt, unsigned n, bool onwards)
{
    rota__blocks_flush();
    size_t before = test_memory_live();

    test_memory_fail_at(n, onwards);
    int status = attempt->make();
    bool reached = test_memory_asked() >= n;
    test_memory_fail_at(0, false);
    if (reached) {
        assert_status(status, ROTA_ENOMEM);
        assert_nothing_happened();
        assert_memory(before);
        status = attempt->make();
    }
    assert_ok(status);
    end_what_was_made(attempt, before);
    return reached;
}

/* How many allocations it makes, each of which has failed. */
static unsigned fail_every_allocation(int (*make)(void), void (*end)(void))
{
    const struct attempt attempt = {make, end};
    unsigned counts[2] = {0, 0};

    for (int onwards = 0; onwards < 2; onwards++) {
        while (fails_at(&attempt, counts[onwards] + 1, onwards == 1))
            counts[onwards]++;
    }
    assert_int_equal(counts[0], counts[1]);
    return counts[0];
}

static int make_executor(void)
{
    return test_executor_direct(&made);
}

static void close_executor(void)
{
    assert_ok(rota_close(made));
}

/* GEN-10: ROTA_ENOMEM from rota_executor_new. */
TEST(an_executor_is_made_or_not)
{
    assert_int_equal(fail_every_allocation(make_executor, close_executor), 2);
}

static int execute(void)
{
    return rota_execute(direct, calls[0].fn, calls[0].arg);
}

static int execute_by_hand(void)
{
    return rota_execute(hand, calls[0].fn, calls[0].arg);
}

static int submit_unheld(void)
{
    return rota_submit(direct, calls[0].fn, calls[0].arg, NULL);
}

static void expect_a_run(void)
{
    assert_int_equal(probe.runs, 1);
}

static void run_by_hand(void)
{
    test_manual_run(manual, 0);
    expect_a_run();
}

static int submit(void)
{
    return rota_submit(direct, calls[0].fn, calls[0].arg, &futures[0]);
}

static int submit_call(void)
{
    return rota_submit_call(direct, &calls[0], &futures[0]);
}

static void expect_a_result(void)
{
    assert_ok(rota_future_get_timed(futures[0], 0, NULL));
    rota_future_unref(futures[0]);
    expect_a_run();
}

/* GEN-10, OWN-05: ROTA_ENOMEM from rota_execute, rota_submit, rota_submit_call. */
TEST(a_task_is_submitted_or_not)
{
    assert_int_equal(fail_every_allocation(execute, expect_a_run), 1);
    assert_int_equal(fail_every_allocation(execute_by_hand, run_by_hand), 1);
    assert_int_equal(fail_every_allocation(submit_unheld, expect_a_run), 1);
    assert_int_equal(fail_every_allocation(submit, expect_a_result), 1);
    assert_int_equal(fail_every_allocation(submit_call, expect_a_result), 1);
}

static int invoke_all(void)
{
    return rota_invoke_all(direct, calls, CALLS, ROTA_FOREVER, futures);
}

static void expect_all_results(void)
{
    for (size_t i = 0; i < CALLS; i++)
        rota_future_unref(futures[i]);
    assert_int_equal(probe.runs, CALLS);
    assert_int_equal(probe.discards, 0);
}

static int invoke_any(void)
{
    return rota_invoke_any(direct, calls, CALLS, ROTA_FOREVER, futures);
}

static void expect_one_result(void)
{
    rota_future_unref(futures[0]);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, CALLS - 1);
}

/* GEN-10, EXEC-16, FAULT-19: ROTA_ENOMEM from rota_invoke_all, rota_invoke_any: none has begun. */
TEST(all_calls_are_made_or_none)
{
    assert_true(fail_every_allocation(invoke_all, expect_all_results) >= 1 + CALLS / 64);
    assert_true(fail_every_allocation(invoke_any, expect_one_result) >= 1 + CALLS / 64);
}

/* GEN-10: what passes a task on, ends an executor or looks at it needs no memory. */
TEST(the_rest_needs_no_memory)
{
    rota_task *task = test_task(calls[0], &futures[0]);
    rota_executor *executors[4];
    rota_task_list list;
    char line[100];

    for (size_t i = 0; i < 4; i++)
        assert_ok(test_executor_direct(&executors[i]));
    rota__blocks_flush();
    test_memory_fail_at(1, true);
    assert_ok(rota_execute_task(executors[0], task));
    assert_true(rota_executor_describe(executors[0], line, sizeof line) > 0);
    assert_int_equal(rota_executor_state_of(executors[0]), ROTA_RUNNING);
    assert_ok(rota_shutdown(executors[0]));
    assert_status(rota_await_termination(executors[1], 1), ROTA_ETIMEDOUT);
    assert_ok(rota_await_termination(executors[0], ROTA_FOREVER));
    assert_ok(rota_executor_free(executors[0]));
    assert_ok(rota_shutdown_now(executors[1], &list));
    rota_task_list_free(&list);
    assert_ok(rota_shutdown_now(executors[1], NULL));
    assert_ok(rota_close(executors[1]));
    assert_ok(rota_close_within(executors[2], ROTA_FOREVER, NULL));
    assert_status(rota_invoke_all(executors[3], calls, 0, 0, NULL), ROTA_OK);
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_ok(rota_close(executors[3]));
    expect_a_result();
}

/* -- A thread whose end cannot be noticed, which cannot wait ------------------------------- */

static void *run_unnoticed(void *arg)
{
    void (*body)(void) = *(void (**)(void))arg;

    body();
    return NULL;
}

static void unnoticed(void (*body)(void))
{
    pthread_t thread;

    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_check(pthread_create(&thread, NULL, run_unnoticed, &body) == 0);
    test_check(pthread_join(thread, NULL) == 0);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
}

static void invoke_all_unnoticed(void)
{
    test_check(rota_invoke_all(hand, calls, CALLS, ROTA_FOREVER, futures) == ROTA_EAGAIN);
}

static void invoke_any_unnoticed(void)
{
    test_check(rota_invoke_any(hand, calls, CALLS, ROTA_FOREVER, futures) == ROTA_ENOMEM);
}

/* EXEC-16: it is too late for ENOMEM once calls are submitted; all of them are discarded then. */
TEST(who_cannot_wait_invokes_nothing)
{
    unnoticed(invoke_any_unnoticed);
    assert_nothing_happened();
    unnoticed(invoke_all_unnoticed);
    assert_int_equal(probe.discards, CALLS);
    assert_int_equal(probe.runs, 0);
    assert_ptr_equal(futures[0], TEST_UNTOUCHED);
}

static void submit_unnoticed(void)
{
    test_check(invoke_all() == ROTA_OK); /* all are done: no wait */
    test_check(rota_execute(direct, calls[0].fn, calls[0].arg) == ROTA_OK);
    test_check(rota_await_termination(direct, 0) == ROTA_ETIMEDOUT);
    test_check(rota_await_termination(direct, ROTA_FOREVER) == ROTA_ENOMEM);
    test_check(rota_close(direct) == ROTA_OK); /* nobody is inside: no wait */
}

/* GEN-10: all that need not wait works. */
TEST(who_cannot_wait_may_do_all_else)
{
    unnoticed(submit_unnoticed);
    assert_int_equal(probe.runs, CALLS + 1);
    for (size_t i = 0; i < CALLS; i++)
        rota_future_unref(futures[i]);
    assert_int_equal(probe.frees, CALLS);
    assert_ok(test_executor_direct(&direct));
}
