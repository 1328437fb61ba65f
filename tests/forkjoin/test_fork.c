/* SPDX-License-Identifier: MIT */
/*
 * In a child of fork(2) a fork/join pool of the parent is as if terminated, and new ones work.
 */
#define _GNU_SOURCE
#include "forkjoin.h"

#include "base/fork.h"

#include <sys/mman.h>
#include <unistd.h>

/* -- In the midst of making --------------------------------------------------------------- */

static _Thread_local bool is_maker;
static test_latch making = TEST_LATCH(1), made = TEST_LATCH(1);
static atomic_bool has_forked;

/* In place of the allocator. */
static bool linger(void)
{
    if (is_maker) {
        is_maker = false;
        test_latch_open(&making);
        test_latch_wait(&made);
    }
    return false;
}

static void make_common(void *arg)
{
    is_maker = true;
    test_check(rota_common_pool() != NULL);
}

static bool waits_for_the_maker(void *arg)
{
    return rota__load_relaxed(&rota__singleton_lock.word) == ROTA__CONTENDED || has_forked;
}

static void let_go_on(void *arg)
{
    test_until(waits_for_the_maker, NULL);
    test_latch_open(&made);
}

static void use_common(void *arg)
{
    test_fib_task f = {ROTA_FJ(test_fib), 12, 0};

    alarm(30); /* should the lock be held for ever */
    test_check(rota_invoke(rota_common_pool(), &f.task) == ROTA_OK && f.value == 144);
}

/* What there is one of is there, or is not: the child makes it anew. */
TEST_WITH(test_keeping_memory, a_fork_waits_for_who_makes_the_common_pool)
{
    test_memory_fail_only(linger);
    test_thread *maker = test_thread_start(make_common, NULL);
    test_latch_wait(&making);
    test_thread *other = test_thread_start(let_go_on, NULL);
    assert_int_equal(test_in_child(use_common, NULL), 0);
    has_forked = true;
    test_thread_join(other);
    test_thread_join(maker);
    test_memory_fail_only(NULL);
}

/* -- What a child may ask ----------------------------------------------------------------- */

static void nothing_is_taken(rota_executor *pool)
{
    atomic_uint runs = 0;
    test_fib_task f = {ROTA_FJ(test_fib), 5, 0};
    rota_future *future = TEST_UNTOUCHED;

    test_check(rota_execute(pool, test_count, &runs) == ROTA_EREJECTED);
    test_check(rota_submit(pool, test_count, &runs, &future) == ROTA_EREJECTED);
    test_check(rota_invoke(pool, &f.task) == ROTA_EREJECTED);
    test_check(future == TEST_UNTOUCHED && f.value == 0);
}

static void it_has_ended(rota_executor *pool)
{
    rota_forkjoin_stats stats;
    rota_task_list list = {NULL, 77};
    char line[200];

    test_check(rota_executor_state_of(pool) == ROTA_TERMINATED);
    test_check(rota_forkjoin_stats_get(pool, &stats) == ROTA_ENOTSUP);
    test_check(rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK);
    test_check(rota_shutdown(pool) == ROTA_OK);
    test_check(rota_shutdown_now(pool, &list) == ROTA_OK && list.count == 0);
    test_check(rota_await_termination(pool, ROTA_HOURS(1)) == ROTA_OK);
    test_check(rota_executor_describe(pool, line, sizeof line) > 0);
}

static void new_pools_work(void)
{
    rota_executor *pool = test_forkjoin_of(2);
    test_fib_task f = {ROTA_FJ(test_fib), 15, 0}, g = {ROTA_FJ(test_fib), 12, 0};

    test_check(rota_invoke(pool, &f.task) == ROTA_OK);
    test_check(rota_invoke(rota_common_pool(), &g.task) == ROTA_OK);
    test_check(f.value == 610 && g.value == 144);
    test_check(rota_close(pool) == ROTA_OK);
}

static void be_the_child(void *pool)
{
    nothing_is_taken(pool);
    it_has_ended(pool);
    new_pools_work();
    test_check(rota_close(pool) == ROTA_OK);
}

/* -- Forks -------------------------------------------------------------------------------- */

TEST(a_child_of_an_idle_pool_finds_it_ended)
{
    rota_executor *pool = test_forkjoin_of(2);
    atomic_uint runs = 0;

    assert_int_equal(test_in_child(be_the_child, pool), 0);
    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    assert_int_equal(test_in_child(be_the_child, pool), 0);
    assert_ok(rota_close(pool));
}

/* FAULT-44 */
TEST(a_child_of_a_busy_pool_finds_it_ended_and_the_parent_goes_on)
{
    rota_executor *pool = test_forkjoin_of(1);
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 5; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_int_equal(test_in_child(be_the_child, pool), 0);
    assert_int_equal(test_fj_stats(pool).submissions, 5);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 5);
}

struct traffic {
    rota_executor *pool;
    atomic_bool over;
    atomic_uint rounds;
};

static void invoke_on_and_on(void *arg)
{
    struct traffic *traffic = arg;

    while (!atomic_load(&traffic->over)) {
        test_fib_task f = {ROTA_FJ(test_fib), 10, 0};
        test_check(rota_invoke(traffic->pool, &f.task) == ROTA_OK);
        atomic_fetch_add(&traffic->rounds, 1);
    }
}

/* Whatever lock was held at that moment. */
TEST(a_child_is_not_held_up_by_locks_that_others_held)
{
    struct traffic traffic = {.pool = test_forkjoin_of(2)};
    test_thread *thread = test_thread_start(invoke_on_and_on, &traffic);

    for (unsigned i = 0; i < 25; i++) {
        test_await_count(&traffic.rounds, i * 5);
        assert_int_equal(test_in_child(be_the_child, traffic.pool), 0);
    }
    atomic_store(&traffic.over, true);
    test_thread_join(thread);
    assert_ok(rota_close(traffic.pool));
}

/* -- Inside a task ------------------------------------------------------------------------ */

struct inside {
    rota_executor *pool;
    int status;
};

static void look_and_go_on(void *pool)
{
    test_fib_task f = {ROTA_FJ(test_fib), 12, 0};

    it_has_ended(pool);
    test_check(rota_join(&f.task) == ROTA_OK);
    test_check(f.value == 144);
    new_pools_work();
}

static void fork_inside(void *arg)
{
    struct inside *inside = arg;

    inside->status = test_in_child(look_and_go_on, inside->pool);
}

/* By a worker, and by a caller that takes part; the task's own forks still work. */
TEST(a_child_of_a_task_finds_the_pool_ended)
{
    struct inside inside = {.pool = test_forkjoin_of(2), .status = 77};

    test_fj_inside(inside.pool, fork_inside, &inside);
    assert_int_equal(inside.status, 0);
    inside.status = 77;
    test_fj_taking_part(inside.pool, fork_inside, &inside);
    assert_int_equal(inside.status, 0);
    assert_ok(rota_close(inside.pool));
}

/* In the child the task returns to a worker whose pool is not there. */
static void *fork_and_return(void *arg)
{
    struct inside *inside = arg;

    test_fork_and_return(&inside->status);
    return NULL;
}

/* It neither waits there for more, nor runs what the parent has queued. */
TEST(in_a_child_a_task_that_returns_ends_its_thread)
{
    struct inside inside = {.pool = test_forkjoin_of(1), .status = 77};
    atomic_uint *runs =
        mmap(NULL, sizeof *runs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    test_gate gate;

    assert_ptr_not_equal(runs, MAP_FAILED);
    test_gate_init(&gate);
    test_occupy(inside.pool, &gate, 1);
    assert_ok(rota_execute(inside.pool, fork_and_return, &inside));
    assert_ok(rota_execute(inside.pool, test_count, runs));
    test_gate_open(&gate);
    test_await_count(runs, 1);
    assert_int_equal(inside.status, 0);
    assert_ok(rota_close(inside.pool));
    assert_int_equal(*runs, 1);
    munmap(runs, sizeof *runs);
}

BEFORE_TESTS
{
    return TEST_FORKS_ARE_FOLLOWED;
}
