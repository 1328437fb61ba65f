/* SPDX-License-Identifier: MIT */
/*
 * rota_block_begin and _end: another worker stands in for one that waits. FJ-17 to FJ-19.
 */
#include "forkjoin.h"

/* -- Tasks -------------------------------------------------------------------------------- */

struct blocked {
    rota_executor *pool;
    test_gate gate;
    unsigned begins, ends; /* before the gate */
    int statuses[4];
    rota_forkjoin_stats stats; /* while it is blocked */
};

static void *block_at_gate(void *arg)
{
    struct blocked *blocked = arg;

    for (unsigned i = 0; i < blocked->begins; i++)
        blocked->statuses[i] = rota_block_begin();
    for (unsigned i = 0; i < blocked->ends; i++)
        rota_block_end();
    blocked->stats = test_fj_stats(blocked->pool);
    test_wait_at(&blocked->gate);
    for (unsigned i = blocked->ends; i < blocked->begins; i++)
        rota_block_end();
    return NULL;
}

static void block(struct blocked *blocked, rota_forkjoin_options options)
{
    blocked->pool = test_forkjoin(options);
    test_gate_init(&blocked->gate);
    assert_ok(rota_execute(blocked->pool, block_at_gate, blocked));
    test_await_count(&blocked->gate.begun, 1);
}

static void unblock(struct blocked *blocked)
{
    test_gate_open(&blocked->gate);
    assert_ok(rota_close(blocked->pool));
}

/* -- One that waits ----------------------------------------------------------------------- */

/* FJ-17 */
TEST(another_stands_in_for_one_that_waits)
{
    struct blocked blocked = {.begins = 1};
    atomic_uint runs = 0;

    block(&blocked, (rota_forkjoin_options){.parallelism = 1});
    assert_ok(blocked.statuses[0]);
    assert_int_equal(blocked.stats.threads, 2);
    assert_ok(rota_execute(blocked.pool, test_count, &runs));
    test_await_count(&runs, 1);
    assert_int_equal(blocked.gate.ended, 0);
    unblock(&blocked);
}

/* "Pairs may nest; the outermost counts." */
TEST(of_nested_pairs_the_outermost_counts)
{
    struct blocked blocked = {.begins = 3, .ends = 2};
    atomic_uint runs = 0;

    block(&blocked, (rota_forkjoin_options){.parallelism = 1});
    for (int i = 0; i < 3; i++)
        assert_ok(blocked.statuses[i]);
    assert_int_equal(blocked.stats.threads, 2);
    assert_ok(rota_execute(blocked.pool, test_count, &runs));
    test_await_count(&runs, 1);
    unblock(&blocked);
}

/* After the end it is as before: nothing runs beside it. */
TEST(after_the_end_nobody_stands_in)
{
    struct blocked blocked = {.begins = 2, .ends = 2};
    atomic_uint runs = 0;

    block(&blocked, (rota_forkjoin_options){.parallelism = 1});
    test_fj_await_active(blocked.pool, 1); /* who stood in sleeps again */
    assert_int_equal(test_fj_stats(blocked.pool).running, 1);
    assert_ok(rota_execute(blocked.pool, test_count, &runs));
    assert_int_equal(test_fj_stats(blocked.pool).submissions, 1);
    assert_int_equal(runs, 0);
    unblock(&blocked);
    assert_int_equal(runs, 1);
}

static void block_beside_a_sleeper(void *arg)
{
    rota_executor *pool = arg;

    test_fj_await_active(pool, 1);
    test_check(rota_block_begin() == ROTA_OK);
    test_check(test_fj_stats(pool).threads == 2);
    rota_block_end();
}

/* FJ-17: no thread is made where one sleeps. */
TEST(who_sleeps_can_stand_in)
{
    rota_executor *pool = test_forkjoin_of(2);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 2);
    test_gate_open(&gate);
    test_fj_inside(pool, block_beside_a_sleeper, pool);
    assert_ok(rota_close(pool));
}

static void occupy_beside_caller(void *arg)
{
    rota_executor *pool = arg;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    test_check(test_fj_stats(pool).threads == 1);
    test_gate_open(&gate);
    test_await_count(&gate.ended, 1);
}

/* The first thread comes also beside a caller that takes part. */
TEST(a_thread_comes_beside_a_caller)
{
    rota_executor *pool = test_forkjoin_of(2);

    test_fj_taking_part(pool, occupy_beside_caller, pool);
    assert_ok(rota_close(pool));
}

/* FJ-19: ROTA_EREJECTED from rota_block_begin. */
TEST(at_max_threads_nobody_can_stand_in)
{
    struct blocked blocked = {.begins = 3, .ends = 3};
    atomic_uint runs = 0;

    block(&blocked, (rota_forkjoin_options){.parallelism = 1, .max_threads = 1});
    for (int i = 0; i < 3; i++)
        assert_status(blocked.statuses[i], ROTA_EREJECTED);
    assert_int_equal(blocked.stats.running, 1); /* it counts as before */
    assert_int_equal(blocked.stats.threads, 1);
    assert_ok(rota_execute(blocked.pool, test_count, &runs));
    assert_int_equal(test_fj_stats(blocked.pool).submissions, 1);
    unblock(&blocked);
    assert_int_equal(runs, 1);
}

enum { MOST = 257 };

/* All wait but the last, for whom there is nobody to stand in. */
static void so_many_may_wait(rota_forkjoin_options options, unsigned most)
{
    static struct blocked blocked[MOST];
    rota_executor *pool = test_forkjoin(options);

    for (unsigned i = 0; i < most; i++) {
        blocked[i] = (struct blocked){.pool = pool, .begins = 1};
        blocked[i].ends = i == most - 1; /* which is refused: nothing is to be ended */
        test_gate_init(&blocked[i].gate);
        assert_ok(rota_execute(pool, block_at_gate, &blocked[i]));
        test_await_count(&blocked[i].gate.begun, 1);
        assert_status(blocked[i].statuses[0], i < most - 1 ? ROTA_OK : ROTA_EREJECTED);
    }
    assert_int_equal(test_fj_stats(pool).threads, most);
    for (unsigned i = 0; i < most; i++)
        test_gate_open(&blocked[i].gate);
    assert_ok(rota_close(pool));
}

/* Each that waits brings one more, up to max_threads. */
TEST(so_many_may_wait_as_there_may_be_threads)
{
    so_many_may_wait((rota_forkjoin_options){.parallelism = 1, .max_threads = 5}, 5);
}

/* FJ-17: "256 spares", unless told. */
TEST(two_hundred_and_fifty_six_may_stand_in)
{
    so_many_may_wait((rota_forkjoin_options){.parallelism = 1, .threads = {.stack_size = 1 << 18}},
                     MOST);
}

/* FJ-18: "outside a pool it does the same without compensation". */
TEST(outside_it_does_nothing)
{
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    struct blocked blocked = {.begins = 0};

    assert_ok(rota_block_begin());
    assert_ok(rota_block_begin());
    rota_block_end();
    rota_block_end();
    rota_block_end();
    block(&blocked, (rota_forkjoin_options){.parallelism = 1});
    unblock(&blocked);
    assert_ok(rota_close(other));
}

static void end_without_begin(void *arg)
{
    rota_block_end();
    rota_block_end();
    test_check(test_fj_stats(arg).running == 1);
    test_check(rota_block_begin() == ROTA_OK);
    test_check(test_fj_stats(arg).running <= 1); /* at most who stands in */
    rota_block_end();
    rota_block_end();
    test_check(test_fj_stats(arg).running <= 2 && test_fj_stats(arg).running >= 1);
}

TEST(an_end_too_many_does_nothing)
{
    rota_executor *pool = test_forkjoin_of(1);

    test_fj_inside(pool, end_without_begin, pool);
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER)); /* who stood in sleeps */
    test_fj_taking_part(pool, end_without_begin, pool);
    assert_ok(rota_close(pool));
}

/* -- What it has forked ------------------------------------------------------------------- */

struct counted {
    rota_fj task; /* first */
    atomic_uint runs;
};

static void count_run(rota_fj *task)
{
    atomic_fetch_add(&((struct counted *)task)->runs, 1);
}

static void fork_and_block(void *arg)
{
    struct counted a = {.task = ROTA_FJ(count_run)}, b = {.task = ROTA_FJ(count_run)};

    rota_fork(&a.task);
    rota_fork(&b.task);
    test_check(rota_block_begin() == ROTA_OK);
    test_await_count(&a.runs, 1); /* who stands in runs them */
    test_await_count(&b.runs, 1);
    rota_block_end();
    test_check(rota_join(&b.task) == ROTA_OK);
    test_check(rota_join(&a.task) == ROTA_OK);
}

TEST(who_stands_in_runs_what_was_forked)
{
    rota_executor *pool = test_forkjoin_of(1);

    test_fj_inside(pool, fork_and_block, NULL);
    test_fj_taking_part(pool, fork_and_block, NULL);
    assert_ok(rota_close(pool));
}

/* -- Waits that the library sees ---------------------------------------------------------- */

struct promise {
    rota_executor *pool;
    rota_future *future;
    atomic_uint waits;
    int status;
};

static void *wait_for_promise(void *arg)
{
    struct promise *promise = arg;

    atomic_fetch_add(&promise->waits, 1);
    promise->status = rota_future_get(promise->future, NULL);
    return NULL;
}

static void *keep_promise(void *arg)
{
    test_check(rota_promise_complete(((struct promise *)arg)->future, NULL));
    return NULL;
}

/* FJ-17: a task that waits in a rota call is as one between begin and end. */
TEST(another_stands_in_for_one_that_waits_in_the_library)
{
    struct promise promise = {.pool = test_forkjoin_of(1), .status = 77};

    assert_ok(rota_promise_new(&promise.future));
    assert_ok(rota_execute(promise.pool, wait_for_promise, &promise));
    test_await_count(&promise.waits, 1);
    assert_ok(rota_execute(promise.pool, keep_promise, &promise));
    assert_ok(rota_close(promise.pool));
    assert_ok(promise.status);
    rota_future_unref(promise.future);
}

/* -- A lock ------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct fib {
    rota_fj task; /* first */
    int n;
    long value;
};

static void take_the_lock(void)
{
    int status;

    if (pthread_mutex_trylock(&lock) == 0)
        return;
    status = rota_block_begin();
    pthread_mutex_lock(&lock);
    if (status == ROTA_OK)
        rota_block_end();
}

static void locked_fib(rota_fj *task)
{
    struct fib *f = (struct fib *)task;

    if (f->n < 2) {
        f->value = f->n;
        return;
    }
    struct fib a = {ROTA_FJ(locked_fib), f->n - 1, 0}, b = {ROTA_FJ(locked_fib), f->n - 2, 0};
    take_the_lock();
    pthread_mutex_unlock(&lock);
    test_check(rota_invoke_both(&a.task, &b.task) == ROTA_OK);
    f->value = a.value + b.value;
}

/* FJ-17, FJ-18 */
TEST(tasks_that_share_a_lock_do_not_stall)
{
    rota_executor *pool = test_forkjoin_of(4);
    struct fib f = {ROTA_FJ(locked_fib), 20, 0};

    assert_ok(rota_invoke(pool, &f.task));
    assert_int_equal(f.value, 6765);
    assert_ok(rota_close(pool));
}
