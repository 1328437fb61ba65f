/* SPDX-License-Identifier: MIT */
/*
 * The library's own lock.
 */
#include "rota_test.h"

#include "base/mutex.h"

#include <sched.h>

enum { THREADS = 4, ROUNDS = 20000 };

struct shared {
    rota__mutex mutex; /* guards the rest */
    int inside;
    long entered;
};

static void enter_often(void *arg)
{
    struct shared *shared = arg;

    for (int i = 0; i < ROUNDS; i++) {
        rota__mutex_lock(&shared->mutex);
        test_check(shared->inside++ == 0);
        shared->entered++;
        if (i % 64 == 0)
            sched_yield(); /* so that others come and wait */
        shared->inside--;
        rota__mutex_unlock(&shared->mutex);
    }
}

/* One at a time, each sees what those before it did, and none is forgotten. */
TEST(one_thread_at_a_time_is_inside)
{
    struct shared shared = {0};
    test_thread *threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(enter_often, &shared);
    for (int i = 0; i < THREADS; i++)
        test_thread_join(threads[i]);
    assert_int_equal(shared.entered, (long)THREADS * ROUNDS);
    assert_int_equal(shared.mutex.word, ROTA__UNLOCKED);
}

static void enter_once(void *arg)
{
    struct shared *shared = arg;

    rota__mutex_lock(&shared->mutex);
    shared->entered++;
    rota__mutex_unlock(&shared->mutex);
}

static bool is_waited_for(void *arg)
{
    struct shared *shared = arg;

    return rota__load_acquire(&shared->mutex.word) == ROTA__CONTENDED;
}

/* All who wait get in, one after the other, though each unlock wakes only one. */
TEST(all_who_wait_get_in)
{
    struct shared shared = {0};
    test_thread *threads[THREADS];

    rota__mutex_lock(&shared.mutex);
    for (int i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(enter_once, &shared);
    test_until(is_waited_for, &shared);
    assert_int_equal(shared.entered, 0);
    rota__mutex_unlock(&shared.mutex);
    for (int i = 0; i < THREADS; i++)
        test_thread_join(threads[i]);
    assert_int_equal(shared.entered, THREADS);
    assert_int_equal(shared.mutex.word, ROTA__UNLOCKED);
}

/* Nobody waits: the word says so, and no wake is needed. */
TEST(without_others_it_is_locked_and_unlocked)
{
    rota__mutex mutex = {0};

    for (int i = 0; i < 3; i++) {
        rota__mutex_lock(&mutex);
        assert_int_equal(mutex.word, ROTA__LOCKED);
        rota__mutex_unlock(&mutex);
        assert_int_equal(mutex.word, ROTA__UNLOCKED);
    }
}

/* Who has the lock most of the time lets others have their turn. */
TEST(a_holder_passes_it_to_who_waits)
{
    struct shared shared = {0};

    rota__mutex_lock(&shared.mutex);
    test_thread *thread = test_thread_start(enter_once, &shared);
    test_until(is_waited_for, &shared);
    while (shared.entered == 0)
        rota__mutex_yield(&shared.mutex);
    rota__mutex_yield(&shared.mutex); /* with nobody there */
    assert_int_equal(shared.mutex.word, ROTA__LOCKED);
    rota__mutex_unlock(&shared.mutex);
    test_thread_join(thread);
}
