/* SPDX-License-Identifier: MIT */
/*
 * task_internal.h - a task in memory.
 *
 * A task is a rota_call whose reserved words hold what the library needs to
 * know of it: 64 bytes, one cache line. A plain task, rota_execute's, is no
 * more than that; a future begins with one.
 */
#ifndef ROTA_TASK_TASK_INTERNAL_H
#define ROTA_TASK_TASK_INTERNAL_H

#include "base/atomic.h"
#include "base/heap.h"
#include "base/thread.h"

#include <rota/task.h>

typedef enum rota__task_kind {
    ROTA__TASK_PLAIN,
    ROTA__TASK_FUTURE,
} rota__task_kind;

struct rota_task {
    union {
        rota_call call; /* fixed while the task lives; the words below are its reserved ones */
        struct {
            void *visible[5];
            union { /* for the queue or list that has it */
                rota__atomic(rota_task *) next;
                rota__heap_item place;
            };
            rota__atomic(uint64_t) counts;       /* of a future: future.c only */
            union {                              /* of a future */
                rota__atomic(uint32_t) executor; /* pending: the number of the executor it was
                                                    submitted to, or 0 */
                rota__atomic(int32_t) error;     /* done: the code of its failure, or 0 */
            };
            uint8_t slab_offset; /* of its block: block.h */
            uint8_t units;       /* likewise: its size */
            uint8_t kind;        /* a rota__task_kind */
            bool periodic;       /* goes back to pending after a run */
        };
    };
};

_Static_assert(offsetof(struct rota_task, next) == offsetof(rota_call, reserved),
               "ours begins where the call's visible part ends");
_Static_assert(sizeof(void *) != 8 || sizeof(struct rota_task) == 64,
               "a plain task takes one cache line");

/* -- Tasks in a row ------------------------------------------------------- */

/* Linked by `next`. Atomic, as somebody may look for a task in a heap where it is not any more. */
typedef struct rota__chain {
    rota_task *first; /* all zero is an empty one */
    rota_task *last;
    size_t count;
} rota__chain;

static inline void rota__chain_append(rota__chain *chain, rota_task *task)
{
    rota__store_relaxed(&task->next, NULL);
    if (chain->last != NULL)
        rota__store_relaxed(&chain->last->next, task);
    else
        chain->first = task;
    chain->last = task;
    chain->count++;
}

/* NULL: it is empty. */
static inline rota_task *rota__chain_take(rota__chain *chain)
{
    rota_task *task = chain->first;

    if (task == NULL)
        return NULL;
    chain->first = rota__load_relaxed(&task->next);
    if (chain->first == NULL)
        chain->last = NULL;
    chain->count--;
    return task;
}

/* All of `added`, which is empty then, behind those in `chain`. */
static inline void rota__chain_join(rota__chain *chain, rota__chain *added)
{
    if (added->first == NULL)
        return;
    if (chain->last != NULL)
        rota__store_relaxed(&chain->last->next, added->first);
    else
        chain->first = added->first;
    chain->last = added->last;
    chain->count += added->count;
    *added = (rota__chain){0};
}

/* -- Plain tasks ---------------------------------------------------------- */

rota_task *rota__plain_task_new(rota_fn *fn, void *arg); /* NULL: no memory */
void rota__plain_task_free(rota_task *task);

#endif
