/* SPDX-License-Identifier: MIT */
/*
 * task_internal.h - a task in memory.
 *
 * A task is a rota_call. The library keeps its own fields in the reserved words of the call, so a task
 * has 64 bytes, one cache line. A plain task (rota_execute) is just that. A future begins with a task.
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
            union { /* for the queue or list that holds the task */
                rota__atomic(rota_task *) next;
                rota__heap_item place;
            };
            rota__atomic(uint64_t) counts; /* of a future: future.c; of a plain task: its stamp */
            union {                        /* of a future */
                rota__atomic(uint32_t) executor; /* pending: the number of the executor it was
                                                    submitted to, or 0 */
                rota__atomic(int32_t) error;     /* done: the code of its failure, or 0 */
            };
            uint8_t slab_offset; /* of its block: block.h */
            uint8_t units;       /* the size of a future's block: block.h */
            uint8_t kind;        /* a rota__task_kind */
            bool periodic;       /* goes back to pending after a run */
        };
    };
};

_Static_assert(offsetof(struct rota_task, next) == offsetof(rota_call, reserved),
               "the library's fields begin at the reserved words");
_Static_assert(sizeof(void *) != 8 || sizeof(struct rota_task) == 64,
               "a plain task takes one cache line");

/* -- Lists of tasks ------------------------------------------------------- */

/* A singly linked list. All zero: an empty one. `next` is atomic, because it shares its word with
   the position in a heap: a canceller may still read that word after the task has left the heap. */
typedef struct rota__task_slist {
    rota_task *first;
    rota_task *last;
    size_t count;
} rota__task_slist;

static inline void rota__task_slist_append(rota__task_slist *chain, rota_task *task)
{
    rota__store_relaxed(&task->next, NULL);
    if (chain->last != NULL)
        rota__store_relaxed(&chain->last->next, task);
    else
        chain->first = task;
    chain->last = task;
    chain->count++;
}

/* Takes the first task. NULL: the list is empty. */
static inline rota_task *rota__task_slist_take(rota__task_slist *chain)
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

/* Moves all tasks of `added` to the end of `chain`. */
static inline void rota__task_slist_join(rota__task_slist *chain, rota__task_slist *added)
{
    if (added->first == NULL)
        return;
    if (chain->last != NULL)
        rota__store_relaxed(&chain->last->next, added->first);
    else
        chain->first = added->first;
    chain->last = added->last;
    chain->count += added->count;
    *added = (rota__task_slist){0};
}

/* -- Plain tasks ---------------------------------------------------------- */

rota_task *rota__plain_task_new(rota_fn *fn, void *arg); /* NULL: no memory */
void rota__plain_task_free(rota_task *task);

#endif
