/* SPDX-License-Identifier: MIT */
/*
 * The end of a pool: shutdown, shutdown_now, and what its own tasks and hooks may ask of it then.
 */
#include "pools.h"
#include "rota_test_internal.h"

/* -- rota_shutdown ------------------------------------------------------------------------ */

/* POOL-04, POOL-52 */
TEST(shutdown_runs_what_is_queued_and_takes_nothing_new)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (unsigned i = 0; i < 5; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_shutdown(pool));
    assert_int_equal(rota_executor_state_of(pool), ROTA_SHUTDOWN);
    assert_status(rota_execute(pool, test_count, &runs), ROTA_EREJECTED);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(runs, 5);
    assert_int_equal(gate.interrupted, 0);
    assert_ok(rota_executor_free(pool));
}

/* POOL-52: "repeating it has no effect", POOL-03, POOL-04 */
TEST(shutdown_may_be_repeated_in_every_state)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_shutdown(pool));
    assert_int_equal(rota_executor_state_of(pool), ROTA_SHUTDOWN);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_ok(rota_shutdown(pool));
    assert_int_equal(rota_executor_state_of(pool), ROTA_STOP);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_int_equal(rota_executor_state_of(pool), ROTA_TERMINATED);
    assert_ok(rota_executor_free(pool));
}

/* POOL-57 */
TEST(an_idle_pool_without_threads_has_ended_when_shutdown_returns)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});

    assert_ok(rota_shutdown(pool));
    assert_true(rota_is_terminated(pool));
    assert_ok(rota_executor_free(pool));
    pool = test_pool((rota_pool_options){.core_threads = 2});
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_true(rota_is_terminated(pool));
    assert_ok(rota_executor_free(pool));
}

TEST(idle_threads_leave_when_the_pool_is_shut_down)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 5});
    unsigned started;

    assert_ok(rota_pool_prestart(pool, &started));
    test_await_waiting(pool, 5);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(test_stats(pool).threads, 0);
    assert_int_equal(test_stats(pool).largest, 5);
    assert_ok(rota_executor_free(pool));
}

struct inside {
    rota_executor *pool;
    int statuses[5];
    bool interrupted;
    rota_executor_state state;
};

static void inside_init(struct inside *inside, rota_executor *pool)
{
    *inside = (struct inside){.pool = pool};
}

static void *shut_down_inside(void *arg)
{
    struct inside *inside = arg;

    inside->statuses[0] = rota_shutdown(inside->pool);
    inside->state = rota_executor_state_of(inside->pool);
    inside->interrupted = rota_is_interrupted();
    return NULL;
}

/* POOL-52, INT-09 */
TEST(a_task_may_shut_its_own_pool_down_and_is_not_disturbed)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct inside inside;

    inside_init(&inside, pool);
    assert_ok(rota_execute(pool, shut_down_inside, &inside));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(inside.statuses[0]);
    assert_int_equal(inside.state, ROTA_SHUTDOWN);
    assert_false(inside.interrupted);
    assert_ok(rota_executor_free(pool));
}

static void open_and_await_end(rota_executor *pool, test_gate *gate)
{
    test_gate_open(gate);
    test_await_state(pool, ROTA_TERMINATED);
}

/* POOL-12, POOL-52 */
TEST(every_way_to_submit_is_refused_from_shutdown_on)
{
    rota_executor *pool = test_small_pool(1, 1, 1);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            assert_ok(rota_shutdown(pool));
        if (i == 1)
            assert_ok(rota_shutdown_now(pool, NULL));
        if (i == 2)
            open_and_await_end(pool, &gate);
        assert_status(rota_execute(pool, call.fn, &probe), ROTA_EREJECTED);
        assert_status(rota_submit(pool, call.fn, &probe, &future), ROTA_EREJECTED);
        assert_status(rota_submit_call(pool, &call, &future), ROTA_EREJECTED);
        assert_status(rota_invoke_all(pool, &call, 1, ROTA_FOREVER, &future), ROTA_EREJECTED);
        assert_status(rota_invoke_any(pool, &call, 1, ROTA_FOREVER, &future), ROTA_EREJECTED);
    }
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(test_stats(pool).completed, 1);
    assert_ok(rota_executor_free(pool));
    assert_int_equal(probe.runs, 0);
}

/* -- rota_shutdown_now -------------------------------------------------------------------- */

enum { QUEUED = 6 };

static unsigned number_of(const void *task)
{
    const test_note *note = rota_task_call(task)->arg;

    return note->number;
}

static void assert_handed_over(const rota_task_list *list, bool last_first)
{
    assert_int_equal(list->count, QUEUED);
    for (unsigned i = 0; i < QUEUED; i++)
        assert_int_equal(number_of(list->tasks[i]), last_first ? QUEUED - 1 - i : i);
}

static void run_or_discard(rota_task_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (i % 2 == 0)
            rota_task_run(list->tasks[i]);
        else
            rota_task_discard(list->tasks[i]);
    }
    rota_task_list_free(list);
    assert_int_equal(list->count, 0);
    assert_null(list->tasks);
}

/* One task runs and sleeps, the others are queued, every other one without a future. */
static rota_executor *stop_with_queue(rota_queue *queue, bool last_first, test_journal *journal)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .queue = queue});
    rota_future *futures[QUEUED] = {NULL};
    test_note notes[QUEUED];
    rota_task_list list = {NULL, 0};
    test_gate gate;

    test_gate_init(&gate);
    test_notes_init(notes, QUEUED, journal);
    assert_ok(rota_execute(pool, test_sleep_long, &gate));
    test_await_count(&gate.begun, 1);
    for (unsigned i = 0; i < QUEUED; i++) {
        if (i % 2 == 0)
            assert_ok(rota_submit(pool, test_note_down, &notes[i], &futures[i]));
        else
            assert_ok(rota_execute(pool, test_note_down, &notes[i]));
    }
    assert_ok(rota_shutdown_now(pool, &list));
    assert_handed_over(&list, last_first);
    for (unsigned i = 0; i < QUEUED; i += 2) {
        assert_false(rota_future_is_done(futures[i])); /* POOL-55 */
        rota_future_unref(futures[i]);
    }
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(gate.interrupted, 1);
    assert_int_equal(journal->count, 0);
    run_or_discard(&list);
    return pool;
}

/* POOL-53, OWN-07 */
TEST(shutdown_now_hands_over_what_is_queued_in_its_order)
{
    test_journal journal;
    rota_queue *queue;

    assert_ok(rota_linked_queue(ROTA_UNBOUNDED, &queue));
    rota_executor *pool = stop_with_queue(queue, false, &journal);
    test_journal_is(&journal, (const unsigned[]){0, 2, 4}, 3);
    assert_int_equal(test_stats(pool).queued, 0);
    assert_int_equal(test_stats(pool).completed, 1); /* those run by hand are in no count */
    assert_ok(rota_executor_free(pool));
}

static int compare_tasks(const void *a, const void *b, void *ctx)
{
    return (number_of(a) < number_of(b)) - (number_of(a) > number_of(b));
}

/* POOL-53 */
TEST(a_priority_queue_is_handed_over_by_priority)
{
    test_journal journal;
    rota_queue *queue;

    assert_ok(rota_priority_queue(compare_tasks, NULL, &queue));
    assert_ok(rota_executor_free(stop_with_queue(queue, true, &journal)));
    test_journal_is(&journal, (const unsigned[]){5, 3, 1}, 3);
}

static rota_ns never_due(const void *task, void *ctx)
{
    return ROTA_FOREVER;
}

/* POOL-54 */
TEST(what_is_not_due_yet_is_handed_over_too)
{
    test_journal journal;
    rota_queue *queue;

    assert_ok(rota_delay_queue(never_due, NULL, &queue));
    assert_ok(rota_executor_free(stop_with_queue(queue, false, &journal)));
    assert_int_equal(journal.count, 3);
}

/* POOL-53 */
TEST(the_second_shutdown_now_has_nothing_to_hand_over)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_task_list list = {NULL, 7};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_wait_at, &gate));
    assert_ok(rota_shutdown_now(pool, &list));
    assert_int_equal(list.count, 1);
    rota_task_discard(list.tasks[0]);
    rota_task_list_free(&list);
    list.count = 7;
    assert_ok(rota_shutdown_now(pool, &list));
    assert_int_equal(list.count, 0);
    rota_task_list_free(&list);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.begun, 1);
}

/* OWN-08 */
TEST(without_a_list_what_is_queued_is_discarded_and_its_waiters_wake)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *futures[3];
    test_getter getters[3];
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 3; i++) {
        assert_ok(rota_submit_call(pool, &call, &futures[i]));
        test_getter_start(&getters[i], futures[i], ROTA_FOREVER);
    }
    assert_ok(rota_shutdown_now(pool, NULL));
    for (int i = 0; i < 3; i++) {
        test_getter_ends(&getters[i], ROTA_ECANCELED, TEST_UNTOUCHED);
        rota_future_unref(futures[i]);
    }
    assert_int_equal(probe.discards, 3);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 0);
}

/* POOL-04, POOL-53 */
TEST(shutdown_now_interrupts_all_that_runs_and_nothing_else)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    rota_task_list list;
    test_gate gate;

    test_gate_init(&gate);
    for (int i = 0; i < 5; i++)
        assert_ok(rota_execute(pool, test_sleep_long, &gate));
    test_await_count(&gate.begun, 2);
    assert_ok(rota_shutdown_now(pool, &list));
    assert_int_equal(list.count, 3);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(gate.begun, 2);
    assert_int_equal(gate.interrupted, 2);
    assert_int_equal(test_stats(pool).completed, 2);
    assert_int_equal(test_stats(pool).queued, 0);
    assert_false(rota_is_interrupted()); /* the caller's flag */
    for (size_t i = 0; i < list.count; i++)
        rota_task_discard(list.tasks[i]);
    rota_task_list_free(&list);
    assert_ok(rota_executor_free(pool));
}

static void *stop_inside(void *arg)
{
    struct inside *inside = arg;

    inside->statuses[0] = rota_shutdown_now(inside->pool, NULL);
    inside->interrupted = rota_interrupted();
    return NULL;
}

/* POOL-53: "the calling task too". */
TEST(a_task_that_stops_its_own_pool_is_interrupted_itself)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct inside inside;

    inside_init(&inside, pool);
    assert_ok(rota_execute(pool, stop_inside, &inside));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(inside.statuses[0]);
    assert_true(inside.interrupted);
    assert_ok(rota_executor_free(pool));
}

/* POOL-59, FAULT-38 */
TEST(a_task_that_ignores_its_interrupt_delays_the_end)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_int_equal(rota_executor_state_of(pool), ROTA_STOP);
    assert_status(rota_await_termination(pool, ROTA_MS(5)), ROTA_ETIMEDOUT);
    assert_int_equal(rota_executor_state_of(pool), ROTA_STOP);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(gate.interrupted, 1);
    assert_ok(rota_executor_free(pool));
}

/* -- Tasks that begin after the stop ------------------------------------------------------ */

static test_gate before_it_begins;

struct late_start {
    void *(*start)(void *arg);
    void *arg;
};

static struct late_start late;

static void *begin_late(void *arg)
{
    atomic_fetch_add(&before_it_begins.begun, 1);
    test_latch_wait(&before_it_begins.latch);
    return late.start(late.arg);
}

static int create_late(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                       void *arg, void *ctx)
{
    late = (struct late_start){start, arg};
    return pthread_create(out, attr, begin_late, NULL);
}

static void wait_before(rota_executor *ex, rota_task *task, void *ctx)
{
    test_wait_at(&before_it_begins);
}

static void wait_on_start(void *ctx)
{
    test_wait_at(&before_it_begins);
}

static void stop_before_it_begins(rota_pool_options options)
{
    rota_executor *pool;
    test_gate gate;

    options.core_threads = 1;
    pool = test_pool(options);
    test_gate_init(&gate);
    test_gate_init(&before_it_begins);
    assert_ok(rota_execute(pool, test_sleep_long, &gate));
    test_await_count(&before_it_begins.begun, 1);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_int_equal(gate.begun, 0);
    test_gate_open(&before_it_begins);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER)); /* else it sleeps for ever */
    assert_int_equal(gate.interrupted, 1);
    assert_ok(rota_executor_free(pool));
}

/* INT-07, POOL-22: it was its thread's first, so it was never queued. */
TEST(a_task_whose_thread_begins_after_the_stop_is_interrupted)
{
    stop_before_it_begins((rota_pool_options){.threads = {.create = create_late}});
}

TEST(a_task_that_begins_after_the_stop_is_interrupted)
{
    stop_before_it_begins((rota_pool_options){.threads = {.on_start = wait_on_start}});
    stop_before_it_begins((rota_pool_options){.hooks = {.before_execute = wait_before}});
}

/* -- Waiting for the end ------------------------------------------------------------------ */

/* GEN-04, GEN-06, POOL-58 */
TEST(await_termination_is_never_early)
{
    static const rota_ns timeouts[] = {INT64_MIN, -1, 0, 1, 999999, ROTA_MS(3)};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});

    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        rota_ns begin = rota_now();
        assert_status(rota_await_termination(pool, timeouts[i]), ROTA_ETIMEDOUT);
        assert_true(timeouts[i] <= 0 || rota_now() - begin >= timeouts[i]);
        assert_false(rota_is_terminated(pool));
    }
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_termination(pool, INT64_MIN));
    assert_ok(rota_executor_free(pool));
}

struct awaiter {
    rota_executor *pool;
    test_thread *thread;
    int status;
};

static void await_end(void *arg)
{
    struct awaiter *awaiter = arg;

    awaiter->status = rota_await_termination(awaiter->pool, ROTA_FOREVER);
}

static void awaiter_start(struct awaiter *awaiter, rota_executor *pool)
{
    *awaiter = (struct awaiter){.pool = pool};
    awaiter->thread = test_thread_start(await_end, awaiter);
    test_await_parked(test_thread_handle(awaiter->thread));
}

/* POOL-56, POOL-58 */
TEST(all_who_wait_for_the_end_wake_and_an_interrupt_ends_one_wait)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct awaiter awaiters[3];
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 3; i++)
        awaiter_start(&awaiters[i], pool);
    rota_thread_interrupt(test_thread_handle(awaiters[1].thread));
    test_thread_join(awaiters[1].thread);
    assert_status(awaiters[1].status, ROTA_EINTERRUPTED);
    assert_ok(rota_shutdown(pool));
    test_gate_open(&gate);
    for (int i = 0; i < 3; i += 2) {
        test_thread_join(awaiters[i].thread);
        assert_ok(awaiters[i].status);
    }
    assert_int_equal(gate.interrupted, 0);
    assert_ok(rota_executor_free(pool));
}

static void *wait_for_own_end(void *arg)
{
    struct inside *inside = arg;

    inside->statuses[0] = rota_await_termination(inside->pool, ROTA_FOREVER);
    inside->statuses[1] = rota_await_termination(inside->pool, ROTA_US(1));
    inside->statuses[2] = rota_close(inside->pool);
    inside->statuses[3] = rota_close_within(inside->pool, ROTA_SEC(1), NULL);
    inside->statuses[4] = rota_executor_free(inside->pool);
    inside->state = rota_executor_state_of(inside->pool);
    return NULL;
}

/* POOL-58, OWN-11 */
TEST(a_task_cannot_wait_for_its_own_pool_nor_close_it)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct inside inside;
    rota_future *future;

    inside_init(&inside, pool);
    assert_ok(rota_submit(pool, wait_for_own_end, &inside, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_status(inside.statuses[0], ROTA_EDEADLOCK);
    assert_status(inside.statuses[1], ROTA_ETIMEDOUT);
    assert_status(inside.statuses[2], ROTA_EDEADLOCK);
    assert_status(inside.statuses[3], ROTA_EDEADLOCK);
    assert_status(inside.statuses[4], ROTA_EBUSY);
    assert_int_equal(inside.state, ROTA_RUNNING);
    assert_ok(rota_close(pool));
}

/* OWN-11 */
TEST(a_pool_is_freed_only_when_it_has_ended)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_gate gate;

    test_gate_init(&gate);
    assert_status(rota_executor_free(pool), ROTA_EBUSY);
    test_occupy(pool, &gate, 1);
    assert_status(rota_executor_free(pool), ROTA_EBUSY);
    assert_ok(rota_shutdown(pool));
    assert_status(rota_executor_free(pool), ROTA_EBUSY);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_status(rota_executor_free(pool), ROTA_EBUSY);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(rota_executor_free(pool));
}

/* -- The hook at the end ------------------------------------------------------------------ */

struct ending {
    atomic_uint calls;
    test_gate gate;
    bool waits;
    rota_pool_stats stats;
    rota_executor_state state;
    bool is_shutdown, is_terminated;
    int await, free;
};

static void note_end(rota_executor *ex, void *ctx)
{
    struct ending *ending = ctx;

    atomic_fetch_add(&ending->calls, 1);
    ending->stats = test_stats(ex);
    ending->state = rota_executor_state_of(ex);
    ending->is_shutdown = rota_is_shutdown(ex);
    ending->is_terminated = rota_is_terminated(ex);
    ending->await = rota_await_termination(ex, 0);
    ending->free = rota_executor_free(ex);
    test_check(rota_shutdown(ex) == ROTA_OK && rota_shutdown_now(ex, NULL) == ROTA_OK);
    if (ending->waits)
        test_wait_at(&ending->gate);
}

static void assert_end_was_right(const struct ending *ending)
{
    assert_int_equal(ending->calls, 1);
    assert_int_equal(ending->state, ROTA_TIDYING);
    assert_true(ending->is_shutdown);
    assert_false(ending->is_terminated);
    assert_status(ending->await, ROTA_ETIMEDOUT);
    assert_status(ending->free, ROTA_EBUSY);
    assert_int_equal(ending->stats.threads + ending->stats.active, 0);
}

/* POOL-36 */
TEST(the_terminated_hook_of_an_unused_pool_runs_before_shutdown_returns)
{
    struct ending ending = {.calls = 0};
    rota_executor *pool = test_pool(
        (rota_pool_options){.core_threads = 1, .hooks = {.terminated = note_end, .ctx = &ending}});

    assert_ok(rota_shutdown(pool));
    assert_end_was_right(&ending);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_close(pool));
    assert_int_equal(ending.calls, 1);
}

/* POOL-36, POOL-46, POOL-49: TIDYING lasts as long as the hook. */
TEST(while_the_terminated_hook_runs_the_pool_is_tidying)
{
    struct ending ending = {.waits = true};
    rota_executor *pool = test_pool(
        (rota_pool_options){.core_threads = 2, .hooks = {.terminated = note_end, .ctx = &ending}});
    struct awaiter awaiter;
    atomic_uint runs = 0;

    test_gate_init(&ending.gate);
    for (int i = 0; i < 10; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_shutdown(pool));
    test_await_count(&ending.gate.begun, 1);
    assert_int_equal(runs, 10);
    assert_int_equal(rota_executor_state_of(pool), ROTA_TIDYING);
    assert_status(rota_executor_free(pool), ROTA_EBUSY);
    assert_status(rota_await_termination(pool, 0), ROTA_ETIMEDOUT);
    awaiter_start(&awaiter, pool);
    test_gate_open(&ending.gate);
    test_thread_join(awaiter.thread);
    assert_ok(awaiter.status);
    assert_end_was_right(&ending);
    assert_ok(rota_executor_free(pool));
}
