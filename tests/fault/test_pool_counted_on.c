/* SPDX-License-Identifier: MIT */
/*
 * POOL-61: others count on a thread as soon as it is being made. If it is refused then, what they have
 * submitted is not lost.
 */
#include "pools.h"

#include <errno.h>

/* A factory that takes its time, and then fails. */
struct factory {
    test_gate gate;
    atomic_uint calls;
    unsigned slow; /* this call; of the others, those after the first `made` fail at once */
    unsigned made;
};

static int fail_late(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *arg,
                     void *ctx)
{
    struct factory *factory = ctx;
    unsigned call = atomic_fetch_add(&factory->calls, 1) + 1;

    if (call <= factory->made)
        return pthread_create(out, attr, start, arg);
    if (call == factory->slow)
        test_wait_at(&factory->gate);
    return EAGAIN;
}

static rota_threads threads_of(struct factory *factory)
{
    test_gate_init(&factory->gate);
    return (rota_threads){.create = fail_late, .ctx = factory};
}

/* One task has a thread made for it, in another thread; the next one counts on that. */
struct submissions {
    struct factory factory;
    rota_executor *pool;
    test_thread *submitter;
    int status;              /* of the first */
    atomic_uint first, next; /* how often they ran */
};

static void submit_first(void *arg)
{
    struct submissions *self = arg;

    self->status = rota_execute(self->pool, test_count, &self->first);
}

static void begin(struct submissions *self)
{
    *self = (struct submissions){.factory = {.slow = 1}};
    self->pool =
        test_pool((rota_pool_options){.core_threads = 1, .threads = threads_of(&self->factory)});
    self->submitter = test_thread_start(submit_first, self);
    test_await_count(&self->factory.gate.begun, 1);
    assert_ok(rota_execute(self->pool, test_count, &self->next));
}

static void refuse(struct submissions *self)
{
    test_gate_open(&self->factory.gate);
    test_thread_join(self->submitter);
}

/* "it runs, or its call is told" */
TEST(a_task_runs_that_counts_on_a_thread_which_is_refused)
{
    struct submissions self;

    begin(&self);
    refuse(&self);
    assert_int_equal(self.next, 1);
    assert_int_equal(self.first, self.status == ROTA_OK);
    assert_true(self.status == ROTA_OK || self.status == ROTA_EAGAIN);
    assert_int_equal(test_stats(self.pool).queued + test_stats(self.pool).threads, 0);
    assert_ok(rota_close(self.pool));
}

/* The same while the pool is shut down, which leaves the task to the thread that is on the way. */
TEST(a_task_runs_that_counts_on_a_thread_which_is_refused_after_shutdown)
{
    struct submissions self;

    begin(&self);
    assert_ok(rota_shutdown(self.pool));
    assert_int_equal(self.next, 0);
    refuse(&self);
    assert_int_equal(self.next, 1);
    assert_status(self.status, ROTA_EREJECTED);
    assert_int_equal(self.first, 0);
    assert_ok(rota_await_termination(self.pool, 0));
    assert_ok(rota_executor_free(self.pool));
}

static bool has_one_thread(void *pool)
{
    return test_stats(pool).threads == 1;
}

static void enlarge(void *pool)
{
    assert_ok(rota_pool_set_core_threads(pool, 2));
}

/* A larger core has a thread made. The one that there was leaves, and counts on it, as does a task. */
TEST(a_task_runs_that_counts_on_a_thread_of_a_larger_core)
{
    struct factory factory = {.slow = 2, .made = 1};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1,
                                                        .max_threads = 2,
                                                        .keep_alive = 1,
                                                        .core_may_time_out = true,
                                                        .threads = threads_of(&factory)});
    atomic_uint runs = 0;
    test_gate busy;

    test_gate_init(&busy);
    assert_ok(rota_execute(pool, test_wait_at, &busy));
    test_await_count(&busy.begun, 1);
    assert_ok(rota_execute(pool, test_count, &runs)); /* for which a thread is made */
    test_thread *thread = test_thread_start(enlarge, pool);
    test_await_count(&factory.gate.begun, 1);
    test_gate_open(&busy);
    test_until(has_one_thread, pool); /* the one that is on the way */
    assert_int_equal(runs, 1);
    assert_ok(rota_execute(pool, test_count, &runs));
    test_gate_open(&factory.gate);
    test_thread_join(thread);
    assert_int_equal(runs, 2);
    assert_ok(rota_close(pool));
}
