/* SPDX-License-Identifier: MIT */
/*
 * rota_await_quiescence: until nothing is queued and nothing runs. FJ-21, FJ-22, FJT-17.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

/* -- From outside ------------------------------------------------------------------------- */

TEST(what_is_no_pool_is_refused)
{
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});

    assert_status(rota_await_quiescence(NULL, 0), ROTA_EINVAL);
    assert_status(rota_await_quiescence(other, 0), ROTA_ENOTSUP);
    assert_ok(rota_close(other));
}

/* FJ-21, FJ-22 */
TEST(while_a_task_runs_the_pool_is_not_quiet)
{
    const rota_ns timeouts[] = {INT64_MIN, -1, 0, 1, ROTA_MS(2)};
    rota_executor *pool = test_forkjoin_of(1);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 5; i++) {
        rota_ns start = rota_now();
        assert_status(rota_await_quiescence(pool, timeouts[i]), ROTA_ETIMEDOUT);
        assert_true(timeouts[i] <= 0 || rota_now() - start >= timeouts[i]);
    }
    test_gate_open(&gate);
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    assert_int_equal(gate.ended, 1);
    assert_ok(rota_await_quiescence(pool, 0));
    assert_ok(rota_close(pool));
}

struct child {
    rota_fj task; /* first */
    atomic_uint runs;
};

static void run_child(rota_fj *task)
{
    atomic_fetch_add(&((struct child *)task)->runs, 1);
}

static void *fork_and_spin(void *arg)
{
    struct child *child = arg;

    rota_fork(&child->task);
    test_fj_until_stolen(&child->runs);
    test_check(rota_join(&child->task) == ROTA_OK);
    return NULL;
}

/* FJ-21, FJ-22 */
TEST(all_is_done_when_the_pool_is_quiet)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct child child = {.task = ROTA_FJ(run_child)};

    assert_ok(rota_execute(pool, fork_and_spin, &child));
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    assert_int_equal(child.runs, 1);
    assert_int_equal(test_fj_stats(pool).queued + test_fj_stats(pool).submissions, 0);
    assert_int_equal(rota_executor_state_of(pool), ROTA_RUNNING);
    assert_ok(rota_close(pool));
}

enum { ROUNDS = 300, TASKS = 5 };

/* FJ-14, FJ-21 */
TEST(quiet_comes_after_every_task)
{
    rota_executor *pool = test_forkjoin_of(2);
    atomic_uint runs = 0;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < TASKS; i++)
            assert_ok(rota_execute(pool, test_count, &runs));
        assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
        assert_int_equal(runs, round * TASKS);
    }
    assert_ok(rota_close(pool));
}

struct waiter {
    rota_executor *pool;
    int status;
};

static void wait_for_quiet(void *arg)
{
    struct waiter *waiter = arg;

    waiter->status = rota_await_quiescence(waiter->pool, ROTA_FOREVER);
}

/* INT-03: ROTA_EINTERRUPTED from rota_await_quiescence. */
TEST(an_interrupt_ends_the_wait)
{
    struct waiter waiter = {test_forkjoin_of(1), 77};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(waiter.pool, &gate, 1);
    test_thread *thread = test_thread_start(wait_for_quiet, &waiter);
    test_await_parked(test_thread_handle(thread));
    rota_thread_interrupt(test_thread_handle(thread));
    test_thread_join(thread);
    assert_status(waiter.status, ROTA_EINTERRUPTED);
    test_gate_open(&gate);
    assert_ok(rota_close(waiter.pool));
}

enum { WAITERS = 3 };

TEST(all_who_wait_are_woken)
{
    struct waiter waiters[WAITERS];
    test_thread *threads[WAITERS];
    rota_executor *pool = test_forkjoin_of(1);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = (struct waiter){pool, 77};
        threads[i] = test_thread_start(wait_for_quiet, &waiters[i]);
        test_await_parked(test_thread_handle(threads[i]));
    }
    test_gate_open(&gate);
    for (int i = 0; i < WAITERS; i++) {
        test_thread_join(threads[i]);
        assert_ok(waiters[i].status);
    }
    assert_ok(rota_close(pool));
}

TEST(a_pool_that_has_ended_is_quiet)
{
    rota_executor *pool = test_forkjoin_of(1);
    atomic_uint runs = 0;

    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    assert_int_equal(runs, 1);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(rota_await_quiescence(pool, 0));
    assert_ok(rota_executor_free(pool));
}

/* -- From a worker ------------------------------------------------------------------------ */

enum { MANY = 3000 };

static struct child many[MANY];
static atomic_uint submitted;

static void fork_and_help(void *arg)
{
    for (int i = 0; i < MANY; i++) {
        many[i] = (struct child){.task = ROTA_FJ(run_child)};
        rota_fork(&many[i].task);
        if (i % 100 == 0)
            test_check(rota_execute(arg, test_count, &submitted) == ROTA_OK);
    }
    test_check(rota_await_quiescence(arg, ROTA_FOREVER) == ROTA_OK);
    for (int i = 0; i < MANY; i++) {
        test_check(rota_fj_is_done(&many[i].task));
        test_check(atomic_load(&many[i].runs) == 1);
    }
    test_check(atomic_exchange(&submitted, 0) == MANY / 100);
    test_check(rota_fj_surplus() <= 0);
}

/* FJT-17, FJT-16, FJ-22 */
TEST(a_worker_runs_all_there_is_meanwhile)
{
    for (unsigned n = 1; n <= 3; n++) {
        rota_executor *pool = test_forkjoin_of(n);
        test_fj_inside(pool, fork_and_help, pool);
        test_fj_taking_part(pool, fork_and_help, pool);
        assert_ok(rota_close(pool));
    }
}

struct pair {
    rota_executor *pool;
    test_barrier meeting;
    atomic_uint quiet;
};

static void *wait_with_another(void *arg)
{
    struct pair *pair = arg;

    test_barrier_wait(&pair->meeting);
    test_check(rota_await_quiescence(pair->pool, ROTA_FOREVER) == ROTA_OK);
    test_barrier_wait(&pair->meeting); /* until both have returned */
    atomic_fetch_add(&pair->quiet, 1);
    return NULL;
}

/* "Nothing runs but the callers' own tasks." */
TEST(two_workers_may_wait_at_once)
{
    struct pair pair = {.pool = test_forkjoin_of(2)};

    test_barrier_init(&pair.meeting, 2);
    assert_ok(rota_execute(pair.pool, wait_with_another, &pair));
    assert_ok(rota_execute(pair.pool, wait_with_another, &pair));
    test_await_count(&pair.quiet, 2);
    assert_ok(rota_close(pair.pool));
}

struct busy {
    rota_executor *pool;
    test_gate gate;
    rota_thread *self;
    atomic_uint waits;
    int status;
};

static void time_out(void *arg)
{
    struct busy *busy = arg;

    busy->status = rota_await_quiescence(busy->pool, ROTA_MS(1));
    test_check(rota_await_quiescence(busy->pool, 0) == ROTA_ETIMEDOUT);
}

TEST(a_worker_gives_up_in_time)
{
    struct busy busy = {.pool = test_forkjoin_of(2), .status = 77};

    test_gate_init(&busy.gate);
    test_occupy(busy.pool, &busy.gate, 1);
    test_fj_inside(busy.pool, time_out, &busy);
    assert_status(busy.status, ROTA_ETIMEDOUT);
    test_gate_open(&busy.gate);
    assert_ok(rota_close(busy.pool));
}

static void *be_interrupted(void *arg)
{
    struct busy *busy = arg;

    busy->self = rota_thread_self();
    atomic_fetch_add(&busy->waits, 1);
    busy->status = rota_await_quiescence(busy->pool, ROTA_FOREVER);
    return NULL;
}

/* "ROTA_EINTERRUPTED": a worker, too, else shutdown_now would not reach it. */
TEST(an_interrupt_ends_the_wait_of_a_worker)
{
    struct busy busy = {.pool = test_forkjoin_of(2), .status = 77};
    rota_future *future;

    test_gate_init(&busy.gate);
    test_occupy(busy.pool, &busy.gate, 1);
    assert_ok(rota_submit(busy.pool, be_interrupted, &busy, &future));
    test_await_count(&busy.waits, 1);
    rota_thread_interrupt(busy.self);
    assert_ok(rota_future_get(future, NULL)); /* before the gate opens */
    assert_status(busy.status, ROTA_EINTERRUPTED);
    rota_future_unref(future);
    test_gate_open(&busy.gate);
    assert_ok(rota_close(busy.pool));
}

static void wait_for_another_pool(void *arg)
{
    struct busy *busy = arg;

    test_gate_open(&busy->gate);
    test_check(rota_await_quiescence(busy->pool, ROTA_FOREVER) == ROTA_OK);
    test_check(atomic_load(&busy->gate.ended) == 1);
}

/* It is outside of that one. */
TEST(a_worker_may_wait_for_another_pool)
{
    struct busy busy = {.pool = test_forkjoin_of(1)};
    rota_executor *own = test_forkjoin_of(1);

    test_gate_init(&busy.gate);
    test_occupy(busy.pool, &busy.gate, 1);
    test_fj_inside(own, wait_for_another_pool, &busy);
    assert_ok(rota_close(own));
    assert_ok(rota_close(busy.pool));
}
