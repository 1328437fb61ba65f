/* SPDX-License-Identifier: MIT */
/*
 * clock.c - time that passes only when a test says so.
 *
 *   clock.V1  A wait is registered, under the mutex, before its thread sleeps and only if its
 *             deadline has not come; it leaves when the thread goes on.
 *   clock.V2  Who advances the time wakes all whose deadline has come, again and again until they
 *             have left: one that has looked at the time but does not sleep yet misses the first
 *             wake, not the last.
 *
 * The word itself stays as it is, so that those who wake by changing it do so
 * as ever, with rota__os_wake. A wake for no reason does not show, so that the
 * number of those who wait is steady.
 */
#include "rota_test_internal.h"

#include "base/time.h"

#include <sched.h>

struct timed_wait {
    rota__os_word *word;
    rota_ns deadline;
    struct timed_wait *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the rest */
static struct timed_wait *waits;
static size_t waiting;
static rota_ns now;

static bool enter(struct timed_wait *wait)
{
    pthread_mutex_lock(&mutex);
    bool entered = wait->deadline > now; /* clock.V1 */
    if (entered) {
        wait->next = waits;
        waits = wait;
        waiting++;
    }
    pthread_mutex_unlock(&mutex);
    return entered;
}

static void leave(struct timed_wait *wait)
{
    struct timed_wait **at = &waits;

    pthread_mutex_lock(&mutex);
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    waiting--;
    pthread_mutex_unlock(&mutex);
}

rota_ns test_clock_now(void)
{
    pthread_mutex_lock(&mutex);
    rota_ns time = now;
    pthread_mutex_unlock(&mutex);
    return time;
}

static void virtual_wait(rota__os_word *word, uint32_t expected, rota_ns deadline)
{
    struct timed_wait wait = {word, deadline, NULL};

    if (deadline == ROTA_FOREVER) {
        rota__os_wait(word, expected, ROTA_FOREVER);
        return;
    }
    if (!enter(&wait))
        return;
    while (atomic_load(word) == expected && test_clock_now() < deadline)
        rota__os_wait(word, expected, ROTA_FOREVER); /* clock.V2 */
    leave(&wait);
}

/* Is anybody left whose deadline has come? */
static bool wake_the_due(void)
{
    bool any = false;

    pthread_mutex_lock(&mutex);
    for (struct timed_wait *wait = waits; wait != NULL; wait = wait->next) {
        if (wait->deadline <= now) {
            rota__os_wake(wait->word);
            any = true;
        }
    }
    pthread_mutex_unlock(&mutex);
    return any;
}

void test_clock_advance(rota_ns duration)
{
    pthread_mutex_lock(&mutex);
    now = rota__time_add(now, duration);
    pthread_mutex_unlock(&mutex);
    while (wake_the_due()) /* clock.V2 */
        sched_yield();
}

size_t test_clock_waiting(void)
{
    pthread_mutex_lock(&mutex);
    size_t count = waiting;
    pthread_mutex_unlock(&mutex);
    return count;
}

static bool has_so_many_waiting(void *arg)
{
    return test_clock_waiting() == *(size_t *)arg;
}

void test_clock_await_waiting(size_t count)
{
    test_until(has_so_many_waiting, &count);
}

void test_clock_install(void)
{
    static const rota__clock clock = {test_clock_now, virtual_wait};

    now = ROTA_HOURS(1000);
    rota__clock_replace(&clock);
}

void test_clock_remove(void)
{
    rota__clock_replace(NULL);
}
