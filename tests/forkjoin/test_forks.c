/* SPDX-License-Identifier: MIT */
/*
 * Tasks are forked and joined, in every kind of pool: FJT. test_forks_plain.c is the same without
 * the inline functions.
 */
#include "forkjoin.h"

#include <limits.h>

/* -- Tasks -------------------------------------------------------------------------------- */

/* Fibonacci numbers; with a code the leaves fail. */
struct fib {
    rota_fj task; /* first */
    int n;
    int code;
    long value;
    unsigned runs;
};

static void fib(rota_fj *task);

static struct fib fib_of(int n, int code)
{
    return (struct fib){ROTA_FJ(fib), n, code, 0, 0};
}

static void pass_on(struct fib *f, const struct fib *child, int status)
{
    f->value += child->value;
    if (status != ROTA_OK)
        rota_fj_fail(&f->task, rota_fj_error(&child->task));
}

static void fib(rota_fj *task)
{
    struct fib *f = (struct fib *)task;

    f->runs++;
    f->value = 0;
    if (f->n < 2) {
        f->value = f->n;
        rota_fj_fail(task, f->code);
        return;
    }
    struct fib a = fib_of(f->n - 1, f->code), b = fib_of(f->n - 2, f->code);
    rota_fork(&a.task);
    pass_on(f, &b, rota_join(&b.task));
    pass_on(f, &a, rota_join(&a.task));
}

static void is_right(const struct fib *f, long value)
{
    test_check(f->value == value);
    test_check(f->runs == 1);
    test_check(rota_fj_is_done(&f->task));
    test_check(rota_fj_error(&f->task) == 0);
}

static void has_failed(const struct fib *f, int code)
{
    test_check(f->runs == 1);
    test_check(rota_fj_is_done(&f->task));
    test_check(rota_fj_error(&f->task) == code);
}

static void never_ran(const struct fib *f)
{
    test_check(f->runs == 0);
    test_check(f->value == 0);
}

static size_t queued(void)
{
    return test_fj_stats(rota_fj_pool()).queued;
}

/* -- One task ----------------------------------------------------------------------------- */

/* FJT-01, FJT-05 */
WORKER_TEST(what_is_invoked_runs_and_is_done)
{
    struct fib f = fib_of(8, 0);

    test_check(rota_invoke(rota_fj_pool(), &f.task) == ROTA_OK);
    is_right(&f, 21);
}

/* FJT-02, FJT-03 */
WORKER_TEST(what_is_forked_is_done_when_it_was_joined)
{
    struct fib f = fib_of(8, 0);

    test_check(!rota_fj_is_done(&f.task));
    rota_fork(&f.task);
    test_check(rota_join(&f.task) == ROTA_OK);
    is_right(&f, 21);
}

/* FJT-02 */
LONE_WORKER_TEST(a_fork_does_not_run_the_task)
{
    struct fib f = fib_of(1, 0);

    rota_fork(&f.task);
    never_ran(&f);
    test_check(!rota_fj_is_done(&f.task));
    test_check(queued() == 1);
    test_check(rota_join(&f.task) == ROTA_OK);
    test_check(queued() == 0);
    is_right(&f, 1);
}

/* FJT-25 */
WORKER_TEST(a_join_runs_what_was_never_forked)
{
    struct fib f = fib_of(8, 0), bad = fib_of(3, 5);

    test_check(rota_join(&f.task) == ROTA_OK);
    is_right(&f, 21);
    test_check(rota_join(&bad.task) == ROTA_EFAILED);
    has_failed(&bad, 5);
}

WORKER_TEST(a_second_join_gives_the_same)
{
    struct fib f = fib_of(5, 0), bad = fib_of(5, 9);

    rota_fork(&f.task);
    rota_fork(&bad.task);
    for (int i = 0; i < 3; i++) {
        test_check(rota_join(&bad.task) == ROTA_EFAILED);
        test_check(rota_join(&f.task) == ROTA_OK);
    }
    is_right(&f, 5);
    has_failed(&bad, 9);
}

/* FJT-07, FAULT-09 */
WORKER_TEST(what_is_done_is_not_run_again)
{
    struct fib f = fib_of(5, 0), bad = fib_of(5, 9);

    test_check(rota_join(&f.task) == ROTA_OK);
    test_check(rota_join(&bad.task) == ROTA_EFAILED);
    rota_fork(&f.task);
    rota_fork(&bad.task);
    test_check(!rota_unfork(&bad.task));
    test_check(rota_join(&bad.task) == ROTA_EFAILED);
    test_check(rota_join(&f.task) == ROTA_OK);
    test_check(rota_invoke(rota_fj_pool(), &f.task) == ROTA_OK);
    test_check(rota_invoke(rota_fj_pool(), &bad.task) == ROTA_EFAILED);
    is_right(&f, 5);
    has_failed(&bad, 9);
}

/* FJT-17 */
WORKER_TEST(what_is_forked_is_done_when_the_pool_is_quiet)
{
    struct fib f = fib_of(8, 0);

    rota_fork(&f.task);
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
    is_right(&f, 21);
    test_check(queued() == 0);
    test_check(rota_fj_surplus() <= 0);
    test_check(rota_join(&f.task) == ROTA_OK);
}

/* FJT-12 */
WORKER_TEST(a_task_that_was_reset_runs_again)
{
    struct fib f = fib_of(8, 0);

    for (int i = 0; i < 3; i++) {
        test_check(rota_invoke(rota_fj_pool(), &f.task) == ROTA_OK);
        is_right(&f, 21);
        rota_fj_reset(&f.task);
        test_check(!rota_fj_is_done(&f.task));
        test_check(f.value == 21);
        f.runs = 0;
    }
}

/* FJT-12: of whatever end. */
WORKER_TEST(a_reset_forgets_failure_and_cancellation)
{
    struct fib f = fib_of(1, 7);

    test_check(rota_join(&f.task) == ROTA_EFAILED);
    rota_fj_reset(&f.task);
    test_check(rota_fj_error(&f.task) == 0);
    f.code = 0;
    test_check(rota_fj_cancel(&f.task));
    rota_fj_reset(&f.task);
    test_check(!rota_fj_is_done(&f.task));
    rota_fork(&f.task);
    test_check(rota_join(&f.task) == ROTA_OK);
    test_check(f.runs == 2 && f.value == 1);
}

/* -- Failure ------------------------------------------------------------------------------ */

/* FJT-05, FJT-09 */
WORKER_TEST(a_failure_far_below_comes_out_of_invoke)
{
    struct fib f = fib_of(8, 33);

    test_check(rota_invoke(rota_fj_pool(), &f.task) == ROTA_EFAILED);
    has_failed(&f, 33);
    test_check(!rota_fj_cancel(&f.task));
}

/* FJT-03, FJT-09 */
WORKER_TEST(a_failure_far_below_comes_out_of_join)
{
    struct fib f = fib_of(8, 33);

    rota_fork(&f.task);
    test_check(rota_join(&f.task) == ROTA_EFAILED);
    has_failed(&f, 33);
}

/* FJT-09: kept where nobody joins. */
WORKER_TEST(a_failure_is_kept_for_who_looks)
{
    struct fib f = fib_of(8, 33);

    rota_fork(&f.task);
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
    has_failed(&f, 33);
    test_check(rota_join(&f.task) == ROTA_EFAILED);
}

struct failing {
    rota_fj task; /* first */
    const int *codes;
    int count;
};

static void fail_in_turn(rota_fj *task)
{
    const struct failing *self = (struct failing *)task;

    for (int i = 0; i < self->count; i++)
        rota_fj_fail(task, self->codes[i]);
}

/* FJT-24 */
WORKER_TEST(the_last_failure_counts)
{
    const int codes[] = {3, 0, 4};
    struct failing last = {ROTA_FJ(fail_in_turn), codes, 3};
    struct failing none = {ROTA_FJ(fail_in_turn), codes, 2};

    rota_fork(&last.task);
    rota_fork(&none.task);
    test_check(rota_join(&none.task) == ROTA_OK);
    test_check(rota_fj_error(&none.task) == 0);
    test_check(rota_join(&last.task) == ROTA_EFAILED);
    test_check(rota_fj_error(&last.task) == 4);
}

WORKER_TEST(a_code_may_be_any_number_but_0)
{
    const int codes[] = {1, -1, ROTA_ECANCELED, INT_MAX, INT_MIN};

    for (int i = 0; i < 5; i++) {
        struct failing self = {ROTA_FJ(fail_in_turn), &codes[i], 1};
        rota_fork(&self.task);
        test_check(rota_join(&self.task) == ROTA_EFAILED);
        test_check(rota_fj_error(&self.task) == codes[i]);
    }
}

static void fail_as_others_do(rota_fj *task)
{
    test_check(rota_fail(5) == NULL);
}

/* GEN-17: in a fork/join body rota_fail does nothing to it, whoever runs it. */
WORKER_TEST(it_is_not_failed_by_rota_fail)
{
    rota_fj forked = ROTA_FJ(fail_as_others_do), called = forked, both[2] = {forked, forked};

    rota_fork(&forked);
    test_check(rota_join(&forked) == ROTA_OK);
    test_check(rota_fj_error(&forked) == 0);
    test_check(rota_invoke(rota_fj_pool(), &called) == ROTA_OK);
    test_check(rota_invoke_both(&both[0], &both[1]) == ROTA_OK);
    rota_fail(0); /* it was heard by the task around, if that is one */
}

static void leave_a_failed_child_alone(rota_fj *task)
{
    struct fib child = fib_of(3, 8);

    rota_fork(&child.task);
    test_check(rota_join(&child.task) == ROTA_EFAILED);
}

/* FJT-20 */
WORKER_TEST(who_joins_a_failed_task_has_not_failed)
{
    rota_fj parent = ROTA_FJ(leave_a_failed_child_alone);

    rota_fork(&parent);
    test_check(rota_join(&parent) == ROTA_OK);
}

/* -- Cancellation ------------------------------------------------------------------------- */

static void is_cancelled(struct fib *f)
{
    test_check(rota_fj_is_done(&f->task));
    test_check(rota_fj_error(&f->task) == 0);
    test_check(rota_fj_cancel(&f->task)); /* FJT-08: also when it already was */
}

/* FJT-07 to FJT-09 */
WORKER_TEST(what_was_cancelled_is_not_run_by_invoke)
{
    struct fib f = fib_of(8, 0);

    test_check(rota_fj_cancel(&f.task));
    is_cancelled(&f);
    test_check(rota_invoke(rota_fj_pool(), &f.task) == ROTA_ECANCELED);
    never_ran(&f);
    is_cancelled(&f);
}

/* FJT-07 */
WORKER_TEST(what_was_cancelled_before_its_fork_is_not_run)
{
    struct fib f = fib_of(8, 0);

    test_check(rota_fj_cancel(&f.task));
    rota_fork(&f.task);
    test_check(!rota_unfork(&f.task));
    test_check(rota_join(&f.task) == ROTA_ECANCELED);
    never_ran(&f);
    is_cancelled(&f);
}

/* FJT-08: a thief may have ended it before, or runs it on. */
WORKER_TEST(what_was_cancelled_after_its_fork_ends_so)
{
    for (int i = 0; i < 100; i++) {
        struct fib f = fib_of(3, 0);
        rota_fork(&f.task);
        bool cancelled = rota_fj_cancel(&f.task);
        int status = rota_join(&f.task);
        test_check(status == (cancelled ? ROTA_ECANCELED : ROTA_OK));
        test_check(f.runs <= 1);
        test_check(cancelled || f.value == 2);
        if (cancelled)
            is_cancelled(&f);
    }
}

LONE_WORKER_TEST(what_is_cancelled_in_the_queue_never_runs)
{
    struct fib below = fib_of(3, 0), f = fib_of(3, 0), above = fib_of(3, 0);

    rota_fork(&below.task);
    rota_fork(&f.task);
    rota_fork(&above.task);
    test_check(rota_fj_cancel(&f.task));
    test_check(rota_join(&above.task) == ROTA_OK);
    test_check(rota_join(&f.task) == ROTA_ECANCELED);
    test_check(rota_join(&below.task) == ROTA_OK);
    never_ran(&f);
    is_cancelled(&f);
    is_right(&below, 2);
    is_right(&above, 2);
}

/* It lies on top, where the short way would take it. */
LONE_WORKER_TEST(what_is_cancelled_on_top_of_the_queue_never_runs)
{
    struct fib f = fib_of(3, 0), g = fib_of(3, 0);

    rota_fork(&f.task);
    test_check(rota_fj_cancel(&f.task));
    test_check(!rota_unfork(&f.task));
    test_check(rota_join(&f.task) == ROTA_ECANCELED);
    never_ran(&f);
    rota_fork(&g.task);
    test_check(rota_fj_cancel(&g.task));
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
    never_ran(&g);
    is_cancelled(&g);
}

static void cancel_oneself(rota_fj *task)
{
    struct fib *f = (struct fib *)task;

    f->runs++;
    test_check(rota_fj_cancel(task));
    test_check(!rota_fj_is_done(task)); /* "is not done before it has ended" */
    test_check(rota_fj_cancel(task));
    f->value = 5;
}

WORKER_TEST(what_is_cancelled_while_it_runs_goes_on_and_ends_so)
{
    struct fib forked = fib_of(0, 0), called = fib_of(0, 0);

    forked.task.run = called.task.run = cancel_oneself;
    rota_fork(&forked.task);
    test_check(rota_join(&forked.task) == ROTA_ECANCELED);
    test_check(rota_invoke(rota_fj_pool(), &called.task) == ROTA_ECANCELED);
    test_check(forked.runs == 1 && forked.value == 5);
    test_check(called.runs == 1 && called.value == 5);
    is_cancelled(&forked);
    is_cancelled(&called);
}

static void fail_and_cancel(rota_fj *task)
{
    rota_fj_fail(task, 5);
    test_check(rota_fj_cancel(task));
}

WORKER_TEST(cancelled_goes_before_failed)
{
    rota_fj task = ROTA_FJ(fail_and_cancel);

    rota_fork(&task);
    test_check(rota_join(&task) == ROTA_ECANCELED);
    test_check(rota_fj_error(&task) == 0);
}

/* FJT-08: "0 if it completed otherwise". */
WORKER_TEST(what_is_done_cannot_be_cancelled)
{
    struct fib own = fib_of(2, 0), forked = fib_of(2, 0);

    test_check(rota_join(&own.task) == ROTA_OK);
    rota_fork(&forked.task);
    test_check(rota_join(&forked.task) == ROTA_OK);
    test_check(!rota_fj_cancel(&own.task));
    test_check(!rota_fj_cancel(&forked.task));
    test_check(rota_join(&own.task) == ROTA_OK);
    test_check(rota_join(&forked.task) == ROTA_OK);
}

/* FJT-03, INT-11 */
WORKER_TEST(a_join_is_deaf_to_interrupts)
{
    struct fib f = fib_of(8, 0), cancelled = fib_of(8, 0), bad = fib_of(8, 4);

    rota_thread_interrupt(rota_thread_self());
    test_check(rota_fj_cancel(&cancelled.task));
    rota_fork(&bad.task);
    rota_fork(&cancelled.task);
    rota_fork(&f.task);
    test_check(rota_join(&bad.task) == ROTA_EFAILED);
    test_check(rota_join(&cancelled.task) == ROTA_ECANCELED);
    test_check(rota_join(&f.task) == ROTA_OK);
    is_right(&f, 21);
    has_failed(&bad, 4);
    never_ran(&cancelled);
    test_check(rota_interrupted()); /* it is still there for who asks */
}

/* -- Several ------------------------------------------------------------------------------ */

enum { FEW = 4 };

static void join_in_order(const unsigned *order)
{
    struct fib tasks[FEW];

    for (int i = 0; i < FEW; i++) {
        tasks[i] = fib_of(i + 2, 0);
        rota_fork(&tasks[i].task);
    }
    for (int i = 0; i < FEW; i++)
        test_check(rota_join(&tasks[order[i]].task) == ROTA_OK);
    is_right(&tasks[0], 1);
    is_right(&tasks[1], 2);
    is_right(&tasks[2], 3);
    is_right(&tasks[3], 5);
}

/* FJT-21: all 24. */
WORKER_TEST(children_may_be_joined_in_any_order)
{
    for (unsigned code = 0; code < 256; code++) {
        unsigned order[FEW] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6};
        unsigned seen = 0;
        for (int i = 0; i < FEW; i++)
            seen |= 1u << order[i];
        if (seen == 15)
            join_in_order(order);
    }
}

enum { MANY = 5000 }; /* more than a deque has at first */

static struct fib many[MANY];

static void fork_many(void)
{
    for (int i = 0; i < MANY; i++) {
        many[i] = fib_of(1, i % 7 == 0 ? i + 1 : 0);
        rota_fork(&many[i].task);
    }
}

static void join_nth(int i)
{
    int code = i % 7 == 0 ? i + 1 : 0;

    test_check(rota_join(&many[i].task) == (code != 0 ? ROTA_EFAILED : ROTA_OK));
    test_check(many[i].runs == 1);
    test_check(rota_fj_error(&many[i].task) == code);
}

/* FJ-09: the deque grows. */
WORKER_TEST(many_may_be_joined_newest_first)
{
    fork_many();
    for (int i = MANY; i-- > 0;)
        join_nth(i);
}

WORKER_TEST(many_may_be_joined_oldest_first)
{
    fork_many();
    for (int i = 0; i < MANY; i++)
        join_nth(i);
}

WORKER_TEST(many_may_be_joined_here_and_there)
{
    fork_many();
    for (int i = 0; i < MANY; i++)
        join_nth((int)((long)i * 3001 % MANY));
}

/* FJT-13 */
WORKER_TEST(both_are_done_when_invoke_both_returns)
{
    struct fib a = fib_of(8, 0), b = fib_of(9, 0);

    test_check(rota_invoke_both(&a.task, &b.task) == ROTA_OK);
    is_right(&a, 21);
    is_right(&b, 34);
}

/* FJT-13 */
WORKER_TEST(all_are_done_when_invoke_many_returns)
{
    struct fib a = fib_of(8, 0), b = fib_of(9, 0), c = fib_of(7, 0), one = fib_of(8, 0);
    rota_fj *tasks[] = {&a.task, &b.task, &c.task};
    rota_fj *single[] = {&one.task};

    test_check(rota_invoke_many(tasks, 3) == ROTA_OK);
    is_right(&a, 21);
    is_right(&b, 34);
    is_right(&c, 13);
    test_check(rota_invoke_many(single, 1) == ROTA_OK);
    is_right(&one, 21);
    test_check(rota_invoke_many(single, 0) == ROTA_OK);
    test_check(rota_invoke_many(NULL, 0) == ROTA_OK);
}

/* FJT-13: each task is done, even after a failure. */
WORKER_TEST(invoke_both_tells_of_a_failure)
{
    struct fib good = fib_of(8, 0), bad = fib_of(9, 6);

    test_check(rota_invoke_both(&good.task, &bad.task) == ROTA_EFAILED);
    is_right(&good, 21);
    has_failed(&bad, 6);
    rota_fj_reset(&good.task);
    rota_fj_reset(&bad.task);
    good.runs = bad.runs = 0;
    test_check(rota_invoke_both(&bad.task, &good.task) == ROTA_EFAILED);
    is_right(&good, 21);
    has_failed(&bad, 6);
}

/* FJT-13 */
WORKER_TEST(invoke_many_tells_of_a_failure)
{
    struct fib a = fib_of(8, 0), bad = fib_of(9, 6), c = fib_of(7, 0), one = fib_of(3, 2);
    rota_fj *tasks[] = {&a.task, &bad.task, &c.task};
    rota_fj *single[] = {&one.task};

    test_check(rota_invoke_many(tasks, 3) == ROTA_EFAILED);
    is_right(&a, 21);
    has_failed(&bad, 6);
    is_right(&c, 13);
    test_check(rota_invoke_many(single, 1) == ROTA_EFAILED);
    has_failed(&one, 2);
}

/* FJT-13: "what the first one that did not succeed ended with". */
WORKER_TEST(invoke_many_tells_of_the_first_that_did_not_succeed)
{
    struct fib good = fib_of(5, 0), bad = fib_of(5, 6), cancelled = fib_of(5, 0);
    rota_fj *failed_first[] = {&good.task, &bad.task, &cancelled.task};
    rota_fj *cancelled_first[] = {&good.task, &cancelled.task, &bad.task};

    test_check(rota_fj_cancel(&cancelled.task));
    test_check(rota_invoke_many(failed_first, 3) == ROTA_EFAILED);
    test_check(rota_invoke_many(cancelled_first, 3) == ROTA_ECANCELED); /* all are done */
    test_check(rota_invoke_both(&good.task, &cancelled.task) == ROTA_ECANCELED);
    never_ran(&cancelled);
    has_failed(&bad, 6);
}

/* FJT-13, FAULT-16 */
WORKER_TEST(with_a_null_among_them_none_is_begun)
{
    struct fib a = fib_of(8, 0), b = fib_of(8, 0);
    rota_fj *first[] = {NULL, &a.task, &b.task};
    rota_fj *last[] = {&a.task, &b.task, NULL};

    test_check(rota_invoke_many(first, 3) == ROTA_EINVAL);
    test_check(rota_invoke_many(last, 3) == ROTA_EINVAL);
    test_check(rota_invoke_many(NULL, 3) == ROTA_EINVAL);
    test_check(rota_invoke_both(&a.task, NULL) == ROTA_EINVAL);
    test_check(rota_invoke_both(NULL, &a.task) == ROTA_EINVAL);
    test_check(queued() == 0);
    never_ran(&a);
    never_ran(&b);
    test_check(!rota_fj_is_done(&a.task) && !rota_fj_is_done(&b.task));
}

/* GEN-02, FJT-01 */
WORKER_TEST(a_null_does_no_harm)
{
    rota_fj *volatile none = NULL; /* unknown to the compiler, which would warn */
    rota_fj empty = ROTA_FJ(NULL);

    rota_fork(none);
    test_check(rota_join(none) == ROTA_EINVAL);
    test_check(!rota_unfork(none));
    test_check(rota_invoke(rota_fj_pool(), none) == ROTA_EINVAL);
    test_check(rota_join(&empty) == ROTA_EINVAL);
    rota_fork(&empty);
    test_check(!rota_unfork(&empty) && !rota_fj_is_done(&empty));
    test_check(rota_join(&empty) == ROTA_EINVAL);
    test_check(rota_invoke(rota_fj_pool(), &empty) == ROTA_EINVAL);
    test_check(rota_invoke_both(&empty, &empty) == ROTA_EINVAL);
    test_check(!rota_fj_cancel(none));
    test_check(!rota_fj_is_done(none));
    test_check(rota_fj_error(none) == 0);
    rota_fj_fail(none, 1);
    rota_fj_reset(none);
}

/* -- Unfork ------------------------------------------------------------------------------- */

/* FJT-14 */
LONE_WORKER_TEST(the_newest_can_be_unforked)
{
    struct fib a = fib_of(8, 0), b = fib_of(8, 0);

    rota_fork(&a.task);
    rota_fork(&b.task);
    test_check(rota_unfork(&b.task));
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
    is_right(&a, 21);
    never_ran(&b);
    test_check(!rota_fj_is_done(&b.task));
    test_check(rota_join(&a.task) == ROTA_OK);
}

LONE_WORKER_TEST(only_the_newest_can_be_unforked)
{
    struct fib a = fib_of(8, 0), b = fib_of(8, 0), never = fib_of(8, 0);

    rota_fork(&a.task);
    rota_fork(&b.task);
    test_check(!rota_unfork(&a.task));
    test_check(!rota_unfork(&never.task));
    test_check(rota_unfork(&b.task));
    test_check(!rota_unfork(&b.task));
    test_check(rota_unfork(&a.task));
    test_check(queued() == 0);
    never_ran(&a);
    never_ran(&b);
}

/* "It may be forked again." Somebody else may have it meanwhile. */
WORKER_TEST(what_was_unforked_may_be_forked_again)
{
    for (int i = 0; i < 200; i++) {
        struct fib f = fib_of(4, 0);
        rota_fork(&f.task);
        if (rota_unfork(&f.task)) {
            never_ran(&f);
            test_check(!rota_fj_is_done(&f.task));
            rota_fork(&f.task);
        }
        test_check(rota_join(&f.task) == ROTA_OK);
        is_right(&f, 3);
    }
}

/* Through all the chunks of the deque, up and down. */
WORKER_TEST(many_can_be_unforked)
{
    for (int i = 0; i < MANY; i++) {
        many[i] = fib_of(1, 0);
        rota_fork(&many[i].task);
    }
    for (int i = MANY; i-- > 0;) {
        if (!rota_unfork(&many[i].task))
            test_check(rota_join(&many[i].task) == ROTA_OK);
        else
            never_ran(&many[i]);
    }
    test_check(queued() == 0);
}

/* -- What is left ------------------------------------------------------------------------- */

/* FJT-16 */
LONE_WORKER_TEST(surplus_counts_what_is_queued)
{
    struct fib a = fib_of(7, 0), b = fib_of(8, 0), c = fib_of(9, 0);

    test_check(rota_fj_surplus() == 0);
    rota_fork(&a.task);
    rota_fork(&b.task);
    rota_fork(&c.task);
    test_check(rota_fj_surplus() == 3);
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
    test_check(rota_fj_surplus() == 0);
    is_right(&a, 13);
    is_right(&b, 21);
    is_right(&c, 34);
}

/* FJ-32 */
WORKER_TEST(a_task_knows_its_pool_and_worker)
{
    rota_forkjoin_stats stats;

    test_check(rota_forkjoin_stats_get(rota_fj_pool(), &stats) == ROTA_OK);
    test_check(rota_fj_worker() >= 0);
    test_check(stats.active >= 1 && stats.running >= 1);
}
