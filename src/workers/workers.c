/* SPDX-License-Identifier: MIT */
/*
 * workers.c - the threads of a pool: start, registration, leaving, stop and termination.
 */
#include "workers/workers_internal.h"

#include "base/alloc.h"
#include "base/time.h"
#include "os/cleanup.h"

/* -- The list --------------------------------------------------------------- */

/* With the lock held. */
static void remove_worker(rota__worker *worker)
{
    rota__workers *workers = worker->workers;

    workers->completed += rota__counts_completed(rota__load_relaxed(&worker->task_counts));
    rota__list_remove(&worker->link);
    if (worker->plan == NULL) {
        workers->callers--;
        return;
    }
    workers->size--;
    workers->started -= worker->self != NULL;
}

/* With the lock held. At least `size` threads exist, though some may not have registered yet. A
   thread that has given up its place does not belong to the pool any more. */
static void note_largest(rota__workers *workers, uint32_t size)
{
    uint32_t counted = rota__ctl_workers(rota__ctl_load(&workers->ctl));

    if (size > counted)
        size = counted;
    if (size > workers->largest)
        workers->largest = size; /* POOL-47 */
}

rota__worker *rota__worker_self(rota__workers *workers)
{
    rota_thread *self = rota__self();
    rota__worker *found = NULL;

    rota__mutex_lock(&workers->lock);
    for (rota__link *link = workers->list.head.next; link != &workers->list.head && found == NULL;
         link = link->next) {
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        if (worker->self == self)
            found = worker;
    }
    rota__mutex_unlock(&workers->lock);
    return found;
}

void rota__worker_run_nested(rota__worker *worker, const rota__run_ops *ops, rota_task *task)
{
    rota__workers *workers = worker->workers;
    rota__run run;

    rota__run_init(&run, workers->executor, &workers->hooks, ops, &worker->task_counts,
                   &workers->stopped);
    rota__run_nested(&run, task);
}

/* -- Leaving ---------------------------------------------------------------- */

void rota__workers_join_ended(rota__workers *workers)
{
    for (;;) {
        rota__mutex_lock(&workers->lock);
        rota__link *link = rota__list_take_first(&workers->ended);
        rota__mutex_unlock(&workers->lock);
        if (link == NULL)
            return;
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        rota__os_thread_join(&worker->thread);
        rota__free(worker, sizeof *worker);
    }
}

static void unregister(rota__worker *worker)
{
    rota__workers *workers = worker->workers;

    rota__self()->helper = NULL;
    rota__thread_plan_unref(worker->plan);
    /* Joins before it can be joined: two threads that join each other would wait for ever. */
    rota__workers_join_ended(workers);
    rota__mutex_lock(&workers->lock);
    remove_worker(worker);
    rota__list_append(&workers->ended, &worker->link);
    rota__mutex_unlock(&workers->lock);
}

static void leave(rota__worker *worker)
{
    rota__workers *workers = worker->workers;

    if (!rota__workers_are_here(workers))
        return; /* workers.W5 */
    rota__call_thread_hook("on_exit", worker->plan->threads.on_exit, worker->plan->threads.ctx);
    unregister(worker);
    workers->ops->left(workers); /* the pool is not freed before it has joined this thread */
}

/*
 * A task has ended the thread (GEN-14). If no other thread can be started, `unwound` runs tasks here.
 * Such a task may end the thread once more, so this function is its own handler.
 */
static void worker_unwound(void *arg)
{
    rota__worker *worker = arg;
    rota_thread *self = rota__self();

    ROTA__ON_UNWIND_BEGIN(worker_unwound, worker);
    rota__set_current(self, &self->outermost); /* cleanup.U3: the younger frames are gone */
    self->inside = &worker->inside;
    self->helper = worker->workers->strict_wait ? NULL : &worker->helper;
    rota__run_unwound(worker->run);
    if (rota__workers_are_here(worker->workers))
        worker->workers->ops->unwound(worker); /* the place is another thread's, or gone */
    ROTA__ON_UNWIND_END;
    leave(worker);
}

/* -- A worker's thread ------------------------------------------------------ */

/* From here on the thread can be woken and interrupted: POOL-22. */
static void register_thread(rota__worker *worker)
{
    rota__workers *workers = worker->workers;
    rota_thread *self = rota__self();

    self->helper = workers->strict_wait ? NULL : &worker->helper;
    if (worker->plan->threads.interrupt_signal != 0)
        self->signal_target = &worker->thread;
    self->outermost.stop = &workers->stopped; /* a stop ends its wait for tasks */
    if (workers->ops->precise_timers)
        rota__os_reduce_timer_slack();
    rota__mutex_lock(&workers->lock);
    worker->self = self;
    note_largest(workers, ++workers->started);
    rota__mutex_unlock(&workers->lock);
}

static void run_first(rota__worker *worker)
{
    rota_task *first = worker->first;

    worker->first = NULL;
    if (first != NULL)
        rota__run_counted_task(worker->run, first);
}

static void worker_main(void *arg)
{
    rota__worker *worker = arg;
    rota__workers *workers = worker->workers;
    rota__run run; /* run.R2: in the frame of the scope below */

    rota__inside_enter(&worker->inside, workers->executor); /* exec.E3: until it has left */
    rota__run_init(&run, workers->executor, &workers->hooks, workers->run_ops, &worker->task_counts,
                   &workers->stopped);
    worker->run = &run;
    register_thread(worker);
    rota__call_thread_hook("on_start", worker->plan->threads.on_start, worker->plan->threads.ctx);
    ROTA__ON_UNWIND_BEGIN(worker_unwound, worker);
    run_first(worker);
    workers->ops->work(worker);
    ROTA__ON_UNWIND_END;
    leave(worker);
}

static rota__worker *worker_new(rota__workers *workers, rota_task *first, uint64_t *number)
{
    rota__worker *worker = rota__alloc(sizeof *worker);

    if (worker == NULL)
        return NULL;
    *worker = (rota__worker){.workers = workers, .first = first, .helper = workers->helper};
    rota__store_relaxed(&worker->task_counts, first != NULL ? ROTA__ONE_RUNNING : 0);
    rota__link_init(&worker->link);
    rota__mutex_lock(&workers->lock);
    worker->plan = rota__thread_plan_ref(workers->plan);
    *number = workers->next_thread++;
    rota__list_append(&workers->list, &worker->link); /* workers.W1 */
    workers->size++;
    workers->starting++;
    rota__mutex_unlock(&workers->lock);
    return worker;
}

/* POOL-27. A worker whose thread has started may have ended by now and is not touched. */
static void note_start(rota__workers *workers, rota__worker *failed)
{
    rota__mutex_lock(&workers->lock);
    workers->starting--;
    if (failed != NULL)
        remove_worker(failed);
    else
        note_largest(workers, workers->size - workers->starting);
    rota__mutex_unlock(&workers->lock);
    if (failed != NULL) {
        rota__thread_plan_unref(failed->plan);
        rota__free(failed, sizeof *failed);
    }
}

int rota__worker_start(rota__workers *workers, rota_task *first)
{
    uint64_t number;
    rota__worker *worker = worker_new(workers, first, &number);
    int status;

    if (worker == NULL)
        return ROTA_ENOMEM;
    status = rota__thread_plan_start(worker->plan, number, &worker->thread, worker_main, worker);
    note_start(workers, status != ROTA_OK ? worker : NULL);
    return status;
}

/* -- Callers ---------------------------------------------------------------- */

bool rota__caller_enter(rota__worker *caller, rota__workers *workers, bool has_place)
{
    rota_thread *self = rota__self();

    *caller = (rota__worker){.workers = workers, .self = self, .helper = workers->helper};
    rota__link_init(&caller->link);
    rota__mutex_lock(&workers->lock);
    if (!has_place && rota__workers_state(workers) != ROTA_RUNNING) {
        rota__mutex_unlock(&workers->lock);
        return false;
    }
    rota__list_append(&workers->list, &caller->link); /* workers.W2a */
    workers->callers++;
    rota__mutex_unlock(&workers->lock);
    rota__inflight_begin(workers->executor);
    caller->outer = self->helper;
    if (has_place && !workers->strict_wait)
        self->helper = &caller->helper;
    rota__inside_enter(&caller->inside, workers->executor); /* exec.E3 */
    return true;
}

void rota__caller_leave(void *arg)
{
    rota__worker *caller = arg;
    rota__workers *workers = caller->workers;
    rota_thread *self = rota__self();

    self->helper = caller->outer;
    rota__inside_leave(&caller->inside);
    rota__mutex_lock(&workers->lock);
    remove_worker(caller);
    rota__mutex_unlock(&workers->lock);
    workers->ops->left(workers);
    rota__inflight_end(workers->executor); /* the last touch */
}

/* -- Stopping --------------------------------------------------------------- */

static rota__worker *worker_of(rota__link *link)
{
    return ROTA__CONTAINER(link, rota__worker, link);
}

void rota__workers_stop(rota__workers *workers)
{
    rota__stop_set(&workers->stopped); /* ctl.C3a */
    rota__mutex_lock(&workers->lock);
    for (rota__link *link = workers->list.head.next; link != &workers->list.head;
         link = link->next) {
        rota__worker *worker = worker_of(link);
        if (worker->self != NULL) /* NULL: the thread registers later, and sees the word */
            rota__stop_wake(worker->self, &workers->stopped);
    }
    rota__mutex_unlock(&workers->lock);
}

/* -- Termination ------------------------------------------------------------ */

bool rota__workers_begin_tidying(rota__workers *workers, uint32_t *seen, bool *all_have_left)
{
    rota__mutex_lock(&workers->lock);
    *all_have_left = workers->size == 0 && workers->callers == 0; /* workers.W2b */
    bool has_begun = *all_have_left && rota__ctl_begin_tidying(&workers->ctl, seen);
    rota__mutex_unlock(&workers->lock);
    return has_begun;
}

static void call_terminated(void *arg)
{
    rota__workers *workers = arg;

    workers->hooks.terminated(workers->executor, workers->hooks.ctx); /* workers.W4 */
}

void rota__workers_terminate(rota__workers *workers)
{
    rota__inside inside;

    rota__inside_enter(&inside, workers->executor); /* exec.E3: also on a thread of the program */
    rota__call_thread_hook("terminated", workers->hooks.terminated != NULL ? call_terminated : NULL,
                           workers);
    rota__inside_leave(&inside);
    rota__mutex_lock(&workers->lock);
    rota__ctl_advance(&workers->ctl, ROTA_TERMINATED);
    rota__latch_signal_all(&workers->terminated); /* workers.W3a */
    rota__mutex_unlock(&workers->lock); /* the last touch, except by a worker or a caller */
}

int rota__workers_await_termination(rota__workers *workers, rota_ns timeout)
{
    rota_ns deadline = rota__deadline(timeout);

    rota__mutex_lock(&workers->lock);
    if (rota__workers_state(workers) != ROTA_TERMINATED)
        return rota__latch_wait(&workers->terminated, &workers->lock, deadline);
    rota__mutex_unlock(&workers->lock);
    return ROTA_OK;
}

/* -- Beginning and end ------------------------------------------------------ */

void rota__workers_init(rota__workers *workers, rota__thread_plan *plan)
{
    workers->generation = rota__process_generation();
    workers->plan = plan;
    rota__list_init(&workers->list);
    rota__list_init(&workers->ended);
    rota__latch_init(&workers->terminated);
}

void rota__workers_destroy(rota__workers *workers)
{
    rota__workers_join_ended(workers); /* takes the lock once more: workers.W3 */
    rota__thread_plan_unref(workers->plan);
}
