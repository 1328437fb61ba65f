/* SPDX-License-Identifier: MIT */
/*
 * What the library knows of a thread: who it is, where it is, and when it may end.
 */
#define _GNU_SOURCE
#include "rota_test_internal.h"

#include "base/wait.h"
#include "os/fault.h"

#include <errno.h>
#include <sched.h>

static int refuse_nothing(void **state)
{
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    return 0;
}

TEST_FIXTURE(.teardown = refuse_nothing);

/* -- Who it is ---------------------------------------------------------------------------- */

static void note_self(void *arg)
{
    rota_thread **self = arg;

    *self = rota_thread_self();
    test_check(*self != NULL);
    test_check(rota_thread_self() == *self);
}

/* A thread is always the same, and no other. */
TEST(a_thread_is_itself)
{
    rota_thread *mine = rota_thread_self();
    rota_thread *other = NULL;
    test_thread *thread = test_thread_start(note_self, &other);

    rota_thread *handle = test_thread_handle(thread);
    test_thread_join(thread);
    assert_non_null(mine);
    assert_ptr_equal(rota_thread_self(), mine);
    assert_ptr_equal(other, handle);
    assert_ptr_not_equal(other, mine);
}

/* The system is asked once for each thread, not at each call. */
TEST(a_thread_is_watched_once)
{
    assert_non_null(rota_thread_self());
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    for (int i = 0; i < 10; i++) {
        rota_thread_self();
        rota_is_interrupted();
        assert_ok(rota_sleep(0));
    }
    assert_int_equal(rota__fault_count(ROTA__FAULT_THREAD_EXIT), 0);
}

/* -- When its end cannot be watched for --------------------------------------------------- */

static void live_unwatched(void *arg)
{
    rota__waiter waiter;
    rota__execution execution;

    (void)arg;
    test_check(rota_thread_self() == NULL);
    test_check(rota__waiter_begin_uninterruptible(&waiter) == ROTA_ENOMEM);

    /* What needs nobody else works all the same. */
    test_check(rota_sleep(ROTA_US(100)) == ROTA_OK);
    test_check(!rota_interrupted());
    rota__execution_begin(&execution, &waiter, NULL);
    test_check(rota__is_executing(&waiter));
    rota__interrupt_execution(&execution);
    test_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    rota__execution_end(&execution);

    /* It is tried anew each time. */
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    test_check(rota_thread_self() != NULL);
    test_check(rota__waiter_begin_uninterruptible(&waiter) == ROTA_OK);
    rota__waiter_cancel(&waiter);
}

/* GEN-10: NULL and ROTA_ENOMEM then, and as ever once there is memory again. */
TEST(a_thread_that_cannot_be_watched_has_no_handle)
{
    assert_non_null(rota_thread_self());
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread *thread = test_thread_start(live_unwatched, NULL);
    assert_null(test_thread_handle(thread));
    test_thread_join(thread);
}

/* -- Its end ------------------------------------------------------------------------------ */

static void *hold_and_end(void *arg)
{
    _Atomic(rota_thread *) *held = arg;
    rota_thread *self = rota_thread_self();

    rota__thread_hold(self);
    atomic_store(held, self);
    return NULL;
}

/* thread.T3: a thread that is held does not exit before it is released, however long that takes. */
TEST(a_thread_that_is_held_does_not_exit)
{
    _Atomic(rota_thread *) held = NULL;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, hold_and_end, &held), 0);
    while (atomic_load(&held) == NULL)
        sched_yield();
    for (int i = 0; i < 2000; i++) { /* enough for it to come to its end */
        assert_int_equal(pthread_tryjoin_np(thread, NULL), EBUSY);
        sched_yield();
    }
    rota__unpark(held); /* which touches it, as a waker does */
    rota__thread_release(held);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static pthread_key_t key;

static void use_the_library(void *arg)
{
    uint8_t slab_offset;
    void *block = rota__block_get(&rota__self()->magazines, 64, &slab_offset);

    (void)arg;
    test_check(block != NULL);
    test_check(rota_thread_self() != NULL);
    rota__block_put(&rota__self()->magazines, block, 64, slab_offset);
}

static void *set_destructor(void *arg)
{
    test_check(rota_thread_self() != NULL);
    test_check(pthread_setspecific(key, arg) == 0);
    return NULL;
}

/*
 * FAULT-14: a destructor of the user's that runs after ours may use the library; nothing is lost.
 */
TEST(destructors_may_use_the_library)
{
    pthread_t thread;

    assert_non_null(rota_thread_self()); /* so that our key is the older one */
    assert_int_equal(pthread_key_create(&key, use_the_library), 0);
    assert_int_equal(pthread_create(&thread, NULL, set_destructor, &key), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_key_delete(key), 0);
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), 0);
}

/* -- Where it is -------------------------------------------------------------------------- */

static void look_elsewhere(void *arg)
{
    test_check(!rota__is_inside(arg));
    test_check(!rota__is_executing(arg));
}

/* A thread knows the places it is in, at any depth; another is not there because of that. */
TEST(a_thread_knows_where_it_is)
{
    rota__inside outer, inner;
    int house = 1;
    int room = 2;

    assert_false(rota__is_inside(&house));
    rota__inside_enter(&outer, &house);
    assert_true(rota__is_inside(&house));
    assert_false(rota__is_inside(&room));
    rota__inside_enter(&inner, &room);
    assert_true(rota__is_inside(&house));
    assert_true(rota__is_inside(&room));
    test_thread_join(test_thread_start(look_elsewhere, &house));
    rota__inside_leave(&inner);
    assert_true(rota__is_inside(&house));
    assert_false(rota__is_inside(&room));
    rota__inside_leave(&outer);
    assert_false(rota__is_inside(&house));
}
