/* SPDX-License-Identifier: MIT */
/*
 * pipeline.c - the fourth act: items that are fetched, checked and shrunk, composed of futures.
 *
 *     fetch, up to four times -> at most 100 ms -+-> checksum -+-> both -> or else a substitute
 *                                                +-> shrink  --+
 *
 * Which fetches fail or hang is set beforehand, so that the accounts can be looked at in the end.
 */
#include "live.h"
#include "text.h"
#include "tour.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 5000, FETCHERS = 16, WINDOW = 32 /* items under way */, PAGE = 4096 };
enum { ERROR_BUSY = 503, ERROR_GONE = 410 };

typedef struct item {
    unsigned number;
    atomic_uint attempts;
    int error; /* why it got a substitute: ROTA_ETIMEDOUT, ERROR_GONE; 0: it did not */
    uint32_t checksum;
    unsigned shrunk;
    rota_ns begun, took;
    rota_future *fetched, *answer;
    rota_queue *permits; /* to give back when it is done */
} item;

/* -- The steps ------------------------------------------------------------------------------- */

static bool hangs(const item *it)
{
    return it->number % 100 == 33;
}

static int failure(const item *it, unsigned attempt)
{
    if (it->number % 100 == 66)
        return ERROR_GONE;
    return it->number % 5 == 0 && attempt == 1 ? ERROR_BUSY : 0;
}

/* As from a network: 4 to 10 ms. An interrupt ends it at once. */
static void *fetch(void *arg)
{
    item *it = arg;
    unsigned attempt = atomic_fetch_add(&it->attempts, 1) + 1;
    rota_ns delay = hangs(it) ? ROTA_SEC(5) : ROTA_MS(4 + it->number % 7);

    if (rota_sleep(delay) != ROTA_OK)
        return rota_fail(ROTA_ECANCELED);
    if (failure(it, attempt) != 0)
        return rota_fail(failure(it, attempt));
    unsigned char *page = malloc(PAGE); /* the future's, which frees it */
    if (page == NULL)
        return rota_fail(ROTA_ENOMEM);
    for (unsigned i = 0; i < PAGE; i++)
        page[i] = (unsigned char)(it->number * 31 + i * i);
    return page;
}

static void *checksum(void *page, void *arg)
{
    item *it = arg;
    uint32_t sum = 2166136261u; /* FNV-1a, eight times over */

    for (unsigned i = 0; i < 8 * PAGE; i++)
        sum = (sum ^ ((unsigned char *)page)[i % PAGE]) * 16777619u;
    it->checksum = sum;
    return it;
}

static void *shrink(void *page, void *arg)
{
    item *it = arg;
    unsigned pairs = 0; /* of equal neighbours, at any of eight distances */

    for (unsigned distance = 1; distance <= 8; distance++) {
        for (unsigned i = distance; i < PAGE; i++)
            pairs += ((unsigned char *)page)[i] == ((unsigned char *)page)[i - distance];
    }
    it->shrunk = PAGE - pairs / 8;
    return it;
}

static void *combine(void *checked, void *shrunk, void *arg)
{
    (void)checked, (void)shrunk;
    return arg;
}

/* The fetch that hangs is interrupted, so that its thread is free for others. */
static void *substitute(int status, void *value, int error, void *arg)
{
    item *it = arg;

    (void)status, (void)value;
    it->error = error;
    rota_future_cancel_now(it->fetched);
    return it;
}

static void give_back(rota_future *answer, void *arg)
{
    item *it = arg;

    (void)answer;
    it->took = rota_now() - it->begun;
    rota_queue_put(it->permits, it);
}

/* -- One item -------------------------------------------------------------------------------- */

static int compose(item *it, const pipeline_result *r)
{
    static const rota_retry_options again = {
        .attempts = 4, .first_delay = ROTA_MS(1), .jitter = 0.5};
    rota_call call = {.fn = fetch, .arg = it, .free_result = free, .name = "fetch"};
    rota_future *in_time = NULL, *checked = NULL, *shrunk = NULL, *both = NULL;

    it->begun = rota_now();
    int status = rota_retry(r->fetchers, &call, &again, &it->fetched);
    if (status == ROTA_OK)
        status = rota_timeout(it->fetched, ROTA_MS(100), &in_time);
    if (status == ROTA_OK)
        status = rota_then(in_time, r->steps, checksum, it, &checked);
    if (status == ROTA_OK)
        status = rota_then(in_time, r->steps, shrink, it, &shrunk);
    if (status == ROTA_OK)
        status = rota_both(checked, shrunk, NULL, combine, it, &both);
    if (status == ROTA_OK)
        status = rota_recover(both, NULL, substitute, it, &it->answer);
    if (status == ROTA_OK)
        status = rota_when_done(it->answer, NULL, give_back, it, NULL);
    rota_future_unref(in_time);
    rota_future_unref(checked);
    rota_future_unref(shrunk);
    rota_future_unref(both);
    return status;
}

static void let_go(item *items, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        rota_future_unref(items[i].fetched);
        rota_future_unref(items[i].answer);
    }
}

/* -- All of them ----------------------------------------------------------------------------- */

static bool make_pools(pipeline_result *r)
{
    r->fetch_lanes.act = r->step_lanes.act = ACT_PIPELINE;
    rota_pool_options fetchers = {.core_threads = FETCHERS,
                                  .threads = lanes_threads(&r->fetch_lanes, "fetch-%u"),
                                  .hooks = lanes_hooks(&r->fetch_lanes)};
    rota_pool_options steps = {.core_threads = rota_cpu_count(),
                               .threads = lanes_threads(&r->step_lanes, "step-%u"),
                               .hooks = lanes_hooks(&r->step_lanes)};

    return succeeded(rota_pool_new(&fetchers, &r->fetchers), "The pool for fetches cannot be made")
           && succeeded(rota_pool_new(&steps, &r->steps), "The pool for steps cannot be made")
           && succeeded(rota_executor_set_name(r->fetchers, "fetch"), "A pool gets no name")
           && succeeded(rota_executor_set_name(r->steps, "steps"), "A pool gets no name");
}

/* A permit for one more item, when another is done. */
static bool await_permit(rota_queue *permits, const pipeline_result *r, unsigned begun)
{
    void *permit;

    live_show(ACT_PIPELINE, (double)begun / r->items, "%s of %s items", text_count(begun).s,
              text_count(r->items).s);
    return succeeded(rota_queue_poll_timed(permits, ROTA_SEC(20), &permit),
                     "The pipeline is stuck");
}

/* Begins one item after the other, and waits for the last. False: some may be under way for good. */
static bool run_items(item *items, rota_queue *permits, const pipeline_result *r, unsigned *begun)
{
    for (*begun = 0; *begun < r->items && !tour_stopped(); ++*begun) {
        item *it = &items[*begun];
        it->number = *begun;
        it->permits = permits;
        if (!await_permit(permits, r, *begun)
            || !succeeded(compose(it, r), "The pipeline cannot be composed"))
            return false;
    }
    for (unsigned i = 0; i < WINDOW; i++) {
        if (!await_permit(permits, r, *begun))
            return false;
    }
    return true;
}

static void count(pipeline_result *r, const item *items)
{
    for (unsigned i = 0; i < r->items; i++) {
        unsigned attempts = atomic_load(&items[i].attempts);
        r->attempts += attempts;
        r->late += items[i].error == ROTA_ETIMEDOUT;
        r->failed += items[i].error != 0 && items[i].error != ROTA_ETIMEDOUT;
        r->at_once += items[i].error == 0 && attempts == 1;
        r->again += items[i].error == 0 && attempts > 1;
        rota_histogram_add(&r->took, items[i].took);
    }
}

/* Every item must have an answer: this ends as the first that has not. */
static bool all_answered(const item *items, unsigned n)
{
    rota_future **answers = calloc(n, sizeof(rota_future *)), *all = NULL;

    if (answers == NULL)
        return complain("There is no memory for the answers.");
    for (unsigned i = 0; i < n; i++)
        answers[i] = items[i].answer;
    int status = rota_all_of(answers, n, &all);
    if (status == ROTA_OK)
        status = rota_future_get_timed(all, ROTA_SEC(20), NULL);
    rota_future_unref(all);
    free(answers);
    return succeeded(status, "Not every item has an answer");
}

static bool run(pipeline_result *r)
{
    item *items = calloc(r->items, sizeof *items);
    rota_queue *permits;
    unsigned begun;

    if (items == NULL)
        return complain("There is no memory for the pipeline.");
    if (!succeeded(rota_array_queue(WINDOW, &permits), "There is no queue for the pipeline")) {
        free(items);
        return false;
    }
    for (unsigned i = 0; i < WINDOW; i++)
        rota_queue_put(permits, items);
    if (!run_items(items, permits, r, &begun))
        return false;           /* what is under way needs the items until the process ends */
    rota_shutdown(r->fetchers); /* a fetch that was cancelled may still look at its item */
    rota_await_termination(r->fetchers, ROTA_FOREVER);
    bool fine = begun == r->items && all_answered(items, begun);
    if (fine)
        count(r, items);
    let_go(items, r->items);
    rota_queue_free(permits);
    free(items);
    return fine;
}

bool pipeline_act(const tour_options *options, pipeline_result *r)
{
    r->items = options->seconds >= 20 ? ITEMS : (unsigned)(ITEMS / 20 * options->seconds);
    r->begin = rota_now();
    r->fetch_lanes.zoom_begin = r->step_lanes.zoom_begin = r->begin + ROTA_MS(r->items / 5);
    r->fetch_lanes.zoom_end = r->step_lanes.zoom_end = r->fetch_lanes.zoom_begin + ROTA_MS(120);
    bool fine = make_pools(r) && run(r);
    r->length = rota_now() - r->begin;
    if (!fine)
        return false;
    live_done(ACT_PIPELINE, "%s items, all with an answer", text_count(r->items).s);
    return succeeded(rota_figures_get(r->steps, &r->steps_figures), "The pool gives no figures");
}
