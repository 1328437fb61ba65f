/* SPDX-License-Identifier: MIT */
/*
 * Random graphs of futures, of which several threads complete, cancel, extend and let go at once.
 */
#include "executors.h"
#include "rota_test_compose.h"
#include "rota_test_race.h"

#include "compose/compose_internal.h"

#include <string.h>

enum { SOURCES = 3, NODES = 9, MOVES = 4, SIDES = 3 };

static test_random randoms[SIDES + 1]; /* one each, and one for making the graph */
static rota_future *nodes[NODES];      /* promises first; each other follows from earlier ones */
static atomic_uint calls[NODES];
static atomic_uint frees[NODES]; /* of the values, which are these counters */
static atomic_uint accepted[NODES];

static void count_free(void *value)
{
    if (value != NULL) /* a handler after a source that has none returns that */
        atomic_fetch_add((atomic_uint *)value, 1);
}

static size_t pick(int side, size_t limit)
{
    return test_random_below(&randoms[side], limit);
}

/* -- Steps -------------------------------------------------------------------------------- */

static void *count_then(void *value, void *counter)
{
    atomic_fetch_add((atomic_uint *)counter, 1);
    return value;
}

static void *count_both(void *first, void *second, void *counter)
{
    return count_then(second, counter);
}

static void *count_end(int status, void *value, int error, void *counter)
{
    return count_then(value, counter);
}

static rota_future *count_chain(void *value, void *counter)
{
    count_then(value, counter);
    return rota_future_ref(nodes[(size_t)((atomic_uint *)counter - calls) % SOURCES]);
}

static int make_node(size_t i)
{
    rota_future *f = nodes[pick(SIDES, i)];
    rota_future *g = nodes[pick(SIDES, i)];

    switch (pick(SIDES, 6)) {
    case 0:
        return rota_then(f, NULL, count_then, &calls[i], &nodes[i]);
    case 1:
        return rota_chain(f, NULL, count_chain, &calls[i], &nodes[i]);
    case 2:
        return rota_both(f, g, NULL, count_both, &calls[i], &nodes[i]);
    case 3:
        return rota_either(f, g, NULL, count_then, &calls[i], &nodes[i]);
    case 4:
        return rota_handle(f, NULL, count_end, &calls[i], &nodes[i]);
    default:
        return rota_any_of((rota_future *[]){f, g, nodes[pick(SIDES, i)]}, 3, &nodes[i]);
    }
}

static void make_graph(void *arg)
{
    memset(calls, 0, sizeof calls);
    memset(frees, 0, sizeof frees);
    memset(accepted, 0, sizeof accepted);
    for (size_t i = 0; i < NODES; i++) {
        if (i < SOURCES)
            nodes[i] = test_promise();
        else
            test_check(make_node(i) == ROTA_OK);
        test_check(rota_future_own_result(nodes[i], count_free) == ROTA_OK);
        if (i >= SOURCES && pick(SIDES, 4) == 0)
            test_check(rota_future_own(nodes[i]) == ROTA_OK);
    }
}

/* -- Moves -------------------------------------------------------------------------------- */

static void complete(size_t i)
{
    if (rota_promise_complete(nodes[i], &frees[i]))
        atomic_fetch_add(&accepted[i], 1);
}

/* Registers one more, which nobody else knows, and ends it or lets it be. */
static void extend(int side)
{
    rota_future *f = nodes[pick(side, NODES)];
    rota_future *g = nodes[pick(side, NODES)];
    rota_future *out = NULL;

    if (pick(side, 2) == 0)
        test_check(rota_any_of((rota_future *[]){f, g}, 2, &out) == ROTA_OK);
    else
        test_check(rota_all_of((rota_future *[]){f, g}, 2, &out) == ROTA_OK);
    if (pick(side, 2) == 0)
        rota_future_cancel(out);
    rota_future_unref(out);
}

static void move(int side)
{
    size_t i = pick(side, NODES);

    switch (pick(side, 6)) {
    case 0:
        rota_future_cancel(nodes[i]);
        break;
    case 1:
        rota_promise_fail(nodes[i], TEST_CODE);
        break;
    case 2:
        complete(i);
        break;
    case 3:
        complete(i % SOURCES);
        break;
    default:
        extend(side);
    }
}

static void move_first(void *arg)
{
    for (int i = 0; i < MOVES; i++)
        move(0);
}

static void move_second(void *arg)
{
    for (int i = 0; i < MOVES; i++)
        move(1);
}

static void move_third(void *arg)
{
    for (int i = 0; i < MOVES; i++)
        move(2);
}

/* When the sources are done all is; each step was called once at most, each value freed once. */
static void check_graph(void *arg)
{
    for (size_t i = 0; i < SOURCES; i++)
        rota_future_cancel(nodes[i]);
    for (size_t i = 0; i < NODES; i++) {
        test_check(rota_future_is_done(nodes[i]));
        test_check(rota_future_dependents(nodes[i]) == 0);
        test_check(calls[i] <= 1);
    }
    for (size_t i = 0; i < NODES; i++)
        rota_future_unref(nodes[i]);
    for (size_t i = 0; i < NODES; i++)
        test_check(frees[i] == accepted[i] && accepted[i] <= 1);
}

BEFORE_TESTS
{
    for (int i = 0; i <= SIDES; i++) {
        test_random_init(&randoms[i]);
        randoms[i].state += (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    }
    return true;
}

/* COMP-18, COMP-24, COMP-26, COMP-27, OWN-06, OWN-20 */
TEST(random_graphs_are_ended_by_several)
{
    const test_race race = {make_graph, {move_first, move_second, move_third}, check_graph};

    test_race_run(&race, NULL);
}

/* -- Time --------------------------------------------------------------------------------- */

static rota_future *source;
static rota_future *in_time;

static void make_timeout(void *arg)
{
    source = test_promise();
    test_check(rota_timeout(source, ROTA_US(20), &in_time) == ROTA_OK);
}

static void complete_source(void *arg)
{
    test_check(rota_promise_complete(source, &source));
}

static void cancel_timeout(void *arg)
{
    rota_future_cancel(in_time);
}

static void get_in_time(void *arg)
{
    int status = rota_future_get(in_time, NULL);

    test_check(status == ROTA_OK || status == ROTA_ECANCELED
               || (status == ROTA_EFAILED && rota_future_error(in_time) == ROTA_ETIMEDOUT));
}

static void drop_timeout(void *arg)
{
    test_check(rota_future_is_done(in_time));
    rota_future_unref(in_time);
    rota_future_unref(source);
}

/* COMP-19: a timeout, its source's end and a cancel at once. */
TEST(a_timeout_meets_all_other_ends)
{
    const test_race race = {
        make_timeout, {complete_source, cancel_timeout, get_in_time}, drop_timeout};

    test_race_run(&race, NULL);
}

/* -- Again -------------------------------------------------------------------------------- */

enum { ROUNDS = 20000 };

/* Of one round: attempts may outlast it. */
static struct errand {
    atomic_uint runs;
    atomic_uint discards;
} errands[ROUNDS];

static size_t begun;
static rota_executor *executor;
static rota_future *retried;

static void *fail_often(void *arg)
{
    struct errand *errand = arg;

    return atomic_fetch_add(&errand->runs, 1) < 2 ? rota_fail(TEST_CODE) : arg;
}

static void count_discard(void *arg)
{
    atomic_fetch_add(&((struct errand *)arg)->discards, 1);
}

static void begin_errand(void *arg)
{
    rota_call call = {.fn = fail_often, .arg = &errands[begun % ROUNDS], .discard = count_discard};
    rota_retry_options options = {.attempts = 4};
    bool is_hedge = begun % 4 == 3;

    begun++;
    if (is_hedge)
        test_check(rota_hedge(executor, &call, ROTA_US(1), &retried) == ROTA_OK);
    else
        test_check(rota_retry(executor, &call, &options, &retried) == ROTA_OK);
}

static void get_errand(void *arg)
{
    int status = rota_future_get(retried, NULL);

    test_check(status == ROTA_OK || status == ROTA_ECANCELED || status == ROTA_EFAILED);
}

static void cancel_errand(void *arg)
{
    rota_future_cancel(retried);
}

static void drop_errand(void *arg)
{
    test_check(rota_future_is_done(retried));
    rota_future_unref(retried);
}

/* Cancelled at any moment; the argument is used, or discarded once. */
TEST(retries_and_hedges_are_cancelled)
{
    const test_race race = {begin_errand, {get_errand, cancel_errand}, drop_errand};

    begun = 0;
    memset(errands, 0, sizeof errands);
    test_check(test_executor_threads(2, &executor) == ROTA_OK);
    test_race_run(&race, NULL);
    rota__timer_end(ROTA_FOREVER); /* which may submit an attempt yet */
    assert_ok(rota_close(executor));
    for (size_t i = 0; i < begun && begun <= ROUNDS; i++) {
        unsigned discards = errands[i].discards;
        assert_int_equal(discards, errands[i].runs == 0);
    }
}
