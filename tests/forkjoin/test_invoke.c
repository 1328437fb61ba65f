/* SPDX-License-Identifier: MIT */
/*
 * rota_invoke: from outside, from a worker, from a worker of another pool; pools inside of pools.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

/* -- Tasks -------------------------------------------------------------------------------- */

struct look {
    rota_fj task; /* first */
    pthread_t thread;
    rota_executor *pool;
    int worker;
    bool interrupted;
    int code;
};

static void look_around(rota_fj *task)
{
    struct look *look = (struct look *)task;

    look->thread = pthread_self();
    look->pool = rota_fj_pool();
    look->worker = rota_fj_worker();
    look->interrupted = rota_is_interrupted();
    rota_fj_fail(task, look->code);
}

#define LOOK                                        \
    {                                               \
        .task = ROTA_FJ(look_around), .worker = -77 \
    }

/* -- From outside ------------------------------------------------------------------------- */

/* FJ-03, PAR-08: where there is a place the caller takes part, and no thread is made for it. */
TEST(a_caller_takes_part)
{
    rota_executor *pool = test_forkjoin_of(1);
    struct look look = LOOK;

    assert_ok(rota_invoke(pool, &look.task));
    assert_true(pthread_equal(look.thread, pthread_self()));
    assert_ptr_equal(look.pool, pool);
    assert_int_equal(look.worker, 0);
    assert_null(rota_fj_pool());
    assert_int_equal(rota_fj_worker(), -1);
    assert_int_equal(test_fj_stats(pool).threads + test_fj_stats(pool).active, 0);
    assert_ok(rota_close(pool));
}

TEST(a_whole_computation_is_invoked)
{
    for (unsigned parallelism = 1; parallelism <= 8; parallelism *= 2) {
        rota_executor *pool = test_forkjoin_of(parallelism);
        test_fib_task f = {ROTA_FJ(test_fib), 20, 0};
        assert_ok(rota_invoke(pool, &f.task));
        assert_int_equal(f.value, 6765);
        assert_ok(rota_close(pool));
    }
}

struct invocation {
    rota_executor *pool;
    struct look look;
    rota_thread *self;
    int status;
};

static void invoke_look(void *arg)
{
    struct invocation *invocation = arg;

    invocation->status = rota_invoke(invocation->pool, &invocation->look.task);
}

/* "If fewer than `parallelism` others do." */
TEST(without_a_place_a_caller_waits_for_a_worker)
{
    struct invocation late = {.pool = test_forkjoin_of(1), .look = LOOK};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(late.pool, &gate, 1);
    test_thread *thread = test_thread_start(invoke_look, &late);
    test_fj_await_submissions(late.pool, 1);
    assert_int_equal(late.look.worker, -77);
    test_gate_open(&gate);
    test_thread_join(thread);
    assert_ok(late.status);
    assert_ptr_equal(late.look.pool, late.pool);
    assert_int_equal(late.look.worker, 0);
    assert_int_equal(test_fj_stats(late.pool).threads, 1);
    assert_ok(rota_close(late.pool));
}

static void invoke_interrupted(void *arg)
{
    invoke_look(arg);
    test_check(rota_interrupted()); /* left for who asks */
}

/* INT-11 */
TEST(an_interrupt_does_not_end_an_invocation)
{
    struct invocation late = {.pool = test_forkjoin_of(1), .look = LOOK};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(late.pool, &gate, 1);
    test_thread *thread = test_thread_start(invoke_interrupted, &late);
    test_fj_await_submissions(late.pool, 1);
    test_await_parked(test_thread_handle(thread));
    rota_thread_interrupt(test_thread_handle(thread));
    test_await_parked(test_thread_handle(thread)); /* again */
    assert_int_equal(late.look.worker, -77);
    test_gate_open(&gate);
    test_thread_join(thread);
    assert_ok(late.status);
    assert_false(late.look.interrupted);
    assert_ok(rota_close(late.pool));
}

/* FJT-03, FJT-23: whoever does it tells how it ended. */
TEST(a_caller_is_told_of_failure_and_cancellation)
{
    rota_executor *pool = test_forkjoin_of(1);
    struct look bad = {.task = ROTA_FJ(look_around), .code = 9};
    struct look cancelled = LOOK;

    assert_status(rota_invoke(pool, &bad.task), ROTA_EFAILED);
    assert_int_equal(rota_fj_error(&bad.task), 9);
    assert_true(rota_fj_cancel(&cancelled.task));
    assert_status(rota_invoke(pool, &cancelled.task), ROTA_ECANCELED);
    assert_int_equal(cancelled.worker, -77);
    assert_ok(rota_close(pool));
}

/* INT-01: what a thread runs for the pool has a flag of its own. */
TEST(the_callers_interrupt_is_not_the_tasks)
{
    rota_executor *pool = test_forkjoin_of(1);
    struct look look = LOOK;

    rota_thread_interrupt(rota_thread_self());
    assert_ok(rota_invoke(pool, &look.task));
    assert_false(look.interrupted);
    assert_true(rota_interrupted());
    assert_ok(rota_close(pool));
}

/* FJ-03 */
TEST(what_cannot_be_invoked_is_refused)
{
    rota_executor *pool = test_forkjoin_of(1);
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    struct look look = LOOK;

    assert_status(rota_invoke(NULL, &look.task), ROTA_EINVAL);
    assert_status(rota_invoke(pool, NULL), ROTA_EINVAL);
    assert_status(rota_invoke(other, &look.task), ROTA_ENOTSUP);
    assert_ok(rota_shutdown(pool));
    assert_status(rota_invoke(pool, &look.task), ROTA_EREJECTED);
    assert_false(rota_fj_is_done(&look.task));
    assert_int_equal(look.worker, -77);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}

enum { CALLERS = 6, ROUNDS = 30 };

static void invoke_fibs(void *pool)
{
    for (int i = 0; i < ROUNDS; i++) {
        test_fib_task f = {ROTA_FJ(test_fib), 12, 0};
        test_check(rota_invoke(pool, &f.task) == ROTA_OK);
        test_check(f.value == 144);
    }
}

TEST(many_callers_share_a_pool)
{
    rota_executor *pool = test_forkjoin_of(2);
    test_thread *threads[CALLERS];

    for (int i = 0; i < CALLERS; i++)
        threads[i] = test_thread_start(invoke_fibs, pool);
    for (int i = 0; i < CALLERS; i++)
        test_thread_join(threads[i]);
    assert_int_equal(test_fj_stats(pool).submissions + test_fj_stats(pool).queued, 0);
    assert_ok(rota_close(pool));
}

struct leaver {
    rota_executor *pool;
    test_barrier meeting;
    atomic_uint stolen;
};

struct prey {
    rota_fj task; /* first */
    struct leaver *leaver;
};

static void be_stolen(rota_fj *task)
{
    atomic_fetch_add(&((struct prey *)task)->leaver->stolen, 1);
}

static void *fork_while_all_are_busy(void *arg)
{
    struct leaver *leaver = arg;
    struct prey prey = {ROTA_FJ(be_stolen), leaver};

    test_barrier_wait(&leaver->meeting); /* both are there */
    rota_fork(&prey.task);
    test_barrier_wait(&leaver->meeting); /* the caller goes */
    test_fj_until_stolen(&leaver->stolen);
    test_check(rota_join(&prey.task) == ROTA_OK);
    return NULL;
}

static void meet_and_leave(void *arg)
{
    struct leaver *leaver = arg;

    test_barrier_wait(&leaver->meeting);
    test_barrier_wait(&leaver->meeting);
}

/* FJ-13, FJ-14: who forked when enough were active learns that one is gone. */
TEST(the_place_of_a_caller_that_leaves_is_taken)
{
    for (int i = 0; i < 20; i++) {
        struct leaver leaver = {.pool = test_forkjoin_of(2)};
        test_barrier_init(&leaver.meeting, 2);
        assert_ok(rota_execute(leaver.pool, fork_while_all_are_busy, &leaver));
        test_fj_taking_part(leaver.pool, meet_and_leave, &leaver);
        assert_ok(rota_close(leaver.pool));
        assert_int_equal(leaver.stolen, 1);
    }
}

/* -- From a worker ------------------------------------------------------------------------ */

static void invoke_here(void *arg)
{
    struct look look = LOOK;

    test_check(rota_invoke(arg, &look.task) == ROTA_OK);
    test_check(pthread_equal(look.thread, pthread_self()));
    test_check(look.pool == arg);
    test_check(look.worker == rota_fj_worker());
}

/* FJT-05, FJ-32 */
TEST(a_worker_runs_at_once_what_it_invokes_in_its_pool)
{
    rota_executor *pool = test_forkjoin_of(1);

    test_fj_inside(pool, invoke_here, pool);
    test_fj_taking_part(pool, invoke_here, pool);
    assert_ok(rota_close(pool));
}

struct two {
    rota_executor *inner, *outer;
};

static void invoke_in_inner(void *arg)
{
    const struct two *two = arg;
    test_fib_task before = {ROTA_FJ(test_fib), 10, 0}, other = {ROTA_FJ(test_fib), 11, 0};
    struct look look = LOOK;
    int worker = rota_fj_worker();

    rota_fork(&before.task);
    test_check(rota_invoke(two->inner, &look.task) == ROTA_OK);
    test_check(look.pool == two->inner);
    test_check(look.worker >= 0);
    test_check(rota_invoke(two->inner, &other.task) == ROTA_OK);
    test_check(rota_fj_pool() == two->outer);
    test_check(rota_fj_worker() == worker);
    test_check(rota_join(&before.task) == ROTA_OK);
    test_check(before.value == 55 && other.value == 89);
}

/* FJ-10: what was forked in one pool stays there. */
TEST(a_worker_may_invoke_in_another_pool)
{
    for (unsigned n = 1; n <= 2; n++) {
        struct two two = {test_forkjoin_of(n), test_forkjoin_of(n)};
        test_fj_inside(two.outer, invoke_in_inner, &two);
        test_fj_taking_part(two.outer, invoke_in_inner, &two);
        assert_ok(rota_close(two.inner));
        assert_ok(rota_close(two.outer));
    }
}

static void wait_for_inner(void *arg)
{
    const struct two *two = arg;
    test_fib_task f = {ROTA_FJ(test_fib), 12, 0};

    test_check(rota_invoke(two->inner, &f.task) == ROTA_OK);
    test_check(f.value == 144);
}

struct occupied {
    struct two two;
    test_gate gate;
    atomic_uint ended;
};

static void *wait_for_occupied(void *arg)
{
    struct occupied *occupied = arg;

    wait_for_inner(&occupied->two);
    atomic_fetch_add(&occupied->ended, 1);
    return NULL;
}

/* FJ-17: another stands in for a worker that waits for another pool. */
TEST(a_worker_that_waits_for_another_pool_counts_as_blocked)
{
    struct occupied occupied = {.two = {test_forkjoin_of(1), test_forkjoin_of(1)}};
    atomic_uint runs = 0;

    test_gate_init(&occupied.gate);
    test_occupy(occupied.two.inner, &occupied.gate, 1);
    assert_ok(rota_execute(occupied.two.outer, wait_for_occupied, &occupied));
    test_fj_await_submissions(occupied.two.inner, 1);
    assert_ok(rota_execute(occupied.two.outer, test_count, &runs));
    test_await_count(&runs, 1);
    assert_int_equal(occupied.ended, 0);
    test_gate_open(&occupied.gate);
    assert_ok(rota_close(occupied.two.outer));
    assert_int_equal(occupied.ended, 1);
    assert_ok(rota_close(occupied.two.inner));
}

static void come_back(void *arg)
{
    const struct two *two = arg;
    test_fib_task f = {ROTA_FJ(test_fib), 10, 0};

    test_check(rota_fj_pool() == two->inner);
    test_check(rota_invoke(two->outer, &f.task) == ROTA_OK);
    test_check(f.value == 55);
}

static void go_and_come_back(void *arg)
{
    const struct two *two = arg;

    test_fj_taking_part(two->inner, come_back, arg);
    test_check(rota_fj_pool() == two->outer);
}

/* FJ-20: it takes part in the other, and needs its own, where it is the only one. */
TEST(a_worker_may_come_back_through_another_pool)
{
    for (unsigned n = 1; n <= 2; n++) {
        struct two two = {test_forkjoin_of(1), test_forkjoin_of(n)};
        test_fj_inside(two.outer, go_and_come_back, &two);
        test_fj_taking_part(two.outer, go_and_come_back, &two);
        assert_ok(rota_close(two.inner));
        assert_ok(rota_close(two.outer));
    }
}

static void *return_it(void *arg)
{
    return arg;
}

static void get_from_outer(void *arg)
{
    const struct two *two = arg;
    rota_future *future;
    void *result = NULL;

    test_check(rota_submit(two->outer, return_it, arg, &future) == ROTA_OK);
    test_check(rota_future_get(future, &result) == ROTA_OK);
    test_check(result == arg);
    rota_future_unref(future);
}

static void go_and_get_back(void *arg)
{
    const struct two *two = arg;

    test_fj_taking_part(two->inner, get_from_outer, arg);
}

/* The same with a future: EXEC-18. */
TEST(a_worker_may_wait_for_its_own_pool_inside_another)
{
    struct two two = {test_forkjoin_of(1), test_forkjoin_of(1)};

    test_fj_inside(two.outer, go_and_get_back, &two);
    test_fj_taking_part(two.outer, go_and_get_back, &two);
    assert_ok(rota_close(two.inner));
    assert_ok(rota_close(two.outer));
}

static void make_a_pool(void *arg)
{
    unsigned *depth = arg;
    rota_executor *pool = test_forkjoin_of(1 + *depth % 2);
    test_fib_task f = {ROTA_FJ(test_fib), 10, 0};

    test_check(rota_invoke(pool, &f.task) == ROTA_OK);
    if (--*depth > 0)
        test_fj_taking_part(pool, make_a_pool, depth);
    test_check(rota_close(pool) == ROTA_OK);
    test_check(f.value == 55);
}

TEST(pools_may_be_made_inside_of_pools)
{
    unsigned depth = 5;
    rota_executor *pool = test_forkjoin_of(2);

    test_fj_inside(pool, make_a_pool, &depth);
    assert_int_equal(depth, 0);
    assert_ok(rota_close(pool));
}
