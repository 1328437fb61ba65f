/* SPDX-License-Identifier: MIT */
/*
 * The watchdog, with a clock that the test turns: it looks when the test says so, and has looked when it
 * waits again. What it tells of, how often, and of what it says nothing.
 */
#define _GNU_SOURCE
#include "base/fork.h"
#include "forkjoin.h"
#include "observing.h"

TEST_FIXTURE(.setup = observing_before_in_time, .teardown = observing_after_in_time);

enum { MOST_ALARMS = 8 };

/* An alarm, with copies of its texts. */
typedef struct told {
    rota_alarm alarm;
    char executor[ROTA_NAME_SIZE], task[ROTA_NAME_SIZE], thread[16];
} told;

static struct {
    pthread_mutex_t mutex;
    unsigned count;
    told alarms[MOST_ALARMS];
} heard = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void hear(const rota_alarm *alarm, void *ctx)
{
    test_check(ctx == &heard);
    pthread_mutex_lock(&heard.mutex);
    test_check(heard.count < MOST_ALARMS);
    told *one = &heard.alarms[heard.count++];
    one->alarm = *alarm;
    snprintf(one->executor, sizeof one->executor, "%s", alarm->executor);
    snprintf(one->task, sizeof one->task, "%s", alarm->task);
    snprintf(one->thread, sizeof one->thread, "%s", alarm->thread);
    pthread_mutex_unlock(&heard.mutex);
}

static unsigned alarms(void)
{
    pthread_mutex_lock(&heard.mutex);
    unsigned count = heard.count;
    pthread_mutex_unlock(&heard.mutex);
    return count;
}

/* -- Looks ----------------------------------------------------------------------------------- */

#define PERIOD ROTA_MS(10)

static size_t others; /* threads that wait with a deadline, besides the watchdog */

static void start(rota_watchdog_options options)
{
    heard.count = 0;
    others = test_clock_waiting();
    options.alarm = hear;
    options.ctx = &heard;
    options.period = PERIOD;
    assert_ok(rota_watchdog_start(&options));
    test_clock_await_waiting(others + 1);
}

/* It looks once, or more often, as time passes. */
static void pass(rota_ns duration)
{
    for (rota_ns passed = 0; passed < duration; passed += PERIOD) {
        test_clock_advance(PERIOD);
        test_clock_await_waiting(others + 1);
    }
}

static rota_executor *one_thread(void)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});

    assert_ok(rota_executor_set_name(pool, "watched"));
    return pool;
}

static void submit_named(rota_executor *pool, test_gate *gate, const char *name)
{
    const rota_call call = {.fn = test_wait_at, .arg = gate, .name = name};

    assert_ok(rota_submit_call(pool, &call, NULL));
}

/* -- Tasks ----------------------------------------------------------------------------------- */

static void *note_thread_and_wait(void *gate)
{
    test_check(pthread_setname_np(pthread_self(), "slow thread") == 0);
    return test_wait_at(gate);
}

TEST(a_long_task_is_told_of_once)
{
    rota_executor *pool = one_thread();
    test_gate gate;

    test_gate_init(&gate);
    start((rota_watchdog_options){.longest_task = ROTA_MS(50)});
    rota_ns begun = rota_now();
    submit_named(pool, &gate, "slow");
    test_await_count(&gate.begun, 1);
    pass(ROTA_MS(40));
    assert_int_equal(alarms(), 0);
    pass(ROTA_MS(10));
    assert_int_equal(alarms(), 1);
    assert_int_equal(heard.alarms[0].alarm.kind, ROTA_ALARM_TASK);
    assert_string_equal(heard.alarms[0].executor, "watched");
    assert_string_equal(heard.alarms[0].task, "slow");
    assert_int_equal(heard.alarms[0].alarm.since, begun);
    pass(ROTA_MS(200));
    assert_int_equal(alarms(), 1);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_ok(rota_watchdog_stop());
}

/* A thread is known as it was called when it first wrote of itself. */
TEST(an_alarm_says_which_thread_it_is)
{
    rota_executor *pool;
    test_gate first, second;

    if (!test_is_linux())
        skip();
    pool = one_thread();
    assert_ok(rota_observe(false));
    test_gate_init(&first);
    test_gate_open(&first);
    assert_ok(rota_execute(pool, note_thread_and_wait, &first));
    test_await_completed(pool, 1);
    start((rota_watchdog_options){.longest_task = ROTA_MS(50)});
    test_gate_init(&second);
    test_occupy(pool, &second, 1);
    pass(ROTA_MS(50));
    assert_int_equal(alarms(), 1);
    assert_string_equal(heard.alarms[0].thread, "slow thread");
    assert_string_equal(heard.alarms[0].task, "");
    assert_true(heard.alarms[0].alarm.thread_id > 0);
    test_gate_open(&second);
    assert_ok(rota_close(pool));
    assert_ok(rota_watchdog_stop());
}

TEST(each_of_two_long_tasks_is_told_of)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    test_gate gate, next;

    test_gate_init(&gate);
    test_gate_init(&next);
    start((rota_watchdog_options){.longest_task = ROTA_MS(50)});
    test_occupy(pool, &gate, 2);
    pass(ROTA_MS(60));
    assert_int_equal(alarms(), 2);
    test_gate_open(&gate);
    test_await_completed(pool, 2);
    test_occupy(pool, &next, 1); /* another run on the same thread */
    pass(ROTA_MS(40));
    assert_int_equal(alarms(), 2);
    pass(ROTA_MS(20));
    assert_int_equal(alarms(), 3);
    test_gate_open(&next);
    assert_ok(rota_close(pool));
    assert_ok(rota_watchdog_stop());
}

/* Between its runs it does not run, however long that is. */
TEST(a_periodic_task_is_timed_run_by_run)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;

    start((rota_watchdog_options){.longest_task = ROTA_MS(50), .oldest_queued = ROTA_MS(50)});
    assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &runs, 0, ROTA_MS(200), NULL));
    test_clock_await_waiting(others + 2);
    others++;
    pass(ROTA_SEC(1));
    assert_int_equal(runs, 6);
    assert_int_equal(alarms(), 0);
    assert_ok(rota_watchdog_stop());
    test_stop(sched);
}

typedef struct nested {
    rota_executor *pool;
    test_gate *outer, *inner;
} nested;

/* EXEC-18: who waits for a task of its own pool, which is queued, runs it. */
static void *run_another_inside(void *arg)
{
    const nested *both = arg;
    const rota_call call = {.fn = test_wait_at, .arg = both->inner, .name = "inner"};
    rota_future *future;

    test_check(rota_submit_call(both->pool, &call, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    return test_wait_at(both->outer);
}

/* And it does not wait for itself, as it seems: it runs, and will end. */
TEST(a_task_inside_of_another_is_told_of_too)
{
    rota_executor *pool = one_thread();
    test_gate outer, inner;
    nested both = {pool, &outer, &inner};

    test_gate_init(&outer);
    test_gate_init(&inner);
    start((rota_watchdog_options){.longest_task = ROTA_MS(50), .cycles = true});
    assert_ok(rota_submit_call(
        pool, &(rota_call){.fn = run_another_inside, .arg = &both, .name = "outer"}, NULL));
    test_await_count(&inner.begun, 1);
    pass(ROTA_MS(60));
    assert_int_equal(alarms(), 2);
    assert_string_equal(heard.alarms[0].task, "outer");
    assert_string_equal(heard.alarms[1].task, "inner");
    test_gate_open(&inner);
    test_await_count(&outer.begun, 1);
    pass(ROTA_MS(60));
    assert_int_equal(alarms(), 2);
    test_gate_open(&outer);
    assert_ok(rota_close(pool));
    assert_ok(rota_watchdog_stop());
}

/* -- Queues ---------------------------------------------------------------------------------- */

TEST(a_slow_queue_is_told_of_once_until_it_was_fast)
{
    rota_executor *pool = one_thread();
    test_gate gates[3];

    for (unsigned i = 0; i < 3; i++)
        test_gate_init(&gates[i]);
    start((rota_watchdog_options){.oldest_queued = ROTA_MS(50)});
    submit_named(pool, &gates[0], "first");
    test_await_count(&gates[0].begun, 1);
    rota_ns since = rota_now();
    submit_named(pool, &gates[1], "queued");
    pass(ROTA_MS(40));
    assert_int_equal(alarms(), 0);
    pass(ROTA_MS(100));
    assert_int_equal(alarms(), 1);
    assert_int_equal(heard.alarms[0].alarm.kind, ROTA_ALARM_QUEUE);
    assert_string_equal(heard.alarms[0].executor, "watched");
    assert_string_equal(heard.alarms[0].task, "queued");
    assert_string_equal(heard.alarms[0].thread, "");
    assert_int_equal(heard.alarms[0].alarm.thread_id, 0);
    assert_int_equal(heard.alarms[0].alarm.since, since);

    test_gate_open(&gates[0]);
    test_await_count(&gates[1].begun, 1);
    submit_named(pool, &gates[2], "next");
    pass(ROTA_MS(40)); /* it is young */
    assert_int_equal(alarms(), 1);
    pass(ROTA_MS(20));
    assert_int_equal(alarms(), 2);
    assert_string_equal(heard.alarms[1].task, "next");
    test_gate_open(&gates[1]);
    test_gate_open(&gates[2]);
    assert_ok(rota_close(pool));
    assert_ok(rota_watchdog_stop());
}

/* Without having been young: the next was in the queue for as long. */
TEST(a_queue_that_stays_slow_is_not_told_of_again)
{
    rota_executor *pool = one_thread();
    test_gate gates[3];

    start((rota_watchdog_options){.oldest_queued = ROTA_MS(50)});
    for (unsigned i = 0; i < 3; i++) {
        test_gate_init(&gates[i]);
        submit_named(pool, &gates[i], NULL);
    }
    test_await_count(&gates[0].begun, 1);
    pass(ROTA_MS(100));
    assert_int_equal(alarms(), 1);
    test_gate_open(&gates[0]);
    test_await_count(&gates[1].begun, 1);
    pass(ROTA_MS(100));
    assert_int_equal(alarms(), 1);
    test_gate_open(&gates[1]);
    test_gate_open(&gates[2]);
    assert_ok(rota_close(pool));
    assert_ok(rota_watchdog_stop());
}

TEST(what_is_not_due_does_not_wait)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    start((rota_watchdog_options){.oldest_queued = ROTA_MS(50)});
    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_MS(200), NULL));
    pass(ROTA_MS(240));
    assert_int_equal(alarms(), 0);
    pass(ROTA_MS(10));
    assert_int_equal(alarms(), 1);
    assert_int_equal(heard.alarms[0].alarm.since, rota_now() - ROTA_MS(50));
    test_gate_open(&gate);
    assert_ok(rota_watchdog_stop());
    assert_ok(rota_close(sched));
}

/* What one watchdog has told, the next has not. */
TEST(another_watchdog_tells_of_a_slow_queue_again)
{
    rota_executor *pool = one_thread();
    test_gate gate;

    test_gate_init(&gate);
    for (unsigned i = 0; i < 2; i++)
        submit_named(pool, &gate, NULL);
    test_await_count(&gate.begun, 1);
    for (unsigned i = 0; i < 2; i++) {
        start((rota_watchdog_options){.oldest_queued = ROTA_MS(50)});
        pass(ROTA_MS(60));
        assert_int_equal(alarms(), 1);
        assert_ok(rota_watchdog_stop());
    }
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* -- Cycles ---------------------------------------------------------------------------------- */

enum { MOST_IN_CYCLE = 3 };

/* Each waits for the next; the last for the first, if that is a cycle. */
typedef struct ring {
    rota_executor *pool;
    rota_future *futures[MOST_IN_CYCLE];
    test_latch are_set;
    struct link {
        struct ring *ring;
        unsigned next; /* or more than there are: a gate */
    } links[MOST_IN_CYCLE];
    test_gate gate;
    rota_ns timeout;
    atomic_uint ended;
} ring;

static void *wait_for_next(void *arg)
{
    struct link *link = arg;
    ring *all = link->ring;

    test_latch_wait(&all->are_set);
    if (link->next < MOST_IN_CYCLE)
        rota_future_get_timed(all->futures[link->next], all->timeout, NULL);
    else
        test_wait_at(&all->gate);
    atomic_fetch_add(&all->ended, 1);
    return NULL;
}

static void start_ring(ring *all, unsigned count, bool is_cycle, rota_ns timeout)
{
    all->pool = test_pool((rota_pool_options){.core_threads = count});
    all->timeout = timeout;
    atomic_init(&all->ended, 0);
    test_latch_init(&all->are_set, 1);
    test_gate_init(&all->gate);
    assert_ok(rota_executor_set_name(all->pool, "ring"));
    for (unsigned i = 0; i < count; i++) {
        unsigned next = i + 1 < count ? i + 1 : is_cycle ? 0 : MOST_IN_CYCLE;
        all->links[i] = (struct link){all, next};
        const rota_call call = {.fn = wait_for_next, .arg = &all->links[i], .name = "link"};
        assert_ok(rota_submit_call(all->pool, &call, &all->futures[i]));
    }
    test_await_active(all->pool, count);
    test_latch_open(&all->are_set);
}

static void end_ring(ring *all, unsigned count)
{
    rota_future_cancel(all->futures[0]); /* which ends the wait of the last */
    test_gate_open(&all->gate);
    test_await_count(&all->ended, count);
    for (unsigned i = 0; i < count; i++)
        rota_future_unref(all->futures[i]);
    assert_ok(rota_close(all->pool));
}

static bool all_wait(void *arg)
{
    const ring *all = arg;
    unsigned waiting = 0;

    rota__mutex_lock(&rota__process_lock);
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        const rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        for (unsigned i = 0; i < MOST_IN_CYCLE; i++)
            waiting += all->futures[i] != NULL
                       && rota__load_relaxed(&record->awaited) == (uintptr_t)all->futures[i];
    }
    rota__mutex_unlock(&rota__process_lock);
    return waiting == (all->futures[2] != NULL ? 3 : 2);
}

static void a_cycle_is_told_of(unsigned count)
{
    ring all = {.futures = {NULL}};

    start((rota_watchdog_options){.cycles = true});
    start_ring(&all, count, true, ROTA_FOREVER);
    test_until(all_wait, &all);
    pass(ROTA_MS(10));
    assert_int_equal(alarms(), 0); /* it may be just now */
    pass(ROTA_MS(100));
    assert_int_equal(alarms(), 1);
    assert_int_equal(heard.alarms[0].alarm.kind, ROTA_ALARM_CYCLE);
    assert_string_equal(heard.alarms[0].executor, "ring");
    assert_string_equal(heard.alarms[0].task, "link");
    end_ring(&all, count);
    assert_ok(rota_watchdog_stop());
}

TEST(a_cycle_of_two_is_told_of_once)
{
    a_cycle_is_told_of(2);
}

TEST(a_cycle_of_three_is_told_of_once)
{
    a_cycle_is_told_of(3);
}

TEST(a_chain_is_no_cycle)
{
    ring all = {.futures = {NULL}};

    start((rota_watchdog_options){.cycles = true});
    start_ring(&all, 3, false, ROTA_FOREVER);
    test_await_count(&all.gate.begun, 1);
    pass(ROTA_MS(200));
    assert_int_equal(alarms(), 0);
    end_ring(&all, 3);
    assert_ok(rota_watchdog_stop());
}

/* Who waits for a time only will not wait for ever. */
TEST(a_cycle_that_ends_by_itself_is_none)
{
    ring all = {.futures = {NULL}};

    start((rota_watchdog_options){.cycles = true});
    start_ring(&all, 2, true, ROTA_HOURS(1));
    test_clock_await_waiting(others + 3);
    others += 2;
    pass(ROTA_MS(200));
    assert_int_equal(alarms(), 0);
    test_clock_advance(ROTA_HOURS(1));
    test_await_count(&all.ended, 2);
    others -= 2;
    assert_ok(rota_watchdog_stop());
    end_ring(&all, 2);
}

static unsigned waiting_for_something(void)
{
    unsigned count = 0;

    rota__mutex_lock(&rota__process_lock);
    for (rota__link *link = rota__records.head.next; link != &rota__records.head; link = link->next)
        count += rota__load_relaxed(&ROTA__CONTAINER(link, rota__record, link)->awaited) != 0;
    rota__mutex_unlock(&rota__process_lock);
    return count;
}

/* It has got that unseen, and another future may be at the same place by now. */
TEST(what_was_awaited_under_another_watchdog_is_forgotten)
{
    ring all = {.futures = {NULL}};

    start((rota_watchdog_options){.cycles = true});
    start_ring(&all, 2, true, ROTA_FOREVER);
    test_until(all_wait, &all);
    assert_int_equal(waiting_for_something(), 2);
    assert_ok(rota_watchdog_stop());
    start((rota_watchdog_options){.cycles = true});
    assert_int_equal(waiting_for_something(), 0);
    pass(ROTA_MS(200));
    assert_int_equal(alarms(), 0);
    end_ring(&all, 2);
    assert_ok(rota_watchdog_stop());
}

/* -- Starting and stopping ------------------------------------------------------------------- */

static int stop_status;

static void stop_from_there(const rota_alarm *alarm, void *ctx)
{
    stop_status = rota_watchdog_stop();
    atomic_fetch_add((atomic_uint *)ctx, 1);
}

/* ROTA_EDEADLOCK from rota_watchdog_stop. */
TEST(to_stop_it_from_an_alarm_is_a_deadlock)
{
    rota_executor *pool = one_thread();
    atomic_uint told_of = 0;
    test_gate gate;

    test_gate_init(&gate);
    others = test_clock_waiting();
    assert_ok(rota_watchdog_start(&(rota_watchdog_options){
        .longest_task = ROTA_MS(10), .period = PERIOD, .alarm = stop_from_there, .ctx = &told_of}));
    test_clock_await_waiting(others + 1);
    test_occupy(pool, &gate, 1);
    pass(ROTA_MS(20));
    assert_int_equal(told_of, 1);
    assert_status(stop_status, ROTA_EDEADLOCK);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_ok(rota_watchdog_stop());
}

TEST(there_is_one_at_a_time)
{
    const rota_watchdog_options options = {.cycles = true, .alarm = hear, .ctx = &heard};

    assert_ok(rota_watchdog_stop());
    start((rota_watchdog_options){.cycles = true});
    assert_status(rota_watchdog_start(&options), ROTA_EBUSY);
    assert_ok(rota_watchdog_stop());
    assert_ok(rota_watchdog_stop());
    assert_ok(rota_watchdog_start(&options));
    assert_ok(rota_watchdog_stop());
}

TEST(what_makes_no_sense_is_refused)
{
    const rota_watchdog_options bad[] = {
        {.alarm = hear},
        {.longest_task = ROTA_MS(1)},
        {.longest_task = -1, .alarm = hear},
        {.oldest_queued = -1, .cycles = true, .alarm = hear},
        {.cycles = true, .period = -1, .alarm = hear},
    };

    assert_status(rota_watchdog_start(NULL), ROTA_EINVAL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(rota_watchdog_start(&bad[i]), ROTA_EINVAL);
}

/* The period is a quarter of the shorter time, but not less than 10 ms. */
TEST(it_looks_often_enough)
{
    const struct {
        rota_ns longest_task, oldest_queued, period;
    } cases[] = {
        {ROTA_MS(400), 0, ROTA_MS(100)},
        {ROTA_MS(400), ROTA_MS(80), ROTA_MS(20)},
        {0, ROTA_MS(80), ROTA_MS(20)},
        {ROTA_MS(4), 0, ROTA_MS(10)},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rota_executor *pool = one_thread();
        test_gate gate;
        test_gate_init(&gate);
        heard.count = 0;
        for (unsigned k = 0; k < 2; k++)
            submit_named(pool, &gate, NULL);
        test_await_count(&gate.begun, 1);
        test_clock_advance(ROTA_SEC(10));
        others = test_clock_waiting();
        assert_ok(
            rota_watchdog_start(&(rota_watchdog_options){.longest_task = cases[i].longest_task,
                                                         .oldest_queued = cases[i].oldest_queued,
                                                         .alarm = hear,
                                                         .ctx = &heard}));
        test_clock_await_waiting(others + 1);
        test_occupy(pool, &gate, 0);
        test_clock_advance(cases[i].period - 1);
        assert_int_equal(test_clock_waiting(), others + 1);
        assert_int_equal(alarms(), 0);
        test_clock_advance(1);
        test_clock_await_waiting(others + 1);
        assert_int_equal(alarms(), cases[i].oldest_queued > 0);
        test_gate_open(&gate);
        assert_ok(rota_watchdog_stop());
        assert_ok(rota_close(pool));
    }
}

/* It observes while it is there, and leaves what the user has set. */
TEST(it_observes_meanwhile)
{
    rota_executor *pool = one_thread();
    atomic_uint runs = 0;

    assert_ok(rota_observe(false));
    start((rota_watchdog_options){.longest_task = ROTA_MS(50)});
    assert_false(rota_is_observing());
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 1);
    assert_int_equal(observing_figures(pool).running.count, 1);
    assert_ok(rota_watchdog_stop());
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 2);
    assert_int_equal(observing_figures(pool).running.count, 1);
    assert_ok(rota_close(pool));
}
