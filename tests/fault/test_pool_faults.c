/* SPDX-License-Identifier: MIT */
/*
 * Pools when memory or threads run out: a call says so and nothing has happened, or goes on with
 * what there is; no task is lost, and every pool can be ended.
 */
#include "pools.h"
#include "rota_test_internal.h"

#include "os/fault.h"

#include <errno.h>
#include <sched.h>

static void refuse_threads(unsigned from, bool onwards)
{
    rota__fault_arm(ROTA__FAULT_THREAD_START, from, onwards);
}

static int clean_up(void **state)
{
    refuse_threads(0, false);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    test_memory_fail_at(0, false);
    return 0;
}

TEST_FIXTURE(.teardown = clean_up);

/* -- Memory: what is made ----------------------------------------------------------------- */

static int make_pool(void *out)
{
    return rota_pool_new(&(rota_pool_options){.core_threads = 2}, out);
}

static int make_fixed(void *out)
{
    return rota_fixed_pool(2, out);
}

static int make_single(void *out)
{
    return rota_single_thread(out);
}

static int make_cached(void *out)
{
    return rota_cached_pool(out);
}

static int make_thread_per_task(void *out)
{
    return rota_thread_per_task(&(rota_threads){.name = "x"}, out);
}

static void close_made(void *made)
{
    assert_ok(rota_close(*(rota_executor **)made));
}

/*
 * GEN-10: ROTA_ENOMEM from rota_pool_new, rota_fixed_pool, rota_single_thread, rota_cached_pool,
 * rota_thread_per_task.
 */
TEST(a_pool_is_made_or_not)
{
    rota_executor *made = NULL;

    test_every_allocation_fails(make_pool, close_made, &made, ROTA_ENOMEM);
    test_every_allocation_fails(make_fixed, close_made, &made, ROTA_ENOMEM);
    test_every_allocation_fails(make_single, close_made, &made, ROTA_ENOMEM);
    test_every_allocation_fails(make_cached, close_made, &made, ROTA_ENOMEM);
    test_every_allocation_fails(make_thread_per_task, close_made, &made, ROTA_ENOMEM);
}

/* OWN-12 */
TEST(a_queue_stays_the_callers_when_there_is_no_memory_for_a_pool)
{
    rota_pool_options options = {.core_threads = 1, .queue = test_array(1)};
    rota_executor *pool = NULL;

    for (unsigned n = 1; n <= 2; n++) {
        test_memory_fail_at(n, false);
        assert_status(rota_pool_new(&options, &pool), ROTA_ENOMEM);
        test_memory_fail_at(0, false);
    }
    assert_null(pool);
    assert_ok(rota_queue_free(options.queue));
}

static int set_threads(void *pool)
{
    return rota_pool_set_threads(pool, &(rota_threads){.name = "changed"});
}

/* GEN-10: "leaves every object as before the call". ROTA_ENOMEM from rota_pool_set_threads. */
TEST(thread_settings_change_or_do_not)
{
    rota_executor *pool =
        test_pool((rota_pool_options){.core_threads = 1, .threads = {.name = "first"}});

    test_memory_fail_at(1, false);
    assert_status(set_threads(pool), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_string_equal(test_options(pool).threads.name, "first");
    assert_ok(set_threads(pool));
    assert_string_equal(test_options(pool).threads.name, "changed");
    assert_ok(rota_close(pool));
}

/* -- Memory: what is submitted ------------------------------------------------------------ */

struct attempt {
    rota_executor *pool;
    test_gate gate;
    test_probe probe;
    rota_future *future;
    int status;
    bool reached;
};

static void submit_with(struct attempt *attempt, unsigned n, bool onwards)
{
    rota_call call = test_probe_call(&attempt->probe);

    attempt->future = TEST_UNTOUCHED;
    rota__blocks_flush();
    test_memory_fail_at(n, onwards);
    attempt->status = rota_submit_call(attempt->pool, &call, &attempt->future);
    attempt->reached = test_memory_asked() >= n;
    test_memory_fail_at(0, false);
}

/* OWN-05, or it runs. */
static void is_taken_or_not(struct attempt *attempt)
{
    if (attempt->status == ROTA_OK)
        return;
    assert_status(attempt->status, ROTA_ENOMEM);
    assert_ptr_equal(attempt->future, TEST_UNTOUCHED);
    assert_int_equal(attempt->probe.runs + attempt->probe.discards, 0);
    assert_int_equal(test_stats(attempt->pool).queued, 0);
    submit_with(attempt, 0, false); /* now it works */
    assert_ok(attempt->status);
}

/* `busy` threads are there already. False: there is no n-th allocation. */
static bool submit_fails_at(rota_pool_options options, unsigned busy, unsigned n, bool onwards)
{
    struct attempt attempt = {.pool = test_pool(options)};

    test_gate_init(&attempt.gate);
    test_occupy(attempt.pool, &attempt.gate, busy);
    submit_with(&attempt, n, onwards);
    bool reached = attempt.reached;
    is_taken_or_not(&attempt);
    test_gate_open(&attempt.gate);
    assert_ok(rota_future_get(attempt.future, NULL));
    rota_future_unref(attempt.future);
    assert_ok(rota_close(attempt.pool));
    assert_int_equal(attempt.probe.runs, 1);
    return reached;
}

static void submit_with_every_failure(unsigned core, unsigned busy)
{
    for (int onwards = 0; onwards < 2; onwards++) {
        unsigned n = 1;
        while (submit_fails_at((rota_pool_options){.core_threads = core}, busy, n, onwards == 1))
            n++;
        assert_true(n >= 2);
    }
}

/* GEN-10, POOL-27 */
TEST(a_task_is_taken_by_a_pool_without_threads_or_not)
{
    submit_with_every_failure(2, 0);
}

/* POOL-28, FAULT-19 */
TEST(a_task_is_taken_by_a_pool_with_threads_or_not)
{
    submit_with_every_failure(2, 1); /* a thread is wanted */
    submit_with_every_failure(1, 1); /* is queued */
}

struct completion {
    rota_executor *pool;
    rota_completion *service;
};

static int make_completion(void *arg)
{
    struct completion *made = arg;

    return rota_completion_new(made->pool, &made->service);
}

static void free_completion(void *arg)
{
    rota_completion_free(((struct completion *)arg)->service);
}

/* ECS-05: a rejected submit puts nothing into it. ROTA_ENOMEM from rota_completion_new. */
TEST(a_completion_takes_a_task_or_not)
{
    struct completion made = {.pool = test_pool((rota_pool_options){.core_threads = 1})};
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    test_every_allocation_fails(make_completion, free_completion, &made, ROTA_ENOMEM);
    assert_ok(make_completion(&made));
    rota__blocks_flush();
    test_memory_fail_at(1, true);
    assert_status(rota_completion_submit(made.service, &call, &future), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_status(rota_completion_poll(made.service, &future), ROTA_EEMPTY);
    assert_int_equal(probe.runs + probe.discards, 0);
    refuse_threads(1, true);
    assert_status(rota_completion_submit(made.service, &call, &future), ROTA_EAGAIN);
    refuse_threads(0, false);
    assert_status(rota_completion_poll(made.service, &future), ROTA_EEMPTY);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_ok(rota_completion_submit(made.service, &call, NULL));
    assert_ok(rota_completion_take(made.service, &future));
    rota_future_unref(future);
    free_completion(&made);
    assert_ok(rota_close(made.pool));
}

static void wait_unwatched(void *arg)
{
    struct completion *made = arg;
    rota_future *done = TEST_UNTOUCHED;

    test_check(rota_completion_take(made->service, &done) == ROTA_ENOMEM);
    test_check(rota_completion_poll_timed(made->service, ROTA_HOURS(1), &done) == ROTA_ENOMEM);
    test_check(rota_completion_poll_timed(made->service, 0, &done) == ROTA_ETIMEDOUT);
    test_check(done == TEST_UNTOUCHED);
    test_check(rota_await_termination(made->pool, ROTA_HOURS(1)) == ROTA_ENOMEM);
    test_check(rota_await_termination(made->pool, 0) == ROTA_ETIMEDOUT);
}

/* GEN-10, GEN-04: a thread whose end cannot be watched for can do all but wait, and look once. */
TEST(who_cannot_wait_takes_nothing_from_a_completion)
{
    struct completion made = {.pool = test_pool((rota_pool_options){.core_threads = 1})};

    assert_ok(make_completion(&made));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread_join(test_thread_start(wait_unwatched, &made));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    free_completion(&made);
    assert_ok(rota_close(made.pool));
}

/* FAULT-33 */
TEST(a_completion_without_a_descriptor_still_works)
{
    struct completion made = {.pool = test_pool((rota_pool_options){.core_threads = 1})};
    int fd = -77;

    assert_ok(make_completion(&made));
    rota__fault_arm(ROTA__FAULT_EVENT, 1, false);
    assert_status(rota_completion_fd(made.service, &fd), ROTA_EAGAIN);
    assert_int_equal(fd, -77);
    assert_ok(rota_completion_fd(made.service, &fd));
    assert_true(fd >= 0);
    free_completion(&made);
    assert_ok(rota_close(made.pool));
}

/* -- Memory: the end ---------------------------------------------------------------------- */

enum { QUEUED = 5 };

static rota_executor *busy_pool(test_gate *gate, test_probe *probe)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});

    test_fill(pool, gate, probe, QUEUED);
    return pool;
}

/* "After ROTA_ENOMEM the next call hands it over." */
TEST(shutdown_now_without_memory_hands_over_the_next_time)
{
    test_probe probe = {.error = 0};
    rota_task_list list = {NULL, 77};
    test_gate gate;
    rota_executor *pool = busy_pool(&gate, &probe);

    test_memory_fail_at(1, true);
    assert_status(rota_shutdown_now(pool, &list), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_int_equal(list.count, 77); /* GEN-01 */
    assert_int_equal(rota_executor_state_of(pool), ROTA_STOP);
    assert_int_equal(probe.discards, 0);
    assert_ok(rota_shutdown_now(pool, &list));
    assert_int_equal(list.count, QUEUED);
    for (size_t i = 0; i < list.count; i++)
        rota_task_discard(list.tasks[i]);
    rota_task_list_free(&list);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.interrupted, 1);
    assert_int_equal(probe.discards, QUEUED);
    assert_int_equal(probe.runs, 0);
}

/* OWN-09 */
TEST(what_was_never_handed_over_is_discarded_with_the_pool)
{
    test_probe probe = {.error = 0};
    rota_task_list list;
    test_gate gate;
    rota_executor *pool = busy_pool(&gate, &probe);

    test_memory_fail_at(1, true);
    assert_status(rota_shutdown_now(pool, &list), ROTA_ENOMEM);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(rota_executor_free(pool));
    test_memory_fail_at(0, false);
    assert_int_equal(probe.discards, QUEUED);
    assert_int_equal(probe.runs, 0);
}

/* GEN-10, FAULT-20: these calls allocate nothing. */
TEST(to_look_at_a_pool_and_to_end_it_needs_no_memory)
{
    test_probe probe = {.error = 0};
    test_gate gate;
    rota_executor *pool = busy_pool(&gate, &probe);
    char line[200];

    test_memory_fail_at(1, true);
    assert_int_equal(test_stats(pool).queued, QUEUED);
    assert_true(rota_executor_describe(pool, line, sizeof line) > 0);
    assert_int_equal(rota_pool_purge(pool), 0);
    assert_ok(rota_pool_set_keep_alive(pool, 5));
    assert_ok(rota_pool_set_max_threads(pool, 2));
    assert_int_equal(test_options(pool).max_threads, 2);
    assert_ok(rota_shutdown(pool));
    assert_status(rota_await_termination(pool, 1), ROTA_ETIMEDOUT);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_int_equal(probe.runs, QUEUED);
}

/* FAULT-20 */
TEST(to_stop_a_pool_needs_no_memory)
{
    test_probe probe = {.error = 0};
    test_gate gate;
    rota_executor *pool = busy_pool(&gate, &probe);
    size_t dropped = 0;

    test_memory_fail_at(1, true);
    test_gate_open(&gate);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_ok(rota_close_within(pool, ROTA_FOREVER, &dropped));
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_int_equal(probe.runs + probe.discards, QUEUED);
}

enum { PREPARED = 2000 }; /* more than a queue has room for without more memory */

/* GEN-10: what the queue has no memory for is refused, and not for want of room. */
TEST(a_queue_without_memory_takes_no_task)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    static rota_task *tasks[PREPARED];
    atomic_uint runs = 0;
    test_gate gate;
    unsigned taken = 0;
    int status = ROTA_OK;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (unsigned i = 0; i < PREPARED; i++)
        tasks[i] = test_plain_task(test_count, &runs);
    test_memory_fail_at(1, true);
    while (status == ROTA_OK && taken < PREPARED) {
        status = rota_execute_task(pool, tasks[taken]);
        taken += status == ROTA_OK;
    }
    test_memory_fail_at(0, false);
    assert_status(status, ROTA_ENOMEM);
    assert_int_equal(test_stats(pool).rejected, 0);
    for (unsigned i = taken; i < PREPARED; i++)
        rota_task_discard(tasks[i]);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, taken);
}

/* -- Threads ------------------------------------------------------------------------------ */

/* Takes out what is queued, and makes no thread. */
static int remove_and_refuse(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                             void *arg, void *ctx)
{
    rota_executor *pool = *(rota_executor **)ctx;
    void *task;

    test_check(rota_queue_peek(rota_pool_queue(pool), &task) == ROTA_OK);
    test_check(rota_pool_remove(pool, rota_task_future(task)));
    return EAGAIN;
}

/* GEN-10: a task that is gone when its thread is refused was taken. */
TEST(a_task_that_was_removed_meanwhile_needs_no_thread)
{
    rota_executor *pool = NULL;
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    pool = test_pool((rota_pool_options){.max_threads = 1,
                                         .threads = {.create = remove_and_refuse, .ctx = &pool}});
    assert_ok(rota_submit_call(pool, &call, &future));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_CANCELED);
    assert_int_equal(probe.discards, 1);
    rota_future_unref(future);
    assert_ok(rota_close(pool));
}

static void refused_then_taken(rota_pool_options options)
{
    rota_executor *pool = test_pool(options);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    refuse_threads(1, true);
    assert_status(rota_submit_call(pool, &call, &future), ROTA_EAGAIN);
    assert_status(rota_submit(pool, call.fn, &probe, &future), ROTA_EAGAIN);
    assert_status(rota_execute(pool, call.fn, &probe), ROTA_EAGAIN);
    refuse_threads(0, false);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_int_equal(test_stats(pool).threads + test_stats(pool).queued, 0);
    assert_int_equal(test_stats(pool).submitted, 0);
    assert_ok(rota_submit_call(pool, &call, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 1);
}

/* POOL-28, FAULT-21 */
TEST(without_a_first_thread_no_task_is_taken)
{
    refused_then_taken((rota_pool_options){.core_threads = 2});
    refused_then_taken((rota_pool_options){.max_threads = 2});
    refused_then_taken((rota_pool_options){.core_threads = 1, .queue = test_array(1)});
    refused_then_taken((rota_pool_options){.max_threads = 2, .queue = test_handoff()});
    refused_then_taken(
        (rota_pool_options){.core_threads = 1, .on_reject = rota_reject_caller_runs});
}

/* REJ-12: else it is still the caller's. */
TEST(a_task_that_is_passed_on_is_taken_or_not)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_task *task = test_task(test_probe_call(&probe), NULL);

    rota__blocks_flush();
    test_memory_fail_at(1, true);
    assert_status(rota_execute_task(pool, task), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    refuse_threads(1, true);
    assert_status(rota_execute_task(pool, task), ROTA_EAGAIN);
    refuse_threads(0, false);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_ok(rota_execute_task(pool, task));
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 1);
}

/* REJ-09: these two give the task to the pool, and say why it was not taken. */
TEST(a_handler_that_tries_again_says_what_was_missing)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_task *task = test_task(test_probe_call(&probe), NULL);

    rota__blocks_flush();
    test_memory_fail_at(1, true);
    assert_status(rota_reject_discard_oldest(pool, task, NULL), ROTA_ENOMEM);
    assert_status(rota_reject_block(pool, task, NULL), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    refuse_threads(1, true);
    assert_status(rota_reject_discard_oldest(pool, task, NULL), ROTA_EAGAIN);
    assert_status(rota_reject_block(pool, task, NULL), ROTA_EAGAIN);
    refuse_threads(0, false);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_ok(rota_reject_block(pool, task, NULL));
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 1);
}

/* REJ-11: nor does it wait for ever. */
TEST(without_a_thread_a_submitter_is_not_blocked)
{
    refused_then_taken((rota_pool_options){.core_threads = 1, .on_reject = rota_reject_block});
    refused_then_taken((rota_pool_options){
        .max_threads = 1, .queue = test_handoff(), .on_reject = rota_reject_block});
}

/* POOL-27: "can still be shut down to TERMINATED". */
TEST(a_pool_whose_threads_could_not_be_made_can_be_shut_down)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 3});
    atomic_uint runs = 0;

    refuse_threads(1, true);
    assert_status(rota_execute(pool, test_count, &runs), ROTA_EAGAIN);
    assert_ok(rota_shutdown(pool));
    assert_true(rota_is_terminated(pool));
    assert_ok(rota_executor_free(pool));
    refuse_threads(0, false);
}

/* POOL-28, FAULT-22: retried later. */
TEST(with_fewer_threads_than_wanted_a_pool_goes_on)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 4});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    refuse_threads(1, true);
    for (int i = 0; i < 10; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_int_equal(test_stats(pool).threads, 1);
    assert_int_equal(test_stats(pool).queued, 10);
    refuse_threads(0, false);
    assert_ok(rota_execute(pool, test_count, &runs)); /* brings the second, which runs all */
    test_await_count(&runs, 11);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* POOL-28: those that there are have enough to do. */
TEST(above_core_a_thread_that_cannot_be_made_is_a_rejection)
{
    rota_executor *pool = test_small_pool(1, 3, 1);
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_count, &runs));
    refuse_threads(1, true);
    assert_status(rota_execute(pool, test_count, &runs), ROTA_EREJECTED);
    assert_int_equal(test_stats(pool).rejected, 1);
    refuse_threads(0, false);
    assert_ok(rota_execute(pool, test_count, &runs));
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 2);
}

/* Makes the thread, and comes back when that has taken what was queued. */
static int create_and_linger(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                             void *arg, void *ctx)
{
    rota_queue *queue = rota_pool_queue(*(rota_executor **)ctx);
    int error = pthread_create(out, attr, start, arg);

    while (error == 0 && rota_queue_size(queue) > 0)
        sched_yield();
    return error;
}

/* POOL-40: a larger core brings no threads for which there is nothing to do. */
TEST(a_larger_core_brings_threads_until_nothing_is_queued)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .max_threads = 9});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 5; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(
        rota_pool_set_threads(pool, &(rota_threads){.create = create_and_linger, .ctx = &pool}));
    assert_ok(rota_pool_set_core_threads(pool, 9));
    test_await_count(&runs, 5);
    assert_int_equal(test_stats(pool).threads, 2);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* FAULT-22: once, at any place: all that was accepted runs. */
TEST(whichever_thread_is_refused_no_task_is_lost)
{
    for (unsigned n = 1; n <= 8; n++) {
        rota_executor *pool = test_small_pool(2, 4, 2);
        unsigned accepted = 0;
        atomic_uint runs = 0;

        refuse_threads(n, false);
        for (int i = 0; i < 12; i++)
            accepted += rota_execute(pool, test_count, &runs) == ROTA_OK;
        refuse_threads(0, false);
        assert_ok(rota_close(pool));
        assert_true(accepted > 0);
        assert_int_equal(runs, accepted);
    }
}

/* POOL-61 */
TEST(prestart_says_how_many_it_could_make)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 5});
    unsigned started = 99;

    refuse_threads(3, true);
    assert_status(rota_pool_prestart(pool, &started), ROTA_EAGAIN);
    assert_int_equal(started, 2);
    assert_status(rota_pool_prestart_one(pool, &started), ROTA_EAGAIN);
    assert_int_equal(started, 0);
    assert_int_equal(test_stats(pool).threads, 2);
    refuse_threads(0, false);
    assert_ok(rota_pool_prestart(pool, &started));
    assert_int_equal(started, 3);
    assert_ok(rota_close(pool));
}

/* POOL-40 */
TEST(a_larger_core_without_threads_for_it_loses_nothing)
{
    test_probe probe = {.error = 0};
    test_gate gate;
    rota_executor *pool = busy_pool(&gate, &probe);

    assert_ok(rota_pool_set_max_threads(pool, 4));
    refuse_threads(1, true);
    assert_ok(rota_pool_set_core_threads(pool, 4));
    refuse_threads(0, false);
    assert_int_equal(test_stats(pool).threads, 1);
    assert_int_equal(test_options(pool).core_threads, 4);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, QUEUED);
}

static void *end_thread(void *gate)
{
    test_wait_at(gate);
    pthread_exit(NULL);
}

/* Those that stand in for a worker are torn, too. */
static void tear_the_last_worker(bool shut_down)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_execute(pool, end_thread, &gate));
    test_await_count(&gate.begun, 1);
    for (int i = 0; i < QUEUED; i++) {
        assert_ok(rota_execute(pool, test_count, &runs));
        assert_ok(rota_execute(pool, TEST_CAN_END_TWICE ? end_thread : test_wait_at, &gate));
    }
    refuse_threads(1, true);
    if (shut_down)
        assert_ok(rota_shutdown(pool));
    test_gate_open(&gate);
    test_await_completed(pool, 2 * QUEUED + 1);
    refuse_threads(0, false);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, QUEUED);
}

/* POOL-30, POOL-61: by the one that goes. */
TEST(what_is_queued_runs_although_a_torn_worker_cannot_be_replaced)
{
    tear_the_last_worker(false);
    tear_the_last_worker(true);
}

/* POOL-56: a pool has not ended while one that goes still runs a task in the place of a worker. */
TEST(a_pool_does_not_end_before_what_runs_without_a_worker)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_gate gate, last;

    test_gate_init(&gate);
    test_gate_init(&last);
    assert_ok(rota_execute(pool, end_thread, &gate));
    test_await_count(&gate.begun, 1);
    assert_ok(rota_execute(pool, test_wait_at, &last));
    refuse_threads(1, true);
    assert_ok(rota_shutdown(pool));
    test_gate_open(&gate);
    test_await_count(&last.begun, 1);
    rota_pool_purge(pool);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_int_equal(rota_executor_state_of(pool), ROTA_STOP);
    assert_status(rota_await_termination(pool, 0), ROTA_ETIMEDOUT);
    test_gate_open(&last);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    refuse_threads(0, false);
    assert_ok(rota_close(pool));
}

/* The replacement was refused, and its count is gone. */
static bool has_no_worker(void *pool)
{
    return rota__fault_count(ROTA__FAULT_THREAD_START) > 0 && test_stats(pool).threads == 0;
}

/* POOL-30, FAULT-22 */
TEST(a_worker_that_could_not_be_replaced_is_when_the_next_task_comes)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_execute(pool, end_thread, &gate));
    test_await_count(&gate.begun, 1);
    refuse_threads(1, true);
    test_gate_open(&gate);
    test_until(has_no_worker, pool);
    assert_status(rota_execute(pool, test_count, &runs), ROTA_EAGAIN);
    refuse_threads(0, false);
    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 1);
}
