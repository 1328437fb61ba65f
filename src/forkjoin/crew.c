/* SPDX-License-Identifier: MIT */
/*
 * crew.c - workers sleep, wake, come and go. README.md says why no wake-up is lost.
 *
 *   crew.W1  Who sleeps is counted and in the list first, both with the lock held, and looks around
 *            once more after that. Who makes something public does so first, and then looks at the
 *            count. Both look by an atomic addition, so one of them sees the other.
 *   crew.W2  While somebody searches nobody is woken: who searches looks at everything after it was
 *            counted. The last that ends a search with something wakes the next, if there is more,
 *            also if that is private; one that ends it without sleeps, by crew.W1.
 *   crew.W3  No more than `parallelism` are woken or made. Who blocks is not active, and looks
 *            around after it has stopped being so, as in crew.W1.
 *   crew.W4  A worker goes from sleeping to awake with the lock held, so `threads`, `guests` and
 *            the sleepers tell, with it, whether there is anybody to do anything; and only who is
 *            awake takes from the inbox.
 *   crew.W5  While one could still be called, an owner whose deque has nothing public has a
 *            request. Who stops being active asks all after that. Who takes the last that is
 *            public, and an owner that has put its words back, look at the count and at the deque
 *            after that, and ask if both say so: of any two of these the second to add to `crowd`
 *            sees what the first has done.
 *   crew.W6  An owner looks at the state of the pool after it has closed its deque. A thread that
 *            stops the pool changes the state and then makes its requests. So one of the two sees
 *            the other.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/time.h"

#define ANSWER_TIME ROTA_US(100) /* for a request, before what is private is made public by force */

static uint64_t crowd_of(rota__fj_pool *pool)
{
    return rota__add_acq_rel(&pool->crowd, 0); /* crew.W1; pairs with every change of it */
}

bool rota__crew_wants_more(const rota__fj_pool *pool, uint64_t crowd)
{
    return rota__crowd_get(crowd, FJ_SEARCHING) > 0 || rota__crowd_get(crowd, FJ_WAITING) > 0
           || rota__crowd_get(crowd, FJ_ACTIVE) < pool->parallelism;
}

/* crew.W2, crew.W3 */
static bool needs_one(const rota__fj_pool *pool, uint64_t crowd)
{
    return rota__crowd_get(crowd, FJ_SEARCHING) == 0
           && rota__crowd_get(crowd, FJ_ACTIVE) < pool->parallelism;
}

bool rota__crew_has_work(rota__fj_pool *pool)
{
    uint32_t made = rota__load_acquire(&pool->made); /* pairs with add */

    if (rota__load_relaxed(&pool->submissions) > 0)
        return true;
    for (uint32_t i = 0; i < made; i++) {
        if (rota__deque_has_public(&rota__load_relaxed(&pool->workers[i])->deque))
            return true;
    }
    return false;
}

static bool is_something_hidden(rota__fj_pool *pool)
{
    uint32_t made = rota__load_acquire(&pool->made);

    for (uint32_t i = 0; i < made; i++) {
        if (rota__deque_has_private(&rota__load_relaxed(&pool->workers[i])->deque))
            return true;
    }
    return false;
}

/* What is private is in its owner's cache: not looked at without need. */
bool rota__crew_has_more(rota__fj_pool *pool)
{
    return rota__crew_has_work(pool)
           || (rota__crowd_get(rota__load_relaxed(&pool->crowd), FJ_ACTIVE) < pool->parallelism
               && is_something_hidden(pool));
}

/* -- Workers in memory ---------------------------------------------------- */

static rota__fj_worker *worker_new(rota__fj_pool *pool, unsigned number)
{
    rota__fj_worker *worker = rota__alloc(sizeof *worker);

    if (worker == NULL)
        return NULL;
    *worker = (rota__fj_worker){.pool = pool, .number = number, .random = number * 2 + 1};
    worker->helper = rota__fj_helper;
    rota__link_init(&worker->link);
    if (rota__deque_init(&worker->deque) == ROTA_OK)
        return worker;
    rota__free(worker, sizeof *worker);
    return NULL;
}

/* With the lock held: one whose thread has left, and is joined by the next. */
static rota__fj_worker *take_ended(rota__fj_pool *pool)
{
    rota__link *link = rota__list_take_first(&pool->ended);
    rota__fj_worker *worker;

    if (link == NULL)
        return NULL;
    worker = ROTA__CONTAINER(link, rota__fj_worker, link);
    worker->thread_before = worker->thread;
    worker->has_thread_before = true;
    return worker;
}

/* With the lock held: one that nobody is. NULL: no memory, or too many. */
static rota__fj_worker *take_worker(rota__fj_pool *pool)
{
    rota__fj_worker *worker = pool->free;
    uint32_t made = rota__load_relaxed(&pool->made);

    if (worker != NULL) {
        pool->free = worker->next_free;
        return worker;
    }
    if (made == pool->max_threads)
        return take_ended(pool);
    worker = worker_new(pool, made);
    if (worker == NULL)
        return NULL;
    rota__store_relaxed(&pool->workers[made], worker);
    rota__store_release(&pool->made, made + 1); /* pairs with the loads of who looks at all */
    return worker;
}

static void put_worker(rota__fj_pool *pool, rota__fj_worker *worker)
{
    if (worker->has_thread_before) { /* it still waits to be joined */
        worker->thread = worker->thread_before;
        worker->has_thread_before = false;
        rota__list_append(&pool->ended, &worker->link);
        return;
    }
    worker->next_free = pool->free;
    pool->free = worker;
}

/* False: there is none. Its place is free meanwhile. */
static bool join_one(rota__fj_pool *pool)
{
    rota__os_thread thread;
    rota__fj_worker *worker;

    rota__mutex_lock(&pool->lock);
    worker = take_ended(pool);
    if (worker != NULL) {
        thread = worker->thread_before;
        worker->has_thread_before = false;
        put_worker(pool, worker);
    }
    rota__mutex_unlock(&pool->lock);
    if (worker != NULL)
        rota__os_thread_join(&thread);
    return worker != NULL;
}

void rota__crew_join_ended(rota__fj_pool *pool)
{
    while (join_one(pool))
        continue;
}

/* -- Calling -------------------------------------------------------------- */

/* With the lock held: it is awake, and searches. */
static void wake(rota__fj_worker *sleeper)
{
    rota__list_remove(&sleeper->link);
    rota__add_acq_rel(&sleeper->pool->crowd, FJ_SEARCHING + FJ_ACTIVE - FJ_SLEEPING); /* crew.W4 */
    rota__waiter_wake(&sleeper->waiter);
}

void rota__crew_wake_all(rota__fj_pool *pool)
{
    rota__link *first;

    while ((first = rota__list_first(&pool->sleepers)) != NULL)
        wake(ROTA__CONTAINER(first, rota__fj_worker, link));
}

/* It is counted, and was not made after all. */
static void undo_start(rota__fj_pool *pool, rota__fj_worker *worker)
{
    rota__thread_plan_unref(worker->plan);
    rota__mutex_lock(&pool->lock);
    rota__sub_acq_rel(&pool->crowd, FJ_SEARCHING + FJ_ACTIVE);
    pool->threads--;
    put_worker(pool, worker);
    rota__fj_settle(pool);
}

/* With the lock held, which it leaves. */
static int start(rota__fj_pool *pool)
{
    rota__fj_worker *worker =
        pool->threads + pool->guests < pool->max_threads ? take_worker(pool) : NULL;
    uint64_t number = pool->number;
    int status;

    if (worker == NULL) {
        status = pool->threads + pool->guests < pool->max_threads ? ROTA_ENOMEM : ROTA_EREJECTED;
        rota__mutex_unlock(&pool->lock);
        return status;
    }
    pool->number++;
    pool->threads++;
    rota__add_acq_rel(&pool->crowd, FJ_SEARCHING + FJ_ACTIVE);
    worker->plan = rota__thread_plan_ref(pool->plan);
    rota__mutex_unlock(&pool->lock);
    status = rota__thread_plan_start(worker->plan, number, &worker->thread, rota__fj_worker_main,
                                     worker);
    if (status != ROTA_OK)
        undo_start(pool, worker);
    return status;
}

int rota__crew_call_locked(rota__fj_pool *pool)
{
    rota__link *first = rota__list_first(&pool->sleepers);
    int status;

    if (!needs_one(pool, crowd_of(pool))) {
        rota__mutex_unlock(&pool->lock);
        return ROTA_OK;
    }
    if (first != NULL) {
        wake(ROTA__CONTAINER(first, rota__fj_worker, link));
        rota__mutex_unlock(&pool->lock);
        return ROTA_OK;
    }
    status = start(pool);
    if (status == ROTA_OK)
        return ROTA_OK;
    rota__mutex_lock(&pool->lock);
    bool has_others = pool->threads + pool->guests > 0;
    rota__mutex_unlock(&pool->lock);
    return has_others ? ROTA_OK : status;
}

void rota__crew_call(rota__fj_pool *pool)
{
    if (!needs_one(pool, crowd_of(pool)))
        return;
    rota__mutex_lock(&pool->lock);
    rota__crew_call_locked(pool); /* if nobody comes, who forked it joins it */
}

/* There are tasks, and nobody who could run them, now or later. */
static bool is_deserted(rota__fj_pool *pool)
{
    return rota__fj_pool_state(pool) < ROTA_STOP && pool->parallelism > 0
           && rota__load_relaxed(&pool->submissions) > 0 && pool->threads + pool->guests == 0;
}

static void run_one_here(rota__fj_pool *pool)
{
    rota_fj *entry;

    rota__mutex_lock(&pool->lock);
    entry = rota__inbox_take(pool);
    if (entry != NULL)
        rota__fj_take_part(pool, rota__crew_enter(pool), entry, NULL); /* unlocks */
    else
        rota__mutex_unlock(&pool->lock); /* GCOVR_EXCL_LINE: the task was taken just now */
}

void rota__crew_insist(rota__fj_pool *pool)
{
    while (is_deserted(pool)) {
        if (start(pool) == ROTA_OK)
            return; /* GCOVR_EXCL_LINE: the start failed a moment ago */
        rota__mutex_lock(&pool->lock);
        if (!is_deserted(pool))
            break;      /* GCOVR_EXCL_LINE: another thread has come just now */
        pool->guests++; /* until it has looked again: no other insists, and the pool stays */
        rota__mutex_unlock(&pool->lock);
        run_one_here(pool);
        rota__mutex_lock(&pool->lock);
        pool->guests--;
    }
    rota__fj_settle(pool);
}

static void hand_on(rota__fj_pool *pool, bool has_more)
{
    /* forkjoin.F5c */
    if (rota__fj_pool_state(pool) < ROTA_STOP && has_more && needs_one(pool, crowd_of(pool))) {
        if (rota__crew_call_locked(pool) == ROTA_OK)
            return;
        rota__mutex_lock(&pool->lock);
    }
    rota__crew_insist(pool);
}

/* Who was idle has tried to get what is private: nobody else is made for that. */
void rota__crew_hand_on(rota__fj_pool *pool)
{
    hand_on(pool, rota__crew_has_work(pool));
}

/* -- Searching and sleeping ----------------------------------------------- */

void rota__crew_search(rota__fj_worker *worker)
{
    rota__add_acq_rel(&worker->pool->crowd, FJ_SEARCHING);
}

void rota__crew_found(rota__fj_worker *worker)
{
    rota__fj_pool *pool = worker->pool;
    uint64_t before = rota__sub_acq_rel(&pool->crowd, FJ_SEARCHING);

    if (rota__crowd_get(before, FJ_SEARCHING) == 1
        && ROTA__BUG(crew.W2b, rota__crew_has_more(pool), rota__crew_has_work(pool))) /* crew.W2a */
        rota__crew_call(pool);
}

/* With the lock held, which it leaves. */
static bool leave_search(rota__fj_worker *worker)
{
    rota__sub_acq_rel(&worker->pool->crowd, FJ_SEARCHING + FJ_ACTIVE);
    rota__mutex_unlock(&worker->pool->lock);
    rota__crew_place_is_free(worker->pool); /* crew.W5 */
    return false;
}

/* Out of the list by itself: false if somebody was quicker, who wakes it. */
static bool get_up(rota__fj_worker *worker, uint64_t change)
{
    rota__fj_pool *pool = worker->pool;

    rota__mutex_lock(&pool->lock);
    bool is_asleep = rota__link_is_in_list(&worker->link);
    if (is_asleep) {
        rota__list_remove(&worker->link);
        rota__add_acq_rel(&pool->crowd, change - FJ_SLEEPING);
        rota__waiter_cancel(&worker->waiter);
    }
    rota__mutex_unlock(&pool->lock);
    if (!is_asleep)
        rota__waiter_wait_uninterruptible(&worker->waiter);
    return is_asleep;
}

static int doze(rota__fj_worker *worker, rota_ns length)
{
    return rota__waiter_wait_idle(&worker->waiter, rota__deadline(length));
}

bool rota__crew_force(rota__fj_pool *pool)
{
    uint32_t made = rota__load_acquire(&pool->made);
    uint32_t nobody = 0;
    bool has_forced = false;

    if (!rota__cas_acq_rel(&pool->forcing, &nobody, 1))
        return false;
    for (uint32_t i = 0; i < made; i++) {
        rota__deque *deque = &rota__load_relaxed(&pool->workers[i])->deque;
        if (rota__deque_has_private(deque))
            has_forced |= rota__deque_force(deque);
    }
    rota__store_release(&pool->forcing, 0); /* pairs with the one above, on another thread */
    return has_forced;
}

/* True: it goes on, as a searcher. */
static bool stay_asleep(rota__fj_worker *worker)
{
    bool has_waited = is_something_hidden(worker->pool);
    int status = has_waited ? doze(worker, ANSWER_TIME) : ROTA_ETIMEDOUT;

    if (has_waited && status == ROTA_ETIMEDOUT && needs_one(worker->pool, crowd_of(worker->pool))
        && rota__crew_force(worker->pool))
        rota__crew_call(worker->pool); /* this one or another, if there is still a place: crew.W3 */
    if (status == ROTA_ETIMEDOUT)
        status = doze(worker, worker->pool->keep_alive);
    if (status == ROTA_OK)
        return true;
    if (status == ROTA_EINTERRUPTED)
        rota__take_interrupt(worker->self);
    return !get_up(worker, status == ROTA_ETIMEDOUT ? 0 : FJ_SEARCHING + FJ_ACTIVE)
           || status != ROTA_ETIMEDOUT;
}

bool rota__crew_sleep(rota__fj_worker *worker)
{
    rota__fj_pool *pool = worker->pool;
    uint64_t before;

    rota__mutex_lock(&pool->lock);
    if (rota__fj_pool_state(pool) >= ROTA_STOP)
        return leave_search(worker);
    if (rota__waiter_begin_uninterruptible(&worker->waiter) != ROTA_OK)
        return leave_search(worker); /* no memory to sleep with: who stayed awake would hold up all
                                        that waits for quiet */
    rota__list_prepend(&pool->sleepers, &worker->link);
    /* crew.W1b */
    before = rota__add_acq_rel(&pool->crowd, FJ_SLEEPING - FJ_SEARCHING - FJ_ACTIVE);
    rota__fj_settle(pool);
    rota__crew_place_is_free(pool); /* crew.W5b: its earlier requests may be used up */
    /* crew.W1a. One too many leaves it to the others, of whom each that blocks looks around later:
       crew.W3. */
    if (rota__crowd_get(before, FJ_ACTIVE) <= pool->parallelism && rota__crew_has_work(pool)) {
        get_up(worker, FJ_SEARCHING + FJ_ACTIVE);
        return true;
    }
    return stay_asleep(worker);
}

void rota__crew_leave(rota__fj_worker *worker)
{
    rota__fj_pool *pool = worker->pool;

    rota__thread_plan_unref(worker->plan);
    rota__crew_join_ended(pool); /* so that no more than one is left unjoined */
    rota__mutex_lock(&pool->lock);
    worker->self = NULL;
    pool->threads--;
    rota__list_append(&pool->ended, &worker->link);
    ROTA__BUG(forkjoin.F5a, rota__crew_hand_on(pool), rota__fj_settle(pool));
}

void rota__crew_place_is_free(rota__fj_pool *pool)
{
    uint32_t made = rota__load_acquire(&pool->made);

    /* Also if one searches: it may find something, and fork without having asked again. */
    if (rota__crowd_get(crowd_of(pool), FJ_ACTIVE) >= pool->parallelism)
        return;
    for (uint32_t i = 0; i < made; i++)
        rota__deque_request(&rota__load_relaxed(&pool->workers[i])->deque);
}

void rota__crew_ask_for_more(rota__fj_pool *pool, rota__deque *deque)
{
    if (!rota__deque_has_public(deque)
        && rota__crowd_get(crowd_of(pool), FJ_ACTIVE) < pool->parallelism)
        rota__deque_request(deque);
}

rota_fj *rota__crew_steal(rota__fj_pool *pool, rota__deque *deque)
{
    rota_fj *entry = rota__deque_steal(deque);

    if (entry != NULL)
        rota__crew_ask_for_more(pool, deque); /* crew.W5c */
    return entry;
}

/* -- Blocking ------------------------------------------------------------- */

/* With the lock held, which it leaves: is there one that stands in, or can be? */
static int find_stand_in(rota__fj_pool *pool)
{
    bool is_there = !rota__list_is_empty(&pool->sleepers)
                    || rota__crowd_get(crowd_of(pool), FJ_ACTIVE) >= pool->parallelism;

    if (!is_there)
        return start(pool);
    rota__mutex_unlock(&pool->lock);
    return ROTA_OK;
}

int rota__crew_block(rota__fj_worker *worker, bool needs_stand_in)
{
    rota__fj_pool *pool = worker->pool;
    int status = ROTA_OK;

    rota__deque_open(&worker->deque); /* what it has forked is for others now */
    rota__sub_acq_rel(&pool->crowd, FJ_ACTIVE);
    rota__crew_place_is_free(pool);
    if (needs_stand_in) {
        rota__mutex_lock(&pool->lock);
        status = find_stand_in(pool);
    }
    if (status != ROTA_OK)
        rota__crew_unblock(worker);
    else if (rota__crew_has_more(pool)) /* crew.W3a */
        rota__crew_call(pool);
    return status == ROTA_ENOMEM ? ROTA_EAGAIN : status;
}

void rota__crew_unblock(rota__fj_worker *worker)
{
    rota__add_acq_rel(&worker->pool->crowd, FJ_ACTIVE);
}

/* -- Callers that take part ----------------------------------------------- */

/* In a pool without threads for everybody: there is no one else to do it, FJ-07. */
static bool has_place(rota__fj_pool *pool)
{
    return (pool->parallelism == 0
            || rota__crowd_get(crowd_of(pool), FJ_ACTIVE) < pool->parallelism)
           && pool->threads + pool->guests < pool->max_threads;
}

rota__fj_worker *rota__crew_enter(rota__fj_pool *pool)
{
    rota__fj_worker *worker = has_place(pool) ? take_worker(pool) : NULL;

    if (worker == NULL)
        return NULL;
    pool->guests++;
    rota__add_acq_rel(&pool->crowd, FJ_ACTIVE);
    worker->self = rota__self();
    return worker;
}

void rota__crew_exit(rota__fj_worker *worker)
{
    rota__fj_pool *pool = worker->pool;

    rota__mutex_lock(&pool->lock);
    worker->self = NULL;
    pool->guests--;
    rota__sub_acq_rel(&pool->crowd, FJ_ACTIVE);
    rota__crew_place_is_free(pool);
    put_worker(pool, worker);
    hand_on(pool, rota__crew_has_more(pool));
}
