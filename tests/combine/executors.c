/* SPDX-License-Identifier: MIT */
/*
 * executors.c - the executors of the rows. executor_NAME makes row.ex and sets the flags that describe it.
 */
#include "combine.h"

/* -- Hooks and threads --------------------------------------------------------------------------- */

static void on_start(void *ctx)
{
    (void)ctx;
    thread_state = 1;
    atomic_fetch_add(&row.threads_made, 1);
}

static void on_exit_of_thread(void *ctx)
{
    (void)ctx;
    thread_state = 2;
}

static void look_at(const rota_task *task, const char *viewer)
{
    const rota_call *call = rota_task_call(task);
    job *self = job_find(call->arg);

    if (self != NULL && atomic_load(&self->discarded) > 0)
        fail("%s sees a task that was discarded", viewer);
    if (self == NULL && call->fn != waiter && !row.has_steps)
        fail("%s sees a call that no program has made", viewer);
}

static void before_execute(rota_executor *ex, rota_task *task, void *ctx)
{
    (void)ex;
    (void)ctx;
    look_at(task, "before_execute");
}

static void after_execute(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    (void)ex;
    (void)ctx;
    look_at(task, "after_execute");
    if ((status == ROTA_EFAILED) != (error != 0))
        fail("after_execute gets a status and a code that contradict each other");
}

static void unobserved_failure(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    (void)ex;
    (void)error;
    (void)ctx;
    job *self = job_find(call->arg);

    if (row.is_composed && row.may_cancel) /* a cancelled future has not seen its source */
        return;
    if (self != NULL && self == row.main && row.future != NULL && !row.is_dropped && !row.may_lose)
        fail("a failure that a future has seen is reported as unobserved");
}

static void terminated(rota_executor *ex, void *ctx)
{
    (void)ctx;
    if (atomic_fetch_add(&row.terminated, 1) > 0)
        fail("the hook `terminated` is called twice");
    check_status("rota_close in the hook `terminated`", rota_close(ex), ROTA_EDEADLOCK);
}

static rota_threads threads_of_row(void)
{
    row.knows_threads = true;
    return (rota_threads){.on_start = on_start, .on_exit = on_exit_of_thread};
}

static rota_hooks hooks_of_row(void)
{
    if (!row.hooks)
        return (rota_hooks){.terminated = NULL};
    return (rota_hooks){.before_execute = before_execute,
                        .after_execute = after_execute,
                        .unobserved_failure = unobserved_failure,
                        .terminated = terminated};
}

/* -- Thread pools -------------------------------------------------------------------------------- */

static void make_pool(unsigned core, unsigned most, rota_queue *queue, rota_reject *reject,
                      rota_executor **out)
{
    check_status("rota_pool_new",
                 rota_pool_new(&(rota_pool_options){.core_threads = core,
                                                    .max_threads = most,
                                                    .queue = queue,
                                                    .on_reject = reject,
                                                    .threads = threads_of_row(),
                                                    .hooks = hooks_of_row()},
                               out),
                 ROTA_OK);
}

static void make_fixed(unsigned threads)
{
    row.hold = threads;
    make_pool(threads, threads, NULL, NULL, &row.ex);
}

void executor_fixed1(void)
{
    make_fixed(1);
}

void executor_fixed2(void)
{
    make_fixed(2);
}

void executor_cached(void)
{
    check_status("rota_cached_pool", rota_cached_pool(&row.ex), ROTA_OK);
}

void executor_single(void)
{
    row.hold = 1;
    row.has_order = true;
    check_status("rota_single_thread", rota_single_thread(&row.ex), ROTA_OK);
}

void executor_per_task(void)
{
    rota_threads threads = threads_of_row();

    row.one_each = true;
    check_status("rota_thread_per_task", rota_thread_per_task(&threads, &row.ex), ROTA_OK);
}

/* A pool with one thread and room for two tasks. */
static void make_bounded(rota_reject *reject, rota_executor **out)
{
    rota_queue *queue = NULL;

    row.hold = 1;
    row.fill = 2;
    check_status("rota_array_queue", rota_array_queue(2, &queue), ROTA_OK);
    make_pool(1, 1, queue, reject, out);
}

void executor_bounded_abort(void)
{
    row.may_refuse = true;
    make_bounded(rota_reject_abort, &row.ex);
}

void executor_bounded_caller_runs(void)
{
    row.runs_in_caller = true;
    make_bounded(rota_reject_caller_runs, &row.ex);
}

void executor_bounded_discard(void)
{
    row.may_cancel = true;
    make_bounded(rota_reject_discard, &row.ex);
}

void executor_bounded_discard_oldest(void)
{
    row.may_cancel = true;
    make_bounded(rota_reject_discard_oldest, &row.ex);
}

void executor_bounded_block(void)
{
    row.submit_waits = true;
    make_bounded(rota_reject_block, &row.ex);
}

/* Compares the names of two jobs. */
static int compare_tasks(const void *a, const void *b, void *ctx)
{
    job *first = job_find(rota_task_call(a)->arg), *second = job_find(rota_task_call(b)->arg);

    (void)ctx;
    look_at(a, "a comparison function");
    look_at(b, "a comparison function");
    return first == NULL || second == NULL ? 0 : strcmp(first->name, second->name);
}

void executor_priority(void)
{
    rota_queue *queue = NULL;

    row.hold = 1;
    check_status("rota_priority_queue", rota_priority_queue(compare_tasks, NULL, &queue), ROTA_OK);
    make_pool(1, 1, queue, NULL, &row.ex);
}

static rota_ns due_soon(const void *task, void *ctx)
{
    (void)ctx;
    look_at(task, "a due function");
    return rota_now() + ROTA_MS(5);
}

void executor_delay_queue(void)
{
    rota_queue *queue = NULL;

    row.hold = 1;
    check_status("rota_delay_queue", rota_delay_queue(due_soon, NULL, &queue), ROTA_OK);
    make_pool(1, 1, queue, NULL, &row.ex);
}

void executor_handoff(void)
{
    rota_queue *queue = NULL;

    check_status("rota_handoff_queue", rota_handoff_queue(&queue), ROTA_OK);
    make_pool(1, 64, queue, NULL, &row.ex);
}

/* -- Scheduled and fork/join pools ---------------------------------------------------------------- */

static void make_scheduled(unsigned threads)
{
    row.hold = threads;
    check_status("rota_sched_new",
                 rota_sched_new(&(rota_sched_options){.core_threads = threads,
                                                      .threads = threads_of_row(),
                                                      .hooks = hooks_of_row()},
                                &row.ex),
                 ROTA_OK);
}

void executor_sched1(void)
{
    make_scheduled(1);
}

void executor_sched2(void)
{
    make_scheduled(2);
}

static void make_forkjoin(unsigned parallelism, unsigned max_threads)
{
    row.hold = parallelism;
    row.is_forkjoin = true;
    check_status("rota_forkjoin_new",
                 rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = parallelism,
                                                            .max_threads = max_threads,
                                                            .threads = threads_of_row(),
                                                            .hooks = hooks_of_row()},
                                   &row.ex),
                 ROTA_OK);
}

void executor_forkjoin1(void)
{
    make_forkjoin(1, 0);
}

void executor_forkjoin2(void)
{
    make_forkjoin(2, 0);
}

void executor_forkjoin_max1(void)
{
    make_forkjoin(1, 1);
}

static void use_common(const char *parallelism)
{
    setenv("ROTA_COMMON_PARALLELISM", parallelism, 1);
    row.ex = rota_common_pool();
    row.is_forkjoin = row.is_common = true;
    if (row.ex == NULL)
        fail("rota_common_pool: NULL");
}

void executor_common(void)
{
    row.hold = 2;
    use_common("2");
}

void executor_common0(void)
{
    row.runs_in_caller = true;
    use_common("0");
}

/* -- Executors of the program ---------------------------------------------------------------------- */

static int run_here(void *self, rota_task *task)
{
    (void)self;
    rota_task_run(task);
    return ROTA_OK;
}

static void make_inline(rota_executor **out)
{
    row.is_user = row.runs_in_caller = true;
    check_status("rota_executor_new",
                 rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, out), ROTA_OK);
}

void executor_inline(void)
{
    make_inline(&row.ex);
}

/* An executor with one thread that takes tasks from a queue. */
struct own_thread {
    rota_queue *queue;
    pthread_t thread;
    atomic_bool has_ended;
};

static void *own_thread_main(void *arg)
{
    struct own_thread *own = arg;
    void *task = NULL;

    while (task != own)
        if (rota_queue_take(own->queue, &task) == ROTA_OK && task != own)
            rota_task_run(task);
    atomic_store(&own->has_ended, true);
    changed();
    return NULL;
}

static int own_thread_execute(void *self, rota_task *task)
{
    return rota_queue_put(((struct own_thread *)self)->queue, task);
}

static int own_thread_shutdown(void *self)
{
    return rota_queue_put(((struct own_thread *)self)->queue, self);
}

static int own_thread_await(void *self, rota_ns timeout)
{
    struct own_thread *own = self;

    if (pthread_equal(own->thread, pthread_self()))
        return ROTA_EDEADLOCK;
    return wait_until(&own->has_ended, timeout) ? ROTA_OK : ROTA_ETIMEDOUT;
}

static void own_thread_free(void *self)
{
    struct own_thread *own = self;

    pthread_join(own->thread, NULL);
    rota_queue_free(own->queue);
    free(own);
}

void executor_own_thread(void)
{
    struct own_thread *own = calloc(1, sizeof *own);

    row.is_user = true;
    row.hold = 1;
    check_status("rota_linked_queue", rota_linked_queue(ROTA_UNBOUNDED, &own->queue), ROTA_OK);
    own->thread = thread_new(own_thread_main, own);
    check_status("rota_executor_new",
                 rota_executor_new(&(rota_executor_ops){.execute = own_thread_execute,
                                                        .shutdown = own_thread_shutdown,
                                                        .await_termination = own_thread_await,
                                                        .free = own_thread_free},
                                   own, &row.ex),
                 ROTA_OK);
}

/* -- Executors that delay --------------------------------------------------------------------------- */

static void delay(void)
{
    row.is_delayed = true;
    check_status("rota_delayed", rota_delayed(row.behind, ROTA_MS(5), &row.ex), ROTA_OK);
}

void executor_delayed(void)
{
    row.hold = 1;
    make_pool(1, 1, NULL, NULL, &row.behind);
    delay();
}

void executor_delayed_inline(void)
{
    make_inline(&row.behind);
    row.runs_in_caller = false; /* but in the thread of the timer */
    delay();
}

void executor_delayed_abort(void)
{
    make_bounded(rota_reject_abort, &row.behind);
    delay();
}

void executor_delayed_caller_runs(void)
{
    make_bounded(rota_reject_caller_runs, &row.behind);
    delay();
}
