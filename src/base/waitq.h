/* SPDX-License-Identifier: MIT */
/*
 * waitq.h - a queue of threads that wait until a condition is true.
 *
 * A blocking queue has two wait queues: consumers wait for an element, and producers wait for room.
 * The owner of a wait queue supplies the condition, and a lock that protects the condition and the
 * wait queue. A consumer that finds nothing waits and tries again:
 *
 *     rota__waitq_entry_init(&entry, NULL);
 *     while (!take(queue, &element)) {
 *         status = rota__waitq_wait(&queue->consumers, &entry, deadline);
 *         if (status != ROTA_OK)
 *             return status;
 *     }
 *     rota__waitq_done(&queue->consumers, &entry);
 *
 * A producer notifies a consumer under the lock, and wakes it after unlocking:
 *
 *     rota__mutex_lock(&queue->lock);
 *     insert(queue, element);
 *     next = rota__waitq_notify(&queue->consumers);
 *     rota__mutex_unlock(&queue->lock);
 *     rota__waitq_wake(next);
 *
 * Threads are woken one after the other. The thread that was notified is the leader. While it
 * leads, no other thread is notified; when it has its element, it notifies the next thread if the
 * condition is still true. So n insertions wake n threads, and an insertion pays for a wake-up only
 * if none is under way.
 *
 * In a delay queue the condition becomes true by itself, at a known time. There the leader parks
 * until that time, and all other threads park until their own deadlines. (D. Schmidt and others,
 * "Leader/Followers", 2000.)
 *
 *   waitq.W1  If threads are queued and the condition is true, a notified thread leads. If threads
 *             are queued and the condition becomes true at a known time, either a leader is parked
 *             until that time, or a queued thread has an earlier deadline. In the second case that
 *             thread restores waitq.W1 when it gives up.
 *   waitq.W2  A thread that stops leading, or leaves the queue, restores waitq.W1 before it unlocks.
 *   waitq.W3  An entry leaves the queue once, under the lock. Either its own thread removes it, or
 *             a waker, which then wakes that thread after unlocking.
 *   waitq.W4  A notified thread tries once more, even if it has been interrupted or its deadline
 *             has passed. So no notification is lost.
 *   waitq.W5  A thread that was handed an element, or whose element was taken, does not touch the
 *             wait queue again. A notified thread does, so the owner must not be freed before that
 *             thread has called rota__waitq_done.
 *   waitq.W6  A thread may limit its wait to an epoch. It reads the epoch, then checks some
 *             other state (of its pool), and then waits in that epoch only. So it cannot miss a
 *             change of that state, because the thread that makes the change begins a new epoch
 *             afterwards. A consumer also takes in that epoch only: the owner compares the epoch
 *             under the lock of each take. A producer may still insert, and its pool checks the
 *             state again after the insertion.
 */
#ifndef ROTA_BASE_WAITQ_H
#define ROTA_BASE_WAITQ_H

#include "base/list.h"
#include "base/mutex.h"
#include "base/wait.h"

typedef struct rota__waitq rota__waitq;
typedef struct rota__waitq_entry rota__waitq_entry;

/* -- The queue ------------------------------------------------------------ */

#define ROTA__READY INT64_MIN /* as a time: the condition is true now */

/* The condition, supplied by the owner. */
typedef struct rota__waitq_ops {
    /* Returns the time at which the condition becomes true: ROTA__READY if it is true now,
       ROTA_FOREVER if that depends on other threads. Called with the lock held. */
    rota_ns (*ready_at)(const rota__waitq *queue);

    /* Guesses whether the condition is true. Called without the lock. NULL: spinning is useless. */
    bool (*seems_ready)(const rota__waitq *queue);
} rota__waitq_ops;

typedef enum rota__waitq_order {
    ROTA__OLDEST_FIRST, /* fair */
    ROTA__NEWEST_FIRST  /* the newest waiter has the warmest cache, and may still be spinning */
} rota__waitq_order;

struct rota__waitq {
    /* Protected by the lock. `queued` is written under the lock and read anywhere. */
    rota__waitq_entry *leader;    /* or NULL; first, so that it shares a cache line with the lock */
    rota__atomic(size_t) queued;  /* the length of the list */
    rota__list entries;           /* the first entry is notified next */
    rota__atomic(uint32_t) epoch; /* waitq.W6: even; written under the lock and read anywhere */
    rota__spin_budget spin;       /* of the first entry, the only one that spins */

    /* Constant. */
    rota__mutex *lock;
    const rota__waitq_ops *ops;
    void *owner;
    rota__waitq_order order;
    bool may_spin;
};

/* Prepares a wait queue. The functions in `ops` find the condition through queue->owner. */
void rota__waitq_init(rota__waitq *queue, const rota__waitq_ops *ops, rota__mutex *lock,
                      void *owner, rota__waitq_order order);

/* -- Waiting: called without the lock ------------------------------------- */

typedef enum rota__waitq_state {
    ROTA__WAITQ_IDLE,       /* neither queued nor leading */
    ROTA__WAITQ_QUEUED,     /* parked until another thread removes the entry */
    ROTA__WAITQ_LEADING,    /* the leader, parked until the condition becomes true */
    ROTA__WAITQ_NOTIFIED,   /* the leader, about to retry */
    ROTA__WAITQ_HANDED_OFF, /* its element was given or taken: the thread is done */
    ROTA__WAITQ_ABORTED     /* must not wait any longer */
} rota__waitq_state;

#define ROTA__ANY_EPOCH UINT32_MAX /* odd, so it is no epoch */

/* One waiting thread. The entry lies on the stack of that thread. */
struct rota__waitq_entry {
    rota__link link;
    rota__waiter waiter;
    rota__waitq *queue;
    rota__waitq_state state;     /* under the lock; its own thread also reads it after a wake-up */
    void *element;               /* the producer's, or the one that a consumer was handed */
    bool has_element;            /* the thread has taken one; written under the lock of the take */
    uint32_t epoch;              /* the thread waits in this epoch only; or ROTA__ANY_EPOCH */
    rota_ns deadline;            /* of the caller */
    rota_ns until;               /* of the park: the deadline, or earlier if the thread leads */
    rota_ns spin_time;           /* how long the thread spins before it parks; 0: not at all */
    rota__atomic(bool) spinning; /* the thread has not parked yet */
};

/* Prepares an entry for one call. `element` is what a producer brings, or NULL. */
static inline void rota__waitq_entry_init(rota__waitq_entry *entry, void *element)
{
    entry->state = ROTA__WAITQ_IDLE;
    entry->element = element;
    entry->has_element = false;
    entry->epoch = ROTA__ANY_EPOCH;
}

/* Checks a few times, with growing pauses, whether the condition seems true. Takes no lock. */
bool rota__waitq_spin(const rota__waitq *queue);

/*
 * Waits until the condition seems true, and returns ROTA_OK. The caller then tries again. If the
 * try fails, the caller waits once more with the same entry; if it succeeds, the caller calls
 * rota__waitq_done. If entry->state is ROTA__WAITQ_HANDED_OFF there is nothing to try: the element
 * has changed hands. With any other status the entry is out of the queue:
 *
 * ROTA_EINTERRUPTED   the thread was interrupted; its flag is cleared
 * ROTA_ETIMEDOUT      the deadline has passed
 * ROTA_EAGAIN         all waiters were aborted, or the entry's epoch is over
 * ROTA_ENOMEM         the thread cannot wait: rota__waiter_begin
 */
int rota__waitq_wait(rota__waitq *queue, rota__waitq_entry *entry, rota_ns deadline);

/* Ends a wait after a successful try. If the thread leads, it notifies its successor (waitq.W2). */
void rota__waitq_done(rota__waitq *queue, rota__waitq_entry *entry);

/* -- Waking: called with the lock held, unless a comment says otherwise ---- */

/* Returns the current epoch. Needs no lock. The caller then checks the state whose changes it must
   not miss (waitq.W6). */
static inline uint32_t rota__waitq_epoch(const rota__waitq *queue)
{
    return rota__load_acquire(&queue->epoch); /* pairs with rota__waitq_abort_all_and_unlock */
}

/* The epoch that rota__waitq_abort_all_and_unlock will begin. */
static inline uint32_t rota__waitq_next_epoch(const rota__waitq *queue)
{
    return rota__load_relaxed(&queue->epoch) + 2;
}

static inline size_t rota__waitq_queued(const rota__waitq *queue)
{
    return rota__load_relaxed(&queue->queued); /* exact under the lock, else an estimate */
}

static inline bool rota__waitq_is_idle(const rota__waitq *queue)
{
    return rota__waitq_queued(queue) == 0 && queue->leader == NULL;
}

/* Wakes the thread of an entry that one of the calls below has returned, or does nothing for NULL.
   Called after unlocking. */
static inline void rota__waitq_wake(rota__waitq_entry *entry)
{
    if (ROTA__UNLIKELY(entry != NULL))
        rota__waiter_wake(&entry->waiter);
}

rota__waitq_entry *rota__waitq_notify_slow(rota__waitq *queue);

/* Notifies the next waiter that the condition is true. Returns the entry to wake, or NULL. */
static inline rota__waitq_entry *rota__waitq_notify(rota__waitq *queue)
{
    return ROTA__LIKELY(rota__waitq_is_idle(queue)) ? NULL : rota__waitq_notify_slow(queue);
}

/* Removes the first entry, so that the caller can exchange an element with its thread through
   entry->element. Returns the entry to wake, or NULL. */
rota__waitq_entry *rota__waitq_hand_off(rota__waitq *queue);

/*
 * Begins a new epoch: all waiting threads return ROTA_EAGAIN, a parked leader included. Unlocks. A
 * pool calls this for its blocked submitters when something else than room has changed, and for its
 * idle workers when they must check the pool again. A thread that has checked the pool before the
 * change does not fall asleep, because its epoch is over. A consumer takes no element either
 * (waitq.W6).
 */
void rota__waitq_abort_all_and_unlock(rota__waitq *queue);

/* Counts the waiting threads for which none of the `available` elements is left: QUEUE-37. */
size_t rota__waitq_count_waiting(const rota__waitq *queue, size_t available);

#endif
