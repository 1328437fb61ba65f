/* SPDX-License-Identifier: MIT */
/*
 * completion.c - futures in the order in which they end.
 *
 * An entry is a future with an action that, when the future is done, moves it
 * from the list of those under way to the list of those done. Nothing is
 * allocated then, so nothing can be lost.
 *
 *   completion.S1  An entry is in `under_way` until its action has run, then in `done` until it is
 *                  taken, with a holder's reference for the taker.
 *   completion.S2  Whoever submits, and every entry under way, has a reference to the service; it
 *                  is freed with the last, after rota_completion_free.
 *   completion.S3  The descriptor is readable exactly while `done` is not empty; both change under
 *                  the lock.
 *   completion.S4  A submission wakes a worker that takes, which can run the new task itself.
 */
#include "base/waitq.h"
#include "exec/exec_internal.h"

#include "base/alloc.h"
#include "base/time.h"
#include "os/os.h"

#include <rota/completion.h>

struct rota_completion {
    rota_executor *executor;
    rota__atomic(size_t) references; /* completion.S2 */
    rota__mutex lock;                /* the rest */
    rota__list under_way;
    rota__list done;
    rota__waitq takers;
    rota__waitq helpers; /* takers that are workers: they could run what is submitted meanwhile */
    bool has_news;       /* something was, since one of them looked */
    uint64_t rounds;
    bool is_closed;
    bool has_event;
    rota__os_event event; /* completion.S3 */
};

typedef struct entry {
    rota_future future; /* first: it is freed as one */
    rota__action action;
    rota__link link; /* completion.S1 */
    rota_completion *service;
    uint64_t tried; /* by a worker, in this round */
} entry;

_Static_assert(sizeof(entry) <= ROTA__BLOCK_LARGEST, "an entry comes from the cache");

/* -- The service's life --------------------------------------------------- */

static rota_ns done_when(const rota__waitq *waitq)
{
    const rota_completion *service = waitq->owner;

    return rota__list_is_empty(&service->done) ? ROTA_FOREVER : ROTA__READY;
}

static rota_ns done_or_news_when(const rota__waitq *waitq)
{
    const rota_completion *service = waitq->owner;

    return service->has_news ? ROTA__READY : done_when(waitq); /* completion.S4 */
}

static const rota__waitq_ops takers = {done_when, NULL};
static const rota__waitq_ops helpers = {done_or_news_when, NULL};

int rota_completion_new(rota_executor *ex, rota_completion **out)
{
    rota_completion *service;

    if (ex == NULL || out == NULL)
        return ROTA_EINVAL;
    service = rota__alloc(sizeof *service);
    if (service == NULL)
        return ROTA_ENOMEM;
    *service = (rota_completion){.executor = ex};
    rota__store_relaxed(&service->references, 1);
    rota__list_init(&service->under_way);
    rota__list_init(&service->done);
    /* mutants: QUEUE-33 leaves the order open */
    rota__waitq_init(&service->takers, &takers, &service->lock, service, ROTA__NEWEST_FIRST);
    rota__waitq_init(&service->helpers, &helpers, &service->lock, service, ROTA__NEWEST_FIRST);
    *out = service;
    return ROTA_OK;
}

static void unref(rota_completion *service)
{
    if (rota__sub_acq_rel(&service->references, 1) != 1) /* pairs with other holders' */
        return;
    if (service->has_event)
        rota__os_event_close(&service->event);
    rota__free(service, sizeof *service);
}

/* -- Done ----------------------------------------------------------------- */

static entry *entry_of(rota__link *link)
{
    return ROTA__CONTAINER(link, entry, link);
}

/* With the lock held. */
static void add_done(rota_completion *service, entry *ended)
{
    rota__list_remove(&ended->link);
    if (service->is_closed)
        return;
    rota_future_ref(&ended->future); /* completion.S1: the taker's */
    if (service->has_event && rota__list_is_empty(&service->done))
        rota__os_event_signal(&service->event);
    rota__list_append(&service->done, &ended->link);
}

static void has_ended(rota__action *action, rota__action_queue *more)
{
    entry *ended = ROTA__CONTAINER(action, entry, action);
    rota_completion *service = ended->service;

    (void)more;
    rota__mutex_lock(&service->lock);
    add_done(service, ended);
    rota__waitq_entry *taker = rota__waitq_notify(&service->takers);
    rota__waitq_entry *helper = rota__waitq_notify(&service->helpers);
    rota__mutex_unlock(&service->lock);
    rota__waitq_wake(taker);
    rota__waitq_wake(helper);
    unref(service);
}

/* With the lock held: the next, or NULL. */
static rota_future *take_done(rota_completion *service)
{
    rota__link *first = rota__list_take_first(&service->done);

    if (first == NULL)
        return NULL;
    if (service->has_event && rota__list_is_empty(&service->done))
        rota__os_event_clear(&service->event);
    return &entry_of(first)->future;
}

void rota_completion_free(rota_completion *service)
{
    rota_future *left;

    if (service == NULL)
        return;
    do {
        rota__mutex_lock(&service->lock);
        service->is_closed = true;
        left = take_done(service);
        rota__mutex_unlock(&service->lock);
        rota_future_unref(left);
    } while (left != NULL);
    unref(service);
}

/* -- Submitting ----------------------------------------------------------- */

/* The executor refused it: nothing will come of it, also if a handler has ended it. */
static void withdraw(entry *refused)
{
    rota_completion *service = refused->service;
    bool has_run = !rota__future_remove(&refused->future, &refused->action);

    rota__mutex_lock(&service->lock);
    bool is_listed = rota__link_is_in_list(&refused->link);
    rota__list_remove(&refused->link);
    rota__mutex_unlock(&service->lock);
    if (!has_run)
        unref(service);
    else if (is_listed)
        rota_future_unref(&refused->future); /* which was the taker's */
}

/* A worker that waits may be the only one that could run it. */
static void tell_helpers(rota_completion *service)
{
    rota__mutex_lock(&service->lock);
    service->has_news = true;
    rota__waitq_entry *next = rota__waitq_notify(&service->helpers);
    rota__mutex_unlock(&service->lock);
    rota__waitq_wake(next);
}

int rota_completion_submit(rota_completion *service, const rota_call *call, rota_future **out)
{
    entry *mine;
    int status;

    if (service == NULL || call == NULL || call->fn == NULL)
        return ROTA_EINVAL;
    mine = (entry *)rota__future_new(call, out != NULL, sizeof *mine);
    if (mine == NULL)
        return ROTA_ENOMEM;
    mine->action.run = has_ended;
    mine->service = service;
    mine->tried = 0;
    rota__link_init(&mine->link);
    rota__add_relaxed(&service->references, 1); /* completion.S2: the caller has one */
    rota__mutex_lock(&service->lock);
    rota__list_append(&service->under_way, &mine->link);
    rota__mutex_unlock(&service->lock);
    rota__future_add(&mine->future, &mine->action);
    status = rota__submit(service->executor, &mine->future.task, ROTA__AT_ONCE);
    if (status == ROTA_OK) {
        if (out != NULL)
            *out = &mine->future;
        tell_helpers(service);
        return ROTA_OK;
    }
    withdraw(mine);
    rota__future_refuse(&mine->future);
    if (out != NULL)
        rota_future_unref(&mine->future);
    return status;
}

/* -- Taking --------------------------------------------------------------- */

int rota_completion_poll(rota_completion *service, rota_future **done)
{
    rota_future *next;

    if (service == NULL || done == NULL)
        return ROTA_EINVAL;
    rota__mutex_lock(&service->lock);
    next = take_done(service);
    rota__mutex_unlock(&service->lock);
    if (next == NULL)
        return ROTA_EEMPTY;
    *done = next;
    return ROTA_OK;
}

/* With the lock held: one under way that was not tried in this round, pinned. */
static entry *next_to_try(rota_completion *service, uint64_t round)
{
    for (rota__link *link = service->under_way.head.next; link != &service->under_way.head;
         link = link->next) {
        entry *found = entry_of(link);
        bool is_new = found->tried < round;
        found->tried = round;
        if (is_new && rota_future_state_of(&found->future) == ROTA_FUTURE_PENDING) {
            rota__future_pin(&found->future);
            return found;
        }
    }
    return NULL;
}

/* EXEC-18: a worker runs what it waits for, if that is in its pool's queue: true if it ran one. */
static bool run_one(rota_completion *service, const rota__helper *helper)
{
    uint64_t round = 0;
    bool has_run = false;
    rota_ns ready_at;
    entry *found;

    do {
        rota__mutex_lock(&service->lock);
        service->has_news = service->has_news && round != 0;
        if (round == 0)
            round = ++service->rounds;
        found = next_to_try(service, round);
        rota__mutex_unlock(&service->lock);
        if (found != NULL) {
            has_run = rota__future_help(&found->future, helper, &ready_at);
            rota__future_unpin(&found->future);
        }
    } while (found != NULL && !has_run);
    if (has_run)
        tell_helpers(service); /* there may be more, for another */
    return has_run;
}

static int take(rota_completion *service, rota_ns deadline, rota_future **done)
{
    const rota__helper *helper = rota__self()->helper;
    rota__waitq *waitq = helper != NULL ? &service->helpers : &service->takers;
    rota__waitq_entry mine;
    int status;

    rota__waitq_entry_init(&mine, NULL);
    do {
        if (helper != NULL && rota__has_passed(deadline)) {
            rota__waitq_done(waitq, &mine); /* it helps no more, so news do not concern it */
            rota__waitq_entry_init(&mine, NULL);
            waitq = &service->takers;
            helper = NULL;
        }
        if (helper != NULL && run_one(service, helper))
            status = ROTA_OK;
        else
            status = rota__waitq_wait(waitq, &mine, deadline);
        if (status == ROTA_OK)
            status = rota_completion_poll(service, done);
    } while (status == ROTA_EEMPTY);
    rota__waitq_done(waitq, &mine);
    return status;
}

int rota_completion_poll_timed(rota_completion *service, rota_ns timeout, rota_future **done)
{
    int status = rota_completion_poll(service, done);

    if (status != ROTA_EEMPTY)
        return status;
    return take(service, rota__deadline(timeout), done);
}

int rota_completion_take(rota_completion *service, rota_future **done)
{
    return rota_completion_poll_timed(service, ROTA_FOREVER, done);
}

/* -- The descriptor ------------------------------------------------------- */

int rota_completion_fd(rota_completion *service, int *fd)
{
    int status = ROTA_OK;

    if (service == NULL || fd == NULL)
        return ROTA_EINVAL;
    rota__mutex_lock(&service->lock);
    if (!service->has_event) {
        status = rota__os_event_open(&service->event);
        service->has_event = status == ROTA_OK;
        if (status == ROTA_OK && !rota__list_is_empty(&service->done))
            rota__os_event_signal(&service->event); /* completion.S3 */
    }
    if (status == ROTA_OK)
        *fd = service->event.readable;
    rota__mutex_unlock(&service->lock);
    return status;
}
