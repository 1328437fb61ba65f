/* SPDX-License-Identifier: MIT */
/*
 * The help that tests rely on: if it did not notice a mistake, nobody would.
 */
#define _POSIX_C_SOURCE 200809L
#include "pools.h"
#include "rota_test_internal.h"

#include "base/alloc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* -- Memory ------------------------------------------------------------------------------- */

static void free_with_another_size(void *arg)
{
    (void)arg;
    rota__free(rota__alloc(16), 15);
}

static void free_twice(void *arg)
{
    void *block = rota__alloc(16);

    (void)arg;
    rota__free(block, 16);
    rota__free(block, 16);
}

/* A block that comes back with another size, or twice, ends the process. */
TEST(mistakes_with_memory_are_noticed)
{
    assert_int_equal(test_in_child(free_with_another_size, NULL), -SIGABRT);
    assert_int_not_equal(test_in_child(free_twice, NULL), 0); /* sanitizers have their own way */
}

/* Blocks in use are counted. */
TEST(live_blocks_are_counted)
{
    size_t before = test_memory_live();
    void *first = rota__alloc(1);
    void *second = rota__alloc(0);

    assert_non_null(second);
    assert_int_equal(test_memory_live(), before + 2);
    rota__free(first, 1);
    rota__free(second, 0);
    assert_int_equal(test_memory_live(), before);
}

/* Which of the next four allocations fail, the first as the lowest bit. */
static unsigned failing(void)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < 4; i++) {
        void *block = rota__alloc(8);
        bits |= block == NULL ? 1U << i : 0;
        rota__free(block, 8);
    }
    return bits;
}

/* The allocation that was chosen fails, or all from it on. */
TEST(allocations_fail_on_demand)
{
    assert_int_equal(failing(), 0);
    test_memory_fail_at(3, false);
    assert_int_equal(failing(), 4);
    assert_int_equal(test_memory_asked(), 4);
    test_memory_fail_at(3, true);
    assert_int_equal(failing(), 4 | 8);
    test_memory_fail_at(0, true);
    assert_int_equal(test_memory_asked(), 0);
    assert_int_equal(failing(), 0);
}

/* Something made of three blocks. */
struct made {
    void *blocks[3];
    bool leaks;   /* on failure */
    bool ignores; /* that the last is missing */
    unsigned attempts;
};

static void unmake(void *arg)
{
    struct made *made = arg;

    for (int i = 0; i < 3; i++) {
        rota__free(made->blocks[i], 8);
        made->blocks[i] = NULL;
    }
}

static int make(void *arg)
{
    struct made *made = arg;

    made->attempts++;
    for (int i = 0; i < 3; i++) {
        made->blocks[i] = rota__alloc(8);
        if (made->blocks[i] == NULL && !(made->ignores && i == 2)) {
            if (!made->leaks)
                unmake(made);
            return ROTA_ENOMEM;
        }
    }
    return ROTA_OK;
}

/* Each of the three allocations fails once, then none. */
TEST(every_allocation_is_tried)
{
    struct made made = {0};

    test_every_allocation_fails(make, unmake, &made, ROTA_ENOMEM);
    assert_int_equal(made.attempts, 4);
    assert_int_equal(test_memory_live(), 0);
}

static void try_every_allocation(void *arg)
{
    test_every_allocation_fails(make, unmake, arg, ROTA_ENOMEM);
}

/* A leak, and a failure that is kept secret, are noticed. */
TEST(mistakes_after_failures_are_noticed)
{
    struct made leaking = {.leaks = true};
    struct made ignoring = {.ignores = true};

    assert_int_equal(test_in_child(try_every_allocation, &leaking), -SIGABRT);
    assert_int_equal(test_in_child(try_every_allocation, &ignoring), -SIGABRT);
}

/* -- Tests -------------------------------------------------------------------------------- */

static const test_fixture no_fixture;
static test_gate gate;
static atomic_uint runs;

static void run_quietly(void *list)
{
    test_check(freopen("/dev/null", "w", stdout) != NULL);
    unsetenv("CMOCKA_TEST_ABORT"); /* which test_in_child has set */
    test_seconds_to_free = 0;
    _exit(test_run_list(list));
}

/* Runs `first` and `second` as the tests of a program: how many failed. */
static int failures_of(void (*first)(void **state), void (*second)(void **state),
                       const test_fixture *fixture)
{
    test_case last = {.name = "second", .run = second, .fixture = fixture};
    test_case list = {.name = "first", .run = first, .fixture = fixture, .next = &last};

    return test_in_child(run_quietly, &list);
}

static void do_nothing(void **state)
{
}

static void leak(void **state)
{
    assert_non_null(rota__alloc(16));
}

/* A test that leaves a block in use fails, unless its fixture allows it; the next one does not. */
TEST(a_test_that_leaves_memory_fails)
{
    assert_int_equal(failures_of(do_nothing, do_nothing, &no_fixture), 0);
    assert_int_equal(failures_of(leak, do_nothing, &no_fixture), 1);
    assert_int_equal(failures_of(leak, leak, &no_fixture), 2);
    assert_int_equal(failures_of(leak, leak, &test_keeping_memory), 0);
}

static bool add_one(rota_executor *ex, void *count)
{
    ++*(unsigned *)count;
    return true;
}

static void find_no_executor(void **state)
{
    unsigned count = 0;

    assert_ok(rota_executors_visit(add_one, &count));
    assert_int_equal(count, 0);
}

static void leave_pools(void **state)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_executor *forkjoin;

    assert_ok(rota_work_stealing_pool(1, &forkjoin));
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    test_occupy(sched, &gate, 1);
    test_occupy(forkjoin, &gate, 1);
    for (int i = 0; i < 9; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
}

static void find_all_ended(void **state)
{
    find_no_executor(state);
    assert_int_equal(gate.ended, 3);
    assert_int_equal(runs, 9);
}

/* The end of a test opens gates and closes pools, which run what is queued. */
TEST(pools_that_a_test_leaves_are_closed)
{
    assert_int_equal(failures_of(leave_pools, find_all_ended, &no_fixture), 0);
}

static void fail_at_work(void **state)
{
    test_gate here; /* on the stack, to which nobody returns */
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});

    test_gate_init(&here);
    test_occupy(pool, &here, 2);
    assert_ok(rota_execute(pool, test_count, &runs));
    test_memory_fail_at(1, true);
    fail();
}

/* What a test that failed has left does not hold up the others. */
TEST(a_test_that_fails_at_work_leaves_the_others_alone)
{
    assert_int_equal(failures_of(fail_at_work, find_no_executor, &no_fixture), 1);
}
