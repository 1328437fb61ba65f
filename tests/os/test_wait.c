/* SPDX-License-Identifier: MIT */
/*
 * Waiting on a word, and waking whoever waits. A wait may end for no reason, so what is tested is
 * that it ends when it must, and that it is able to last.
 */
#define _GNU_SOURCE
#include "rota_test.h"

#include "os/os.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

/* A word that has changed is not waited for. */
TEST(a_word_that_differs_is_not_waited_for)
{
    rota__os_word word = 7;

    rota__os_wait(&word, 6, ROTA_FOREVER);
    rota__os_wait(&word, 0, rota__os_now() + ROTA_HOURS(1));
    assert_int_equal(word, 7);
}

/* GEN-04: nor is there a wait until a time that has passed, however long ago. */
TEST(a_deadline_that_has_passed_is_not_waited_for)
{
    rota__os_word word = 7;

    rota__os_wait(&word, 7, INT64_MIN);
    rota__os_wait(&word, 7, -1);
    rota__os_wait(&word, 7, 0);
    assert_int_equal(word, 7);
}

/* -- Waking ------------------------------------------------------------------------------- */

struct turns {
    rota__os_word whose; /* 0 or 1 */
    unsigned played;     /* by whoever's turn it is */
};

enum { ROUNDS = 10000 };

static void play(struct turns *turns, uint32_t me)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load(&turns->whose) != me)
            rota__os_wait(&turns->whose, 1 - me, ROTA_FOREVER);
        turns->played++;
        atomic_store(&turns->whose, 1 - me);
        rota__os_wake(&turns->whose);
    }
}

static void play_second(void *arg)
{
    play(arg, 1);
}

/* Whoever changes the word and wakes is never missed, whenever the other goes to sleep. */
TEST(a_change_and_a_wake_are_never_missed)
{
    struct turns turns = {0};
    test_thread *other = test_thread_start(play_second, &turns);

    play(&turns, 0);
    test_thread_join(other);
    assert_int_equal(turns.played, 2 * ROUNDS);
}

struct sleeper {
    rota__os_word word;
    rota_ns deadline;
    atomic_bool awake;
};

static void sleep_once(void *arg)
{
    struct sleeper *sleeper = arg;

    rota__os_wait(&sleeper->word, 0, sleeper->deadline);
    atomic_store(&sleeper->awake, true);
}

/* A wake ends a wait also if the word stays as it is; so does one for a deadline out of reach. */
TEST(a_wake_alone_ends_a_wait)
{
    const rota_ns deadlines[] = {ROTA_FOREVER, ROTA_FOREVER - 1, ROTA_HOURS(24 * 365 * 200)};

    for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++) {
        struct sleeper sleeper = {.deadline = deadlines[i]};
        test_thread *thread = test_thread_start(sleep_once, &sleeper);

        while (!atomic_load(&sleeper.awake)) {
            rota__os_wake(&sleeper.word);
            sched_yield();
        }
        test_thread_join(thread);
    }
}

/* Only the address counts: whoever was to be woken may have left, and its memory with it. */
TEST(a_word_that_is_gone_can_be_woken)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(page != MAP_FAILED);
    assert_int_equal(munmap(page, 4096), 0);
    errno = EDOM;
    rota__os_wake(page);
    assert_int_equal(errno, EDOM);
}

/* -- Time --------------------------------------------------------------------------------- */

static bool lasts(rota_ns duration)
{
    rota__os_word word = 0;
    rota_ns deadline = rota__os_now() + duration;

    rota__os_wait(&word, 0, deadline);
    return rota__os_now() >= deadline;
}

/* GEN-06: nobody wakes it, so it lasts until its deadline; once in ten it may end for no reason. */
TEST(a_wait_lasts_until_its_deadline)
{
    int lasted = 0;

    for (int i = 0; i < 10; i++)
        lasted += lasts(ROTA_MS(2));
    assert_true(lasted >= 9);
}

/* GEN-04: a deadline that has passed, however long ago, is not waited for. */
TEST(a_past_deadline_is_not_waited_for)
{
    const rota_ns deadlines[] = {INT64_MIN, INT64_MIN + 1,     -ROTA_SEC(1), -1, 0,
                                 1,         rota__os_now() - 1};
    rota__os_word word = 0;

    for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++)
        rota__os_wait(&word, 0, deadlines[i]);
    assert_int_equal(word, 0);
}

/* GEN-05 */
TEST(time_never_goes_back)
{
    rota_ns before = rota__os_now();

    assert_true(before > 0);
    for (int i = 0; i < 10000; i++) {
        rota_ns now = rota__os_now();
        assert_true(now >= before);
        before = now;
    }
}

/* A library leaves errno as it was. */
TEST(waits_and_wakes_leave_errno)
{
    rota__os_word word = 0;

    errno = EDOM;
    rota__os_wait(&word, 1, ROTA_FOREVER);
    rota__os_wait(&word, 0, rota__os_now() + ROTA_US(10));
    rota__os_wake(&word);
    rota__os_yield();
    assert_int_equal(errno, EDOM);
}

/* -- Cancellation of threads -------------------------------------------------------------- */

struct cancelled {
    rota__os_word word;
    atomic_bool returned;
};

static void *wait_with_cancel_pending(void *arg)
{
    struct cancelled *cancelled = arg;

    pthread_cancel(pthread_self());
    rota__os_wait(&cancelled->word, 0, rota__os_now() + ROTA_MS(1));
    atomic_store(&cancelled->returned, true);
    pthread_testcancel();
    return NULL;
}

/* GEN-14: a thread is not cancelled while others have it in their lists, or with a lock held. */
TEST(a_wait_is_no_cancellation_point)
{
    struct cancelled cancelled = {0};
    void *result = NULL;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, wait_with_cancel_pending, &cancelled), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(atomic_load(&cancelled.returned));
    assert_ptr_equal(result, PTHREAD_CANCELED);
}
