/* SPDX-License-Identifier: MIT */
/*
 * thread_plan.c - checks, copies and carries out rota_threads.
 */
#include "workers/workers_internal.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

/* -- Names: at most one %u, and no other conversion ----------------------- */

static const char *number_in(const char *name)
{
    return strstr(name, "%u");
}

static bool is_good_name(const char *name)
{
    const char *percent = strchr(name, '%');

    return percent == NULL || (percent[1] == 'u' && strchr(percent + 1, '%') == NULL);
}

void rota__format_thread_name(char *name, size_t size, const char *pattern, uint64_t number)
{
    const char *where = number_in(pattern);
    size_t before = where != NULL ? (size_t)(where - pattern) : strlen(pattern);

    if (before >= size)
        before = size - 1;
    memcpy(name, pattern, before);
    name[before] = '\0';
    if (where != NULL)
        snprintf(name + before, size - before, "%llu%s", (unsigned long long)number, where + 2);
}

/* -- Plans ---------------------------------------------------------------- */

/* POOL-63 */
static bool is_possible(const rota_threads *threads)
{
    if (threads->name != NULL && !is_good_name(threads->name))
        return false;
    if (threads->stack_size != 0 && threads->stack_size < rota__os_min_stack_size())
        return false;
    if (threads->interrupt_signal != 0 && !rota__os_signal_prepare(threads->interrupt_signal))
        return false;
    if ((threads->cpus == NULL) != (threads->cpu_count == 0))
        return false;
    for (size_t i = 0; i < threads->cpu_count; i++) {
        if (!rota__os_cpu_exists(threads->cpus[i]))
            return false;
    }
    return true;
}

int rota__thread_plan_new(const rota_threads *threads, rota__thread_plan **out)
{
    const char *name = threads->name != NULL ? threads->name : "rota-%u";
    size_t name_size = strlen(name) + 1;
    size_t cpus_size = threads->cpu_count * sizeof threads->cpus[0];
    rota__thread_plan *plan;

    if (!is_possible(threads))
        return ROTA_EINVAL;
    plan = rota__alloc(sizeof *plan + cpus_size + name_size);
    if (plan == NULL)
        return ROTA_ENOMEM;
    rota__store_relaxed(&plan->references, 1);
    plan->size = sizeof *plan + cpus_size + name_size;
    plan->threads = *threads;
    if (cpus_size > 0)
        plan->threads.cpus = memcpy(plan + 1, threads->cpus, cpus_size);
    plan->threads.name = memcpy((char *)(plan + 1) + cpus_size, name, name_size);
    *out = plan;
    return ROTA_OK;
}

rota__thread_plan *rota__thread_plan_ref(rota__thread_plan *plan)
{
    rota__add_relaxed(&plan->references, 1);
    return plan;
}

void rota__thread_plan_unref(rota__thread_plan *plan)
{
    if (rota__sub_acq_rel(&plan->references, 1) == 1) /* pairs with itself in other threads */
        rota__free(plan, plan->size);
}

int rota__thread_plan_start(const rota__thread_plan *plan, uint64_t number, rota__os_thread *thread,
                            void (*body)(void *arg), void *arg)
{
    const rota_threads *threads = &plan->threads;
    char name[ROTA__OS_NAME_SIZE];
    rota__os_thread_options options = {
        .name = name,
        .stack_size = threads->stack_size,
        .cpu = ROTA__OS_ANY_CPU,
        .signal = threads->interrupt_signal,
        .create = threads->create,
        .ctx = threads->ctx,
    };

    rota__format_thread_name(name, sizeof name, threads->name, number);
    if (threads->cpu_count > 0)
        options.cpu = threads->cpus[number % threads->cpu_count];
    return rota__os_thread_start(thread, &options, body, arg);
}
