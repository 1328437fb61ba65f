/* SPDX-License-Identifier: MIT */
/*
 * rota/base.h - status codes, time, memory and interrupts.
 *
 *     int status = rota_sleep(ROTA_MS(20));
 *     if (status == ROTA_EINTERRUPTED)
 *         return;                            // another thread asked this one to stop waiting
 *     if (status != ROTA_OK)
 *         fprintf(stderr, "sleep: %s\n", rota_strerror(status));
 *
 * These conventions hold for all headers of the library.
 *
 * Status    A call that can fail returns an int: ROTA_OK or one of the negative codes below. Every
 *           call may return ROTA_EINVAL for a bad argument. Calls that create or queue something
 *           may return ROTA_ENOMEM. A comment names these two only if it has more to say about
 *           them. The manual page of a call lists all its codes.
 * Failure   A call that fails changes nothing. The caller still owns everything that it passed, and
 *           the call has not written its results.
 * NULL      A call that needs a pointer and gets NULL returns ROTA_EINVAL. If the call returns no
 *           status, it does nothing, or returns 0, false or NULL. No call crashes because of NULL.
 * Memory    If a parameter is a pointer to const, the library copies the object, or does not use it
 *           after the call has returned. Pointers inside the object are kept as they are, unless
 *           their comment says otherwise.
 * Threads   Every call may be made on any thread, inside a task or outside, also while the caller
 *           holds a lock of its own. No call may be made in a signal handler.
 * Waiting   A call waits for other threads only if its comment says so.
 * Silence   No call prints anything unless printing is its purpose, and no call ends the process.
 *           The exception is a library that was built with ROTA_CHECKED: it reports some kinds of
 *           misuse and aborts.
 */
#ifndef ROTA_BASE_H
#define ROTA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* These macros stand around declarations. They give them C linkage in C++, and make them visible in
   a library that hides its other symbols. */
#ifdef __cplusplus
#define ROTA_BEGIN_C extern "C" {
#define ROTA_END_C   }
#else
#define ROTA_BEGIN_C
#define ROTA_END_C
#endif
#ifdef __GNUC__
#define ROTA_BEGIN ROTA_BEGIN_C _Pragma("GCC visibility push(default)")
#define ROTA_END   _Pragma("GCC visibility pop") ROTA_END_C
#else
#define ROTA_BEGIN ROTA_BEGIN_C
#define ROTA_END   ROTA_END_C
#endif

ROTA_BEGIN

/* The version of these headers. */
#define ROTA_VERSION_MAJOR 0
#define ROTA_VERSION_MINOR 1
#define ROTA_VERSION_PATCH 0

/* Returns the version of the library that the program is linked with, as "MAJOR.MINOR.PATCH". */
const char *rota_version(void);

/* -- Status ---------------------------------------------------------------------------------- */

/* The status codes that calls return. */
enum {
    ROTA_OK = 0,            /* the call has succeeded                                             */
    ROTA_EINVAL = -1,       /* an argument is NULL, out of range, or contradicts another argument */
    ROTA_ENOMEM = -2,       /* no memory is available                                             */
    ROTA_EAGAIN = -3,       /* no thread or descriptor is available, or no memory during the work */
    ROTA_EREJECTED = -4,    /* the executor is full or shut down, and refuses the task            */
    ROTA_ECANCELED = -5,    /* the task was cancelled                                             */
    ROTA_EFAILED = -6,      /* the task failed: see rota_future_error and rota_fj_error           */
    ROTA_ETIMEDOUT = -7,    /* the timeout has passed                                             */
    ROTA_EINTERRUPTED = -8, /* the calling thread was interrupted while it waited                 */
    ROTA_EDEADLOCK = -9,    /* the call would wait for its own caller                             */
    ROTA_EBUSY = -10,       /* the object is still in use                                         */
    ROTA_ENOTSUP = -11,     /* this kind of executor or queue does not support the call           */
    ROTA_EFULL = -12,       /* the queue has no room, and the call does not wait                  */
    ROTA_EEMPTY = -13,      /* the queue has no element, and the call does not wait               */
    ROTA_EIO = -14          /* reading, writing or listening failed: see errno                    */
};

/* A call that waits may return ROTA_ENOMEM when its thread waits for the first time. The C library
   then needs a few bytes, once for each thread. The call has not waited in this case. With a
   timeout of 0 a call needs no memory. */

/* Returns a sentence that describes a status, for messages. The string is never NULL and must not
   be freed. */
const char *rota_strerror(int status);

/* -- Time ------------------------------------------------------------------------------------ */

/*
 * A duration or a point in time, in nanoseconds. Points in time are those of the monotonic clock,
 * so setting the wall clock does not change them. With a timeout of 0 or less, a call makes one
 * attempt and does not wait. ROTA_FOREVER means no timeout. The library never overflows when it
 * adds times. The macros are plain arithmetic and also take fractions: ROTA_MS(0.5).
 */
typedef int64_t rota_ns;

#ifdef __cplusplus
#define ROTA__NS(n) static_cast<rota_ns>(n)
#else
#define ROTA__NS(n) ((rota_ns)(n))
#endif
#define ROTA_US(n)      ROTA__NS((n)*INT64_C(1000))
#define ROTA_MS(n)      ROTA__NS((n)*INT64_C(1000000))
#define ROTA_SEC(n)     ROTA__NS((n)*INT64_C(1000000000))
#define ROTA_MINUTES(n) ROTA__NS((n)*INT64_C(60000000000))
#define ROTA_HOURS(n)   ROTA__NS((n)*INT64_C(3600000000000))
#define ROTA_FOREVER    INT64_MAX

/* Returns the time of the monotonic clock. The clock starts at an arbitrary value and never goes
   back. */
rota_ns rota_now(void);

/* -- Memory ---------------------------------------------------------------------------------- */

/*
 * The functions that allocate and free the library's memory. Any thread may call them at any time.
 * They must return, and must not call the library.
 *
 * alloc   Returns a block with the alignment of malloc, or NULL.
 * free    Frees a block. `size` is the size that was asked for. `block` is never NULL.
 * ctx     is passed to both
 */
typedef struct rota_allocator {
    void *(*alloc)(size_t size, void *ctx);
    void (*free)(void *block, size_t size, void *ctx);
    void *ctx;
} rota_allocator;

/* Sets the functions that allocate and free memory, instead of malloc and free. A program calls
   this once, before any other call. ROTA_EBUSY if the library has already used memory. */
int rota_set_allocator(const rota_allocator *allocator);

/* -- Interrupts ------------------------------------------------------------------------------ */

/*
 * A thread that uses the library. An interrupt asks a thread to stop waiting. It sets a flag, and
 * ends the library call in which the thread waits. That call returns ROTA_EINTERRUPTED and clears
 * the flag. Nothing is forced: a call that does not have to wait leaves the flag alone, and a task
 * that computes without waiting must check the flag itself.
 *
 * Each running task has its own flag, and a thread has one outside of tasks. So an interrupt
 * reaches the task that it is meant for:
 *
 * One task       rota_future_cancel_now interrupts one task. It does not interrupt the next task of
 *                the same thread, nor a task that the thread runs while the cancelled one waits.
 * An executor    rota_shutdown_now interrupts each running task of the executor once.
 * Other thread   rota_thread_interrupt on another thread interrupts the task that the thread is
 *                running. If the task ends and has not seen the interrupt, the interrupt stays for
 *                the next thing that the thread does.
 * Own thread     rota_thread_interrupt on the calling thread sets the flag of the calling task, and
 *                of no other. A task can restore its flag in this way. When the task ends, this
 *                interrupt ends, too.
 */
typedef struct rota_thread rota_thread; /* belongs to the library; valid until the thread ends */

/* Returns the calling thread. The result is NULL only if no memory is available. */
rota_thread *rota_thread_self(void);

/* Interrupts a thread, which may be the calling one. A second interrupt that comes before the
   thread has seen the first has no effect. */
void rota_thread_interrupt(rota_thread *thread);

/* Returns the interrupt flag of the calling task or thread, and clears it. */
bool rota_interrupted(void);

/* Returns the interrupt flag of the calling task or thread, and leaves it as it is. */
bool rota_is_interrupted(void);

/* Sleeps for at least a given time. ROTA_EINTERRUPTED if the thread is interrupted during the sleep
   or was interrupted before it; the call then returns at once. */
int rota_sleep(rota_ns duration);

/* -- The machine ----------------------------------------------------------------------------- */

/* Returns the number of CPUs that this process may use, at least 1. The affinity of the process and
   the quota of its cgroup limit the number. The call reads files, so call it once and keep the
   result. */
unsigned rota_cpu_count(void);

ROTA_END
#endif
