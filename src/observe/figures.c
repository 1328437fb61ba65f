/* SPDX-License-Identifier: MIT */
/*
 * figures.c - what all threads have written of an executor's tasks, added up.
 */
#include "observe/observe_internal.h"

#include "base/alloc.h"
#include "base/fork.h"

#include <string.h>

/* -- By name -------------------------------------------------------------- */

static void add(rota__summed *sum, const rota__cell *cell)
{
    sum->completed += rota__load_relaxed(&cell->completed);
    sum->failed += rota__load_relaxed(&cell->failed);
    rota__tally_merge(&sum->waiting, &cell->waiting);
    rota__tally_merge(&sum->running, &cell->running);
}

/* With the lock held. */
static void add_all(uint32_t executor, uint32_t name, rota__summed *sum)
{
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        const rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        for (const rota__cell *cell = record->cells; cell != NULL; cell = cell->next) {
            if (cell->executor == executor && cell->name == name)
                add(sum, cell);
        }
    }
}

enum { MOST_NAMES = ROTA__FIRST_NAME + ROTA_OBSERVED_NAMES };

/* With the lock held: which names an executor's tasks have. */
static size_t find_names(uint32_t executor, bool has[MOST_NAMES])
{
    size_t count = 0;

    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        const rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        for (const rota__cell *cell = record->cells; cell != NULL; cell = cell->next) {
            if (cell->executor == executor && !has[cell->name]) {
                has[cell->name] = true;
                count++;
            }
        }
    }
    return count;
}

/* What comes meanwhile is left for the next time. */
int rota__sum_up(const rota_executor *ex, rota__summed **sums, size_t *count)
{
    bool has[MOST_NAMES] = {false};
    size_t filled = 0;

    rota__mutex_lock(&rota__process_lock);
    *count = find_names(ex->number, has);
    rota__mutex_unlock(&rota__process_lock);
    *sums = *count > 0 ? rota__alloc_array(*count, sizeof **sums) : NULL;
    if (*count > 0 && *sums == NULL)
        return ROTA_ENOMEM;
    for (uint32_t name = 0; name < MOST_NAMES && filled < *count; name++) {
        if (!has[name])
            continue;
        memset(&(*sums)[filled], 0, sizeof **sums);
        (*sums)[filled].name = name;
        rota__mutex_lock(&rota__process_lock); /* anew for each, as others wait for it */
        add_all(ex->number, name, &(*sums)[filled++]);
        rota__mutex_unlock(&rota__process_lock);
    }
    return ROTA_OK;
}

int rota_figures_by_task(rota_executor *ex, rota_task_visitor *visit, void *ctx)
{
    rota__summed *sums;
    size_t count;
    int status = ex != NULL && visit != NULL ? rota__sum_up(ex, &sums, &count) : ROTA_EINVAL;
    bool goes_on = true;

    if (status != ROTA_OK)
        return status;
    for (size_t i = 0; i < count && goes_on; i++) {
        rota_task_figures figures = {.name = rota__name_of(sums[i].name),
                                     .completed = sums[i].completed,
                                     .failed = sums[i].failed,
                                     .waiting = sums[i].waiting,
                                     .running = sums[i].running};
        goes_on = visit(&figures, ctx);
    }
    rota__free(sums, count * sizeof *sums);
    return ROTA_OK;
}

/* -- All of it ------------------------------------------------------------ */

/* With the lock held. */
static void add_up(uint32_t executor, rota__summed *sum)
{
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        const rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        for (const rota__cell *cell = record->cells; cell != NULL; cell = cell->next) {
            if (cell->executor == executor)
                add(sum, cell);
        }
    }
}

static void fill(rota_executor *ex, const rota__snapshot *seen, rota_figures *figures)
{
    rota__summed all = {0};

    rota__mutex_lock(&rota__process_lock);
    add_up(ex->number, &all);
    rota__mutex_unlock(&rota__process_lock);
    *figures = (rota_figures){.state = rota_executor_state_of(ex),
                              .threads = seen->threads,
                              .active = seen->active,
                              .queued = seen->queued,
                              .submitted = seen->submitted,
                              .completed = seen->completed,
                              .rejected = seen->rejected,
                              .stolen = seen->stolen,
                              .oldest = rota__age(seen->oldest),
                              .failed = all.failed,
                              .waiting = all.waiting,
                              .running = all.running};
    if (seen->completed == 0 && seen->submitted == 0) { /* a fork/join pool does not count */
        figures->completed = all.completed;
        figures->submitted = all.completed + seen->queued + seen->active;
    }
}

int rota_figures_get(rota_executor *ex, rota_figures *figures)
{
    rota__snapshot seen = {0};

    if (ex == NULL || figures == NULL)
        return ROTA_EINVAL;
    if (ex->generation == rota__process_generation())
        ex->ops->snapshot(ex, &seen);
    fill(ex, &seen, figures);
    return ROTA_OK;
}
