/* SPDX-License-Identifier: MIT */
/*
 * The help that tests rely on: if it did not notice a mistake, nobody would.
 */
#include "rota_test_internal.h"

#include "base/alloc.h"

#include <signal.h>

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
