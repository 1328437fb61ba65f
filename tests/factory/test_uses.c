/* SPDX-License-Identifier: MIT */
/*
 * What executors are made for, each in a few lines: requests, background jobs, fire and forget, a
 * heartbeat, a graceful stop, and the questions that one answers when one chooses a pool.
 */
#include "pools.h"
#include "rota_test_internal.h"

/* -- Requests ----------------------------------------------------------------------------- */

enum { HANDLERS = 100, REQUESTS = 1000 };

struct request {
    int number;
    int answer;
};

static void *answer_it(void *arg)
{
    struct request *request = arg;

    request->answer = -request->number;
    return request;
}

/* USE-01: as many at once as there are threads; all others wait for their turn. */
TEST(a_fixed_pool_answers_requests)
{
    static struct request requests[REQUESTS];
    static rota_future *answers[REQUESTS];
    rota_executor *pool;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_fixed_pool(HANDLERS, &pool));
    test_occupy(pool, &gate, HANDLERS);
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = (struct request){.number = i + 1};
        assert_ok(rota_submit(pool, answer_it, &requests[i], &answers[i]));
    }
    test_gate_open(&gate);
    for (int i = 0; i < REQUESTS; i++) {
        void *answered = NULL;
        assert_ok(rota_future_get(answers[i], &answered));
        assert_ptr_equal(answered, &requests[i]);
        assert_int_equal(requests[i].answer, -(i + 1));
        rota_future_unref(answers[i]);
    }
    assert_ok(rota_close(pool));
}

/* -- Background jobs ---------------------------------------------------------------------- */

#define DAY ROTA_HOURS(24)

struct jobs {
    atomic_uint cleanups, starts, reports;
};

/* USE-02: the first report is at three in the morning, it is five in the afternoon now. */
TEST_WITH(test_virtual_time, a_scheduled_pool_does_background_jobs)
{
    const rota_ns until_three = ROTA_HOURS(10);
    struct jobs jobs = {0, 0, 0};
    rota_executor *sched;
    unsigned started;

    assert_ok(rota_scheduled_pool(5, &sched));
    assert_ok(rota_pool_prestart(sched, &started));
    assert_ok(
        rota_schedule_at_fixed_rate(sched, test_count, &jobs.cleanups, 0, ROTA_HOURS(1), NULL));
    assert_ok(rota_schedule(sched, test_count, &jobs.starts, ROTA_SEC(5), NULL));
    assert_ok(
        rota_schedule_at_fixed_rate(sched, test_count, &jobs.reports, until_three, DAY, NULL));
    test_await_count(&jobs.cleanups, 1);
    test_await_waiting(sched, 5);
    test_pass(sched, ROTA_SEC(5) - 1, 5);
    assert_int_equal(jobs.starts, 0);
    test_pass(sched, 1, 5);
    test_await_count(&jobs.starts, 1);
    test_pass(sched, ROTA_HOURS(1) - ROTA_SEC(5), 5);
    for (unsigned hour = 1; hour <= 48; hour++) {
        test_await_count(&jobs.cleanups, 1 + hour);
        test_await_count(&jobs.reports, hour < 10 ? 0 : 1 + (hour - 10) / 24);
        test_await_waiting(sched, 5);
        assert_int_equal(jobs.cleanups, 1 + hour);
        assert_int_equal(jobs.reports, hour < 10 ? 0 : 1 + (hour - 10) / 24);
        test_pass(sched, ROTA_HOURS(1), 5);
    }
    assert_ok(rota_close(sched));
    assert_int_equal(jobs.starts, 1);
}

/* -- Fire and forget ---------------------------------------------------------------------- */

enum { ORDERS = 20 };

/* USE-03: the stock does not wait for the mail, and whoever orders for neither. */
TEST(a_cached_pool_sees_to_what_nobody_waits_for)
{
    atomic_uint in_stock = 0;
    rota_executor *pool;
    test_gate mail;

    test_gate_init(&mail);
    assert_ok(rota_cached_pool(&pool));
    for (unsigned order = 0; order < ORDERS; order++) {
        assert_ok(rota_execute(pool, test_wait_at, &mail));
        assert_ok(rota_execute(pool, test_count, &in_stock));
    }
    test_await_count(&in_stock, ORDERS);
    test_await_count(&mail.begun, ORDERS);
    assert_int_equal(mail.ended, 0);
    test_gate_open(&mail);
    assert_ok(rota_close(pool));
    assert_int_equal(mail.ended, ORDERS);
    assert_int_equal(in_stock, ORDERS);
}

/* -- A heartbeat -------------------------------------------------------------------------- */

enum { BEAT = 30, LIMIT = 3 };

struct heart {
    atomic_uint beats;
    unsigned failures; /* one after the other */
    unsigned alerts;
    bool is_down;      /* the other side */
    bool passes_it_on; /* its failures are the task's */
};

static void *beat(void *arg)
{
    struct heart *heart = arg;
    bool is_down = heart->is_down;

    atomic_fetch_add(&heart->beats, 1);
    heart->failures = is_down ? heart->failures + 1 : 0;
    heart->alerts += heart->failures == LIMIT;
    return is_down && heart->passes_it_on ? rota_fail(7) : NULL;
}

static void pass_a_beat(rota_executor *sched, struct heart *heart)
{
    unsigned before = heart->beats;

    test_pass(sched, ROTA_SEC(BEAT), 1);
    test_await_count(&heart->beats, before + 1);
    test_await_waiting(sched, 1);
}

static rota_future *start_heart(struct heart *heart, rota_executor **sched)
{
    rota_future *future;

    assert_ok(rota_single_scheduled(sched));
    assert_ok(rota_schedule_with_fixed_delay(*sched, beat, heart, 0, ROTA_SEC(BEAT), &future));
    test_await_count(&heart->beats, 1);
    test_await_waiting(*sched, 1);
    return future;
}

/* USE-04: it counts them, and tells when there are too many; the series goes on. */
TEST_WITH(test_virtual_time, a_heart_that_deals_with_failures_goes_on)
{
    struct heart heart = {.is_down = false};
    rota_executor *sched;
    rota_future *future = start_heart(&heart, &sched);

    heart.is_down = true;
    for (unsigned i = 1; i <= 2 * LIMIT; i++) {
        pass_a_beat(sched, &heart);
        assert_int_equal(heart.failures, i);
        assert_int_equal(heart.alerts, i >= LIMIT);
    }
    heart.is_down = false;
    pass_a_beat(sched, &heart);
    assert_int_equal(heart.failures, 0);
    assert_false(rota_future_is_done(future));
    assert_true(rota_future_cancel(future));
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* USE-04: else it is the last beat. */
TEST_WITH(test_virtual_time, a_heart_that_fails_stops)
{
    struct heart heart = {.passes_it_on = true};
    rota_executor *sched;
    rota_future *future = start_heart(&heart, &sched);

    heart.is_down = true;
    pass_a_beat(sched, &heart);
    assert_status(rota_future_get(future, NULL), ROTA_EFAILED);
    assert_int_equal(rota_future_error(future), 7);
    test_pass(sched, DAY, 1);
    assert_int_equal(heart.beats, 2);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* -- A graceful stop ---------------------------------------------------------------------- */

/* USE-05: as often as it takes those that run to notice. */
static size_t close_gracefully(rota_executor *pool, rota_ns grace)
{
    size_t dropped, all = 0;
    int status;

    do {
        status = rota_close_within(pool, grace, &dropped);
        all += dropped;
    } while (status == ROTA_ETIMEDOUT);
    assert_ok(status);
    return all;
}

/* USE-05 */
TEST(who_stops_is_told_how_many_were_dropped)
{
    enum { QUEUED = 7 };
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_executor *pool;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_fixed_pool(1, &pool));
    assert_ok(rota_execute(pool, test_sleep_long, &gate));
    test_await_count(&gate.begun, 1);
    for (int i = 0; i < QUEUED; i++)
        assert_ok(rota_submit_call(pool, &call, NULL));
    assert_int_equal(close_gracefully(pool, ROTA_MS(1)), QUEUED);
    assert_int_equal(gate.interrupted, 1);
    assert_int_equal(probe.discards, QUEUED);
}

/* USE-05: in time, nothing is. */
TEST(who_stops_in_time_drops_nothing)
{
    atomic_uint runs = 0;
    rota_executor *pool;

    assert_ok(rota_fixed_pool(2, &pool));
    for (int i = 0; i < 100; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_int_equal(close_gracefully(pool, ROTA_FOREVER), 0);
    assert_int_equal(runs, 100);
}

/* -- Which pool? -------------------------------------------------------------------------- */

enum { CORE = 2, MORE = 4, ROOM = 3, MANY = 20 };

/* So many tasks come, and none ends: how many threads and queued tasks there are then. */
static void comes_to(rota_pool_options options, unsigned tasks, unsigned threads, size_t queued)
{
    rota_executor *pool = test_pool(options);
    rota_pool_stats stats;
    test_gate gate;

    test_gate_init(&gate);
    for (unsigned i = 0; i < tasks; i++)
        assert_ok(rota_execute(pool, test_wait_at, &gate));
    stats = test_stats(pool);
    assert_int_equal(stats.threads, threads);
    test_await_active(pool, threads);
    assert_int_equal(test_stats(pool).queued, queued);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.ended, threads + queued);
}

/* USE-07: a bound or none, as many threads always or as many as are needed. */
TEST(how_many_wait_and_how_many_work_is_a_choice)
{
    comes_to((rota_pool_options){.core_threads = CORE}, MANY, CORE, MANY - CORE);
    comes_to((rota_pool_options){.core_threads = CORE, .queue = test_array(ROOM)}, CORE + ROOM,
             CORE, ROOM);
    comes_to(
        (rota_pool_options){.core_threads = CORE, .max_threads = MORE, .queue = test_array(ROOM)},
        MORE + ROOM, MORE, ROOM);
    comes_to((rota_pool_options){.max_threads = MORE, .queue = test_array(MANY)}, MORE, 1,
             MORE - 1);
}

/* USE-07: the queue first, as above, or a thread first: nobody waits in a hand-off queue. */
TEST(a_new_thread_or_the_queue_first_is_a_choice)
{
    comes_to((rota_pool_options){.max_threads = MORE, .queue = test_handoff()}, MORE, MORE, 0);
}

/* USE-07: one more than there is room for. */
TEST(what_happens_when_it_is_full_is_a_choice)
{
    static const struct {
        rota_reject *on_reject;
        int status;
        unsigned runs, discards; /* of the one too many, at once */
    } choices[] = {
        {rota_reject_abort, ROTA_EREJECTED, 0, 0},
        {rota_reject_caller_runs, ROTA_OK, 1, 0},
        {rota_reject_discard, ROTA_OK, 0, 1},
        {rota_reject_discard_oldest, ROTA_OK, 0, 0}, /* it is in the queue */
    };

    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        rota_executor *pool = test_pool((rota_pool_options){
            .core_threads = 1, .queue = test_array(1), .on_reject = choices[i].on_reject});
        test_probe queued = {.error = 0}, probe = {.error = 0};
        rota_call call = test_probe_call(&probe);
        test_gate gate;
        test_fill(pool, &gate, &queued, 1);
        assert_status(rota_submit_call(pool, &call, NULL), choices[i].status);
        assert_int_equal(probe.runs, choices[i].runs);
        assert_int_equal(probe.discards, choices[i].discards);
        test_gate_open(&gate);
        assert_ok(rota_close(pool));
        assert_int_equal(queued.discards, choices[i].on_reject == rota_reject_discard_oldest);
    }
}
