/* SPDX-License-Identifier: MIT */
/*
 * posix.c - os.h on any POSIX system, without a futex.
 *
 * Words hash to buckets of a mutex and a condition variable each. A wake
 * wakes the whole bucket: others in it wake for no reason, which is allowed.
 *
 *   posix.P1  A waiter compares the word while it holds the bucket's mutex, and a waker changes the
 *             word before it takes that mutex. So the waiter sees the change, or is asleep by the
 *             time the waker broadcasts.
 */
#define _GNU_SOURCE /* for the names of threads; the rest is POSIX */
#include "os/os.h"

#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* -- Waiting on a word ---------------------------------------------------- */

enum { BUCKETS = 64 };

static struct bucket {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* waits on the monotonic clock */
} buckets[BUCKETS];

static void init_buckets(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    for (int i = 0; i < BUCKETS; i++) {
        pthread_mutex_init(&buckets[i].mutex, NULL);
        pthread_cond_init(&buckets[i].changed, &attributes);
    }
    pthread_condattr_destroy(&attributes);
}

static struct bucket *bucket_of(const rota__os_word *word)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, init_buckets);
    return &buckets[((uintptr_t)word >> 4) % BUCKETS];
}

void rota__os_wait(rota__os_word *word, uint32_t expected, rota_ns deadline)
{
    struct bucket *bucket = bucket_of(word);
    rota_ns until_ns = rota__fault_until(deadline < 0 ? 0 : deadline);
    struct timespec until = {.tv_sec = (time_t)(until_ns / ROTA_SEC(1)),
                             .tv_nsec = (long)(until_ns % ROTA_SEC(1))};
    int cancel_state;

    if (rota__fault(ROTA__FAULT_WAIT))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&bucket->mutex);
    if (atomic_load(word) == expected) { /* posix.P1 */
        if (deadline == ROTA_FOREVER)
            pthread_cond_wait(&bucket->changed, &bucket->mutex);
        else
            pthread_cond_timedwait(&bucket->changed, &bucket->mutex, &until);
    }
    pthread_mutex_unlock(&bucket->mutex);
    pthread_setcancelstate(cancel_state, NULL);
}

void rota__os_wake(rota__os_word *word)
{
    struct bucket *bucket = bucket_of(word);

    rota__fault_wake();
    pthread_mutex_lock(&bucket->mutex); /* posix.P1 */
    pthread_cond_broadcast(&bucket->changed);
    pthread_mutex_unlock(&bucket->mutex);
}

void rota__os_reset_after_fork(void)
{
    rota__os_process++;
    init_buckets();
}

/* -- Time and CPUs -------------------------------------------------------- */

rota_ns rota__os_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return rota__fault_now((rota_ns)now.tv_sec * ROTA_SEC(1) + now.tv_nsec);
}

bool rota__os_membarrier(void)
{
    return false; /* there is no such call */
}

void rota__os_reduce_timer_slack(void)
{
    /* they are, or nothing can be done about it */
}

unsigned rota__os_cpu_count(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (unsigned)online : 1;
}

void rota__os_set_affinity(unsigned cpu)
{
    (void)cpu; /* POSIX has no way */
}

void rota__os_set_thread_name(const char *name)
{
    char cut[ROTA__OS_NAME_SIZE] = {0};

    memcpy(cut, name, strnlen(name, sizeof cut - 1));
#ifdef __APPLE__
    pthread_setname_np(cut);
#else
    pthread_setname_np(pthread_self(), cut);
#endif
}

long rota__os_thread_id(void)
{
    return 0;
}

void rota__os_get_thread_name(char *name)
{
    if (pthread_getname_np(pthread_self(), name, ROTA__OS_NAME_SIZE) != 0)
        name[0] = '\0';
}

unsigned rota__os_thread_count(void)
{
    return 0;
}

/* -- A descriptor that turns readable ------------------------------------- */

static void set_flags(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
}

int rota__os_event_open(rota__os_event *event)
{
    int saved_errno = errno;
    int ends[2];
    bool opened = !rota__fault(ROTA__FAULT_EVENT) && pipe(ends) == 0;

    errno = saved_errno;
    if (!opened)
        return ROTA_EAGAIN;
    set_flags(ends[0]);
    set_flags(ends[1]);
    *event = (rota__os_event){ends[0], ends[1], rota__os_process};
    return ROTA_OK;
}
