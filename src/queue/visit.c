/* SPDX-License-Identifier: MIT */
/*
 * visit.c - shows the elements of a queue to a visitor or a predicate.
 */
#include "queue/queue_internal.h"

#include "base/alloc.h"

#include <string.h>

void rota__queue_visit_init(rota__queue_visit *visit, const rota_queue *queue, rota__predicate *ask,
                            void *ctx)
{
    *visit = (rota__queue_visit){.ops = queue->element_ops, .ask = ask, .ctx = ctx};
    visit->ended = visit->ended_in_batch;
    visit->ended_capacity = ROTA__VISIT_BATCH;
}

/* -- Elements that have ended --------------------------------------------- */

static void free_ended(rota__queue_visit *visit)
{
    if (visit->ended != visit->ended_in_batch)
        rota__free(visit->ended, visit->ended_capacity * sizeof(void *));
}

/* Makes room for one more. Only a walk that does not yield the lock needs memory for that. Without
   memory the element is not shown. */
static bool reserve(rota__queue_visit *visit)
{
    if (ROTA__LIKELY(visit->ended_count < visit->ended_capacity))
        return true;
    size_t capacity = 2 * visit->ended_capacity;
    void **ended = rota__alloc(capacity * sizeof(void *));
    if (ended == NULL)
        return false;
    memcpy(ended, visit->ended, visit->ended_count * sizeof(void *));
    free_ended(visit);
    visit->ended = ended;
    visit->ended_capacity = capacity;
    return true;
}

static void finish_ended(rota__queue_visit *visit)
{
    for (size_t i = 0; i < visit->ended_count; i++)
        visit->ops->visit_done(visit->ended[i]);
    visit->ended_count = 0;
}

/* -- Showing -------------------------------------------------------------- */

bool rota__queue_visit_ask(void *element, void *ctx)
{
    rota__queue_visit *visit = ctx;
    const rota__element_ops *ops = visit->ops;

    visit->batch_size++;
    if (ops != NULL && (!reserve(visit) || !ops->visit_begin(element)))
        return false;
    bool chosen = visit->ask(element, visit->ctx);
    visit->shown++;
    if (ops != NULL && ops->visit_end(element))
        visit->ended[visit->ended_count++] = element;
    return chosen;
}

void rota__queue_visit_yield(rota__queue_visit *visit, rota__mutex *lock)
{
    visit->batch_size = 0;
    if (visit->ended_count == 0) {
        rota__mutex_yield(lock);
        return;
    }
    rota__mutex_unlock(lock);
    finish_ended(visit);
    rota__mutex_lock(lock);
}

void rota__queue_visit_finish(rota__queue_visit *visit)
{
    finish_ended(visit);
    free_ended(visit);
}
