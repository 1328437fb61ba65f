/* SPDX-License-Identifier: MIT */
#include "base/waitq.h"

#include "base/time.h"

void rota__waitq_init(rota__waitq *queue, const rota__waitq_ops *ops, rota__mutex *lock,
                      void *owner, rota__waitq_order order)
{
    *queue = (rota__waitq){.lock = lock, .ops = ops, .owner = owner, .order = order};
    rota__store_relaxed(&queue->queued, 0);
    rota__store_relaxed(&queue->epoch, 0);
    rota__list_init(&queue->entries);
    queue->may_spin = rota__spin_budget_get(&queue->spin) > 0; /* mutants: only whether it spins */
}

/* -- The list ------------------------------------------------------------- */

static rota__waitq_entry *first_entry(const rota__waitq *queue)
{
    rota__link *first = rota__list_first(&queue->entries);

    return first != NULL ? ROTA__CONTAINER(first, rota__waitq_entry, link) : NULL;
}

/* Appends the entry. With ROTA__NEWEST_FIRST it goes first instead, or second if the first entry is
   still spinning and can be served sooner. */
static void enqueue(rota__waitq *queue, rota__waitq_entry *entry)
{
    rota__waitq_entry *first = first_entry(queue);
    bool goes_first =
        first == NULL
        || (queue->order == ROTA__NEWEST_FIRST && !rota__load_relaxed(&first->spinning));

    rota__link_init(&entry->link);
    if (goes_first)
        rota__list_prepend(&queue->entries, &entry->link);
    else if (queue->order == ROTA__NEWEST_FIRST)
        rota__list_insert_after(&first->link, &entry->link);
    else
        rota__list_append(&queue->entries, &entry->link);
    rota__store_relaxed(&queue->queued, rota__waitq_queued(queue) + 1);
    entry->state = ROTA__WAITQ_QUEUED;
    entry->until = entry->deadline;
    entry->spin_time = goes_first && queue->may_spin ? rota__spin_budget_get(&queue->spin) : 0;
    rota__store_relaxed(&entry->spinning, entry->spin_time > 0);
}

static void dequeue(rota__waitq *queue, rota__waitq_entry *entry, rota__waitq_state state)
{
    ROTA__ASSERT(entry->state == ROTA__WAITQ_QUEUED);
    rota__list_remove(&entry->link);
    rota__store_relaxed(&queue->queued, rota__waitq_queued(queue) - 1);
    entry->state = state; /* waitq.W3 */
    if (entry->spin_time > 0)
        rota__spin_budget_update(&queue->spin, entry->spin_time,
                                 rota__load_relaxed(&entry->spinning));
}

/* -- The leader ----------------------------------------------------------- */

static rota__waitq_entry *notify_first(rota__waitq *queue)
{
    rota__waitq_entry *first = first_entry(queue);

    if (first != NULL) {
        dequeue(queue, first, ROTA__WAITQ_NOTIFIED);
        queue->leader = first; /* waitq.W1 */
    }
    return first;
}

ROTA__NOINLINE rota__waitq_entry *rota__waitq_notify_slow(rota__waitq *queue)
{
    rota__waitq_entry *leader = queue->leader;

    if (leader == NULL)
        return notify_first(queue);
    if (leader->state != ROTA__WAITQ_LEADING
        || queue->ops->ready_at(queue) >= leader->until) /* waitq.W1b */
        return NULL;
    leader->state = ROTA__WAITQ_NOTIFIED; /* its park would last too long */
    return leader;
}

static void stop_leading(rota__waitq *queue, rota__waitq_entry *entry)
{
    if (queue->leader == entry)
        queue->leader = NULL;
    entry->state = ROTA__WAITQ_IDLE;
}

/* Restores waitq.W1 after a thread has stopped leading or left the queue (waitq.W2). */
static rota__waitq_entry *notify_successor(rota__waitq *queue)
{
    if (queue->leader != NULL || queue->ops->ready_at(queue) == ROTA_FOREVER)
        return NULL;
    return notify_first(queue);
}

/* The thread retries. If others are queued and no thread leads, it leads, as if notified. */
static void let_retry(rota__waitq *queue, rota__waitq_entry *entry)
{
    if (queue->leader == NULL && rota__waitq_queued(queue) > 0) /* waitq.W1c */
        queue->leader = entry;
    entry->state = queue->leader == entry ? ROTA__WAITQ_NOTIFIED : ROTA__WAITQ_IDLE;
}

void rota__waitq_done(rota__waitq *queue, rota__waitq_entry *entry)
{
    if (entry->state != ROTA__WAITQ_NOTIFIED)
        return;
    rota__mutex_lock(queue->lock);
    stop_leading(queue, entry);
    rota__waitq_entry *next = notify_successor(queue); /* waitq.W2a */
    rota__mutex_unlock(queue->lock);                   /* the last access to the queue: waitq.W5 */
    rota__waitq_wake(next);
}

/* -- Waiting -------------------------------------------------------------- */

bool rota__waitq_spin(const rota__waitq *queue)
{
    enum { LONGEST_PAUSE = 16 };

    if (!queue->may_spin || queue->ops->seems_ready == NULL)
        return false;
    for (int pauses = 1; pauses <= LONGEST_PAUSE; pauses *= 2) {
        if (queue->ops->seems_ready(queue))
            return true;
        for (int pause = 0; pause < pauses; pause++)
            rota__cpu_relax();
    }
    return queue->ops->seems_ready(queue);
}

static bool is_over(const rota__waitq *queue, uint32_t epoch)
{
    return epoch != ROTA__ANY_EPOCH && epoch != rota__load_relaxed(&queue->epoch);
}

static bool has_come(rota_ns ready_at)
{
    return ready_at == ROTA__READY || rota__has_passed(ready_at);
}

/*
 * Called with the lock held: queues the entry, or makes it the leader if the condition becomes true
 * at a known time before its deadline (DWQ-12).
 */
static int begin(rota__waitq *queue, rota__waitq_entry *entry, rota_ns ready_at)
{
    if (is_over(queue, entry->epoch)) /* waitq.W6a */
        return ROTA_EAGAIN;
    int status = rota__waiter_begin(&entry->waiter, entry->deadline);
    if (status != ROTA_OK)
        return status;
    if (queue->leader == NULL && ready_at != ROTA_FOREVER && ready_at <= entry->deadline) {
        queue->leader = entry; /* waitq.W1 */
        entry->state = ROTA__WAITQ_LEADING;
        entry->until = ready_at;
        entry->spin_time = 0;
    } else {
        enqueue(queue, entry);
    }
    return ROTA_OK;
}

/*
 * Takes an entry out of the queue because its time is up or its thread was interrupted. If the
 * condition is true after all, the thread retries instead of giving up. So does a leader that was
 * parked for an element which is gone, as long as its own deadline has not passed.
 */
static bool withdraw(rota__waiter *waiter, int why)
{
    rota__waitq_entry *entry = ROTA__CONTAINER(waiter, rota__waitq_entry, waiter);
    rota__waitq *queue = entry->queue;
    rota__waitq_entry *next;

    rota__mutex_lock(queue->lock);
    if (entry->state != ROTA__WAITQ_QUEUED && entry->state != ROTA__WAITQ_LEADING) { /* waitq.W4a */
        rota__mutex_unlock(queue->lock);
        return false; /* a waker was faster: waitq.W3 */
    }
    if (entry->state == ROTA__WAITQ_QUEUED)
        dequeue(queue, entry, ROTA__WAITQ_IDLE);
    bool retries = has_come(queue->ops->ready_at(queue))
                   || (why == ROTA_ETIMEDOUT && !rota__has_passed(entry->deadline));
    if (retries) {
        let_retry(queue, entry);
        next = entry; /* the thread wakes itself */
    } else {
        stop_leading(queue, entry);
        next = notify_successor(queue); /* waitq.W2b */
    }
    rota__mutex_unlock(queue->lock);
    rota__waitq_wake(next);
    return !retries;
}

int rota__waitq_wait(rota__waitq *queue, rota__waitq_entry *entry, rota_ns deadline)
{
    entry->queue = queue;
    entry->deadline = deadline;
    rota__mutex_lock(queue->lock);
    rota_ns ready_at =
        ROTA__BUG(waitq.W1a, queue->ops->ready_at(queue),
                  entry->state == ROTA__WAITQ_IDLE ? ROTA_FOREVER : queue->ops->ready_at(queue));
    if (has_come(ready_at)
        && !is_over(queue, entry->epoch)) { /* else the retry would fail: waitq.W6 */
        let_retry(queue, entry);
        rota__mutex_unlock(queue->lock);
        return ROTA_OK;
    }
    stop_leading(queue, entry);
    int status = begin(queue, entry, ready_at);
    if (status != ROTA_OK) {
        rota__waitq_entry *next = notify_successor(queue); /* waitq.W2c */
        rota__mutex_unlock(queue->lock);
        rota__waitq_wake(next);
        return status;
    }
    rota__mutex_unlock(queue->lock);

    if (entry->spin_time > 0 && !rota__waiter_spin(&entry->waiter, entry->spin_time))
        rota__store_relaxed(&entry->spinning, false); /* mutants: only a needless wake */
    status = rota__waiter_wait(&entry->waiter, entry->until, withdraw);
    return entry->state == ROTA__WAITQ_ABORTED ? ROTA_EAGAIN : status;
}

/* -- Waking --------------------------------------------------------------- */

rota__waitq_entry *rota__waitq_hand_off(rota__waitq *queue)
{
    rota__waitq_entry *first = first_entry(queue);

    if (first != NULL)
        dequeue(queue, first, ROTA__WAITQ_HANDED_OFF);
    return first;
}

void rota__waitq_abort_all_and_unlock(rota__waitq *queue)
{
    rota__waitq_entry *entry;
    rota__list aborted;

    rota__list_init(&aborted);
    rota__store_release(&queue->epoch, rota__waitq_next_epoch(queue));          /* waitq.W6 */
    if (queue->leader != NULL && queue->leader->state == ROTA__WAITQ_LEADING) { /* waitq.W6c */
        queue->leader->state = ROTA__WAITQ_ABORTED;
        rota__link_init(&queue->leader->link);
        rota__list_append(&aborted, &queue->leader->link);
        queue->leader = NULL;
    }
    /* No thread is queued after this, so waitq.W1 holds without a leader. */
    while ((entry = first_entry(queue)) != NULL) {
        dequeue(queue, entry, ROTA__WAITQ_ABORTED);
        rota__list_append(&aborted, &entry->link);
    }
    rota__mutex_unlock(queue->lock);
    for (rota__link *link; (link = rota__list_take_first(&aborted)) != NULL;)
        rota__waitq_wake(ROTA__CONTAINER(link, rota__waitq_entry, link));
}

size_t rota__waitq_count_waiting(const rota__waitq *queue, size_t available)
{
    size_t waiting = rota__waitq_queued(queue);

    if (queue->leader != NULL && !queue->leader->has_element)
        waiting++;
    return waiting > available ? waiting - available : 0; /* QUEUE-37; mutants: 0 if equal */
}
