/* SPDX-License-Identifier: MIT */
/*
 * Parking under load: no unpark, wake or interrupt is lost, none is seen twice, and nobody touches
 * a thread that has ended.
 */
#define _GNU_SOURCE
#include "rota_test_internal.h"

#include "base/mutex.h"
#include "base/time.h"
#include "base/wait.h"

#include <sched.h>
#include <sys/mman.h>

/* -- Two threads in turn ------------------------------------------------------------------ */

enum { TURNS = 100000 };

struct players {
    rota_thread *threads[2];
    test_barrier start;
    atomic_int turn;
    int moves; /* plain: whose turn it is writes it */
};

static void play(struct players *players, int me)
{
    players->threads[me] = rota_thread_self();
    test_barrier_wait(&players->start);
    for (int i = 0; i < TURNS / 2; i++) {
        while (atomic_load_explicit(&players->turn, memory_order_acquire) != me)
            rota__park(players->threads[me], ROTA_FOREVER);
        players->moves++;
        atomic_store_explicit(&players->turn, 1 - me, memory_order_release);
        rota__unpark(players->threads[1 - me]);
    }
    test_barrier_wait(&players->start); /* neither ends while the other may unpark it */
}

static void play_second(void *arg)
{
    play(arg, 1);
}

/* wait.K1: an unpark is never lost, before, during or after the park. */
TEST(no_unpark_is_lost)
{
    struct players players = {0};

    test_barrier_init(&players.start, 2);
    test_thread *other = test_thread_start(play_second, &players);
    play(&players, 0);
    test_thread_join(other);
    assert_int_equal(players.moves, TURNS);
}

/* -- Interrupts --------------------------------------------------------------------------- */

enum { INTERRUPTS = 20000 };

struct target {
    rota__execution execution;
    atomic_int begun; /* executions so far */
    atomic_int sent;  /* interrupts so far */
};

static void await(atomic_int *number, int value)
{
    while (atomic_load(number) != value)
        sched_yield();
}

static void sleep_and_count(void *arg)
{
    struct target *target = arg;

    for (int i = 0; i < INTERRUPTS; i++) {
        rota__execution_begin(&target->execution, NULL, NULL);
        atomic_store(&target->begun, i + 1);
        test_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
        test_check(!rota_is_interrupted());
        await(&target->sent, i + 1); /* it must last until then */
        rota__execution_end(&target->execution);
    }
}

/* thread.T2, INT-12: every interrupt, of the thread or of what it executes, ends exactly one sleep. */
TEST(no_interrupt_is_slept_through)
{
    struct target target = {0};
    test_thread *thread = test_thread_start(sleep_and_count, &target);
    rota_thread *handle = test_thread_handle(thread);

    for (int i = 0; i < INTERRUPTS; i++) {
        await(&target.begun, i + 1);
        if (i % 2 == 0)
            rota__interrupt_execution(&target.execution);
        else
            rota_thread_interrupt(handle);
        atomic_store(&target.sent, i + 1);
    }
    test_thread_join(thread);
}

/* -- Wake, timeout and interrupt at once -------------------------------------------------- */

enum { WAITERS = 2, ROUNDS = TEST_IS_SLOW ? 5000 : 20000 };

/* What a waiter may be found in: a list with room for one. */
struct place {
    rota__mutex mutex;    /* guards the next */
    rota__waiter *waiter; /* published, not yet ended by anybody (wait.K2) */
    unsigned tokens;      /* plain: handed over by the wake */
    long woken, timed_out, interrupted;
    long wakes; /* the waker's own */
};

static struct place places[WAITERS];
static atomic_int running;
static test_latch no_more_interrupts = TEST_LATCH(1);

static _Thread_local struct place *own_place;

static bool withdraw(rota__waiter *waiter, int why)
{
    struct place *place = own_place;

    test_check(why == ROTA_ETIMEDOUT || why == ROTA_EINTERRUPTED);
    rota__mutex_lock(&place->mutex);
    bool mine = place->waiter == waiter;
    if (mine)
        place->waiter = NULL;
    rota__mutex_unlock(&place->mutex);
    return mine;
}

static void wait_once(struct place *place, rota_ns deadline)
{
    rota__waiter waiter;

    test_check(rota__waiter_begin_uninterruptible(&waiter) == ROTA_OK);
    rota__mutex_lock(&place->mutex);
    place->waiter = &waiter;
    rota__mutex_unlock(&place->mutex);

    own_place = place;
    int status = rota__waiter_wait(&waiter, deadline, withdraw);
    if (status == ROTA_ETIMEDOUT) {
        test_check(rota_now() >= deadline);
        place->timed_out++;
    } else if (status == ROTA_EINTERRUPTED) {
        place->interrupted++;
    } else {
        test_check(status == ROTA_OK && place->tokens == 1);
        place->tokens = 0;
        place->woken++;
    }
}

static void wait_often(void *arg)
{
    struct place *place = arg;
    test_random random;

    test_random_init(&random);
    random.state += (uint64_t)(place - places);
    for (int i = 0; i < ROUNDS; i++) {
        size_t kind = test_random_below(&random, 4);
        rota_ns patience = (rota_ns)test_random_below(&random, ROTA_US(30));
        wait_once(place, kind == 0 ? ROTA_FOREVER : rota__deadline(patience));
    }
    atomic_fetch_sub(&running, 1);
    test_latch_wait(&no_more_interrupts); /* which must find a thread */
}

static void wake_often(void *arg)
{
    (void)arg;
    for (unsigned i = 0; atomic_load(&running) > 0; i++) {
        struct place *place = &places[i % WAITERS];
        rota__mutex_lock(&place->mutex);
        rota__waiter *waiter = place->waiter;
        place->waiter = NULL;
        rota__mutex_unlock(&place->mutex);
        if (waiter != NULL) {
            place->tokens = 1;
            place->wakes++;
            rota__waiter_wake(waiter);
        }
        for (unsigned pause = i % 7; pause > 0; pause--)
            sched_yield();
    }
}

/* wait.K2, INT-06: whatever comes first, each wait has one end, and each wake finds its waiter. */
TEST(every_wait_has_one_end)
{
    test_thread *waiters[WAITERS];

    atomic_store(&running, WAITERS);
    test_thread *waker = test_thread_start(wake_often, NULL);
    for (int i = 0; i < WAITERS; i++)
        waiters[i] = test_thread_start(wait_often, &places[i]);
    for (unsigned i = 0; i < ROUNDS && atomic_load(&running) == WAITERS; i++) {
        rota_thread_interrupt(test_thread_handle(waiters[i % WAITERS]));
        for (unsigned pause = i % 5; pause > 0; pause--)
            sched_yield();
    }
    test_latch_open(&no_more_interrupts);
    for (int i = 0; i < WAITERS; i++)
        test_thread_join(waiters[i]);
    test_thread_join(waker);
    for (int i = 0; i < WAITERS; i++) {
        const struct place *place = &places[i];
        print_message("woken %ld, timed out %ld, interrupted %ld\n", place->woken, place->timed_out,
                      place->interrupted);
        assert_int_equal(place->woken + place->timed_out + place->interrupted, ROUNDS);
        assert_int_equal(place->woken, place->wakes);
        assert_null(place->waiter);
    }
}

/* -- Threads that end at once ------------------------------------------------------------- */

enum { LIVES = 20000, STACK = 1 << 21 };

static _Atomic(rota__waiter *) published;

static void *wait_and_end(void *arg)
{
    rota__waiter waiter;

    (void)arg;
    test_check(rota__waiter_begin_uninterruptible(&waiter) == ROTA_OK);
    atomic_store(&published, &waiter);
    test_check(rota__waiter_wait_idle(&waiter, ROTA_FOREVER) == ROTA_OK);
    return NULL;
}

static void wake_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < LIVES; i++) {
        rota__waiter *waiter;
        while ((waiter = atomic_exchange(&published, NULL)) == NULL)
            sched_yield();
        rota__waiter_wake(waiter);
    }
}

/*
 * wait.K3, thread.T3: a thread ends as soon as it is woken, and its memory, with all that the
 * library knows of it, is unmapped: a waker that touched it after that would crash.
 */
TEST(nobody_touches_a_thread_that_has_ended)
{
    test_thread *waker = test_thread_start(wake_all, NULL);
    pthread_attr_t attributes;

    assert_int_equal(pthread_attr_init(&attributes), 0);
    for (int i = 0; i < LIVES; i++) {
        pthread_t thread;
        void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(stack != MAP_FAILED);
        assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
        assert_int_equal(pthread_create(&thread, &attributes, wait_and_end, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(munmap(stack, STACK), 0);
    }
    pthread_attr_destroy(&attributes);
    test_thread_join(waker);
}
