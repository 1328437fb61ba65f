/* SPDX-License-Identifier: MIT */
/*
 * EXEC-18: a worker that waits for a task in its own pool's queue runs that one, and no other.
 */
#include "pools.h"
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

enum { CHILDREN = 4 };

/* A task that submits others to its own pool, of one thread, and waits for one of them. */
struct family {
    rota_executor *pool;
    test_journal journal;
    test_note notes[CHILDREN];
    rota_future *children[CHILDREN];
    rota_call calls[CHILDREN];
    void (*wait)(struct family *family); /* in the parent */
    int status;
    void *result;
    unsigned ran_meanwhile; /* children, when the wait was over */
    atomic_uint ended;      /* the parent */
    rota_pool_stats stats;  /* then */
};

static void *parent(void *arg)
{
    struct family *family = arg;

    family->wait(family);
    family->ran_meanwhile = atomic_load(&family->journal.count);
    family->stats = test_stats(family->pool);
    atomic_fetch_add(&family->ended, 1);
    return NULL;
}

static void submit_children(struct family *family)
{
    for (unsigned i = 0; i < CHILDREN; i++)
        test_check(rota_submit_call(family->pool, &family->calls[i], &family->children[i])
                   == ROTA_OK);
}

static void run_family(struct family *family, rota_pool_options options,
                       void (*wait)(struct family *family))
{
    *family = (struct family){.wait = wait, .result = TEST_UNTOUCHED};
    options.core_threads = 1;
    family->pool = test_pool(options);
    test_notes_init(family->notes, CHILDREN, &family->journal);
    for (unsigned i = 0; i < CHILDREN; i++)
        family->calls[i] = (rota_call){.fn = test_note_down, .arg = &family->notes[i]};
    assert_ok(rota_execute(family->pool, parent, family));
    test_await_count(&family->ended, 1);
    assert_ok(rota_close(family->pool));
    for (unsigned i = 0; i < CHILDREN; i++)
        rota_future_unref(family->children[i]);
}

/* -- Ways to wait: EXEC-18 ---------------------------------------------------------------- */

static void get_third(struct family *family)
{
    submit_children(family);
    family->status = rota_future_get(family->children[2], &family->result);
}

static void get_third_in_time(struct family *family)
{
    submit_children(family);
    family->status = rota_future_get_timed(family->children[2], ROTA_HOURS(1), &family->result);
}

static void ran_the_third_alone(const struct family *family)
{
    assert_ok(family->status);
    assert_ptr_equal(family->result, &family->notes[2]);
    assert_int_equal(family->ran_meanwhile, 1);
    test_journal_is(&family->journal, (const unsigned[]){2, 0, 1, 3}, CHILDREN);
    assert_int_equal(family->stats.active, 1);
    assert_int_equal(family->stats.completed, 1); /* "with hooks and counts" */
    assert_int_equal(family->stats.queued, CHILDREN - 1);
    assert_int_equal(family->stats.submitted, CHILDREN + 1);
}

/* FAULT-13 */
TEST(a_worker_that_gets_a_queued_task_runs_that_one_and_no_other)
{
    struct family family;

    run_family(&family, (rota_pool_options){.core_threads = 1}, get_third);
    ran_the_third_alone(&family);
    run_family(&family, (rota_pool_options){.core_threads = 1}, get_third_in_time);
    ran_the_third_alone(&family);
}

static void get_with_no_time(struct family *family)
{
    submit_children(family);
    family->status = rota_future_get_timed(family->children[2], 0, &family->result);
}

TEST(with_a_timeout_of_zero_nothing_is_run)
{
    struct family family;

    run_family(&family, (rota_pool_options){.core_threads = 1}, get_with_no_time);
    assert_status(family.status, ROTA_ETIMEDOUT);
    assert_int_equal(family.ran_meanwhile, 0);
    test_journal_is(&family.journal, (const unsigned[]){0, 1, 2, 3}, CHILDREN);
}

static void invoke_all(struct family *family)
{
    family->status =
        rota_invoke_all(family->pool, family->calls, CHILDREN, ROTA_FOREVER, family->children);
}

TEST(a_worker_that_invokes_all_runs_them_itself)
{
    struct family family;

    run_family(&family, (rota_pool_options){.core_threads = 1}, invoke_all);
    assert_ok(family.status);
    assert_int_equal(family.ran_meanwhile, CHILDREN);
    assert_int_equal(family.stats.completed, CHILDREN);
}

static void invoke_any(struct family *family)
{
    family->status =
        rota_invoke_any(family->pool, family->calls, CHILDREN, ROTA_FOREVER, &family->children[0]);
}

TEST(a_worker_that_invokes_any_runs_one_itself)
{
    struct family family;

    run_family(&family, (rota_pool_options){.core_threads = 1}, invoke_any);
    assert_ok(family.status);
    assert_int_equal(family.ran_meanwhile, 1);
    assert_int_equal(family.journal.count, 1); /* the others were cancelled */
}

/* Another task is before them in the queue, and none of theirs. */
static void take_from_completion(struct family *family, rota_ns timeout)
{
    rota_completion *done;

    test_check(rota_submit_call(family->pool, &family->calls[0], NULL) == ROTA_OK);
    test_check(rota_completion_new(family->pool, &done) == ROTA_OK);
    for (unsigned i = 1; i < CHILDREN; i++)
        test_check(rota_completion_submit(done, &family->calls[i], NULL) == ROTA_OK);
    test_check(rota_completion_poll(done, &family->children[1]) == ROTA_EEMPTY);
    for (unsigned i = 1; i < CHILDREN && family->status == ROTA_OK; i++)
        family->status = timeout == ROTA_FOREVER
                             ? rota_completion_take(done, &family->children[i])
                             : rota_completion_poll_timed(done, timeout, &family->children[i]);
    rota_completion_free(done);
}

static void take_completed(struct family *family)
{
    take_from_completion(family, ROTA_FOREVER);
}

static void poll_completed(struct family *family)
{
    take_from_completion(family, ROTA_HOURS(1));
}

static void poll_completed_with_no_time(struct family *family)
{
    take_from_completion(family, 0);
}

TEST(a_worker_that_takes_from_a_completion_runs_what_is_in_that)
{
    struct family family;

    run_family(&family, (rota_pool_options){.core_threads = 1}, take_completed);
    assert_ok(family.status);
    assert_int_equal(family.ran_meanwhile, CHILDREN - 1);
    test_journal_is(&family.journal, (const unsigned[]){1, 2, 3, 0}, CHILDREN);
    run_family(&family, (rota_pool_options){.core_threads = 1}, poll_completed);
    assert_ok(family.status);
    test_journal_is(&family.journal, (const unsigned[]){1, 2, 3, 0}, CHILDREN);
    run_family(&family, (rota_pool_options){.core_threads = 1}, poll_completed_with_no_time);
    assert_status(family.status, ROTA_ETIMEDOUT);
    assert_int_equal(family.ran_meanwhile, 0);
}

/* -- Later: EXEC-18 ----------------------------------------------------------------------- */

static rota_ns due_at(const void *task, void *ctx)
{
    const rota_ns *time = rota_task_call(task)->arg;

    (void)ctx;
    return time != NULL ? *time : 0;
}

struct later {
    rota_executor *pool;
    rota_ns time, ran_at;
    atomic_uint waiting, ended;
    rota_ns timeout;
    int status;
};

static struct later later; /* the argument of a task is the time at which it is due */

static void *note_time(void *arg)
{
    (void)arg;
    later.ran_at = rota_now();
    return NULL;
}

static void *get_later(void *arg)
{
    rota_future *future;

    later.time = rota_now() + ROTA_SEC(10);
    test_check(rota_submit(later.pool, note_time, &later.time, &future) == ROTA_OK);
    atomic_fetch_add(&later.waiting, 1);
    later.status = rota_future_get_timed(future, later.timeout, NULL);
    rota_future_unref(future);
    atomic_fetch_add(&later.ended, 1);
    return arg;
}

static void wait_in_a_delay_queue(rota_ns timeout)
{
    rota_queue *queue;

    later = (struct later){.timeout = timeout};
    assert_ok(rota_delay_queue(due_at, NULL, &queue));
    later.pool = test_pool((rota_pool_options){.core_threads = 1, .queue = queue});
    assert_ok(rota_execute(later.pool, get_later, NULL));
    test_clock_await_waiting(1);
    test_clock_advance(timeout < ROTA_SEC(10) ? timeout : ROTA_SEC(10));
    test_await_count(&later.ended, 1);
}

TEST_WITH(test_virtual_time, the_only_worker_waits_until_a_task_in_a_delay_queue_is_due)
{
    wait_in_a_delay_queue(ROTA_FOREVER);
    assert_ok(rota_close(later.pool));
    assert_ok(later.status);
    assert_int_equal(later.ran_at, later.time);
}

TEST_WITH(test_virtual_time, a_worker_does_not_run_a_task_in_a_delay_queue_before_it_is_due)
{
    wait_in_a_delay_queue(ROTA_SEC(5));
    test_clock_await_waiting(1); /* the worker, outside of tasks */
    test_clock_advance(ROTA_SEC(5));
    assert_ok(rota_close(later.pool));
    assert_status(later.status, ROTA_ETIMEDOUT);
    assert_int_equal(later.ran_at, later.time);
}

/* -- From another executor: EXEC-18 -------------------------------------------------------- */

struct passed {
    rota_future *future;
    atomic_uint waiting;
    pthread_t outer, inner;
};

static void *note_inner_thread(void *arg)
{
    ((struct passed *)arg)->inner = pthread_self();
    return arg;
}

static void *get_passed(void *arg)
{
    struct passed *self = arg;

    self->outer = pthread_self();
    atomic_fetch_add(&self->waiting, 1);
    test_check(rota_future_get(self->future, NULL) == ROTA_OK);
    return NULL;
}

static rota_ns due_now(const void *task, void *ctx)
{
    (void)task;
    (void)ctx;
    return 0;
}

/* Passes a task on to a pool whose only worker waits for it. */
static void pass_on_to(rota_executor *pool)
{
    struct passed self = {.waiting = 0};
    rota_call call = {.fn = note_inner_thread, .arg = &self};
    rota_future *waiting;
    rota_task *task = test_task(call, &self.future);

    assert_ok(rota_submit(pool, get_passed, &self, &waiting));
    test_await_count(&self.waiting, 1);
    assert_ok(rota_execute_task(pool, task));
    assert_ok(rota_future_get(waiting, NULL));
    assert_true(pthread_equal(self.outer, self.inner));
    rota_future_unref(waiting);
    rota_future_unref(self.future);
    assert_ok(rota_close(pool));
}

TEST(the_only_worker_runs_a_task_that_is_passed_on_while_it_waits)
{
    rota_queue *queue;

    for (int i = 0; i < 100; i++) {
        pass_on_to(test_pool((rota_pool_options){.core_threads = 1}));
        pass_on_to(test_sched((rota_sched_options){.core_threads = 1}));
    }
    assert_ok(rota_delay_queue(due_now, NULL, &queue));
    pass_on_to(test_pool((rota_pool_options){.core_threads = 1, .queue = queue}));
}

static void *return_it(void *arg)
{
    return arg;
}

static void *get_delayed(void *delayed)
{
    rota_future *future;

    test_check(rota_submit(delayed, return_it, delayed, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    return NULL;
}

TEST(the_only_worker_runs_a_task_that_a_delayed_executor_submits_while_it_waits)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_executor *delayed;
    rota_future *waiting;

    assert_ok(rota_delayed(pool, ROTA_MS(2), &delayed));
    assert_ok(rota_submit(pool, get_delayed, delayed, &waiting));
    assert_ok(rota_future_get(waiting, NULL));
    rota_future_unref(waiting);
    assert_ok(rota_close(delayed));
    assert_ok(rota_close(pool));
}

/* -- Depth: EXEC-18 ----------------------------------------------------------------------- */

struct level {
    rota_executor *pool;
    unsigned depth;
};

static void *nest(void *arg)
{
    struct level *level = arg;
    struct level below = {level->pool, level->depth - 1};
    rota_future *future;
    void *result;

    if (level->depth == 0)
        return (void *)(uintptr_t)1;
    test_check(rota_submit(level->pool, nest, &below, &future) == ROTA_OK);
    test_check(rota_future_get(future, &result) == ROTA_OK);
    rota_future_unref(future);
    return (void *)((uintptr_t)result + 1);
}

/* FAULT-13 */
TEST(nested_submits_never_wait_for_themselves)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct level top = {pool, 100};
    rota_future *future;
    void *result;

    assert_ok(rota_submit(pool, nest, &top, &future));
    assert_ok(rota_future_get(future, &result));
    assert_int_equal((uintptr_t)result, 101);
    rota_future_unref(future);
    test_await_completed(pool, 101);
    assert_int_equal(test_stats(pool).largest, 1);
    assert_ok(rota_close(pool));
}

/* -- Not for everybody: EXEC-18 ----------------------------------------------------------- */

static void get_with_some_time(struct family *family)
{
    submit_children(family);
    family->status = rota_future_get_timed(family->children[2], ROTA_US(100), &family->result);
}

/* FAULT-13: with strict_wait a timed get times out. */
TEST(with_strict_wait_a_worker_just_waits)
{
    struct family family;

    run_family(&family, (rota_pool_options){.strict_wait = true}, get_with_some_time);
    assert_status(family.status, ROTA_ETIMEDOUT);
    assert_ptr_equal(family.result, TEST_UNTOUCHED);
    assert_int_equal(family.ran_meanwhile, 0);
    test_journal_is(&family.journal, (const unsigned[]){0, 1, 2, 3}, CHILDREN);
}

struct visitor {
    rota_executor *other;
    pthread_t outer, inner;
};

static void *note_inner(void *arg)
{
    ((struct visitor *)arg)->inner = pthread_self();
    return arg;
}

static void *get_elsewhere(void *arg)
{
    struct visitor *visitor = arg;
    rota_future *future;

    visitor->outer = pthread_self();
    test_check(rota_submit(visitor->other, note_inner, visitor, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    return NULL;
}

TEST(a_worker_does_not_run_the_tasks_of_another_pool)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    struct visitor visitor = {.other = test_pool((rota_pool_options){.core_threads = 1})};

    for (int i = 0; i < 20; i++)
        assert_ok(rota_execute(pool, get_elsewhere, &visitor));
    assert_ok(rota_close(pool));
    assert_ok(rota_close(visitor.other));
    assert_false(pthread_equal(visitor.outer, visitor.inner));
}

/* -- Itself ------------------------------------------------------------------------------- */

struct circle {
    rota_executor *pool;
    rota_future *outer;
    test_latch known; /* what outer is */
    int own, timed, from_inside;
};

static void *get_outer(void *arg)
{
    struct circle *circle = arg;

    circle->from_inside = rota_future_get(circle->outer, NULL);
    return NULL;
}

static void *get_itself(void *arg)
{
    struct circle *circle = arg;
    rota_future *inner;

    test_latch_wait(&circle->known);
    circle->own = rota_future_get(circle->outer, NULL);
    circle->timed = rota_future_get_timed(circle->outer, ROTA_HOURS(1), NULL);
    test_check(rota_submit(circle->pool, get_outer, circle, &inner) == ROTA_OK);
    test_check(rota_future_get(inner, NULL) == ROTA_OK);
    rota_future_unref(inner);
    return NULL;
}

/* FAULT-12 */
TEST(a_task_cannot_wait_for_itself_nor_for_one_it_runs_inside_of)
{
    struct circle circle = {.pool = test_pool((rota_pool_options){.core_threads = 1})};

    test_latch_init(&circle.known, 1);
    assert_ok(rota_submit(circle.pool, get_itself, &circle, &circle.outer));
    test_latch_open(&circle.known);
    assert_ok(rota_future_get(circle.outer, NULL));
    assert_status(circle.own, ROTA_EDEADLOCK);
    assert_status(circle.timed, ROTA_EDEADLOCK);
    assert_status(circle.from_inside, ROTA_EDEADLOCK);
    rota_future_unref(circle.outer);
    assert_ok(rota_close(circle.pool));
}

/* -- Interrupts --------------------------------------------------------------------------- */

/* INT-01: an inner task that the outer one runs while it waits. */
struct flags {
    rota_executor *pool;
    rota_future *outer, *inner;
    test_gate gate; /* the inner one waits there */
    bool outer_saw, inner_saw;
};

static void *inner(void *arg)
{
    struct flags *flags = arg;

    test_wait_at(&flags->gate);
    flags->inner_saw = rota_is_interrupted();
    return NULL;
}

static void *outer(void *arg)
{
    struct flags *flags = arg;

    test_check(rota_submit(flags->pool, inner, flags, &flags->inner) == ROTA_OK);
    rota_future_get(flags->inner, NULL);
    flags->outer_saw = rota_is_interrupted();
    return NULL;
}

static void interrupt_one(struct flags *flags, bool the_inner)
{
    *flags = (struct flags){.pool = test_pool((rota_pool_options){.core_threads = 1})};
    test_gate_init(&flags->gate);
    assert_ok(rota_submit(flags->pool, outer, flags, &flags->outer));
    test_await_count(&flags->gate.begun, 1);
    assert_true(rota_future_cancel_now(the_inner ? flags->inner : flags->outer));
    test_gate_open(&flags->gate);
    assert_ok(rota_close(flags->pool));
    rota_future_unref(flags->inner);
    rota_future_unref(flags->outer);
}

/* INT-01, INT-08 */
TEST(the_waiting_task_and_the_one_it_runs_have_flags_of_their_own)
{
    struct flags flags;

    interrupt_one(&flags, true);
    assert_true(flags.inner_saw);
    assert_false(flags.outer_saw);
    interrupt_one(&flags, false);
    assert_false(flags.inner_saw);
    assert_true(flags.outer_saw);
}

/* -- Due: EXEC-18 ------------------------------------------------------------------------- */

static rota_ns due_in_an_hour(const void *task, void *ctx)
{
    return rota_now() + ROTA_HOURS(1);
}

/* "Never a task that is not due." */
TEST(a_worker_runs_nothing_before_it_is_due)
{
    rota_pool_options options = {.core_threads = 1};
    struct family family;

    assert_ok(rota_delay_queue(due_in_an_hour, NULL, &options.queue));
    family = (struct family){.wait = get_with_some_time};
    family.pool = test_pool(options);
    test_notes_init(family.notes, CHILDREN, &family.journal);
    for (unsigned i = 0; i < CHILDREN; i++)
        family.calls[i] = (rota_call){.fn = test_note_down, .arg = &family.notes[i]};
    assert_ok(rota_execute(family.pool, parent, &family));
    test_await_count(&family.ended, 1);
    assert_ok(rota_shutdown_now(family.pool, NULL));
    assert_ok(rota_close(family.pool));
    for (unsigned i = 0; i < CHILDREN; i++)
        rota_future_unref(family.children[i]);
    assert_status(family.status, ROTA_ETIMEDOUT);
    assert_int_equal(family.journal.count, 0);
}
