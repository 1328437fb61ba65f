/* SPDX-License-Identifier: MIT */
/*
 * EXEC-18: a worker of a scheduled pool that waits for a task in its own queue runs it once it is
 * due, and not before.
 */
#include "pools.h"
#include "rota_test_internal.h"

TEST_FIXTURE(.setup = test_clock_before, .teardown = test_clock_after);

/* A task that schedules another in its own pool, of so many threads, and waits for that. */
struct family {
    rota_executor *sched;
    rota_ns delay, period, timeout;
    test_probe child;
    pthread_t parent_thread, child_thread;
    rota_thread *parent; /* written before `waiting` */
    rota_future *future;
    int status;
    void *result;
    unsigned runs;         /* of the child, when the wait was over */
    rota_pool_stats stats; /* then */
    atomic_uint waiting, ended;
};

static void note_thread(void *arg)
{
    ((struct family *)arg)->child_thread = pthread_self();
}

static void *parent(void *arg)
{
    struct family *self = arg;
    rota_call call = test_probe_call(&self->child);

    self->parent_thread = pthread_self();
    self->parent = rota_thread_self();
    test_check(rota_schedule_call(self->sched, &call, self->delay, self->period, &self->future)
               == ROTA_OK);
    atomic_fetch_add(&self->waiting, 1);
    self->status = rota_future_get_timed(self->future, self->timeout, &self->result);
    self->runs = atomic_load(&self->child.runs);
    self->stats = test_stats(self->sched);
    atomic_fetch_add(&self->ended, 1);
    return NULL;
}

static void begin(struct family *self, unsigned threads, bool strict)
{
    self->child = (test_probe){.during = note_thread, .arg = self};
    self->result = TEST_UNTOUCHED;
    self->sched = test_sched((rota_sched_options){.core_threads = threads, .strict_wait = strict});
    assert_ok(rota_execute(self->sched, parent, self));
    test_await_count(&self->waiting, 1);
}

static void end(struct family *self)
{
    test_await_count(&self->ended, 1);
    test_stop(self->sched);
    rota_future_unref(self->future);
}

/* EXEC-18 */
TEST(a_worker_that_waits_for_a_task_that_is_due_runs_it)
{
    for (int threads = 0; threads < 2; threads++) {
        struct family self = {.timeout = ROTA_FOREVER};

        begin(&self, (unsigned)threads, false);
        end(&self);
        assert_ok(self.status);
        assert_ptr_equal(self.result, &self.child);
        assert_true(pthread_equal(self.parent_thread, self.child_thread));
        assert_int_equal(self.child.runs, 1);
        assert_int_equal(self.stats.completed, 1);
        assert_int_equal(self.stats.submitted, 2);
        assert_int_equal(self.stats.active, 1);
    }
}

/* EXEC-18: "nothing is run before it is due". */
TEST(a_worker_that_waits_for_a_task_that_is_not_due_does_not_run_it)
{
    struct family self = {.delay = ROTA_SEC(10), .timeout = ROTA_SEC(5)};

    begin(&self, 1, false);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(5));
    end(&self);
    assert_status(self.status, ROTA_ETIMEDOUT);
    assert_ptr_equal(self.result, TEST_UNTOUCHED);
    assert_int_equal(self.runs, 0);
    assert_int_equal(self.stats.queued, 1);
    assert_int_equal(self.child.discards, 1);
}

/* When its time comes, by itself or by another: also if there is no other. */
TEST(a_worker_that_waits_is_answered_when_the_time_has_come)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct family self = {.delay = ROTA_SEC(10), .timeout = ROTA_FOREVER};

        begin(&self, threads, false);
        test_clock_await_waiting(threads); /* the parent, and a worker that has nothing to do */
        test_clock_advance(ROTA_SEC(10));
        end(&self);
        assert_ok(self.status);
        assert_int_equal(self.runs, 1);
        if (threads == 1)
            assert_true(pthread_equal(self.parent_thread, self.child_thread));
    }
}

/* A run of a periodic task is no answer: it goes on as a periodic task does, and the wait, too. */
TEST(a_worker_that_waits_for_a_periodic_task_does_not_end_it)
{
    struct family self = {.period = ROTA_SEC(1), .timeout = ROTA_SEC(100)};

    begin(&self, 1, false);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(100));
    test_await_count(&self.ended, 1);
    assert_status(self.status, ROTA_ETIMEDOUT);
    assert_int_equal(self.runs, 2); /* at the beginning, and when it looked again */
    assert_false(rota_future_is_done(self.future));
    test_await_count(&self.child.runs, 101); /* as many as are due by now */
    end(&self);
    assert_int_equal(self.child.discards, 1);
}

/* -- Periodic tasks that the only worker waits for ------------------------------------------ */

struct repeated {
    rota_executor *sched;
    rota_ns period;
    unsigned last; /* the run that fails */
    test_gate *gate;
    atomic_uint runs, ended;
    rota_thread *parent; /* written before the first run */
    int status;
};

static void *repeat(void *arg)
{
    struct repeated *self = arg;

    if (self->gate != NULL)
        test_wait_at(self->gate);
    return atomic_fetch_add(&self->runs, 1) + 1 == self->last ? rota_fail(1) : NULL;
}

static void *wait_for_repeated(void *arg)
{
    struct repeated *self = arg;
    rota_future *future;

    self->parent = rota_thread_self();
    test_check(rota_schedule_at_fixed_rate(self->sched, repeat, self, 0, self->period, &future)
               == ROTA_OK);
    self->status = rota_future_get(future, NULL);
    rota_future_cancel(future);
    rota_future_unref(future);
    atomic_fetch_add(&self->ended, 1);
    return NULL;
}

/* EXEC-18: those that are due already, and those that come due while it waits. */
TEST(the_only_worker_runs_each_run_of_a_periodic_task_that_it_waits_for)
{
    struct repeated self = {.period = ROTA_SEC(1), .last = 5};

    self.sched = test_sched((rota_sched_options){.core_threads = 1});
    assert_ok(rota_execute(self.sched, wait_for_repeated, &self));
    test_await_count(&self.runs, 1);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(2)); /* the second and the third run are due */
    test_await_count(&self.runs, 3);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(2));
    test_await_count(&self.ended, 1);
    assert_ok(rota_close(self.sched));
    assert_status(self.status, ROTA_EFAILED);
    assert_int_equal(self.runs, 5);
}

/* INT-04: also if there is always something to help with. */
TEST(a_worker_that_helps_is_interrupted_between_two_runs)
{
    struct repeated self = {.period = 1};
    test_gate gate;

    test_gate_init(&gate);
    self.gate = &gate;
    self.sched = test_sched((rota_sched_options){.core_threads = 1});
    assert_ok(rota_execute(self.sched, wait_for_repeated, &self));
    test_await_count(&gate.begun, 1);
    test_clock_advance(ROTA_SEC(1)); /* it is due again, however often it runs */
    rota_thread_interrupt(self.parent);
    test_gate_open(&gate);
    test_await_count(&self.ended, 1);
    assert_ok(rota_close(self.sched));
    assert_status(self.status, ROTA_EINTERRUPTED);
    assert_int_equal(self.runs, 1);
}

TEST(with_strict_wait_a_worker_runs_nothing)
{
    struct family self = {.timeout = ROTA_SEC(5)};

    begin(&self, 1, true);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(5));
    test_await_count(&self.ended, 1);
    assert_status(self.status, ROTA_ETIMEDOUT);
    assert_int_equal(self.runs, 0);
    test_await_count(&self.child.runs, 1);
    end(&self);
}

/* -- The policies, while it helps ----------------------------------------------------------- */

struct late {
    rota_executor *sched;
    rota_future *future;
    atomic_uint runs, ended;
    test_gate gate;
    int status;
};

static void *get_after_gate(void *arg)
{
    struct late *late = arg;

    test_wait_at(&late->gate);
    late->status = rota_future_get(late->future, NULL);
    atomic_fetch_add(&late->ended, 1);
    return NULL;
}

/* SCHED-21: what may not run any more is not run by who waits, either. */
TEST(a_worker_does_not_help_with_what_the_policies_forbid)
{
    struct late late = {.status = 77};

    late.sched = test_sched((rota_sched_options){.core_threads = 1});
    test_gate_init(&late.gate);
    assert_ok(rota_execute(late.sched, get_after_gate, &late));
    test_await_count(&late.gate.begun, 1);
    assert_ok(rota_schedule_at_fixed_rate(late.sched, test_count, &late.runs, 0, 1, &late.future));
    assert_ok(rota_shutdown(late.sched));
    test_gate_open(&late.gate);
    test_await_count(&late.ended, 1);
    assert_ok(rota_close(late.sched));
    assert_status(late.status, ROTA_ECANCELED);
    assert_int_equal(late.runs, 0);
    rota_future_unref(late.future);
}
