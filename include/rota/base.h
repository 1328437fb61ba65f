/* SPDX-License-Identifier: MIT */
/*
 * rota/base.h - status codes, time, memory and interruption: what every other header needs.
 *
 *     int status = rota_sleep(ROTA_MS(20));
 *     if (status == ROTA_EINTERRUPTED)
 *         return;                            // somebody wants this thread to stop waiting
 *     if (status != ROTA_OK)
 *         fprintf(stderr, "sleep: %s\n", rota_strerror(status));
 *
 * Conventions of all headers.
 *
 * Status    A call that can fail returns an int: ROTA_OK or one of the negative codes below. Every
 *           call may return ROTA_EINVAL for a bad argument, and those that make or queue something
 *           ROTA_ENOMEM; this is repeated only where there is more to say. The manual page of a call
 *           lists all its codes.
 * Failure   A call that fails changes nothing: what you passed in is still yours, and what it would
 *           have given you is not written.
 * NULL      NULL where something is needed is ROTA_EINVAL; a call that returns no status then does
 *           nothing, or returns 0, false or NULL. It never crashes.
 * Memory    What you pass by a pointer to const is copied, or not used after the call has returned;
 *           pointers inside it are kept as they are, unless their comment says otherwise.
 * Threads   Every call may be made from any thread, in a task or outside of one, also while you hold
 *           a lock of your own, but not in a signal handler.
 * Waiting   A call waits for others only if its comment says so.
 * Silence   No call prints anything that it was not asked to print, and none ends the process.
 */
#ifndef ROTA_BASE_H
#define ROTA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Around declarations: C names in C++, and visible outside a library that hides the rest. */
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

/* The version of these headers, and that of the library that is linked. */
#define ROTA_VERSION_MAJOR 0
#define ROTA_VERSION_MINOR 1
#define ROTA_VERSION_PATCH 0

const char *rota_version(void); /* the library's: "MAJOR.MINOR.PATCH" */

/* -- Status ---------------------------------------------------------------------------------- */

/* What a call that can fail returns. */
enum {
    ROTA_OK = 0,            /* it has done what it should                                         */
    ROTA_EINVAL = -1,       /* an argument is NULL, out of range or contradicts another          */
    ROTA_ENOMEM = -2,       /* no memory                                                          */
    ROTA_EAGAIN = -3,       /* no thread or descriptor to be had, or no memory once it had begun  */
    ROTA_EREJECTED = -4,    /* the executor is shut down, or saturated, and did not take the task */
    ROTA_ECANCELED = -5,    /* the task was cancelled                                             */
    ROTA_EFAILED = -6,      /* the task failed: rota_future_error or rota_fj_error tells its code */
    ROTA_ETIMEDOUT = -7,    /* the time given ran out                                             */
    ROTA_EINTERRUPTED = -8, /* the calling thread was interrupted while it waited                 */
    ROTA_EDEADLOCK = -9,    /* the call would wait for the caller itself                          */
    ROTA_EBUSY = -10,       /* still in use                                                       */
    ROTA_ENOTSUP = -11,     /* this kind of executor or queue cannot do that                      */
    ROTA_EFULL = -12,       /* a queue without room, from a call that does not wait               */
    ROTA_EEMPTY = -13,      /* a queue without elements, from a call that does not wait           */
    ROTA_EIO = -14          /* the system refused to read, write or listen: errno tells why       */
};

/* Every call that waits may return ROTA_ENOMEM when its thread waits for the first time, which needs a
   few bytes from the C library, once. It has not waited then. With a timeout of 0 it needs none. */

const char *rota_strerror(int status); /* a sentence for people; never NULL, not to be freed */

/* -- Time ------------------------------------------------------------------------------------ */

/*
 * Durations and points in time: nanoseconds on the monotonic clock, which steps of the wall
 * clock do not touch. A timeout of 0 or less is one attempt without waiting; ROTA_FOREVER is no
 * timeout. No sum of times in the library overflows. The macros are plain arithmetic, and take
 * fractions, too: ROTA_MS(0.5).
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

rota_ns rota_now(void); /* what that clock shows; it begins anywhere, and never goes back */

/* -- Memory ---------------------------------------------------------------------------------- */

/*
 * Where the library gets its memory, malloc and free unless you say otherwise. It is set once, before
 * any other call: ROTA_EBUSY once the library has used memory. `alloc` gives a block aligned as
 * malloc's, or NULL; `free` is told the size that was asked for, and is never given NULL. Both may be
 * called from any thread at any time, and must not call the library.
 */
typedef struct rota_allocator {
    void *(*alloc)(size_t size, void *ctx);
    void (*free)(void *block, size_t size, void *ctx);
    void *ctx;
} rota_allocator;

int rota_set_allocator(const rota_allocator *allocator); /* copied */

/* -- Interruption ---------------------------------------------------------------------------- */

/*
 * Asks a thread to stop waiting: to interrupt it sets its flag and ends the rota call that it waits
 * in, with ROTA_EINTERRUPTED, which clears the flag. Nothing is forced. A call that need not wait
 * leaves the flag alone, and a task that computes without waiting looks at the flag itself.
 *
 * Each task has a flag of its own while it runs, and a thread has one outside of tasks. A task that
 * is cancelled with rota_future_cancel_now is interrupted, and no other: not the one that its
 * thread runs next, nor one that this thread runs while the task waits. To interrupt a thread is
 * to interrupt the task that it runs at that moment; if that task ends without having looked, the
 * interrupt stays for what the thread does next.
 */
typedef struct rota_thread rota_thread; /* the library's, and good until the thread ends */

rota_thread *rota_thread_self(void);             /* the calling one; NULL only without memory */
void rota_thread_interrupt(rota_thread *thread); /* also the calling one; twice is as once */
bool rota_interrupted(void);                     /* the calling thread's flag, which this clears */
bool rota_is_interrupted(void);                  /* the same, left as it is                      */

/* Sleeps for at least `duration`: ROTA_OK, or ROTA_EINTERRUPTED if it was cut short, which is at once
   if the flag was set before. */
int rota_sleep(rota_ns duration);

/* -- The machine ----------------------------------------------------------------------------- */

/* How many CPUs this process may use, by its affinity and its cgroup's quota. Never 0. It reads files,
   so ask once. */
unsigned rota_cpu_count(void);

ROTA_END
#endif
