/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a task that a pool does not take: the policies, and one of the user's own. What blocks
 * the submitter is in test_reject_block.c.
 */
#include "executors.h"
#include "pools.h"
#include "queues.h"
#include "reject.h"
#include "rota_test_internal.h"

/* REJ-08 */
static void assert_cancelled(rota_future *future)
{
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_CANCELED);
    rota_future_unref(future);
}

/* -- Abort -------------------------------------------------------------------------------- */

/* REJ-02 */
TEST(abort_is_the_default_and_leaves_the_task_alone)
{
    rota_future *future = TEST_UNTOUCHED;
    struct full full;

    full_init(&full, (rota_pool_options){.core_threads = 1});
    assert_ptr_equal(test_options(full.pool).on_reject, rota_reject_abort);
    assert_status(submit(&full, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(test_stats(full.pool).rejected, 1);
    full_close(&full);
    assert_int_equal(full.rejected.runs + full.rejected.discards, 0);
    assert_int_equal(full.queued.runs, 1);
}

/* -- Caller runs -------------------------------------------------------------------------- */

static void note_thread(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

/* REJ-03: no hooks, in no count. */
TEST(with_caller_runs_the_submitter_runs_it_before_the_call_returns)
{
    struct heard heard = {.error = 0};
    rota_future *future;
    struct full full;
    pthread_t ran_on;

    full_init(&full,
              (rota_pool_options){.on_reject = rota_reject_caller_runs, .hooks = hear(&heard)});
    full.rejected.during = note_thread;
    full.rejected.arg = &ran_on;
    assert_ok(submit(&full, &future));
    assert_int_equal(full.rejected.runs, 1);
    assert_true(pthread_equal(ran_on, pthread_self()));
    assert_true(rota_future_is_done(future));
    rota_future_unref(future);
    assert_int_equal(heard.before, 1); /* of the one that occupies the pool */
    assert_int_equal(heard.after, 0);
    assert_int_equal(test_stats(full.pool).submitted, 2);
    assert_int_equal(test_stats(full.pool).completed, 0);
    full_close(&full);
    assert_int_equal(full.rejected.frees, 1);
}

static void *fail_with_7(void *arg)
{
    return rota_fail(7);
}

/* REJ-03, POOL-32 */
TEST(a_failure_in_the_caller_is_told_there_and_the_call_is_ok)
{
    struct heard heard = {.error = 0};
    struct full full;

    full_init(&full,
              (rota_pool_options){.on_reject = rota_reject_caller_runs, .hooks = hear(&heard)});
    assert_ok(rota_execute(full.pool, fail_with_7, NULL));
    assert_int_equal(heard.unobserved, 1);
    assert_int_equal(heard.error, 7);
    assert_true(pthread_equal(heard.thread, pthread_self()));
    full_close(&full);
}

static bool was_interrupted;

static void fail_in_hook(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    was_interrupted = rota_is_interrupted();
    rota_fail(5);
}

static void *execute_in_task(void *pool)
{
    rota_thread_interrupt(rota_thread_self());
    test_check(rota_execute(pool, fail_with_7, NULL) == ROTA_OK);
    test_check(rota_interrupted()); /* its own, as it was */
    return NULL;
}

/* GEN-17, POOL-32: a hook has neither the failure nor the flag of the task that is the caller. */
TEST(a_failure_in_the_caller_is_not_the_callers)
{
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    rota_future *future;
    struct full full;

    was_interrupted = true;
    full_init(&full, (rota_pool_options){.on_reject = rota_reject_caller_runs,
                                         .hooks = {.unobserved_failure = fail_in_hook}});
    assert_ok(rota_submit(other, execute_in_task, full.pool, &future));
    assert_ok(rota_future_get(future, NULL));
    assert_false(was_interrupted);
    rota_future_unref(future);
    full_close(&full);
    assert_ok(rota_close(other));
}

struct sleeper {
    rota_executor *pool;
    atomic_uint begun;
    int status;
};

static void *sleep_for_ever(void *arg)
{
    struct sleeper *sleeper = arg;

    atomic_fetch_add(&sleeper->begun, 1);
    sleeper->status = rota_sleep(ROTA_FOREVER);
    return NULL;
}

static void submit_sleeper(void *arg)
{
    struct sleeper *sleeper = arg;

    test_check(rota_execute(sleeper->pool, sleep_for_ever, sleeper) == ROTA_OK);
}

/* INT-07: a stop wakes every task of the pool, also on a thread of the program. */
TEST(a_stop_interrupts_a_task_that_its_submitter_runs)
{
    struct sleeper sleeper = {.pool = test_small_pool(1, 1, 1)};
    test_gate gate = {0};
    test_probe probe = {0};

    assert_ok(rota_pool_set_reject(sleeper.pool, rota_reject_caller_runs, NULL));
    test_fill(sleeper.pool, &gate, &probe, 1);
    test_thread *submitter = test_thread_start(submit_sleeper, &sleeper);
    test_await_count(&sleeper.begun, 1);
    assert_ok(rota_shutdown_now(sleeper.pool, NULL));
    test_thread_join(submitter);
    assert_status(sleeper.status, ROTA_EINTERRUPTED);
    test_gate_open(&gate);
    assert_ok(rota_close(sleeper.pool));
}

/* REJ-03, REJ-08 */
TEST(with_caller_runs_a_pool_that_is_shut_down_discards_it)
{
    rota_future *future;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_caller_runs});
    assert_ok(rota_shutdown(full.pool));
    assert_ok(submit(&full, &future));
    assert_int_equal(full.rejected.discards, 1);
    assert_cancelled(future);
    full_close(&full);
    assert_int_equal(full.rejected.runs, 0);
}

/* -- Discard ------------------------------------------------------------------------------ */

/* REJ-04 */
TEST(discard_drops_the_task_and_cancels_its_future)
{
    rota_future *future;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_discard});
    assert_ok(submit(&full, &future));
    assert_int_equal(full.rejected.discards, 1);
    assert_cancelled(future);
    assert_int_equal(test_stats(full.pool).submitted, 2);
    full_close(&full);
    assert_int_equal(full.rejected.runs, 0);
    assert_int_equal(full.queued.runs, 1);
}

/* REJ-05 */
TEST(discard_oldest_drops_the_head_of_the_queue_for_it)
{
    rota_future *future;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_discard_oldest});
    assert_ok(submit(&full, &future));
    assert_int_equal(full.queued.discards, 1);
    assert_cancelled(rota_future_ref(full.of_queued));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_PENDING);
    assert_int_equal(test_stats(full.pool).queued, 1);
    full_close(&full);
    assert_int_equal(full.rejected.runs, 1);
    assert_int_equal(full.queued.runs, 0);
    rota_future_unref(future);
}

/* REJ-05 */
TEST(discard_oldest_drops_the_task_itself_when_the_pool_is_shut_down)
{
    rota_future *future;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_discard_oldest});
    assert_ok(rota_shutdown(full.pool));
    assert_ok(submit(&full, &future));
    assert_cancelled(future);
    full_close(&full);
    assert_int_equal(full.rejected.runs, 0);
    assert_int_equal(full.rejected.discards, 1);
    assert_int_equal(full.queued.runs, 1);
}

/* REJ-06 */
TEST(discard_oldest_rejects_where_the_queue_has_no_head)
{
    rota_future *future = TEST_UNTOUCHED;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_discard_oldest,
                                         .queue = test_handoff()});
    assert_status(submit(&full, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    full_close(&full);
    assert_int_equal(full.rejected.runs + full.rejected.discards, 0);
}

/* REJ-05: a ring of the user's own, with room for three. */
TEST(discard_oldest_drops_one_for_each)
{
    rota_pool_options options = {.core_threads = 1, .on_reject = rota_reject_discard_oldest};
    test_journal journal;
    test_note notes[8];
    test_gate gate;

    assert_ok(test_ring_queue(3, &options.queue));
    rota_executor *pool = test_pool(options);
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    test_notes_init(notes, 8, &journal);
    for (unsigned i = 0; i < 8; i++)
        assert_ok(rota_execute(pool, test_note_down, &notes[i]));
    assert_int_equal(test_stats(pool).rejected, 5);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    test_journal_is(&journal, (const unsigned[]){5, 6, 7}, 3);
}

/* -- A handler of one's own --------------------------------------------------------------- */

struct handler {
    unsigned calls;
    pthread_t thread;
    rota_executor *seen;
    rota_executor *other; /* gets it, or NULL */
    int status;
};

static int handle(rota_executor *ex, rota_task *task, void *ctx)
{
    struct handler *handler = ctx;

    handler->calls++;
    handler->thread = pthread_self();
    handler->seen = ex;
    return handler->other != NULL ? rota_execute_task(handler->other, task) : handler->status;
}

/* REJ-01, REJ-07 */
TEST(what_the_handler_returns_is_what_the_submitter_gets)
{
    struct handler handler = {.status = ROTA_EAGAIN};
    rota_future *future = TEST_UNTOUCHED;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = handle, .reject_ctx = &handler});
    assert_status(submit(&full, &future), ROTA_EAGAIN);
    assert_int_equal(handler.calls, 1);
    assert_ptr_equal(handler.seen, full.pool);
    assert_true(pthread_equal(handler.thread, pthread_self()));
    assert_ok(rota_shutdown(full.pool));
    handler.status = -1000;
    assert_status(submit(&full, &future), -1000);
    assert_int_equal(handler.calls, 2);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(test_stats(full.pool).rejected, 2);
    full_close(&full);
    assert_int_equal(full.rejected.runs + full.rejected.discards, 0);
}

/* REJ-07, REJ-12, FAULT-14: on to another executor. */
TEST(a_handler_may_pass_the_task_on)
{
    struct handler handler = {.status = ROTA_OK};
    rota_future *future;
    struct full full;
    void *result;

    assert_ok(rota_single_thread(&handler.other));
    full_init(&full, (rota_pool_options){.on_reject = handle, .reject_ctx = &handler});
    assert_ok(submit(&full, &future));
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &full.rejected);
    rota_future_unref(future);
    assert_ok(rota_close(handler.other));
    full_close(&full);
    assert_int_equal(full.rejected.runs, 1);
}

static int run_it(rota_executor *ex, rota_task *task, void *ctx)
{
    rota_task_run(task);
    return ROTA_OK;
}

static int drop_it(rota_executor *ex, rota_task *task, void *ctx)
{
    rota_task_discard(task);
    return ROTA_OK;
}

/* REJ-07: "it may run ... or drop the task". */
TEST(a_handler_may_run_or_drop_the_task)
{
    for (int runs = 0; runs < 2; runs++) {
        rota_future *future;
        struct full full;

        full_init(&full, (rota_pool_options){.on_reject = runs ? run_it : drop_it});
        assert_ok(submit(&full, &future));
        assert_int_equal(full.rejected.runs, runs);
        assert_int_equal(full.rejected.discards, !runs);
        assert_status(rota_future_get(future, NULL), runs ? ROTA_OK : ROTA_ECANCELED);
        rota_future_unref(future);
        assert_int_equal(test_stats(full.pool).submitted, 2);
        full_close(&full);
        assert_int_equal(full.rejected.runs + full.rejected.discards, 1);
        assert_int_equal(full.queued.runs, 1);
    }
}

/* Makes room for it, and tries again; or asks for a thread more. */
static int try_again(rota_executor *ex, rota_task *task, void *ctx)
{
    struct full *full = ctx;

    if (full->of_queued != NULL)
        test_check(rota_pool_remove(ex, full->of_queued));
    else
        test_check(rota_pool_set_max_threads(ex, 2) == ROTA_OK);
    return rota_execute_task(ex, task);
}

/* REJ-07, GEN-09, FAULT-14: "re-submit", to the same pool. */
TEST(a_handler_may_make_room_and_submit_the_task_again)
{
    rota_future *future;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = try_again, .reject_ctx = &full});
    assert_ok(submit(&full, &future));
    assert_int_equal(full.queued.discards, 1);
    assert_int_equal(test_stats(full.pool).queued, 1);
    rota_future_unref(full.of_queued);
    rota_future_unref(future);
    full.of_queued = NULL;
    assert_ok(submit(&full, &future));
    assert_ok(rota_future_get(future, NULL)); /* on the second thread, as the first is busy */
    rota_future_unref(future);
    assert_int_equal(test_stats(full.pool).rejected, 2);
    full_close(&full);
    assert_int_equal(full.rejected.runs, 2);
}

/* REJ-12: what shutdown_now has handed over. */
TEST(what_was_drained_may_be_submitted_to_another_pool)
{
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    rota_task_list list;
    struct full full;

    full_init(&full, (rota_pool_options){.core_threads = 1});
    assert_ok(rota_shutdown_now(full.pool, &list));
    assert_int_equal(list.count, 1);
    assert_status(rota_execute_task(full.pool, list.tasks[0]), ROTA_EREJECTED);
    assert_int_equal(rota_future_state_of(full.of_queued), ROTA_FUTURE_PENDING);
    assert_ok(rota_execute_task(other, list.tasks[0]));
    rota_task_list_free(&list);
    assert_ok(rota_future_get(full.of_queued, NULL));
    full_close(&full);
    assert_ok(rota_close(other));
    assert_int_equal(full.queued.runs, 1);
    assert_int_equal(full.queued.discards, 0);
}

/* POOL-45 */
TEST(a_new_policy_is_for_later_rejections)
{
    struct handler handler = {.status = -1000};
    rota_future *future = TEST_UNTOUCHED;
    struct full full;

    full_init(&full, (rota_pool_options){.core_threads = 1});
    assert_status(submit(&full, &future), ROTA_EREJECTED);
    assert_ok(rota_pool_set_reject(full.pool, handle, &handler));
    assert_status(submit(&full, &future), -1000);
    assert_ok(rota_pool_set_reject(full.pool, rota_reject_discard, NULL));
    assert_ok(submit(&full, &future));
    assert_cancelled(future);
    assert_int_equal(handler.calls, 1);
    assert_int_equal(test_stats(full.pool).rejected, 3);
    full_close(&full);
}

/* -- Called directly ---------------------------------------------------------------------- */

static rota_reject *const policies[] = {rota_reject_abort, rota_reject_caller_runs,
                                        rota_reject_discard, rota_reject_discard_oldest,
                                        rota_reject_block};

/*
 * GEN-02: ROTA_EINVAL from rota_reject_abort, rota_reject_caller_runs, rota_reject_discard,
 * rota_reject_discard_oldest, rota_reject_block.
 */
TEST(without_a_pool_or_a_task_no_policy_does_anything)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_task *task = test_task(test_probe_call(&probe), NULL);

    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        assert_status(policies[i](NULL, task, NULL), ROTA_EINVAL);
        assert_status(policies[i](pool, NULL, NULL), ROTA_EINVAL);
        assert_status(policies[i](NULL, NULL, NULL), ROTA_EINVAL);
    }
    assert_int_equal(probe.runs + probe.discards, 0);
    rota_task_discard(task);
    assert_int_equal(test_stats(pool).rejected + test_stats(pool).threads, 0);
    assert_ok(rota_close(pool));
}

struct direct {
    test_probe probe;
    rota_task *task;
    rota_future *future;
};

static void direct_init(struct direct *direct)
{
    *direct = (struct direct){.task = NULL};
    direct->task = test_task(test_probe_call(&direct->probe), &direct->future);
}

/* REJ-09 */
TEST(abort_discard_and_caller_runs_do_not_need_a_full_pool)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct direct one, two;

    direct_init(&one);
    assert_status(rota_reject_abort(pool, one.task, NULL), ROTA_EREJECTED);
    assert_false(rota_future_is_done(one.future));
    assert_ok(rota_reject_caller_runs(pool, one.task, NULL));
    assert_int_equal(one.probe.runs, 1);
    direct_init(&two);
    assert_ok(rota_reject_discard(pool, two.task, NULL));
    assert_int_equal(two.probe.discards, 1);
    assert_cancelled(two.future);
    rota_future_unref(one.future);
    rota_pool_stats stats = test_stats(pool);
    assert_int_equal(stats.threads + stats.submitted + stats.completed + stats.rejected, 0);
    assert_ok(rota_close(pool));
}

/* REJ-09 */
TEST(discard_oldest_and_block_give_an_idle_pool_the_task)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct direct one, two;

    direct_init(&one);
    direct_init(&two);
    assert_ok(rota_reject_discard_oldest(pool, one.task, NULL));
    assert_ok(rota_reject_block(pool, two.task, NULL));
    assert_ok(rota_future_get(one.future, NULL));
    assert_ok(rota_future_get(two.future, NULL));
    rota_future_unref(one.future);
    rota_future_unref(two.future);
    test_await_completed(pool, 2);
    assert_int_equal(test_stats(pool).rejected, 0);
    assert_ok(rota_close(pool));
}

static int highest_first(const void *a, const void *b, void *ctx)
{
    const test_note *x = rota_task_call(a)->arg, *y = rota_task_call(b)->arg;

    return (x->number < y->number) - (x->number > y->number);
}

/* REJ-05: "for priority queues the first in their order". These are never full. */
TEST(discard_oldest_drops_the_first_of_a_priority_queue)
{
    rota_pool_options options = {.core_threads = 1};
    test_journal journal;
    test_note notes[4];
    test_gate gate;

    assert_ok(rota_priority_queue(highest_first, NULL, &options.queue));
    rota_executor *pool = test_pool(options);
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    test_notes_init(notes, 4, &journal);
    for (unsigned i = 0; i < 3; i++)
        assert_ok(rota_execute(pool, test_note_down, &notes[i == 0 ? 1 : 2 * i - 2]));
    rota_task *task = test_plain_task(test_note_down, &notes[3]);
    assert_ok(rota_reject_discard_oldest(pool, task, NULL)); /* of 1, 0 and 2 */
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    test_journal_is(&journal, (const unsigned[]){3, 1, 0}, 3);
}

static rota_ns never_due(const void *task, void *ctx)
{
    return ROTA_FOREVER;
}

/* REJ-05: "if available": what is not due is not dropped. */
TEST(discard_oldest_drops_nothing_that_is_not_due)
{
    rota_pool_options options = {.core_threads = 1};
    struct direct one, two;
    test_gate gate;

    assert_ok(rota_delay_queue(never_due, NULL, &options.queue));
    rota_executor *pool = test_pool(options);
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    direct_init(&one);
    direct_init(&two);
    assert_ok(rota_execute_task(pool, one.task));
    assert_ok(rota_reject_discard_oldest(pool, two.task, NULL));
    assert_int_equal(one.probe.discards, 0);
    assert_int_equal(test_stats(pool).queued, 2);
    assert_ok(rota_shutdown_now(pool, NULL));
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(one.probe.discards + two.probe.discards, 2);
    rota_future_unref(one.future);
    rota_future_unref(two.future);
}

/* REJ-09: "with any task and pool". */
TEST(where_there_is_no_pool_the_policies_do_what_they_can)
{
    rota_executor *executor;
    struct direct one;

    assert_ok(test_executor_direct(&executor));
    direct_init(&one);
    assert_status(rota_reject_abort(executor, one.task, NULL), ROTA_EREJECTED);
    assert_status(rota_reject_discard_oldest(executor, one.task, NULL), ROTA_EREJECTED);
    assert_status(rota_reject_block(executor, one.task, NULL), ROTA_EREJECTED);
    assert_int_equal(one.probe.runs + one.probe.discards, 0);
    assert_ok(rota_reject_caller_runs(executor, one.task, NULL));
    assert_int_equal(one.probe.runs, 1);
    rota_future_unref(one.future);
    assert_ok(rota_close(executor));
}

/* REJ-09, REJ-11: called directly, or for a task that is passed on, which is still the caller's. */
TEST(who_is_blocked_with_a_task_in_hand_can_be_interrupted)
{
    struct direct one;
    struct full full;

    full_init(&full, (rota_pool_options){.core_threads = 1});
    direct_init(&one);
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_reject_block(full.pool, one.task, NULL), ROTA_EINTERRUPTED);
    assert_false(rota_is_interrupted());
    assert_ok(rota_pool_set_reject(full.pool, rota_reject_block, NULL));
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_execute_task(full.pool, one.task), ROTA_EINTERRUPTED);
    assert_false(rota_future_is_done(one.future));
    rota_task_run(one.task);
    assert_int_equal(one.probe.runs, 1);
    rota_future_unref(one.future);
    full_close(&full);
}
