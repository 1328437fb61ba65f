/* SPDX-License-Identifier: MIT */
/*
 * rota/pool.h - thread pools.
 *
 *     rota_executor *pool;
 *     rota_pool_new(&(rota_pool_options){.core_threads = 4}, &pool);   // up to four threads
 *     rota_submit(pool, resize, image, &future);
 *     rota_close(pool);                                                // waits for all tasks
 *
 * A pool runs tasks on its own threads, called workers. Tasks that no worker can run yet wait in a
 * queue. When a task is submitted, the pool does the first of these things that is possible:
 *
 * 1.   If it has fewer than core_threads workers, it starts a new worker, which runs the task.
 * 2.   If the queue has room, it queues the task.
 * 3.   If it has fewer than max_threads workers, it starts a new worker, which runs the task.
 * 4.   If none of this is possible, it calls the rejection handler: see rota_reject.
 *
 * A pool with an unbounded queue therefore never has more than core_threads workers. With a
 * hand-off queue, each task goes to an idle worker or to a new one. Workers are started when tasks
 * need them, not when the pool is created.
 *
 * A task may end its thread (see rota/task.h). The pool then starts another thread if it would
 * otherwise have fewer than core_threads workers, or if tasks are queued.
 *
 * The system may refuse to start a thread. If tasks that the pool has already accepted would then
 * be left without a worker, the call that needed the thread runs them itself before it returns. A
 * thread that a task has ended runs them before it calls on_exit.
 *
 * A worker that waits for a task in its own pool's queue removes that task from the queue when the
 * task is due, and runs it on its own stack. The task may reach the queue before or during the
 * wait. The worker runs no other task while it waits. So a task may submit other tasks and wait for
 * them, even in a pool with one thread. Each level of nesting needs the stack space of one more
 * task.
 *
 * rota_close returns when all threads of the pool have ended, with their thread-specific
 * destructors. rota_await_termination returns when all tasks have run and none runs any more.
 *
 * After fork(2) the parent's pools have no threads in the child. There they behave as if they had
 * terminated: they reject every task, and rota_close returns at once and leaves the parent's pool
 * alone. The child can create pools of its own.
 */
#ifndef ROTA_POOL_H
#define ROTA_POOL_H

#include <pthread.h>
#include <rota/executor.h>
#include <rota/queue.h>

ROTA_BEGIN

/* -- Rejection ------------------------------------------------------------------------------- */

/*
 * Decides what happens to a task that a pool cannot accept. A pool calls its handler when it has no
 * room for the task or has been shut down. The handler runs on the submitting thread and may call
 * the library. It must return. It has two choices:
 *
 * take over   It runs the task, discards it or passes it on, and returns ROTA_OK.
 * refuse      It leaves the task alone and returns an error, which the submitter gets.
 *
 * `ctx` is the pointer that was set together with the handler. The five functions below are
 * ready-made handlers.
 */
typedef int rota_reject(rota_executor *ex, rota_task *task, void *ctx);

/* Refuses the task: the submitter gets ROTA_EREJECTED. This is the default handler. */
int rota_reject_abort(rota_executor *ex, rota_task *task, void *ctx);

/*
 * Runs the task on the submitting thread, without hooks. If the pool has been shut down, the task
 * is discarded. The task counts as one of the pool's own: the pool does not terminate before the
 * task has ended, rota_shutdown_now interrupts it, and rota_close returns ROTA_EDEADLOCK in it.
 */
int rota_reject_caller_runs(rota_executor *ex, rota_task *task, void *ctx);

/* Discards the task and cancels its future. The submitter gets ROTA_OK. */
int rota_reject_discard(rota_executor *ex, rota_task *task, void *ctx);

/*
 * Discards the first task in the queue and submits the new one again. If the pool has been shut
 * down, the new task is discarded instead. ROTA_EREJECTED if the queue holds no task, as is always
 * the case with a hand-off queue. If submitting the task again fails for another reason than a full
 * pool, the submitter gets that status. It is ROTA_ENOMEM, ROTA_EAGAIN, or the status of `decorate`
 * in a scheduled pool.
 */
int rota_reject_discard_oldest(rota_executor *ex, rota_task *task, void *ctx);

/*
 * Waits until the pool can accept the task. ROTA_EREJECTED if the pool has been shut down, or is
 * shut down during the wait. ROTA_EINTERRUPTED if the submitting thread is interrupted. If
 * submitting the task fails for another reason than a full pool, the submitter gets that status. It
 * is ROTA_ENOMEM, ROTA_EAGAIN, or the status of `decorate` in a scheduled pool. A task of the same
 * pool does not wait: if the pool is full, it runs the new task itself.
 */
int rota_reject_block(rota_executor *ex, rota_task *task, void *ctx);

/* -- Threads and hooks ----------------------------------------------------------------------- */

/*
 * Describes how a pool creates its threads. A field that is zero has its default value. The pool
 * copies `name` and `cpus`.
 *
 * All signals are blocked in these threads, except interrupt_signal. The pool does not restore the
 * signal mask, the cancellation state, the floating-point mode or the thread name between tasks,
 * because that would cost more than most tasks. A task that changes one of them must restore it;
 * on_start may change them for all tasks.
 *
 * name               a pattern for thread names, such as "resize-%u". It may contain %u once, which
 *                    stands for the number of the thread, counted from 0. Default: "rota-%u"
 * stack_size         in bytes. Default: the system's
 * interrupt_signal   is sent to a thread when the task that it runs is interrupted, so that a
 *                    blocking system call fails with EINTR. A task gets no signal for another task
 *                    inside which it runs. The library installs a handler that does nothing, unless
 *                    the program has installed one. Default: no signal
 * cpus, cpu_count    the CPUs to which the threads are bound, one after the other. Default: any CPU
 *
 * create             is called instead of pthread_create. It returns 0 or an errno value. The
 *                    library joins the thread.
 * on_start           is called on a new thread before its first task
 * on_exit            is called on a thread after its last task, also if a task has ended the thread
 *
 * ctx                is passed to create, on_start and on_exit, which must return
 */
typedef struct rota_threads {
    const char *name;
    size_t stack_size;
    int interrupt_signal;
    const unsigned *cpus;
    size_t cpu_count;
    int (*create)(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *arg,
                  void *ctx);
    void (*on_start)(void *ctx);
    void (*on_exit)(void *ctx);
    void *ctx;
} rota_threads;

/*
 * Functions that a pool calls when something happens. Each may be NULL. Each may call the library,
 * and must return.
 *
 * before_execute       is called before each task, on the thread that runs it. If the task is
 *                      cancelled meanwhile, it does not run.
 * after_execute        is called after each task, on the same thread. `status` is ROTA_OK,
 *                      ROTA_ECANCELED, or ROTA_EFAILED with the task's own code in `error`.
 * unobserved_failure   is called when a task has failed and the program cannot see that: the task
 *                      has no future, or nobody holds a reference to its future and no composed
 *                      future or completion service has seen the failure
 * terminated           is called once, when no task runs any more, on the thread that ended last or
 *                      on the one that shut the pool down. In it, rota_close and
 *                      rota_await_termination without a timeout return ROTA_EDEADLOCK.
 * ctx                  is passed to each of them
 *
 * The hooks see no task that was cancelled before a thread took it. The argument of a task is not
 * discarded before after_execute has returned.
 */
typedef struct rota_hooks {
    void (*before_execute)(rota_executor *ex, rota_task *task, void *ctx);
    void (*after_execute)(rota_executor *ex, rota_task *task, int status, int error, void *ctx);
    void (*unobserved_failure)(rota_executor *ex, const rota_call *call, int error, void *ctx);
    void (*terminated)(rota_executor *ex, void *ctx);
    void *ctx;
} rota_hooks;

/* -- Pools ----------------------------------------------------------------------------------- */

/*
 * The options of a pool. A field that is zero has its default value.
 *
 * core_threads        how many workers stay even if they are idle. With 0, the pool starts a worker
 *                     when it has queued a task and has no worker.
 * max_threads         how many workers there may be. The limit is 536,870,911, and a greater number
 *                     stands for it. Default: as many as core_threads
 * keep_alive          how long a worker beyond core_threads may be idle before it ends. 1 means
 *                     that it ends as soon as it is idle, also with core_may_time_out. Default: 60
 *                     seconds
 * core_may_time_out   lets core workers end as well when they have been idle for keep_alive
 * queue               holds the tasks that wait. The pool owns it once rota_pool_new has succeeded.
 *                     Default: an unbounded linked queue
 *
 * on_reject           the rejection handler. Default: rota_reject_abort
 * reject_ctx          is passed to on_reject
 *
 * threads             how the workers' threads are created: rota_threads
 * hooks               functions that the pool calls: rota_hooks
 * strict_wait         a worker that waits for a queued task of its own pool does not run that task
 */
typedef struct rota_pool_options {
    unsigned core_threads;
    unsigned max_threads;
    rota_ns keep_alive;
    bool core_may_time_out;
    rota_queue *queue;
    rota_reject *on_reject;
    void *reject_ctx;
    rota_threads threads;
    rota_hooks hooks;
    bool strict_wait;
    void *reserved[8];
} rota_pool_options;

/*
 * Creates a thread pool. The pool has no workers until the first task is submitted. ROTA_EINVAL if
 * max_threads is less than core_threads, if both are 0, if keep_alive is negative, or if threads
 * cannot be created as options->threads says. If the call fails, the queue still belongs to the
 * caller.
 */
int rota_pool_new(const rota_pool_options *options, rota_executor **out);

/* -- Changing a pool ------------------------------------------------------------------------- */

/* The settings of a pool can be changed while it runs. None of these calls waits. They return
   ROTA_ENOTSUP for an executor that is not a pool. The settings of rota_single_thread and
   rota_single_scheduled are fixed: for these pools rota_pool_resize and the calls whose names begin
   with rota_pool_set return ROTA_ENOTSUP, too. The calls take the same values as rota_pool_new, but
   a 0 or NULL does not stand for a default. */

/* Sets the number of core threads. If it grows, workers are started for queued tasks. If it
   shrinks, surplus workers end when they have been idle for keep_alive; in a scheduled pool they
   end after their current task. ROTA_EINVAL if n is greater than max_threads. A scheduled pool has
   no maximum. */
int rota_pool_set_core_threads(rota_executor *ex, unsigned n);

/* Sets the maximum number of threads. If it shrinks, surplus workers end after their current task.
   They take no task that is submitted after this call has returned. In a scheduled pool the call
   succeeds and changes nothing. ROTA_EINVAL if n is 0 or less than core_threads. A number above the
   limit of max_threads stands for the limit. */
int rota_pool_set_max_threads(rota_executor *ex, unsigned n);

/* Sets both numbers of threads at once, in either direction, as rota_pool_set_core_threads and
   rota_pool_set_max_threads do. In a scheduled pool `max` has no effect. ROTA_EINVAL if max is 0 or
   less than core; then nothing changes. */
int rota_pool_resize(rota_executor *ex, unsigned core, unsigned max);

/* Sets how long a worker beyond core_threads may be idle, also for workers that are idle now. The
   time counts from the moment at which a worker became idle. Here 0 means that it ends as soon as
   it is idle. ROTA_EINVAL if keep_alive is negative. */
int rota_pool_set_keep_alive(rota_executor *ex, rota_ns keep_alive);

/* Chooses whether idle core threads end after keep_alive, too. */
int rota_pool_set_core_may_time_out(rota_executor *ex, bool on);

/* Replaces the rejection handler. ROTA_EINVAL if on_reject is NULL. */
int rota_pool_set_reject(rota_executor *ex, rota_reject *on_reject, void *ctx);

/* Changes how threads are created from now on. Existing threads stay as they are. ROTA_EINVAL if
   threads cannot be created as `threads` says. */
int rota_pool_set_threads(rota_executor *ex, const rota_threads *threads);

/* Reads the current options of a pool. *now has the form in which rota_pool_new takes them, except
   that `queue` is NULL. Its thread name and CPUs stay valid until the next rota_pool_set_threads,
   or until the pool is freed. */
int rota_pool_options_get(rota_executor *ex, rota_pool_options *now);

/* Starts all core threads that are missing, before there are tasks for them. A thread that ends
   during the call is not started again. *started is the number of threads that were started; it is
   set even if the call fails with ROTA_EAGAIN because a thread could not be started. */
int rota_pool_prestart(rota_executor *ex, unsigned *started);

/* Starts one core thread, if one is missing. All other rules are those of rota_pool_prestart. */
int rota_pool_prestart_one(rota_executor *ex, unsigned *started);

/* -- The queue of a pool --------------------------------------------------------------------- */

/*
 * Returns the queue of a pool, or NULL if the executor is not a pool. The queue belongs to the
 * pool: the caller may look at it, but must not insert or remove elements. The elements are of type
 * rota_task. The comparison function of a priority queue, for example, finds the argument of a task
 * with rota_task_call. Comparison functions, due functions, containers of the program's own and
 * visitors do not see a task whose argument was discarded. A visitor may cancel a task that it
 * sees.
 */
rota_queue *rota_pool_queue(rota_executor *ex);

/* Removes a task from the queue, discards it and cancels its future. Returns true if the task was
   in the queue. */
bool rota_pool_remove(rota_executor *ex, rota_future *future);

/* Removes all cancelled tasks from the queue and returns their number. The arguments of these tasks
   were discarded when the tasks were cancelled. A priority queue, a delay queue and a queue of the
   program's own lose a cancelled task at once. In other queues it stays until a worker takes it,
   but visitors and hooks do not see it. */
size_t rota_pool_purge(rota_executor *ex);

/* -- Statistics ------------------------------------------------------------------------------ */

/*
 * Numbers that describe a pool, all read at about the same moment.
 *
 * threads                     workers that exist
 * active                      workers that are running a task
 * largest                     the greatest number of workers that have existed at one time
 * core_threads, max_threads   the current settings
 *
 * submitted                   tasks that the pool has accepted since it was created
 * completed                   tasks that have run, and cancelled tasks that a worker has taken
 * rejected                    calls of the rejection handler
 * queued                      tasks in the queue
 */
typedef struct rota_pool_stats {
    unsigned threads, active, largest, core_threads, max_threads;
    uint64_t submitted, completed, rejected;
    size_t queued;
} rota_pool_stats;

/* Reads the statistics of a pool. The pool does not stop meanwhile. ROTA_ENOTSUP if the executor is
   not a pool. */
int rota_pool_stats_get(rota_executor *ex, rota_pool_stats *stats);

ROTA_END
#endif
