/* SPDX-License-Identifier: MIT */
/*
 * A task on the stack: when its join returns nobody touches it again, and its frame is another's.
 */
#include "forkjoin.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FRAMES = 50000 };
#else
enum { FRAMES = 200000 };
#endif

enum { WORDS = 16, SELDOM = 256 };

struct frame {
    rota_fj task; /* first */
    unsigned value;
};

static void add_one(rota_fj *task)
{
    ((struct frame *)task)->value++;
}

/* Something above it on the deque, so that it is the one that others steal. */
static void compute_for_a_while(void)
{
    test_fib_task fib = {ROTA_FJ(test_fib), 12, 0};

    rota_fork(&fib.task);
    test_check(rota_join(&fib.task) == ROTA_OK);
    test_check(fib.value == 144);
}

static __attribute__((noinline)) void fork_and_join(unsigned i)
{
    struct frame frame = {ROTA_FJ(add_one), i};

    rota_fork(&frame.task);
    if (i % SELDOM == 0)
        compute_for_a_while();
    test_check(rota_join(&frame.task) == ROTA_OK);
    test_check(frame.value == i + 1);
}

/* Where the task was. */
static __attribute__((noinline)) void use_the_frame(unsigned i)
{
    volatile unsigned words[WORDS];

    for (unsigned k = 0; k < WORDS; k++)
        words[k] = i + k;
    for (unsigned k = 0; k < WORDS; k++)
        test_check(words[k] == i + k);
}

/* OWN-16: more than a million in all pools. */
WORKER_TEST(the_frame_of_a_joined_task_is_free)
{
    for (unsigned i = 0; i < FRAMES; i++) {
        fork_and_join(i);
        use_the_frame(i);
    }
}
