/* SPDX-License-Identifier: MIT */
/*
 * run.c - a future's body is run, once or again and again.
 */
#include "future/future_internal.h"
#include "future/future_state.h"

#include "os/os.h"

struct future_run {
    rota__run run;
    bool once;                          /* the first run is the last */
    void (*after)(rota_future *future); /* it does not end with this run; or NULL */
    future_phase follows;     /* how another future ended that it is to end like; NEW: none */
    rota_future *value_of;    /* whose result its own is, pinned; or NULL */
    rota__action_queue *more; /* for what follows from its end; NULL: that is run at once */
    bool pending;             /* out: it is NEW again */
};

/* What the calling thread runs. */
static struct future_run *this_run(void)
{
    rota__run *run = ROTA__CONTAINER(rota__self()->current, rota__run, execution);

    return ROTA__CONTAINER(run, struct future_run, run);
}

void rota__future_defer(void (*after)(rota_future *future))
{
    this_run()->after = after;
}

bool rota__future_is_deferred(void)
{
    return this_run()->after != NULL;
}

void rota__future_follow(const rota_future *source)
{
    struct future_run *self = this_run();

    self->follows = future_phase_settled(source);
    if (self->follows != FUTURE_NORMAL)
        self->run.execution.error = self->follows == FUTURE_FAILED ? source->task.error : 0;
}

void rota__future_return_of(rota_future *source)
{
    struct future_run *self = this_run();

    if (self->value_of != NULL)
        return;
    self->value_of = rota__future_maker(source);
    rota__future_pin(self->value_of);
}

/* -- The end of a run ----------------------------------------------------- */

/* What follows from being done. */
static void finish(const struct future_run *self, rota_future *future)
{
    if (self->more != NULL)
        rota__future_collect(future, self->more);
    else
        rota__future_finish(future);
}

/* The body's outcome becomes the future's, unless somebody was quicker. True: it did. */
static bool complete_as_runner(struct future_run *self, rota_future *future, int error)
{
    if (future_begin_completing(future) == FUTURE_TOO_LATE)
        return false;
    if (error == 0) {
        future->result = self->run.result;
        future->value_of = self->value_of;
        self->value_of = NULL;
    }
    future->task.error = error;
    future_end_completing_and_leave(future, error == 0 ? FUTURE_NORMAL : FUTURE_FAILED);
    return true;
}

static bool cancel_as_runner(rota_future *future)
{
    bool has_won = future_cancel(future) != FUTURE_TOO_LATE;

    future_leave(future);
    return has_won;
}

/* It is pending again, or somebody has ended it. */
static void leave(struct future_run *self, rota_future *future, int error)
{
    self->pending = future_leave(future) == FUTURE_NEW; /* before any code of the user's */
    if (self->after == NULL) {
        if (error == 0)
            rota__future_free_result(future, self->run.result, self->value_of); /* unseen: OWN-17 */
    } else if (self->pending) {
        self->after(future);
    } else {
        rota__future_discard_argument(future); /* which it was to need later: future.F4 */
    }
}

static void body_ended(rota__run *run)
{
    struct future_run *self = ROTA__CONTAINER(run, struct future_run, run);
    rota_future *future = rota__future_of(run->task);
    int error = run->execution.error;

    rota__execution_end(&run->execution);
    if (self->follows > FUTURE_FAILED) {
        if (cancel_as_runner(future))
            finish(self, future);
    } else if (((self->once && self->after == NULL) || error != 0)
               && complete_as_runner(self, future, error)) {
        finish(self, future);
    } else {
        leave(self, future, error);
    }
    if (self->value_of != NULL)
        rota__future_unpin(self->value_of);
    if (future->task.periodic && !self->pending)
        rota__future_discard_argument(future); /* future.F4 */
}

/* -- Handing on ----------------------------------------------------------- */

void rota__relay_begin(rota__relay *relay, const rota_future *future, rota__action_queue *more)
{
    rota_thread *self = rota__self();

    *relay = (rota__relay){future, more, self->relay};
    self->relay = relay;
}

void rota__relay_end(rota__relay *relay)
{
    rota__self()->relay = relay->outer;
}

/* For what follows from the end of this one; NULL: it is run at once. */
static rota__action_queue *relayed(const rota_thread *self, const rota_future *future)
{
    rota__relay *relay = self->relay;

    if (ROTA__LIKELY(relay == NULL) || relay->future != future)
        return NULL;
    relay->future = NULL; /* it may be gone soon, and another have its address */
    return relay->more;
}

/* -- Running -------------------------------------------------------------- */

static bool run_body(rota_future *future, bool once, rota__action_queue *more)
{
    struct future_run self;

    self.run.task = &future->task; /* one by one: the execution is written below */
    self.run.result = NULL;
    self.run.ended = body_ended;
    self.once = once;
    self.after = NULL;
    self.follows = FUTURE_NEW;
    self.value_of = NULL;
    self.more = more;
    self.pending = false;
    rota__execution_begin(&self.run.execution, future);
    if (!future_claim(future, &self.run.execution)) { /* future.F3 */
        rota__execution_end(&self.run.execution);
        return false;
    }
    if (more == NULL)
        self.more = relayed(self.run.execution.thread, future);
    rota__run_body(&self.run);
    return self.pending;
}

void rota__future_run(rota_future *future)
{
    run_body(future, true, NULL);
}

struct run_into {
    rota_future *future;
    rota__action_queue *more;
};

static void run_one_into(void *arg)
{
    struct run_into *self = arg;

    run_body(self->future, true, self->more);
}

static void unpin_one(void *arg)
{
    struct run_into *self = arg;

    rota__future_unpin(self->future);
}

void rota__future_run_into(rota_future *future, rota__action_queue *more)
{
    struct run_into self = {future, more};

    rota__os_guarded(run_one_into, unpin_one, &self);
    rota__future_unpin(future);
}

bool rota__future_run_and_reset(rota_future *future)
{
    return run_body(future, false, NULL);
}
