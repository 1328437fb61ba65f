/* SPDX-License-Identifier: MIT */
/*
 * timer.c - the one timer of the process, made at first use; timeouts, and executors
 * that wait before they pass a task on.
 *
 *   timer.M1  Who uses the timer is counted before it looks for it, and until it has left. Who ends
 *             the timer hides it before it looks at the count, and frees it when there is nobody:
 *             at exit there may be threads that nobody waits for.
 *   timer.M2  A future on its way through an executor that waits has that as its listener, and its
 *             parcel as what comes `next`. Whoever clears the listener has its task: the
 *             timer, which passes it on, or who has ended it, who stops the timer. The last user of
 *             the parcel lets go of what is left in there.
 */
#include "compose/compose_internal.h"

#include "base/alloc.h"
#include "base/fork.h"
#include "base/time.h"
#include "base/wait.h"
#include "os/cleanup.h"

#include <rota/sched.h>

/* -- The timer ------------------------------------------------------------ */

rota__atomic(rota_executor *) rota__the_timer;
static rota__atomic(uint32_t) timer_users; /* timer.M1 */

/* Of a parent process, it is as if it had ended. */
static bool is_good(rota_executor *made)
{
    return made != NULL && !rota_is_shutdown(made);
}

static rota_executor *make_timer(void)
{
    rota_sched_options options = {.core_threads = 1,
                                  .core_may_time_out = true,
                                  .keep_alive = ROTA_SEC(1),
                                  .threads = {.name = "rota-timer"}};
    rota_executor *made;

    if (rota_sched_new(&options, &made) != ROTA_OK)
        return NULL;
    rota_executor_set_name(made, "rota timer");
    rota__store_release(&rota__the_timer, made); /* pairs with rota__timer */
    return made;
}

rota_executor *rota__timer(void)
{
    rota_executor *made = rota__load_acquire(&rota__the_timer); /* pairs with make_timer */

    if (is_good(made))
        return made;
    rota__self();
    rota__mutex_lock(&rota__singleton_lock);
    made = rota__load_acquire(&rota__the_timer);
    if (!is_good(made))
        made = make_timer();
    rota__mutex_unlock(&rota__singleton_lock);
    return made;
}

int rota__timer_set(const rota_call *call, rota_ns delay, rota_future **out)
{
    int status = ROTA_ENOMEM;

    rota__add_acq_rel(&timer_users, 1); /* timer.M1 */
    rota_executor *ex = rota__timer();
    if (ex != NULL)
        status = rota_schedule_call(ex, call, delay, 0, out);
    rota__sub_acq_rel(&timer_users, 1);
    return status;
}

static bool is_left_before(rota_ns deadline)
{
    unsigned turns = ROTA__BACKOFF_INIT;

    while (rota__add_acq_rel(&timer_users, 0) > 0) { /* timer.M1; pairs in either order */
        if (rota__has_passed(deadline))
            return false;
        rota__backoff(&turns);
    }
    return true;
}

void rota__timer_end(rota_ns patience)
{
    rota_ns deadline = rota__deadline(patience);
    rota_executor *made = rota__load_acquire(&rota__the_timer);

    if (!is_good(made))
        return;
    rota__store_relaxed(&rota__the_timer, NULL);
    rota_shutdown_now(made, NULL);
    if (rota_await_termination(made, patience) == ROTA_OK && is_left_before(deadline))
        rota_executor_free(made);
}

#ifndef ROTA_EXPLORE
/* So that a clean program is clean to tools that look for what is left. */
__attribute__((destructor)) static void end_timer(void)
{
    rota__timer_end(ROTA_SEC(1));
}
#endif

/* -- Timeouts ------------------------------------------------------------- */

enum { NONE = 0, CLOSED = 1 }; /* of a word `timer`, which else is a future, held */

static void stop_timer(rota__atomic(uintptr_t) * timer)
{
    uintptr_t word = rota__swap_acq_rel(timer, CLOSED); /* pairs with hold_timer */

    if (word == NONE || word == CLOSED)
        return;
    rota_future_cancel((rota_future *)word);
    rota_future_unref((rota_future *)word);
}

/* Takes the reference; the timer was set for nothing if it was stopped already. */
static void hold_timer(rota__atomic(uintptr_t) * timer, rota_future *set)
{
    uintptr_t none = NONE;

    if (rota__cas_acq_rel(timer, &none, (uintptr_t)set)) /* pairs with stop_timer */
        return;
    rota_future_cancel(set);
    rota_future_unref(set);
}

static void stage_ended(rota__stage *stage)
{
    stop_timer(&stage->timer);
}

static rota_future *pass_source(rota__stage *stage)
{
    return stage->source;
}

static const rota__stage_kind timeout_kind = {.passes = pass_source, .ended = stage_ended};
static const rota__stage_kind value_kind = {.passes = pass_source, .ended = stage_ended};

static void time_out(rota__stage *stage)
{
    if (stage->kind == &value_kind)
        rota_promise_complete(&stage->future, stage->arg);
    else
        rota_promise_fail(&stage->future, ROTA_ETIMEDOUT);
}

static void forget(void *arg)
{
    rota__stage *stage = arg;

    rota__future_unpin(&stage->future);
}

static void *expire(void *arg)
{
    time_out(arg);
    forget(arg);
    return NULL;
}

static int set_timer(rota__stage *stage, rota_ns timeout)
{
    rota_call call = {.fn = expire, .arg = stage, .discard = forget};
    rota_future *set;
    int status;

    rota__future_pin(&stage->future); /* the timer's */
    status = rota__timer_set(&call, timeout, &set);
    if (status != ROTA_OK) {
        rota__future_unpin(&stage->future);
        return status;
    }
    hold_timer(&stage->timer, set);
    return ROTA_OK;
}

static int follow_for(const rota__stage_kind *kind, rota_future *f, rota_ns timeout, void *value,
                      rota_future **out)
{
    rota__stage *stage;
    int status = ROTA_OK;

    if (f == NULL || out == NULL)
        return ROTA_EINVAL;
    stage = rota__stage_new(kind, f, NULL, (rota__step_fn){NULL}, value, true);
    if (stage == NULL)
        return ROTA_ENOMEM;
    rota__store_relaxed(&stage->timer, NONE);
    rota__stage_start(stage);
    if (timeout <= 0)
        time_out(stage); /* without effect if f is done */
    else if (timeout != ROTA_FOREVER && !rota_future_is_done(&stage->future))
        status = set_timer(stage, timeout);
    if (status == ROTA_OK) {
        *out = &stage->future;
        return ROTA_OK;
    }
    rota_future_cancel(&stage->future);
    rota_future_unref(&stage->future);
    return status;
}

int rota_timeout(rota_future *f, rota_ns timeout, rota_future **out)
{
    return follow_for(&timeout_kind, f, timeout, NULL, out);
}

int rota_timeout_value(rota_future *f, rota_ns timeout, void *value, rota_future **out)
{
    return follow_for(&value_kind, f, timeout, value, out);
}

/* -- Executors that wait first -------------------------------------------- */

typedef struct delayed {
    rota_executor *executor;
    rota_ns delay;
    rota__cancel_listener listener; /* of the futures on the way: timer.M2 */
    rota__mutex lock;
    size_t under_way;
    rota__latch waiters; /* for the last of them */
} delayed;

/* timer.M2 */
typedef struct parcel {
    delayed *from;
    uint32_t generation;
    rota_task *task;               /* NULL: it was taken */
    rota__atomic(uintptr_t) timer; /* as a stage's */
    rota__atomic(uint32_t) users;  /* who sends it; the timer; whoever is to take the task */
} parcel;

static void arrived(delayed *self)
{
    rota__mutex_lock(&self->lock);
    if (--self->under_way == 0)
        rota__latch_signal_all(&self->waiters);
    rota__mutex_unlock(&self->lock);
}

static void leave(parcel *mine, uint32_t users)
{
    delayed *self = mine->from;
    uintptr_t timer;

    if (rota__sub_acq_rel(&mine->users, users) != users) /* pairs with the others' */
        return;
    timer = rota__load_relaxed(&mine->timer);
    if (timer != NONE && timer != CLOSED)
        rota_future_unref((rota_future *)timer);
    if (mine->task != NULL)
        rota__task_release(mine->task); /* of a future that has ended on the way */
    rota__free(mine, sizeof *mine);
    arrived(self);
}

/* NULL: who has ended its future was quicker. */
static rota_task *take_task(parcel *mine)
{
    rota_task *task = mine->task;

    if (task->kind == ROTA__TASK_FUTURE
        && !rota__future_clear_listener_if(rota__future_of(task),
                                           &mine->from->listener)) /* timer.M2a */
        return NULL;
    mine->task = NULL;
    return task;
}

static void leave_after_pass(void *mine)
{
    leave(mine, 2);
}

static void *pass_on(void *mine)
{
    rota_executor *executor = ((parcel *)mine)->from->executor;
    rota_task *task = take_task(mine);

    if (task == NULL) {
        leave(mine, 1);
        return NULL;
    }
    /* The executor may run the task here, and the task may end this thread. */
    ROTA__CLEANUP_BEGIN(leave_after_pass, mine);
    rota__inflight_begin(executor);
    if (rota__submit_inflight(executor, task, NULL) != ROTA_OK)
        rota_task_discard(task);
    ROTA__CLEANUP_END;
    return NULL;
}

static void drop(void *mine)
{
    rota_task *task = take_task(mine);

    rota_task_discard(task);
    leave(mine, task != NULL ? 2 : 1);
}

/* timer.M2: the future has ended on the way. */
static void ended_on_the_way(rota__cancel_listener *listener, rota_future *future)
{
    parcel *mine = (parcel *)(void *)rota__load_relaxed(&future->task.next);

    (void)listener;
    if (mine->generation != rota__process_generation())
        return; /* a parent's, whose timer is not here */
    stop_timer(&mine->timer);
    leave(mine, 1);
}

static parcel *pack(delayed *self, rota_task *task)
{
    parcel *mine = rota__alloc(sizeof *mine);

    if (mine == NULL)
        return NULL;
    *mine = (parcel){.from = self, .generation = rota__process_generation(), .task = task};
    rota__store_relaxed(&mine->users, 3);
    rota__mutex_lock(&self->lock);
    self->under_way++;
    rota__mutex_unlock(&self->lock);
    return mine;
}

static int send(parcel *mine)
{
    rota_call call = {.fn = pass_on, .arg = mine, .discard = drop};
    rota_ns delay = mine->from->delay;
    rota_future *future, *set;
    int status;

    if (mine->task->kind == ROTA__TASK_PLAIN)
        return rota__timer_set(&call, delay, NULL);
    future = rota__future_of(mine->task);
    rota__store_relaxed(&future->task.next, (rota_task *)(void *)mine);
    rota__future_set_listener(future, &mine->from->listener);
    if (rota_future_is_done(future))
        rota__future_notify_listener(future); /* which who ended it may not have seen */
    status = rota__timer_set(&call, delay, &set);
    if (status == ROTA_OK)
        hold_timer(&mine->timer, set);
    return status;
}

static int delayed_execute(void *ctx, rota_task *task)
{
    parcel *mine = pack(ctx, task);
    uint32_t users = 1;
    int status;

    if (mine == NULL)
        return ROTA_ENOMEM;
    status = send(mine);
    if (status != ROTA_OK) {
        users = take_task(mine) != NULL ? 3 : 2;
        status = users == 3 ? status : ROTA_OK; /* it has ended, as if it had been on the way */
    }
    leave(mine, users);
    return status;
}

static int delayed_await(void *ctx, rota_ns timeout)
{
    delayed *self = ctx;
    rota_ns deadline = rota__deadline(timeout);

    rota__mutex_lock(&self->lock);
    if (self->under_way > 0)
        return rota__latch_wait(&self->waiters, &self->lock, deadline);
    rota__mutex_unlock(&self->lock);
    return ROTA_OK;
}

static void delayed_free(void *ctx)
{
    delayed *self = ctx;

    rota__cancel_listener_await_idle(&self->listener);
    rota__mutex_lock(&self->lock); /* who came last has left it */
    rota__mutex_unlock(&self->lock);
    rota__free(self, sizeof *self);
}

int rota_delayed(rota_executor *ex, rota_ns delay, rota_executor **out)
{
    static const rota_executor_ops ops = {
        .execute = delayed_execute, .await_termination = delayed_await, .free = delayed_free};
    delayed *self;
    int status;

    if (ex == NULL || out == NULL)
        return ROTA_EINVAL;
    self = rota__alloc(sizeof *self);
    if (self == NULL)
        return ROTA_ENOMEM;
    *self = (delayed){.executor = ex, .delay = delay, .listener = {.notify = ended_on_the_way}};
    rota__latch_init(&self->waiters);
    status = rota_executor_new(&ops, self, out);
    if (status != ROTA_OK)
        rota__free(self, sizeof *self);
    return status;
}
