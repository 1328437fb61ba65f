/* SPDX-License-Identifier: MIT */
/*
 * Many tasks at once that end in every way, are stopped while others wait for them, or are taken away
 * from a lock that they want.
 */
#include "pools.h"

/* -- Hooks and bodies --------------------------------------------------------------------- */

typedef enum ending { RETURNS, FAILS, TAKES_IT_BACK, EXITS, IS_CANCELLED, ENDINGS } ending;

enum { HOOK_ENDINGS = EXITS, TASKS = HOOK_ENDINGS * ENDINGS, WORKERS = 10, CODE = 7 };

/* A task, by how its hook ends and how its body does. */
struct job {
    ending hook, body;
    atomic_uint befores, runs, afters, failures;
    int status, error, told; /* as after_execute and unobserved_failure saw it */
};

struct record {
    struct job jobs[TASKS];
    atomic_uint interrupted; /* of those that looked at their flag */
    atomic_uint terminated;
    bool was_terminated_inside;
};

static struct record record;

static void end_as(ending how)
{
    if (how == FAILS || how == TAKES_IT_BACK)
        rota_fail(CODE);
    if (how == TAKES_IT_BACK)
        rota_fail(0);
    if (how == EXITS)
        pthread_exit(NULL);
    if (how == IS_CANCELLED) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
}

static void look_at_flag(void)
{
    atomic_fetch_add(&record.interrupted, rota_is_interrupted());
}

static void *run_job(void *arg)
{
    struct job *job = arg;

    look_at_flag();
    atomic_fetch_add(&job->runs, 1);
    end_as(job->body);
    return NULL;
}

static void before(rota_executor *ex, rota_task *task, void *ctx)
{
    struct job *job = rota_task_call(task)->arg;

    look_at_flag();
    atomic_fetch_add(&job->befores, 1);
    end_as(job->hook);
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct job *job = rota_task_call(task)->arg;

    job->status = status;
    job->error = error;
    atomic_fetch_add(&job->afters, 1);
}

static void unobserved(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    struct job *job = call->arg;

    look_at_flag();
    job->told = error;
    atomic_fetch_add(&job->failures, 1);
}

static void terminated(rota_executor *ex, void *ctx)
{
    record.was_terminated_inside = rota_is_terminated(ex);
    atomic_fetch_add(&record.terminated, 1);
}

/* What its body ended with. */
static int code_of(const struct job *job)
{
    if (job->body == RETURNS || job->body == TAKES_IT_BACK)
        return 0;
    return job->body == FAILS ? CODE : ROTA_ECANCELED;
}

/* A hook cannot fail a task. */
static void was_right(const struct job *job)
{
    int code = code_of(job);

    assert_int_equal(job->befores, 1);
    assert_int_equal(job->runs, 1);
    assert_int_equal(job->afters, 1);
    assert_status(job->status, code != 0 ? ROTA_EFAILED : ROTA_OK);
    assert_int_equal(job->error, code);
    assert_int_equal(job->failures, code != 0);
    assert_int_equal(job->told, code);
}

/* POOL-31, POOL-32, POOL-34, POOL-36 */
TEST(hooks_and_bodies_may_end_in_every_way)
{
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = WORKERS, .hooks = {before, after, unobserved, terminated, NULL}});

    for (unsigned i = 0; i < TASKS; i++) {
        record.jobs[i].hook = (ending)(i / ENDINGS);
        record.jobs[i].body = (ending)(i % ENDINGS);
        assert_ok(rota_execute(pool, run_job, &record.jobs[i]));
    }
    test_await_completed(pool, TASKS);
    test_await_waiting(pool, WORKERS);
    assert_int_equal(test_stats(pool).threads, WORKERS);
    assert_int_equal(test_stats(pool).completed, TASKS);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_close(pool));
    for (unsigned i = 0; i < TASKS; i++)
        was_right(&record.jobs[i]);
    assert_int_equal(record.interrupted, 0);
    assert_int_equal(record.terminated, 1);
    assert_false(record.was_terminated_inside);
}

/* -- Stopped while another waits ---------------------------------------------------------- */

struct invocation {
    rota_executor *pool;
    test_gate gate;
    atomic_uint runs;
    int status;
};

static void invoke_two_that_sleep(void *arg)
{
    struct invocation *self = arg;
    rota_call sleeps = {.fn = test_sleep_long, .arg = &self->gate};
    rota_call calls[] = {sleeps, {.fn = test_count, .arg = &self->runs}, sleeps};
    rota_future *futures[3];

    self->status = rota_invoke_all(self->pool, calls, 3, ROTA_FOREVER, futures);
    for (int i = 0; i < 3 && self->status == ROTA_OK; i++) {
        test_check(rota_future_state_of(futures[i]) == ROTA_FUTURE_SUCCEEDED);
        rota_future_unref(futures[i]);
    }
}

/* EXEC-14: again and again. */
TEST(invoke_all_returns_when_its_pool_is_stopped)
{
    for (int round = 0; round < 100; round++) {
        struct invocation self = {.status = 1};

        test_gate_init(&self.gate);
        assert_ok(rota_cached_pool(&self.pool));
        test_thread *caller = test_thread_start(invoke_two_that_sleep, &self);
        test_await_count(&self.gate.begun, 2); /* so that all three were submitted */
        assert_ok(rota_shutdown_now(self.pool, NULL));
        test_thread_join(caller);
        assert_ok(self.status);
        assert_ok(rota_close(self.pool));
        assert_int_equal(self.gate.interrupted, 2);
        assert_int_equal(self.runs, 1);
    }
}

enum { CALLS = 3 };

typedef int invoke_fn(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                      rota_future **futures);

/* All of its calls are queued behind one that runs. */
struct queued_calls {
    rota_executor *pool;
    invoke_fn *invoke;
    test_gate gate;
    test_probe probe;
    int status;
    rota_future *futures[CALLS];
    test_thread *thread;
};

static void invoke_queued(void *arg)
{
    struct queued_calls *self = arg;
    rota_call call = test_probe_call(&self->probe);
    rota_call calls[CALLS] = {call, call, call};

    self->status = self->invoke(self->pool, calls, CALLS, ROTA_FOREVER, self->futures);
}

static bool are_queued(void *arg)
{
    const struct queued_calls *self = arg;

    return test_stats(self->pool).queued == CALLS;
}

static void queued_calls_start(struct queued_calls *self, invoke_fn *invoke)
{
    *self = (struct queued_calls){.invoke = invoke, .status = 1};
    self->pool = test_pool((rota_pool_options){.core_threads = 1});
    test_gate_init(&self->gate);
    test_occupy(self->pool, &self->gate, 1);
    self->thread = test_thread_start(invoke_queued, self);
    test_until(are_queued, self);
}

/* While the one that runs still does. */
static void queued_calls_end(struct queued_calls *self, int status)
{
    test_thread_join(self->thread);
    assert_status(self->status, status);
    for (int i = 0; i < CALLS && status == ROTA_OK; i++) {
        assert_status(rota_future_get_timed(self->futures[i], 0, NULL), ROTA_ECANCELED);
        rota_future_unref(self->futures[i]);
    }
    assert_int_equal(self->gate.ended, 0);
    test_gate_open(&self->gate);
    assert_ok(rota_close(self->pool));
    assert_int_equal(self->probe.runs, 0);
    assert_int_equal(self->probe.discards, CALLS);
}

/* EXEC-14, OWN-08: it returns when those that were queued are discarded. */
TEST(invoke_returns_when_its_queued_calls_are_discarded)
{
    struct queued_calls self;

    queued_calls_start(&self, rota_invoke_all);
    assert_ok(rota_shutdown_now(self.pool, NULL));
    queued_calls_end(&self, ROTA_OK);
    queued_calls_start(&self, rota_invoke_any);
    assert_ok(rota_shutdown_now(self.pool, NULL));
    queued_calls_end(&self, ROTA_ECANCELED);
}

/* EXEC-14, OWN-09: or when whoever has got them does so. */
TEST(invoke_returns_when_its_drained_calls_are_discarded)
{
    invoke_fn *const both[] = {rota_invoke_all, rota_invoke_any};

    for (int i = 0; i < 2; i++) {
        struct queued_calls self;
        rota_task_list list;

        queued_calls_start(&self, both[i]);
        assert_ok(rota_shutdown_now(self.pool, &list));
        assert_int_equal(list.count, CALLS);
        for (int j = 0; j < CALLS; j++)
            rota_task_discard(list.tasks[j]);
        rota_task_list_free(&list);
        queued_calls_end(&self, i == 0 ? ROTA_OK : ROTA_ECANCELED);
    }
}

/* -- One lock for all --------------------------------------------------------------------- */

enum { MOST_RIVALS = 5, MORE = 1000 };

/* A queue that has one element is a lock that can be interrupted. `count` is no atomic. */
struct contest {
    rota_queue *lock;
    unsigned count;
    atomic_uint begun, gone;
    atomic_bool is_alone;
};

/* False: interrupted, before it had the lock or after. */
static bool count_under_lock(struct contest *contest)
{
    void *token;
    int status = rota_queue_take(contest->lock, &token);

    if (status == ROTA_OK) {
        contest->count++;
        test_check(rota_queue_put(contest->lock, token) == ROTA_OK);
    }
    test_check(status == ROTA_OK || status == ROTA_EINTERRUPTED);
    return status == ROTA_OK && !rota_interrupted();
}

static void *compete(void *arg)
{
    struct contest *contest = arg;

    atomic_fetch_add(&contest->begun, 1);
    while (count_under_lock(contest))
        continue;
    atomic_fetch_add(&contest->gone, 1);
    return NULL;
}

/* Goes on until it has been alone for a while. */
static void *win(void *arg)
{
    struct contest *contest = arg;

    atomic_fetch_add(&contest->begun, 1);
    for (int left = MORE; left > 0; left -= atomic_load(&contest->is_alone))
        test_check(count_under_lock(contest));
    return contest;
}

static void cancel_all_but_the_first(unsigned rivals)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = rivals});
    struct contest contest = {.lock = test_array(1)};
    rota_future *futures[MOST_RIVALS];
    void *result = NULL;

    for (unsigned i = 0; i < rivals; i++)
        assert_ok(rota_submit(pool, i == 0 ? win : compete, &contest, &futures[i]));
    assert_ok(rota_queue_put(contest.lock, &contest));
    test_await_count(&contest.begun, rivals);
    for (unsigned i = 1; i < rivals; i++) {
        assert_true(rota_future_cancel_now(futures[i]));
        assert_status(rota_future_get(futures[i], NULL), ROTA_ECANCELED);
    }
    test_await_count(&contest.gone, rivals - 1);
    atomic_store(&contest.is_alone, true);
    assert_ok(rota_future_get(futures[0], &result));
    assert_ptr_equal(result, &contest);
    assert_ok(rota_close(pool));
    assert_true(contest.count >= MORE);
    for (unsigned i = 0; i < rivals; i++)
        rota_future_unref(futures[i]);
    assert_ok(rota_queue_free(contest.lock));
}

/* FUT-12 */
TEST(who_is_cancelled_leaves_the_lock_to_the_others)
{
    for (unsigned rivals = 2; rivals <= MOST_RIVALS; rivals++)
        cancel_all_but_the_first(rivals);
}
