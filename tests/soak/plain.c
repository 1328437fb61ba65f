/* SPDX-License-Identifier: MIT */
/*
 * plain.c - thread pools of all sizes, queues and policies: invariants A1, A2, S4.
 */
#include "soak.h"

#include <sched.h>
#include <stdio.h>

/* -- Hooks -------------------------------------------------------------------------------- */

static void thread_starts(void *ctx)
{
    struct station *station = ctx;

    is_worker = true;
    atomic_fetch_add(&station->started, 1);
}

static void thread_exits(void *ctx)
{
    struct station *station = ctx;

    atomic_fetch_add(&station->exited, 1);
}

rota_threads station_threads(struct station *station)
{
    return (rota_threads){.on_start = thread_starts, .on_exit = thread_exits, .ctx = station};
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct station *station = ctx;

    if (item_is_in(task))
        atomic_fetch_add(&item_of(task)->turns, 1);
    else
        atomic_fetch_add(&station->own_turns, 1);
}

static void tell(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    struct item *item = call->arg;

    if (call->fn != item_call(item).fn)
        return;
    test_check(error == (item->is_torn ? ROTA_ECANCELED : CODE));
    atomic_fetch_add(&item->told, 1);
}

static void terminated(rota_executor *ex, void *ctx)
{
    struct station *station = ctx;

    atomic_fetch_add(&station->terminations, 1);
}

rota_hooks station_hooks(struct station *station)
{
    station->has_hooks = true;
    return (rota_hooks){.after_execute = after,
                        .unobserved_failure = tell,
                        .terminated = terminated,
                        .ctx = station};
}

/* -- Rejection ---------------------------------------------------------------------------- */

static void note(const struct policy *policy, struct item *item)
{
    bool has_run = atomic_load(&item->runs) > 0;

    if (policy->reject == rota_reject_caller_runs)
        atomic_store(has_run ? &item->by_caller : &item->dropped, true);
    if (policy->reject == rota_reject_discard)
        atomic_store(&item->dropped, true);
}

/* A policy of the library's, and notes of what it does with an item that found no room. */
int station_reject(rota_executor *ex, rota_task *task, void *ctx)
{
    const struct policy *policy = ctx;
    struct item *item = item_is_in(task) ? item_of(task) : NULL;

    atomic_fetch_add(&policy->station->rejections, 1);
    in_question = item;
    int status = policy->reject(ex, task, NULL);
    in_question = NULL;
    if (item != NULL && status == ROTA_OK)
        note(policy, item);
    return status;
}

/* Nobody would be told that a plain task was discarded as the oldest one. */
struct policy *station_policy(struct station *station, test_random *random)
{
    struct policy *policy = &station->policies[test_random_below(random, TEST_POLICIES)];
    bool is_blind = policy->reject == rota_reject_discard_oldest && station->takes_plain;

    return is_blind ? &station->policies[0] : policy;
}

/* -- Pools -------------------------------------------------------------------------------- */

static int by_seed(const void *a, const void *b, void *ctx)
{
    uint32_t left = item_is_in(a) ? item_of(a)->seed : 0;
    uint32_t right = item_is_in(b) ? item_of(b)->seed : 0;

    return (left > right) - (left < right);
}

static rota_queue *any_queue(test_random *random)
{
    rota_queue *queue = NULL;
    int status = ROTA_OK;

    switch (test_random_below(random, 8)) {
    case 0:
    case 1:
        return test_any_queue(random);
    case 2:
        return test_array(1 + test_random_below(random, 2000));
    case 3:
        status = rota_priority_queue(by_seed, NULL, &queue);
        break;
    case 4:
        status = rota_deque(1 + test_random_below(random, 100), &queue);
        break;
    case 5:
        status = rota_transfer_queue(&queue);
        break;
    case 6:
        status = rota_fair_handoff_queue(&queue);
        break;
    default:
        break;
    }
    test_check(status == ROTA_OK);
    return queue;
}

rota_executor *plain_make(struct station *station, test_random *random)
{
    unsigned core = (unsigned)test_random_below(random, 3);

    station->most_threads = MOST_THREADS;
    station->is_strict = test_random_below(random, 8) == 0;
    return test_pool((rota_pool_options){
        .core_threads = core,
        .max_threads = core + 1 + (unsigned)test_random_below(random, 2),
        .keep_alive = test_random_below(random, 2) == 0 ? 1 : ROTA_US(50),
        .core_may_time_out = test_random_below(random, 4) == 0,
        .queue = any_queue(random),
        .on_reject = station_reject,
        .reject_ctx = station_policy(station, random),
        .strict_wait = station->is_strict,
        .threads = station_threads(station),
        .hooks = station_hooks(station),
    });
}

/* -- Settings ----------------------------------------------------------------------------- */

static int resize(rota_executor *pool, test_random *random)
{
    unsigned n = (unsigned)test_random_below(random, MOST_THREADS);

    if (test_random_below(random, 2) == 0)
        return rota_pool_set_core_threads(pool, n);
    return rota_pool_set_max_threads(pool, n);
}

static int change(struct station *station, test_random *random)
{
    unsigned n = (unsigned)test_random_below(random, 4);

    switch (test_random_below(random, 6)) {
    case 0:
        return resize(station->executor, random);
    case 1:
        return rota_pool_set_keep_alive(station->executor, ROTA_US(n * 20));
    case 2:
        return rota_pool_set_reject(station->executor, station_reject,
                                    station_policy(station, random));
    case 3:
        rota_pool_purge(station->executor);
        return ROTA_OK;
    case 4:
        return rota_pool_prestart_one(station->executor, &n);
    default:
        return rota_pool_set_core_may_time_out(station->executor, n == 0);
    }
}

static void remove_any(struct station *station, test_random *random)
{
    struct item *item = station_any(station, random);
    rota_future *future = item != NULL ? atomic_load(&item->future) : NULL;

    if (future == NULL)
        return;
    atomic_store(&item->is_disturbed, true);
    rota_pool_remove(station->executor, future);
}

void plain_move(struct station *station, test_random *random)
{
    int status = ROTA_OK;

    if (test_random_below(random, 2) == 0)
        remove_any(station, random);
    else
        status = change(station, random);
    test_check(status == ROTA_OK || status == ROTA_EINVAL);
}

/* -- Figures ------------------------------------------------------------------------------ */

struct figures {
    rota_pool_stats stats;
    uint64_t turns, taken;
    uint64_t skipped; /* at most so many tasks were done before a worker took them */
    unsigned rejections, threads;
};

/* How many tasks of an item may be done before a worker takes them. A periodic one may after any run. */
static unsigned may_skip(const struct item *item)
{
    if (item->is_plain)
        return 0;
    if (item->most > 0)
        return item->most;
    return atomic_load(&item->turns) == 0 || item->is_periodic;
}

/* How often the pool had an item in its hands; of those that it took, how many it has counted. */
static void add_up(const struct station *station, struct figures *now)
{
    for (size_t i = 0; i < station_used(station); i++) {
        const struct item *item = &station->items[i];
        now->turns += atomic_load(&item->turns);
        now->skipped += may_skip(item);
        now->taken += atomic_load(&item->offer) == ACCEPTED && !atomic_load(&item->by_caller)
                      && !atomic_load(&item->dropped);
    }
}

static struct figures figures_of(const struct station *station)
{
    struct figures now = {.stats = test_stats(station->executor),
                          .turns = atomic_load(&station->own_turns),
                          .rejections = atomic_load(&station->rejections)};

    now.threads = atomic_load(&station->started) - atomic_load(&station->exited);
    add_up(station, &now);
    return now;
}

static bool are_right(const struct station *station, const struct figures *now)
{
    const rota_pool_stats *stats = &now->stats;

    return stats->active == 0 && stats->queued == 0 && stats->threads == now->threads
           && stats->largest <= MOST_THREADS && stats->completed >= now->turns
           && stats->completed - now->turns <= now->skipped && stats->rejected == now->rejections
           && (stats->submitted >= now->turns || station->kind->repeats)
           && (stats->submitted == now->taken || !station->is_pure);
}

static void complain(const struct station *station, const struct figures *now)
{
    char line[200];

    rota_executor_describe(station->executor, line, sizeof line);
    fprintf(stderr,
            "%s\n%llu submitted, and %llu were accepted; %llu completed, and %llu had a turn; "
            "%llu rejected, and the handler was called %u times; %u threads, and %u are there\n",
            line, (unsigned long long)now->stats.submitted, (unsigned long long)now->taken,
            (unsigned long long)now->stats.completed, (unsigned long long)now->turns,
            (unsigned long long)now->stats.rejected, now->rejections, now->stats.threads,
            now->threads);
    test_die(__FILE__, __LINE__, "the figures of a pool are wrong");
}

/* At once, if it is terminated; else one that was cancelled may be on its way through its hands. */
void plain_check(struct station *station)
{
    rota_ns deadline = rota_is_terminated(station->executor) ? 0 : rota_now() + PATIENCE;
    struct figures now = figures_of(station);

    while (!are_right(station, &now)) {
        if (rota_now() > deadline)
            complain(station, &now);
        sched_yield();
        now = figures_of(station);
    }
}
