/* SPDX-License-Identifier: MIT */
/*
 * Scheduled pools when memory or threads run out: a task is taken or it is not, what was taken runs,
 * and a periodic task goes on.
 */
#include "pools.h"
#include "rota_test_internal.h"
#include "sched/sched_internal.h"

#include "os/fault.h"

#include <errno.h>

#define FAR ROTA_HOURS(1)

static void refuse_threads(unsigned from, bool onwards)
{
    rota__fault_arm(ROTA__FAULT_THREAD_START, from, onwards);
}

static int clean_up(void **state)
{
    refuse_threads(0, false);
    test_memory_fail_at(0, false);
    return 0;
}

TEST_FIXTURE(.teardown = clean_up);

/* -- Memory: what is made ----------------------------------------------------------------- */

static int make_sched(void *out)
{
    return rota_sched_new(&(rota_sched_options){.core_threads = 2}, out);
}

static int make_scheduled(void *out)
{
    return rota_scheduled_pool(2, out);
}

static int make_single(void *out)
{
    return rota_single_scheduled(out);
}

static void close_made(void *made)
{
    assert_ok(rota_close(*(rota_executor **)made));
}

/* GEN-10: ROTA_ENOMEM from rota_sched_new, rota_scheduled_pool, rota_single_scheduled. */
TEST(a_scheduled_pool_is_made_or_not)
{
    rota_executor *made = NULL;

    test_every_allocation_fails(make_sched, close_made, &made, ROTA_ENOMEM);
    test_every_allocation_fails(make_scheduled, close_made, &made, ROTA_ENOMEM);
    test_every_allocation_fails(make_single, close_made, &made, ROTA_ENOMEM);
}

/* -- Memory: what is scheduled ------------------------------------------------------------ */

/* How a task is scheduled, and into what. */
struct how {
    unsigned core;
    bool is_busy;    /* one thread is there, and has a task */
    unsigned queued; /* tasks before it: as many as fill the heap, or fewer */
    rota_ns delay;
    rota_ns period;
};

struct attempt {
    const struct how *how;
    rota_executor *sched;
    test_gate gate;
    test_probe others;
    test_probe probe;
    rota_future *future;
    int status;
};

static void begin(struct attempt *attempt)
{
    const struct how *how = attempt->how;
    rota_call call = test_probe_call(&attempt->others);

    attempt->sched = test_sched((rota_sched_options){.core_threads = how->core});
    test_gate_init(&attempt->gate);
    if (how->is_busy)
        test_occupy(attempt->sched, &attempt->gate, 1);
    for (unsigned i = 0; i < how->queued; i++)
        assert_ok(rota_schedule_call(attempt->sched, &call, FAR, 0, NULL));
}

/* True: there was an n-th allocation. */
static bool schedule_with(struct attempt *attempt, unsigned n, bool onwards)
{
    rota_call call = test_probe_call(&attempt->probe);
    const struct how *how = attempt->how;

    attempt->future = TEST_UNTOUCHED;
    rota__blocks_flush();
    test_memory_fail_at(n, onwards);
    attempt->status =
        rota_schedule_call(attempt->sched, &call, how->delay, how->period, &attempt->future);
    bool reached = test_memory_asked() >= n;
    test_memory_fail_at(0, false);
    return reached;
}

/* OWN-05: and all that was queued still is. */
static void nothing_has_happened(struct attempt *attempt)
{
    assert_status(attempt->status, ROTA_ENOMEM);
    assert_ptr_equal(attempt->future, TEST_UNTOUCHED);
    assert_int_equal(attempt->probe.runs + attempt->probe.discards, 0);
    assert_int_equal(test_stats(attempt->sched).queued, attempt->how->queued);
}

static bool has_run(void *arg)
{
    return ((struct attempt *)arg)->probe.runs > 0;
}

/* It runs in its time, or is cancelled before. */
static void end(struct attempt *attempt)
{
    const struct how *how = attempt->how;

    test_gate_open(&attempt->gate);
    if (how->delay == 0)
        test_until(has_run, attempt);
    if (how->delay != 0 || how->period != 0)
        assert_true(rota_future_cancel(attempt->future));
    rota_future_unref(attempt->future);
    assert_int_equal(test_stats(attempt->sched).queued, how->queued);
    test_stop(attempt->sched);
    assert_int_equal(attempt->others.discards, how->queued);
    assert_int_equal(attempt->probe.discards, how->delay != 0 || how->period != 0);
    assert_int_equal(attempt->probe.runs > 0, how->delay == 0);
}

static bool schedule_fails_at(const struct how *how, unsigned n, bool onwards)
{
    struct attempt attempt = {.how = how};

    begin(&attempt);
    bool reached = schedule_with(&attempt, n, onwards);
    if (attempt.status != ROTA_OK) {
        nothing_has_happened(&attempt);
        schedule_with(&attempt, 0, false); /* now it works */
        assert_ok(attempt.status);
    }
    end(&attempt);
    return reached;
}

static void schedule_with_every_failure(struct how how)
{
    for (int onwards = 0; onwards < 2; onwards++) {
        unsigned n = 1;
        while (schedule_fails_at(&how, n, onwards == 1))
            n++;
        assert_true(n >= 2);
    }
}

/* GEN-10, SCHED-35: ROTA_ENOMEM from rota_schedule_call. */
TEST(a_task_is_scheduled_on_a_pool_without_threads_or_not)
{
    schedule_with_every_failure((struct how){.core = 2, .delay = FAR});
    schedule_with_every_failure((struct how){.core = 0, .delay = FAR});
    schedule_with_every_failure((struct how){.core = 1});
    schedule_with_every_failure((struct how){.core = 1, .period = FAR});
    schedule_with_every_failure((struct how){.core = 0, .period = -FAR});
}

/* FAULT-19 */
TEST(a_task_is_scheduled_on_a_pool_with_a_thread_or_not)
{
    schedule_with_every_failure((struct how){.core = 2, .is_busy = true, .delay = FAR});
    schedule_with_every_failure((struct how){.core = 1, .is_busy = true, .period = FAR});
}

enum { FIRST_CAPACITY = 16 }; /* heap.c */

/* The heap is full: its growth is one more allocation. */
TEST(a_task_finds_a_place_in_a_full_heap_or_not)
{
    static const unsigned full[] = {FIRST_CAPACITY, FIRST_CAPACITY * 3 / 2};

    for (int i = 0; i < 2; i++) {
        schedule_with_every_failure((struct how){.core = 1, .queued = full[i], .delay = FAR});
        schedule_with_every_failure((struct how){.core = 1, .queued = full[i], .period = FAR});
    }
}

/* -- Memory: again and again -------------------------------------------------------------- */

struct periodic {
    test_gate gate; /* of its first run */
    atomic_uint runs;
    unsigned wanted;
    rota_future *future;
};

static void *wait_once(void *arg)
{
    struct periodic *periodic = arg;

    if (atomic_fetch_add(&periodic->runs, 1) == 0)
        test_wait_at(&periodic->gate);
    return NULL;
}

/* Or will never. */
static bool has_run_on(void *arg)
{
    struct periodic *periodic = arg;

    return atomic_load(&periodic->runs) >= periodic->wanted
           || rota_future_is_done(periodic->future);
}

/* While it runs, others take all places in the heap but its own. */
static void go_on_with(unsigned others)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    struct periodic periodic = {.wanted = 5};
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);

    test_gate_init(&periodic.gate);
    assert_ok(rota_schedule_at_fixed_rate(sched, wait_once, &periodic, 0, 1, &periodic.future));
    test_await_count(&periodic.gate.begun, 1);
    for (unsigned i = 0; i < others; i++)
        assert_ok(rota_schedule_call(sched, &call, FAR, 0, NULL));
    test_memory_fail_at(1, true);
    test_gate_open(&periodic.gate);
    test_until(has_run_on, &periodic);
    test_memory_fail_at(0, false);
    assert_false(rota_future_is_done(periodic.future));
    assert_true(rota_future_cancel(periodic.future));
    rota_future_unref(periodic.future);
    test_stop(sched);
    assert_int_equal(probe.discards, others);
}

/* sched.D2, FAULT-20 */
TEST(a_periodic_task_goes_on_without_memory)
{
    for (unsigned others = 0; others <= 2 * FIRST_CAPACITY; others++)
        go_on_with(others);
}

static int always(void *ctx, rota_task *task)
{
    return ROTA_OK;
}

static bool all(void *element, void *ctx)
{
    return true;
}

enum { MANY = 40, MORE = 100 };

static void insert_tasks(rota_queue *queue, rota_future **futures, unsigned count, bool periodic)
{
    rota_call call = {.fn = test_count};

    for (unsigned i = 0; i < count; i++) {
        futures[i] = rota__future_new(&call, false, sizeof(rota__periodic));
        assert_non_null(futures[i]);
        futures[i]->task.periodic = periodic;
        rota__periodic_of(futures[i])->is_repeat = false;
        rota__store_relaxed(&futures[i]->time, (rota_ns)i);
        assert_ok(queue->kind->insert(queue, &futures[i]->task, ROTA__BACK));
    }
}

/* heap.H3: periodic tasks that were taken out keep their places until they are given up; others come
   meanwhile. */
TEST(a_heap_keeps_the_places_of_all_that_were_taken_out_at_once)
{
    rota_future *periodic[MANY], *others[MORE];
    rota_queue *queue;
    void *task;

    assert_ok(rota__due_queue_new(always, NULL, &queue));
    insert_tasks(queue, periodic, MANY, true);
    assert_int_equal(queue->kind->remove_if(queue, all, NULL), MANY);
    insert_tasks(queue, others, MORE, false);
    for (unsigned i = 0; i < MANY; i++) {
        rota__due_queue_unreserve(queue);
        rota__future_unpin(periodic[i]);
    }
    for (unsigned i = 0; i < MORE; i++) {
        assert_ok(rota_queue_poll(queue, &task));
        assert_ptr_equal(task, others[i]);
        rota__future_unpin(others[i]);
    }
    assert_ok(rota_queue_free(queue));
}

/* -- Memory: the end ---------------------------------------------------------------------- */

enum { QUEUED = 5 };

static rota_executor *waiting_pool(test_probe *probe)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_call call = test_probe_call(probe);

    for (int i = 0; i < QUEUED; i++)
        assert_ok(rota_schedule_call(sched, &call, FAR, i % 2 == 0 ? FAR : 0, NULL));
    return sched;
}

/* "After ROTA_ENOMEM the next call hands it over." */
TEST(shutdown_now_without_memory_hands_over_the_next_time)
{
    test_probe probe = {.error = 0};
    rota_task_list list = {NULL, 77};
    rota_executor *sched = waiting_pool(&probe);

    test_memory_fail_at(1, true);
    assert_status(rota_shutdown_now(sched, &list), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_int_equal(list.count, 77); /* GEN-01 */
    assert_int_equal(probe.discards, 0);
    assert_ok(rota_shutdown_now(sched, &list));
    assert_int_equal(list.count, QUEUED);
    for (size_t i = 0; i < list.count; i++)
        rota_task_discard(list.tasks[i]);
    rota_task_list_free(&list);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.discards, QUEUED);
    assert_int_equal(probe.runs, 0);
}

/* OWN-09 */
TEST(what_was_never_handed_over_is_discarded_with_the_pool)
{
    test_probe probe = {.error = 0};
    rota_executor *sched = waiting_pool(&probe);
    rota_task_list list;

    test_memory_fail_at(1, true);
    assert_status(rota_shutdown_now(sched, &list), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_ok(rota_executor_free(sched));
    assert_int_equal(probe.discards, QUEUED);
    assert_int_equal(probe.runs, 0);
}

/* FAULT-20: these calls allocate nothing. */
TEST(to_cancel_and_to_drop_tasks_needs_no_memory)
{
    test_probe probe = {.error = 0};
    rota_executor *sched = waiting_pool(&probe);
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    assert_ok(rota_schedule_call(sched, &call, FAR, 0, &future));
    test_memory_fail_at(1, true);
    assert_true(rota_future_cancel(future));
    assert_int_equal(test_stats(sched).queued, QUEUED);
    assert_ok(rota_shutdown(sched)); /* drops what is periodic */
    assert_ok(rota_sched_set_drop_delayed_on_shutdown(sched, true));
    test_memory_fail_at(0, false);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.discards, QUEUED + 1);
}

/* -- Threads ------------------------------------------------------------------------------ */

static void refused_then_taken(unsigned core, rota_ns delay, rota_ns period)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = core});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    refuse_threads(1, true);
    assert_status(rota_schedule_call(sched, &call, delay, period, &future), ROTA_EAGAIN);
    assert_status(rota_submit_call(sched, &call, &future), ROTA_EAGAIN);
    refuse_threads(0, false);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_int_equal(test_stats(sched).threads + test_stats(sched).queued, 0);
    assert_int_equal(test_stats(sched).submitted, 0);
    assert_ok(rota_schedule_call(sched, &call, delay, period, NULL));
    assert_int_equal(test_stats(sched).threads, 1);
    test_stop(sched);
}

/* Cancels what is queued, and makes no thread. */
static int cancel_and_refuse(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                             void *arg, void *ctx)
{
    rota_executor *sched = *(rota_executor **)ctx;
    void *task;

    test_check(rota_queue_peek(rota_pool_queue(sched), &task) == ROTA_OK);
    test_check(rota_future_cancel(rota_task_future(task)));
    return EAGAIN;
}

/* SCHED-35: a task that is gone when its thread is refused was taken, and is cancelled. */
TEST(a_task_that_was_cancelled_meanwhile_needs_no_thread)
{
    rota_executor *sched = NULL;
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    sched = test_sched((rota_sched_options){
        .core_threads = 1, .threads = {.create = cancel_and_refuse, .ctx = &sched}});
    assert_ok(rota_schedule_call(sched, &call, FAR, 0, &future));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_CANCELED);
    assert_int_equal(probe.discards, 1);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

static void each_form_says(rota_executor *sched, test_probe *probe, int status)
{
    rota_call call = test_probe_call(probe);
    rota_future *future = TEST_UNTOUCHED;

    assert_status(rota_schedule(sched, call.fn, probe, FAR, &future), status);
    assert_status(rota_schedule_at_fixed_rate(sched, call.fn, probe, FAR, 1, &future), status);
    assert_status(rota_schedule_with_fixed_delay(sched, call.fn, probe, FAR, 1, &future), status);
    assert_status(rota_schedule_call(sched, &call, FAR, 1, &future), status);
    assert_status(rota_schedule_skipping(sched, &call, FAR, 1, &future), status);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe->runs + probe->discards, 0);
    assert_int_equal(test_stats(sched).threads + test_stats(sched).queued, 0);
}

/*
 * GEN-10, OWN-05, SCHED-35: ROTA_ENOMEM from rota_schedule, rota_schedule_at_fixed_rate,
 * rota_schedule_with_fixed_delay, rota_schedule_call, rota_schedule_skipping; ROTA_EAGAIN from
 * rota_schedule, rota_schedule_at_fixed_rate, rota_schedule_with_fixed_delay, rota_schedule_call,
 * rota_schedule_skipping.
 */
TEST(each_form_says_what_was_missing)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    test_probe probe = {.error = 0};

    rota__blocks_flush();
    test_memory_fail_at(1, true);
    each_form_says(sched, &probe, ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    refuse_threads(1, true);
    each_form_says(sched, &probe, ROTA_EAGAIN);
    refuse_threads(0, false);
    assert_ok(rota_close(sched));
}

/* SCHED-35, FAULT-21 */
TEST(without_a_first_thread_no_task_is_scheduled)
{
    for (unsigned core = 0; core < 3; core++) {
        refused_then_taken(core, FAR, 0);
        refused_then_taken(core, FAR, FAR);
    }
}

TEST(with_fewer_threads_than_wanted_tasks_are_scheduled)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 3});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    assert_ok(rota_schedule_call(sched, &call, FAR, 0, NULL));
    refuse_threads(1, true);
    assert_ok(rota_schedule_call(sched, &call, FAR, FAR, NULL));
    assert_ok(rota_schedule_call(sched, &call, 0, 0, &future));
    assert_ok(rota_future_get(future, NULL));
    refuse_threads(0, false);
    assert_int_equal(test_stats(sched).threads, 1);
    assert_ok(rota_schedule_call(sched, &call, FAR, 0, NULL));
    assert_int_equal(test_stats(sched).threads, 2);
    rota_future_unref(future);
    test_stop(sched);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 3);
}

static void *end_thread(void *gate)
{
    test_wait_at(gate);
    pthread_exit(NULL);
}

static void tear_the_last_worker(bool shut_down)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_execute(sched, end_thread, &gate));
    test_await_count(&gate.begun, 1);
    for (int i = 0; i < QUEUED; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_MS(i), NULL));
    refuse_threads(1, true);
    if (shut_down)
        assert_ok(rota_shutdown(sched));
    test_gate_open(&gate);
    test_await_completed(sched, QUEUED + 1);
    refuse_threads(0, false);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, QUEUED);
}

/* POOL-30, POOL-61: by the one that goes, which waits for it. */
TEST(what_is_due_later_runs_although_a_torn_worker_cannot_be_replaced)
{
    tear_the_last_worker(false);
    tear_the_last_worker(true);
}

/* SCHED-22: and so does a periodic task. */
TEST(a_periodic_task_goes_on_although_a_torn_worker_cannot_be_replaced)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    struct periodic periodic = {.wanted = 5};
    test_gate gate;

    test_gate_init(&gate);
    test_gate_init(&periodic.gate);
    test_gate_open(&periodic.gate);
    assert_ok(rota_execute(sched, end_thread, &gate));
    test_await_count(&gate.begun, 1);
    assert_ok(rota_schedule_at_fixed_rate(sched, wait_once, &periodic, 0, 1, &periodic.future));
    refuse_threads(1, true);
    test_gate_open(&gate);
    test_until(has_run_on, &periodic);
    refuse_threads(0, false);
    assert_true(rota_future_cancel(periodic.future));
    rota_future_unref(periodic.future);
    assert_ok(rota_close(sched));
}

/* SCHED-35, POOL-30: an ended thread keeps its place until another thread can be started. */
TEST(an_ended_thread_serves_the_queue_until_it_is_replaced)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_execute(sched, end_thread, &gate));
    test_await_count(&gate.begun, 1);
    assert_ok(rota_schedule_call(sched, &call, FAR, 0, NULL));
    refuse_threads(1, true);
    test_gate_open(&gate);
    assert_ok(rota_execute(sched, test_count, &runs));
    test_await_count(&runs, 1);
    assert_int_equal(test_stats(sched).threads, 1);
    refuse_threads(0, false);
    assert_int_equal(test_stats(sched).queued, 1);
    test_stop(sched);
    assert_int_equal(runs, 1);
    assert_int_equal(probe.discards, 1);
}
