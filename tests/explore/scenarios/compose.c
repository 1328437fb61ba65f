/* SPDX-License-Identifier: MIT */
/*
 * compose.c - futures made of futures: sources that end meet those who register, cancel and let go.
 */
#include "compose/compose_internal.h"
#include "explore.h"

static int payload; /* plain: who sees the end sees it in order, or a data race is found */
static int ran, freed;
static rota_future *sources[3];

static rota_future *new_promise(void)
{
    rota_future *promise = NULL;

    ex_check(rota_promise_new(&promise) == ROTA_OK);
    return promise;
}

static void begin(int count)
{
    payload = ran = freed = 0;
    rota__store_relaxed(&rota__the_timer, NULL); /* one that a run before this has left */
    for (int i = 0; i < 3; i++)
        sources[i] = i < count ? new_promise() : NULL;
}

static void end(void)
{
    for (int i = 0; i < 3; i++)
        rota_future_unref(sources[i]);
}

static rota_future *copy_of(rota_future *future)
{
    rota_future *copy = NULL;

    ex_check(rota_copy(future, &copy) == ROTA_OK);
    return copy;
}

static void complete(void *future)
{
    payload = 42;
    ex_check(rota_promise_complete(future, &payload));
}

static void complete_other(void *future) /* with nothing that two would write */
{
    ex_check(rota_promise_complete(future, &freed));
}

static void cancel(void *future)
{
    ex_check(rota_future_cancel(future) || rota_future_is_done(future));
}

static void let_go(void *future)
{
    rota_future_unref(future);
}

static void *add_one(void *value, void *arg)
{
    (void)arg;
    ran++;
    *(int *)value += 1;
    return value;
}

static void *count_run(void *value, void *arg)
{
    (void)arg;
    ran++;
    return value;
}

static void *count_both(void *first, void *second, void *arg)
{
    (void)second;
    (void)arg;
    ran++;
    return first;
}

static void count_done(rota_future *future, void *arg)
{
    (void)arg;
    ex_check(rota_future_is_done(future));
    ran++;
}

static void count_free(void *value)
{
    (void)value;
    freed++;
}

/* Ends as it did, and lets go: ROTA_OK if the step ran, else it was cancelled. */
static void check_end(rota_future *future)
{
    int status = rota_future_get_timed(future, 0, NULL);

    ex_check(status == ROTA_OK || status == ROTA_ECANCELED);
    ex_check(status != ROTA_OK || ran == 1);
    rota_future_unref(future);
}

/* -- One source ------------------------------------------------------------------------------ */

/* COMP-07, COMP-08: it is registered before the end, or after it: the step runs once. */
EXPLORE(a_step_is_registered_while_its_source_ends)
{
    rota_future *then = NULL;
    void *value = NULL;

    begin(1);
    ex_thread *completer = ex_start(complete, sources[0]);
    ex_check(rota_then(sources[0], NULL, add_one, NULL, &then) == ROTA_OK);
    ex_check(rota_future_get(then, &value) == ROTA_OK);
    ex_check(value == &payload && payload == 43 && ran == 1);
    ex_join(completer);
    rota_future_unref(then);
    end();
}

/* COMP-18, COMP-26: the step ran and it has its value, or it was withdrawn. */
EXPLORE(a_step_is_cancelled_while_its_source_ends)
{
    rota_future *then = NULL;

    begin(1);
    ex_check(rota_then(sources[0], NULL, add_one, NULL, &then) == ROTA_OK);
    ex_thread *completer = ex_start(complete, sources[0]);
    cancel(then);
    ex_check(rota_future_is_done(then));
    ex_join(completer);
    check_end(then);
    end();
}

/* compose.X2: of three steps one is cancelled, and one registered, while the source ends. */
EXPLORE(steps_come_and_go_while_their_source_ends)
{
    rota_future *first = NULL;
    rota_future *second = NULL;

    begin(1);
    ex_check(rota_when_done(sources[0], NULL, count_done, NULL, NULL) == ROTA_OK);
    ex_check(rota_copy(sources[0], &first) == ROTA_OK);
    ex_thread *completer = ex_start(complete, sources[0]);
    cancel(first);
    ex_check(rota_copy(sources[0], &second) == ROTA_OK);
    ex_join(completer);
    ex_check(rota_future_dependents(sources[0]) == 0);
    ex_check(rota_future_get_now(second, NULL) == &payload && ran == 1);
    rota_future_unref(first);
    rota_future_unref(second);
    end();
}

/* COMP-27, OWN-20: all are let go of while the source ends: the step runs, or it is cancelled. */
EXPLORE(all_is_let_go_of_while_the_source_ends)
{
    rota_future *then = NULL;

    begin(1);
    ex_check(rota_future_own_result(sources[0], count_free) == ROTA_OK);
    ex_check(rota_then(sources[0], NULL, count_run, NULL, &then) == ROTA_OK);
    ex_thread *completer = ex_start(complete, sources[0]);
    rota_future_unref(then);
    ex_join(completer);
    ex_check(ran == 1 && freed == 0);
    end();
    ex_check(freed == 1);
}

static void complete_and_let_go(void *future)
{
    rota_promise_complete(future, &payload);
    rota_future_unref(future);
}

/* OWN-20, future.F5: who completes it and who lets go of it meet; the value is freed after the last. */
EXPLORE(a_value_is_freed_once_its_last_future_goes)
{
    rota_future *promise = new_promise();
    rota_future *then = NULL;

    begin(0);
    ex_check(rota_future_own_result(promise, count_free) == ROTA_OK);
    ex_check(rota_then(promise, NULL, count_run, NULL, &then) == ROTA_OK);
    ex_thread *completer = ex_start(complete_and_let_go, rota_future_ref(promise));
    rota_future_unref(promise);
    ex_check(rota_future_get(then, NULL) == ROTA_OK && freed == 0);
    rota_future_unref(then);
    ex_join(completer);
    ex_check(ran == 1 && freed == 1);
}

static void complete_by_hand(void *future)
{
    rota_promise_complete(future, &freed);
}

/* COMP-18: completed by hand, or by its step; and what follows has the same value. */
EXPLORE(a_step_is_completed_by_hand_while_its_source_ends)
{
    rota_future *then = NULL;
    rota_future *copy = NULL;
    void *value = NULL;

    begin(1);
    ex_check(rota_then(sources[0], NULL, count_run, NULL, &then) == ROTA_OK);
    ex_check(rota_copy(then, &copy) == ROTA_OK);
    ex_thread *completer = ex_start(complete, sources[0]);
    complete_by_hand(then);
    ex_check(rota_future_get(then, &value) == ROTA_OK);
    ex_join(completer);
    ex_check(value == (void *)&freed || (value == &payload && ran == 1));
    ex_check(rota_future_get_now(copy, NULL) == value);
    rota_future_unref(copy);
    rota_future_unref(then);
    end();
}

/* -- Several --------------------------------------------------------------------------------- */

/* COMP-10 */
EXPLORE(both_sources_end_at_once)
{
    rota_future *both = NULL;

    begin(2);
    ex_check(rota_both(sources[0], sources[1], NULL, count_both, NULL, &both) == ROTA_OK);
    ex_thread *first = ex_start(complete, sources[0]);
    complete_other(sources[1]);
    ex_check(rota_future_get(both, NULL) == ROTA_OK && ran == 1);
    ex_join(first);
    rota_future_unref(both);
    end();
}

/* COMP-10, COMP-26 */
EXPLORE(both_is_cancelled_while_its_sources_end)
{
    rota_future *both = NULL;

    begin(2);
    ex_check(rota_both(sources[0], sources[1], NULL, count_both, NULL, &both) == ROTA_OK);
    ex_thread *first = ex_start(complete, sources[0]);
    ex_thread *second = ex_start(complete_other, sources[1]);
    cancel(both);
    ex_join(first);
    ex_join(second);
    check_end(both);
    end();
}

/* COMP-16: it is registered while one of its sources ends, and another has ended. */
EXPLORE(all_of_is_registered_while_a_source_ends)
{
    rota_future *all = NULL;

    begin(3);
    complete_other(sources[1]);
    ex_thread *completer = ex_start(complete, sources[0]);
    ex_check(rota_all_of(sources, 3, &all) == ROTA_OK);
    ex_check(!rota_future_is_done(all));
    complete_other(sources[2]);
    ex_check(rota_future_get(all, NULL) == ROTA_OK && payload == 42);
    ex_join(completer);
    rota_future_unref(all);
    end();
}

/* COMP-17: one of two that end at once; the other is left. */
EXPLORE(any_of_two_that_end_at_once)
{
    rota_future *any = NULL;
    void *value = NULL;

    begin(3);
    ex_check(rota_any_of(sources, 3, &any) == ROTA_OK);
    ex_thread *first = ex_start(complete, sources[0]);
    complete_other(sources[1]);
    ex_check(rota_future_get(any, &value) == ROTA_OK);
    ex_check(value == &payload || value == (void *)&freed);
    ex_join(first);
    ex_check(rota_future_dependents(sources[2]) == 0);
    rota_future_unref(any);
    end();
}

/* COMP-17, COMP-26: it is registered while a source ends, and cancelled at once. */
EXPLORE(any_of_is_registered_and_cancelled_while_a_source_ends)
{
    rota_future *any = NULL;

    begin(2);
    rota_future *beside = copy_of(sources[1]);
    ex_thread *first = ex_start(complete, sources[0]);
    ex_check(rota_any_of(sources, 2, &any) == ROTA_OK);
    cancel(any);
    ex_join(first);
    ex_check(rota_future_dependents(sources[1]) == 1);
    rota_future_unref(any);
    rota_future_unref(beside);
    end();
}

/* COMP-11: two sources end while it is registered; it runs once. */
EXPLORE(either_is_registered_while_both_end)
{
    rota_future *either = NULL;

    begin(2);
    ex_thread *first = ex_start(complete, sources[0]);
    ex_thread *second = ex_start(complete_other, sources[1]);
    ex_check(rota_either(sources[0], sources[1], NULL, count_run, NULL, &either) == ROTA_OK);
    ex_check(rota_future_get(either, NULL) == ROTA_OK && ran == 1);
    ex_join(first);
    ex_join(second);
    rota_future_unref(either);
    end();
}

/* COMP-17, COMP-26: two end at once while a third cancels it. */
EXPLORE(any_of_is_cancelled_while_two_end)
{
    rota_future *any = NULL;

    begin(2);
    ex_check(rota_any_of(sources, 2, &any) == ROTA_OK);
    ex_thread *first = ex_start(complete, sources[0]);
    ex_thread *second = ex_start(complete_other, sources[1]);
    cancel(any);
    ex_check(rota_future_is_done(any));
    ex_join(first);
    ex_join(second);
    rota_future_unref(any);
    end();
}

/* -- A chain --------------------------------------------------------------------------------- */

static rota_future *give(void *value, void *arg)
{
    (void)value;
    ran++;
    return rota_future_ref(arg);
}

/* COMP-12: the inner one ends while the step returns. */
EXPLORE(the_inner_future_ends_while_the_step_returns)
{
    rota_future *chain = NULL;
    void *value = NULL;

    begin(2);
    ex_check(rota_chain(sources[0], NULL, give, sources[1], &chain) == ROTA_OK);
    ex_thread *inner = ex_start(complete, sources[1]);
    complete_other(sources[0]);
    ex_check(rota_future_get(chain, &value) == ROTA_OK && value == &payload && ran == 1);
    ex_join(inner);
    rota_future_unref(chain);
    end();
}

/* COMP-12, COMP-26: it is cancelled while the step returns, and withdraws from the inner one. */
EXPLORE(a_chain_is_cancelled_while_its_step_returns)
{
    rota_future *chain = NULL;

    begin(2);
    ex_check(rota_chain(sources[0], NULL, give, sources[1], &chain) == ROTA_OK);
    rota_future *beside = copy_of(sources[1]);
    ex_thread *outer = ex_start(complete, sources[0]);
    cancel(chain);
    ex_join(outer);
    ex_check(rota_future_state_of(chain) == ROTA_FUTURE_CANCELED);
    ex_check(rota_future_dependents(sources[1]) == 1);
    rota_future_unref(chain);
    rota_future_unref(beside);
    end();
}

/* COMP-12: and the inner one ends, too. */
EXPLORE(a_chain_is_cancelled_while_its_inner_future_ends)
{
    rota_future *chain = NULL;

    begin(2);
    ex_check(rota_chain(sources[0], NULL, give, sources[1], &chain) == ROTA_OK);
    ex_thread *inner = ex_start(complete, sources[1]);
    ex_thread *outer = ex_start(complete_other, sources[0]);
    cancel(chain);
    ex_join(outer);
    ex_join(inner);
    check_end(chain);
    end();
}

/* OWN-20: who holds the inner one lets go of it while the step returns. */
EXPLORE(the_inner_future_is_let_go_of_while_the_step_returns)
{
    rota_future *chain = NULL;

    begin(2);
    ex_check(rota_chain(sources[0], NULL, give, sources[1], &chain) == ROTA_OK);
    ex_thread *outer = ex_start(complete, rota_future_ref(sources[0]));
    ex_join(outer); /* the step has a reference no more: it waits */
    ex_thread *holder = ex_start(let_go, sources[1]);
    ex_check(rota_future_get(chain, NULL) == ROTA_ECANCELED);
    ex_join(holder);
    sources[1] = NULL;
    rota_future_unref(sources[0]);
    rota_future_unref(chain);
    end();
}

/* -- Owning ---------------------------------------------------------------------------------- */

/* The end of what owns its source cancels that, unless it ends by itself. */
EXPLORE(an_owner_is_cancelled_while_its_source_ends)
{
    rota_future *then = NULL;
    rota_future *last = NULL;

    begin(1);
    ex_check(rota_copy(sources[0], &then) == ROTA_OK && rota_future_own(then) == ROTA_OK);
    ex_check(rota_copy(then, &last) == ROTA_OK && rota_future_own(last) == ROTA_OK);
    ex_thread *completer = ex_start(complete_by_hand, sources[0]);
    cancel(last);
    ex_check(rota_future_is_done(last));
    ex_join(completer);
    ex_check(rota_future_is_done(sources[0]) && rota_future_is_done(then));
    rota_future_unref(then);
    rota_future_unref(last);
    end();
}

/* -- Time ------------------------------------------------------------------------------------ */

#define SOON ROTA_MS(5)

/* COMP-19: its source's end, or the time; and no timer is left. */
EXPLORE(a_timeout_meets_the_end_of_its_source)
{
    rota_future *in_time = NULL;

    begin(1);
    ex_check(rota_timeout(sources[0], SOON, &in_time) == ROTA_OK);
    ex_thread *completer = ex_start(complete, sources[0]);
    int status = rota_future_get(in_time, NULL);
    ex_join(completer);
    ex_check(status == ROTA_OK || rota_future_error(in_time) == ROTA_ETIMEDOUT);
    ex_check(rota_future_dependents(sources[0]) == 0);
    rota_future_unref(in_time);
    end();
    rota__timer_end(ROTA_FOREVER);
}

/* COMP-19, COMP-26: it is cancelled while its time comes. */
EXPLORE(a_timeout_is_cancelled_while_its_time_comes)
{
    rota_future *in_time = NULL;

    begin(1);
    ex_check(rota_timeout_value(sources[0], SOON, &payload, &in_time) == ROTA_OK);
    cancel(in_time);
    ex_check(rota_future_is_done(in_time));
    rota__timer_end(ROTA_FOREVER);
    ex_check(rota_future_dependents(sources[0]) == 0);
    rota_future_unref(in_time);
    end();
}

/* -- In a pool ------------------------------------------------------------------------------- */

/* exec.E4: who has the step's value may close its pool, though who ended the source has not left it. */
EXPLORE(a_pool_is_closed_after_the_step_that_another_thread_gave_it)
{
    rota_executor *pool = NULL;
    rota_future *then = NULL;
    unsigned started;

    begin(1);
    ex_check(rota_pool_new(&(rota_pool_options){.core_threads = 1}, &pool) == ROTA_OK);
    ex_check(rota_pool_prestart(pool, &started) == ROTA_OK); /* so that the task is queued */
    ex_check(rota_then(sources[0], pool, add_one, NULL, &then) == ROTA_OK);
    ex_thread *completer = ex_start(complete, sources[0]);
    ex_check(rota_future_get(then, NULL) == ROTA_OK);
    rota_future_unref(then);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_join(completer);
    end();
}

/* -- Again ----------------------------------------------------------------------------------- */

static rota_executor *direct;

static int run_here(void *self, rota_task *task)
{
    (void)self;
    rota_task_run(task);
    return ROTA_OK;
}

static void *fail_once(void *arg)
{
    (void)arg;
    return ran++ == 0 ? rota_fail(7) : &payload;
}

static void count_discard(void *arg)
{
    (void)arg;
    freed++;
}

/* again.Y1, again.Y2: cancelled while the next attempt comes; it has its value, or there is no
   other. */
EXPLORE(a_retry_is_cancelled_while_its_next_attempt_comes)
{
    const rota_executor_ops ops = {.execute = run_here};
    const rota_call call = {.fn = fail_once, .discard = count_discard};
    const rota_retry_options options = {.attempts = 2};
    rota_future *retried = NULL;

    begin(0);
    ex_check(rota_executor_new(&ops, NULL, &direct) == ROTA_OK);
    ex_check(rota_retry(direct, &call, &options, &retried) == ROTA_OK);
    bool is_cancelled = rota_future_cancel(retried);
    ex_check(rota_future_is_done(retried));
    rota__timer_end(ROTA_FOREVER);
    ex_check(is_cancelled || (rota_future_get_now(retried, NULL) == &payload && ran == 2));
    ex_check(freed == 0 && ran >= 1);
    rota_future_unref(retried);
    ex_check(rota_close(direct) == ROTA_OK);
}

/* timer.M2: a task is cancelled while its time comes: it runs, or is dropped, once; and nobody
   waits for it. */
EXPLORE(a_delayed_task_is_cancelled_while_its_time_comes)
{
    const rota_executor_ops ops = {.execute = run_here};
    const rota_call call = {.fn = fail_once, .discard = count_discard};
    rota_executor *delayed = NULL;
    rota_future *future = NULL;

    begin(0);
    ex_check(rota_executor_new(&ops, NULL, &direct) == ROTA_OK);
    ex_check(rota_delayed(direct, SOON, &delayed) == ROTA_OK);
    ex_check(rota_submit_call(delayed, &call, &future) == ROTA_OK);
    bool is_cancelled = rota_future_cancel(future);
    rota_future_unref(future);
    ex_check(rota_close(delayed) == ROTA_OK);
    ex_check(rota_close(direct) == ROTA_OK);
    rota__timer_end(ROTA_FOREVER);
    ex_check(ran + freed == 1 && (is_cancelled || ran == 1));
}

/* timer.M2: a step is cancelled as it is given to one, before or after it has a timer. */
EXPLORE(a_delayed_step_is_cancelled_as_it_is_sent)
{
    const rota_executor_ops ops = {.execute = run_here};
    rota_executor *delayed = NULL;
    rota_future *then = NULL;

    begin(1);
    ex_check(rota_executor_new(&ops, NULL, &direct) == ROTA_OK);
    ex_check(rota_delayed(direct, SOON, &delayed) == ROTA_OK);
    ex_check(rota_then(sources[0], delayed, count_run, NULL, &then) == ROTA_OK);
    ex_thread *canceller = ex_start(cancel, then);
    complete(sources[0]);
    ex_join(canceller);
    ex_check(rota_close(delayed) == ROTA_OK);
    ex_check(rota_close(direct) == ROTA_OK);
    rota__timer_end(ROTA_FOREVER);
    check_end(then);
    end();
}

/* again.Y3: who has cancelled it may close its executor, though the next attempt was about to come. */
EXPLORE(an_executor_is_closed_after_a_retry_was_cancelled)
{
    const rota_executor_ops ops = {.execute = run_here};
    const rota_call call = {.fn = fail_once};
    const rota_retry_options options = {.attempts = 2};
    rota_future *retried = NULL;

    begin(0);
    ex_check(rota_executor_new(&ops, NULL, &direct) == ROTA_OK);
    ex_check(rota_retry(direct, &call, &options, &retried) == ROTA_OK);
    rota_future_cancel(retried);
    ex_check(rota_future_is_done(retried));
    rota_future_unref(retried);
    ex_check(rota_close(direct) == ROTA_OK);
    rota__timer_end(ROTA_FOREVER);
}

static rota__atomic(uint32_t) tries;

static void *count_try(void *arg)
{
    rota__add_relaxed(&tries, 1);
    return arg;
}

/* again.Y3: who has its value may close its pool, though the second attempt was about to come. */
EXPLORE(a_pool_is_closed_after_a_hedge_has_its_value)
{
    const rota_call call = {.fn = count_try};
    rota_executor *pool = NULL;
    rota_future *hedged = NULL;

    begin(0);
    rota__store_relaxed(&tries, 0);
    ex_check(rota_pool_new(&(rota_pool_options){.core_threads = 1}, &pool) == ROTA_OK);
    ex_check(rota_hedge(pool, &call, SOON, &hedged) == ROTA_OK);
    ex_check(rota_future_get(hedged, NULL) == ROTA_OK);
    rota_future_unref(hedged);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(rota__load_relaxed(&tries) >= 1);
    rota__timer_end(ROTA_FOREVER);
}
