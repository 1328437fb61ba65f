/* SPDX-License-Identifier: MIT */
/*
 * linux.c - os.h on Linux: futex, eventfd, affinity and control groups.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include "os/fault.h"
#include "os/linux_cgroup.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* -- Waiting on a word ---------------------------------------------------- */

static struct timespec to_timespec(rota_ns ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / ROTA_SEC(1)),
                             .tv_nsec = (long)(ns % ROTA_SEC(1))};
}

/* An error counts as a wake-up for no reason, which callers expect. */
void rota__os_wait(rota__os_word *word, uint32_t expected, rota_ns deadline)
{
    struct timespec until = to_timespec(rota__fault_until(deadline));
    int saved_errno = errno;

    if (rota__fault(ROTA__FAULT_WAIT))
        return;
    /* Only the bitset form has an absolute time-out on the monotonic clock. */
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
            deadline == ROTA_FOREVER ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
    errno = saved_errno;
}

void rota__os_wake(rota__os_word *word)
{
    int saved_errno = errno;

    rota__fault_wake();
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    errno = saved_errno; /* EFAULT: the waiter's memory is gone, and so is the waiter */
}

void rota__os_reset_after_fork(void)
{
    rota__os_process++; /* only the kernel has a list of waiting threads */
}

/* -- Time and CPUs -------------------------------------------------------- */

rota_ns rota__os_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return rota__fault_now((rota_ns)now.tv_sec * ROTA_SEC(1) + now.tv_nsec);
}

/* Returns on how many CPUs this thread may run, or 0 if the kernel does not say. */
static unsigned affinity_cpus(void)
{
    /* The kernel refuses a set smaller than its own; 64 Ki CPUs are enough. */
    unsigned long set[65536 / (CHAR_BIT * sizeof(unsigned long))] = {0};
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    unsigned count = 0;

    for (size_t i = 0; bytes > 0 && i < (size_t)bytes / sizeof set[0]; i++)
        count += (unsigned)__builtin_popcountl(set[i]);
    return count;
}

#ifndef __has_feature
#define __has_feature(x) 0 /* clang defines it */
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer) || !defined(SYS_membarrier)
bool rota__os_membarrier(void)
{
    return false; /* the sanitizer does not know this barrier */
}
#else
bool rota__os_membarrier(void)
{
    enum { PRIVATE_EXPEDITED = 1 << 3, REGISTER_PRIVATE_EXPEDITED = 1 << 4 };
    int saved_errno = errno;
    bool is_done = syscall(SYS_membarrier, PRIVATE_EXPEDITED, 0, 0) == 0;

    if (!is_done && errno == EPERM
        && syscall(SYS_membarrier, REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
        is_done = syscall(SYS_membarrier, PRIVATE_EXPEDITED, 0, 0) == 0;
    errno = saved_errno;
    return is_done;
}
#endif

void rota__os_reduce_timer_slack(void)
{
    prctl(PR_SET_TIMERSLACK, 1UL); /* in ns; the default adds up to 50 us to every timed wait */
}

unsigned rota__os_cpu_count(void)
{
    int saved_errno = errno;
    int cancel_state;
    unsigned cpus = affinity_cpus();

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    unsigned quota = rota__cgroup_cpus("");
    pthread_setcancelstate(cancel_state, NULL);

    if (cpus == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        cpus = online > 0 ? (unsigned)online : 1;
    }
    errno = saved_errno;
    return quota != 0 && quota < cpus ? quota : cpus;
}

void rota__os_set_affinity(unsigned cpu)
{
    unsigned long set[65536 / (CHAR_BIT * sizeof(unsigned long))] = {0};
    const unsigned width = CHAR_BIT * sizeof set[0];

    if (cpu / width >= sizeof set / sizeof set[0])
        return;
    set[cpu / width] = 1UL << (cpu % width);
    syscall(SYS_sched_setaffinity, 0, sizeof set, set);
}

void rota__os_set_thread_name(const char *name)
{
    char cut[ROTA__OS_NAME_SIZE] = {0};

    memcpy(cut, name, strnlen(name, sizeof cut - 1));
    pthread_setname_np(pthread_self(), cut);
}

long rota__os_thread_id(void)
{
    return (long)syscall(SYS_gettid);
}

void rota__os_get_thread_name(char *name)
{
    if (prctl(PR_GET_NAME, name) != 0)
        name[0] = '\0'; /* GCOVR_EXCL_LINE: prctl does not fail here */
}

/* The number of links of a folder in /proc is the number of its subfolders, one for each thread,
   plus 2. */
unsigned rota__os_thread_count(void)
{
    int saved_errno = errno;
    struct stat threads;
    bool is_known = stat("/proc/self/task", &threads) == 0 && threads.st_nlink > 2;

    errno = saved_errno;
    return is_known ? (unsigned)(threads.st_nlink - 2) : 0;
}

/* -- A descriptor that becomes readable ----------------------------------- */

int rota__os_event_open(rota__os_event *event)
{
    int saved_errno = errno;
    int fd = rota__fault(ROTA__FAULT_EVENT) ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    errno = saved_errno;
    if (fd < 0)
        return ROTA_EAGAIN;
    *event = (rota__os_event){fd, fd, rota__os_process};
    return ROTA_OK;
}
