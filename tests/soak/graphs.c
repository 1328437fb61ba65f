/* SPDX-License-Identifier: MIT */
/*
 * graphs.c - composed futures: steps, timeouts, retries and hedges.
 *
 * A step that is cancelled while its source ends may still be given to its executor; so graphs whose
 * sources the timer ends are cancelled, and retries and hedges are made, only in the common pool, which is
 * never closed.
 */
#include "rota_test_compose.h"
#include "soak.h"

enum { SOURCES = 2, NODES = 8 };

/* In spite of interrupts. */
static int get_patiently(rota_future *future)
{
    int status;

    do
        status = rota_future_get(future, NULL);
    while (status == ROTA_EINTERRUPTED);
    return status;
}

struct graph {
    struct station *station;
    test_random *random;
    rota_executor *executor; /* of steps; or NULL */
    bool is_timed;
    size_t count;
    rota_future *nodes[NODES];
};

/* -- Steps -------------------------------------------------------------------------------- */

static void *then(void *value, void *step)
{
    item_step(step);
    return value;
}

static void *both(void *first, void *second, void *step)
{
    item_step(step);
    return first;
}

static void *handle(int status, void *value, int error, void *step)
{
    item_step(step);
    return value;
}

static void done(rota_future *future, void *step)
{
    test_check(rota_future_is_done(future));
    item_step(step);
}

static rota_future *chain(void *value, void *step)
{
    item_step(step);
    return test_done(TEST_SUCCEEDS, NULL);
}

/* -- Nodes -------------------------------------------------------------------------------- */

static rota_future *any_node(const struct graph *graph)
{
    return graph->nodes[test_random_below(graph->random, graph->count)];
}

static int follow_in_time(const struct graph *graph, rota_future *f, rota_future **out)
{
    rota_ns timeout = (rota_ns)test_random_below(graph->random, ROTA_US(200));

    if (!graph->is_timed)
        return rota_copy(f, out);
    if (test_random_below(graph->random, 2) == 0)
        return rota_timeout(f, timeout, out);
    return rota_timeout_value(f, timeout, NULL, out);
}

static int follow_several(const struct graph *graph, rota_future *f, rota_future **out)
{
    rota_future *const several[] = {f, any_node(graph), any_node(graph)};

    if (test_random_below(graph->random, 2) == 0)
        return rota_all_of(several, 3, out);
    return rota_any_of(several, 3, out);
}

static int follow(const struct graph *graph, struct item *step, rota_future **out)
{
    rota_executor *ex = test_random_below(graph->random, 2) == 0 ? graph->executor : NULL;
    rota_future *f = any_node(graph);

    switch (test_random_below(graph->random, 9)) {
    case 0:
        return rota_then(f, ex, then, step, out);
    case 1:
        return rota_both(f, any_node(graph), ex, both, step, out);
    case 2:
        return rota_either(f, any_node(graph), ex, then, step, out);
    case 3:
        return rota_handle(f, ex, handle, step, out);
    case 4:
        return rota_recover(f, ex, handle, step, out);
    case 5:
        return rota_chain(f, ex, chain, step, out);
    case 6:
        return rota_when_done(f, ex, done, step, out);
    case 7:
        return follow_several(graph, f, out);
    default:
        return follow_in_time(graph, f, out);
    }
}

/* -- Graphs ------------------------------------------------------------------------------- */

static bool add_source(struct graph *graph)
{
    struct item *item = station_item(graph->station, graph->random);
    rota_future *future = NULL;

    if (item == NULL)
        return false;
    rota_call call = item_call(item);
    if (station_noted(item, rota_submit_call(graph->station->executor, &call, &future))) {
        atomic_store(&item->is_disturbed, true); /* a node may own it */
        atomic_store(&item->future, rota_future_ref(future));
    } else {
        future = test_done(TEST_FAILS, NULL);
    }
    graph->nodes[graph->count++] = future;
    return true;
}

static bool add_node(struct graph *graph)
{
    struct item *step = station_item(graph->station, graph->random);
    rota_future *node = NULL;

    if (step == NULL)
        return false;
    step->most = 1;
    test_check(follow(graph, step, &node) == ROTA_OK);
    if (test_random_below(graph->random, 8) == 0)
        test_check(rota_future_own(node) == ROTA_OK);
    graph->nodes[graph->count++] = node;
    return true;
}

static void end_graph(const struct graph *graph)
{
    bool may_cancel = !graph->is_timed || graph->station->kind->stays;

    if (may_cancel && test_random_below(graph->random, 4) == 0)
        rota_future_cancel(graph->nodes[graph->count - 1]);
    for (size_t i = 0; i < graph->count; i++)
        get_patiently(graph->nodes[i]);
    for (size_t i = 0; i < graph->count; i++)
        rota_future_unref(graph->nodes[i]);
}

static void make_graph(struct station *station, test_random *random)
{
    struct graph graph = {.station = station, .random = random};

    graph.is_timed = test_random_below(random, 2) == 0;
    graph.executor = station->executor;
    while (graph.count < SOURCES && add_source(&graph))
        continue;
    if (graph.count == 0)
        return;
    while (graph.count < NODES && add_node(&graph))
        continue;
    end_graph(&graph);
}

/* -- Again, and twice --------------------------------------------------------------------- */

enum { ATTEMPTS = 3 };

static void *attempt(void *arg)
{
    struct item *item = arg;

    item_step(item);
    if (item->seed % 3 == 0)
        return rota_fail(CODE);
    if (item->seed % 3 == 1)
        (void)rota_sleep(ROTA_US(20));
    return item;
}

static void try_again(struct station *station, test_random *random)
{
    rota_retry_options options = {.attempts = ATTEMPTS, .first_delay = ROTA_US(10), .jitter = 1};
    struct item *item = station_item(station, random);
    rota_future *future = NULL;
    int status;

    if (item == NULL)
        return;
    rota_call call = {.fn = attempt, .arg = item};
    item->most = ATTEMPTS;
    if (test_random_below(random, 2) == 0)
        status = rota_retry(station->executor, &call, &options, &future);
    else
        status = rota_hedge(station->executor, &call, ROTA_US(10), &future);
    test_check(status == ROTA_OK);
    if (test_random_below(random, 4) == 0)
        rota_future_cancel(future);
    get_patiently(future);
    rota_future_unref(future);
}

void graph_move(struct station *station, test_random *random)
{
    if (station->kind->stays && test_random_below(random, 4) == 0)
        try_again(station, random);
    else
        make_graph(station, random);
}
