/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a task that a pool does not take: five policies, and one of the user's own.
 */
#include "executors.h"
#include "pools.h"
#include "queues.h"
#include "rota_test_internal.h"

#include <errno.h>

/* -- A saturated pool --------------------------------------------------------------------- */

/* One thread, which is busy, and a queue with room for one task, which is there. */
struct full {
    rota_executor *pool;
    test_gate gate;
    test_probe queued, rejected;
    rota_future *of_queued;
};

static void full_init(struct full *full, rota_pool_options options)
{
    *full = (struct full){.pool = NULL};
    options.core_threads = 1;
    if (options.queue == NULL)
        options.queue = test_array(1);
    full->pool = test_pool(options);
    test_gate_init(&full->gate);
    test_occupy(full->pool, &full->gate, 1);
    rota_call call = test_probe_call(&full->queued);
    if (rota_queue_room(rota_pool_queue(full->pool)) > 0)
        assert_ok(rota_submit_call(full->pool, &call, &full->of_queued));
}

static int submit(struct full *full, rota_future **out)
{
    rota_call call = test_probe_call(&full->rejected);

    return rota_submit_call(full->pool, &call, out);
}

static void full_close(struct full *full)
{
    test_gate_open(&full->gate);
    assert_ok(rota_close(full->pool));
    rota_future_unref(full->of_queued);
}

/* REJ-08, CON-05 */
static void assert_cancelled(rota_future *future)
{
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_CANCELED);
    rota_future_unref(future);
}

/* -- Abort -------------------------------------------------------------------------------- */

/* REJ-02, TPE-11 */
static void abort_is_the_default_and_leaves_the_task_alone(void **state)
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

struct heard {
    atomic_uint before, after, unobserved;
    pthread_t thread;
    int error;
};

static void hear_before(rota_executor *ex, rota_task *task, void *ctx)
{
    atomic_fetch_add(&((struct heard *)ctx)->before, 1);
}

static void hear_after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    atomic_fetch_add(&((struct heard *)ctx)->after, 1);
}

static void hear_unobserved(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    struct heard *heard = ctx;

    heard->thread = pthread_self();
    heard->error = error;
    atomic_fetch_add(&heard->unobserved, 1);
}

static rota_hooks hear(struct heard *heard)
{
    return (rota_hooks){hear_before, hear_after, hear_unobserved, NULL, heard};
}

static void note_thread(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

/* REJ-03: no hooks, in no count. */
static void with_caller_runs_the_submitter_runs_it_before_the_call_returns(void **state)
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
static void a_failure_in_the_caller_is_told_there_and_the_call_is_ok(void **state)
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
static void a_failure_in_the_caller_is_not_the_callers(void **state)
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

static void end_in_hook(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    pthread_exit(NULL);
}

static void execute_and_end(void *pool)
{
    rota_execute(pool, fail_with_7, NULL);
    test_die(__FILE__, __LINE__, "the thread has not ended");
}

/* GEN-14: the task is let go of also if the hook ends the thread of the caller. */
static void who_is_told_of_a_failure_in_the_caller_may_end_it(void **state)
{
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_caller_runs,
                                         .hooks = {.unobserved_failure = end_in_hook}});
    test_thread_join(test_thread_start(execute_and_end, full.pool));
    full_close(&full);
}

/* REJ-03, REJ-08 */
static void with_caller_runs_a_pool_that_is_shut_down_discards_it(void **state)
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
static void discard_drops_the_task_and_cancels_its_future(void **state)
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
static void discard_oldest_drops_the_head_of_the_queue_for_it(void **state)
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

/* REJ-05, TPE-38 */
static void discard_oldest_drops_the_task_itself_when_the_pool_is_shut_down(void **state)
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
static void discard_oldest_rejects_where_the_queue_has_no_head(void **state)
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
static void discard_oldest_drops_one_for_each(void **state)
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
static void what_the_handler_returns_is_what_the_submitter_gets(void **state)
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

/* REJ-07, REJ-12: on to another executor. */
static void a_handler_may_pass_the_task_on(void **state)
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
static void a_handler_may_run_or_drop_the_task(void **state)
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

/* REJ-07, GEN-09: "re-submit", to the same pool. */
static void a_handler_may_make_room_and_submit_the_task_again(void **state)
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
static void what_was_drained_may_be_submitted_to_another_pool(void **state)
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
static void a_new_policy_is_for_later_rejections(void **state)
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
static void without_a_pool_or_a_task_no_policy_does_anything(void **state)
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

/* REJ-09, TPE-53 */
static void abort_discard_and_caller_runs_do_not_need_a_full_pool(void **state)
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
static void discard_oldest_and_block_give_an_idle_pool_the_task(void **state)
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
static void discard_oldest_drops_the_first_of_a_priority_queue(void **state)
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
static void discard_oldest_drops_nothing_that_is_not_due(void **state)
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
static void where_there_is_no_pool_the_policies_do_what_they_can(void **state)
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

/* -- Block -------------------------------------------------------------------------------- */

/* A thread that submits the rejected probe, and waits. */
struct submitter {
    struct full *full;
    rota_future *future;
    int status;
    test_thread *thread;
};

static void submit_and_wait(void *arg)
{
    struct submitter *submitter = arg;

    submitter->status = submit(submitter->full, &submitter->future);
}

static void submitter_start(struct submitter *submitter, struct full *full)
{
    *submitter = (struct submitter){.full = full, .future = TEST_UNTOUCHED};
    submitter->thread = test_thread_start(submit_and_wait, submitter);
    test_await_parked(test_thread_handle(submitter->thread));
}

static void submitter_ends(struct submitter *submitter, int status)
{
    test_thread_join(submitter->thread);
    assert_status(submitter->status, status);
    if (status == ROTA_OK)
        rota_future_unref(submitter->future);
    else
        assert_ptr_equal(submitter->future, TEST_UNTOUCHED);
}

/* REJ-11 */
static void a_blocked_submitter_goes_on_when_there_is_room(void **state)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    submitter_start(&submitter, &full);
    assert_int_equal(full.rejected.runs, 0);
    assert_true(rota_pool_remove(full.pool, full.of_queued)); /* room */
    submitter_ends(&submitter, ROTA_OK);
    assert_int_equal(test_stats(full.pool).queued, 1);
    full_close(&full);
    assert_int_equal(full.rejected.runs, 1);
}

/* REJ-11: the worker makes the room. */
static void a_blocked_submitter_goes_on_when_the_worker_does(void **state)
{
    struct submitter submitters[4];
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    for (int i = 0; i < 4; i++)
        submitter_start(&submitters[i], &full);
    test_gate_open(&full.gate);
    for (int i = 0; i < 4; i++)
        submitter_ends(&submitters[i], ROTA_OK);
    assert_ok(rota_close(full.pool));
    rota_future_unref(full.of_queued);
    assert_int_equal(full.rejected.runs, 4);
    assert_int_equal(full.queued.runs, 1);
}

/* REJ-11: "or a thread may be added". */
static void a_blocked_submitter_goes_on_when_a_thread_may_be_added(void **state)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    submitter_start(&submitter, &full);
    assert_ok(rota_pool_set_max_threads(full.pool, 2));
    submitter_ends(&submitter, ROTA_OK);
    test_await_count(&full.rejected.runs, 1); /* while the other thread is busy */
    full_close(&full);
}

static void blocked_until(void (*end)(struct full *full, struct submitter *submitter), int status)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    submitter_start(&submitter, &full);
    end(&full, &submitter);
    submitter_ends(&submitter, status);
    full_close(&full);
    assert_int_equal(full.rejected.runs + full.rejected.discards, 0); /* OWN-05 */
    assert_int_equal(full.queued.runs + full.queued.discards, 1);
}

static void shut_down(struct full *full, struct submitter *submitter)
{
    assert_ok(rota_shutdown(full->pool));
}

static void stop(struct full *full, struct submitter *submitter)
{
    assert_ok(rota_shutdown_now(full->pool, NULL));
}

static void interrupt(struct full *full, struct submitter *submitter)
{
    rota_thread_interrupt(test_thread_handle(submitter->thread));
}

/* REJ-11 */
static void a_blocked_submitter_is_rejected_when_the_pool_is_shut_down(void **state)
{
    blocked_until(shut_down, ROTA_EREJECTED);
    blocked_until(stop, ROTA_EREJECTED);
}

/* REJ-11, INT-03 */
static void an_interrupt_ends_the_wait_of_a_blocked_submitter(void **state)
{
    blocked_until(interrupt, ROTA_EINTERRUPTED);
}

/* REJ-11, INT-04, INT-05: ROTA_EINTERRUPTED from rota_submit_call, and from each of the others. */
static void a_submitter_that_is_interrupted_before_is_not_blocked(void **state)
{
    rota_future *future = TEST_UNTOUCHED;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    rota_thread_interrupt(rota_thread_self());
    assert_status(submit(&full, &future), ROTA_EINTERRUPTED);
    assert_false(rota_is_interrupted());
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_submit(full.pool, test_count, NULL, &future), ROTA_EINTERRUPTED);
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_execute(full.pool, test_count, NULL), ROTA_EINTERRUPTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_ok(rota_shutdown(full.pool));
    assert_status(submit(&full, &future), ROTA_EREJECTED);
    full_close(&full);
    assert_int_equal(full.rejected.runs + full.rejected.discards, 0);
}

/* REJ-09, REJ-11: called directly, or for a task that is passed on, which is still the caller's. */
static void who_is_blocked_with_a_task_in_hand_can_be_interrupted(void **state)
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

/* REJ-11: "on a hand-off queue it waits for a taker". */
static void on_a_hand_off_queue_a_blocked_submitter_waits_for_a_taker(void **state)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block, .queue = test_handoff()});
    submitter_start(&submitter, &full);
    test_gate_open(&full.gate);
    submitter_ends(&submitter, ROTA_OK);
    test_await_count(&full.rejected.runs, 1);
    assert_ok(rota_close(full.pool));
    assert_int_equal(full.rejected.runs, 1);
}

/* A system that has no thread but the first. */
struct system {
    atomic_uint asked;
    atomic_bool refuses;
};

static int make_thread(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                       void *arg, void *ctx)
{
    enum { TOO_OFTEN = 1000 };
    struct system *system = ctx;

    test_check(++system->asked < TOO_OFTEN);
    return system->refuses ? EAGAIN : pthread_create(out, attr, start, arg);
}

/* REJ-11, POOL-28, GEN-15: they sleep, and try again now and then. */
static void submitters_that_are_refused_a_thread_wait_for_one(void **state)
{
    struct system system = {.asked = 0};
    struct submitter submitters[2];
    struct full full;

    full_init(&full, (rota_pool_options){.max_threads = 2,
                                         .on_reject = rota_reject_block,
                                         .threads = {.create = make_thread, .ctx = &system}});
    system.refuses = true;
    submitter_start(&submitters[0], &full);
    submitter_start(&submitters[1], &full);
    test_clock_await_waiting(2);
    assert_int_equal(full.queued.runs, 0);
    system.refuses = false;
    test_clock_advance(ROTA_MINUTES(1));
    submitter_ends(&submitters[0], ROTA_OK);
    submitter_ends(&submitters[1], ROTA_OK);
    test_await_count(&full.rejected.runs, 2); /* while the other thread is busy */
    full_close(&full);
}

/* A task that submits more than its pool has room for. */
struct nest {
    rota_executor *pool;
    atomic_uint runs;
    pthread_t outer;
    atomic_uint on_the_same;
};

static void *count_thread(void *arg)
{
    struct nest *nest = arg;

    atomic_fetch_add(&nest->on_the_same, pthread_equal(pthread_self(), nest->outer) != 0);
    atomic_fetch_add(&nest->runs, 1);
    return NULL;
}

static void *submit_inside(void *arg)
{
    struct nest *nest = arg;

    nest->outer = pthread_self();
    for (unsigned i = 0; i < 3; i++)
        test_check(rota_execute(nest->pool, count_thread, nest) == ROTA_OK);
    test_check(atomic_load(&nest->runs) == 2); /* one is queued */
    return NULL;
}

/* REJ-11: with hooks and counts, as a worker's task. */
static void a_worker_runs_the_task_itself_instead_of_waiting_for_itself(void **state)
{
    struct heard heard = {.error = 0};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1,
                                                        .queue = test_array(1),
                                                        .on_reject = rota_reject_block,
                                                        .hooks = hear(&heard)});
    struct nest nest = {.pool = pool};

    assert_ok(rota_execute(pool, submit_inside, &nest));
    test_await_completed(pool, 4);
    assert_int_equal(nest.runs, 3);
    assert_int_equal(nest.on_the_same, 3);
    assert_int_equal(heard.before, 4);
    assert_int_equal(heard.after, 4);
    assert_int_equal(test_stats(pool).submitted, 4);
    assert_int_equal(test_stats(pool).rejected, 2);
    assert_ok(rota_close(pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_memory(abort_is_the_default_and_leaves_the_task_alone),
        test_with_memory(with_caller_runs_the_submitter_runs_it_before_the_call_returns),
        test_with_memory(a_failure_in_the_caller_is_told_there_and_the_call_is_ok),
        test_with_memory(a_failure_in_the_caller_is_not_the_callers),
        test_with_memory(who_is_told_of_a_failure_in_the_caller_may_end_it),
        test_with_memory(with_caller_runs_a_pool_that_is_shut_down_discards_it),
        test_with_memory(discard_drops_the_task_and_cancels_its_future),
        test_with_memory(discard_oldest_drops_the_head_of_the_queue_for_it),
        test_with_memory(discard_oldest_drops_the_task_itself_when_the_pool_is_shut_down),
        test_with_memory(discard_oldest_rejects_where_the_queue_has_no_head),
        test_with_memory(discard_oldest_drops_one_for_each),
        test_with_memory(what_the_handler_returns_is_what_the_submitter_gets),
        test_with_memory(a_handler_may_pass_the_task_on),
        test_with_memory(a_handler_may_run_or_drop_the_task),
        test_with_memory(a_handler_may_make_room_and_submit_the_task_again),
        test_with_memory(what_was_drained_may_be_submitted_to_another_pool),
        test_with_memory(a_new_policy_is_for_later_rejections),
        test_with_memory(without_a_pool_or_a_task_no_policy_does_anything),
        test_with_memory(abort_discard_and_caller_runs_do_not_need_a_full_pool),
        test_with_memory(discard_oldest_and_block_give_an_idle_pool_the_task),
        test_with_memory(discard_oldest_drops_the_first_of_a_priority_queue),
        test_with_memory(discard_oldest_drops_nothing_that_is_not_due),
        test_with_memory(where_there_is_no_pool_the_policies_do_what_they_can),
        test_with_memory(a_blocked_submitter_goes_on_when_there_is_room),
        test_with_memory(a_blocked_submitter_goes_on_when_the_worker_does),
        test_with_memory(a_blocked_submitter_goes_on_when_a_thread_may_be_added),
        test_with_memory(a_blocked_submitter_is_rejected_when_the_pool_is_shut_down),
        test_with_memory(an_interrupt_ends_the_wait_of_a_blocked_submitter),
        test_with_memory(a_submitter_that_is_interrupted_before_is_not_blocked),
        test_with_memory(who_is_blocked_with_a_task_in_hand_can_be_interrupted),
        test_with_memory(on_a_hand_off_queue_a_blocked_submitter_waits_for_a_taker),
        test_with_clock(submitters_that_are_refused_a_thread_wait_for_one),
        test_with_memory(a_worker_runs_the_task_itself_instead_of_waiting_for_itself),
    };

    test_memory_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
