/* SPDX-License-Identifier: MIT */
/*
 * run.c - a future's body is run, once or again and again.
 */
#include "future/future_internal.h"
#include "future/future_state.h"

struct future_run {
    rota__run run;
    bool once;    /* the first run is the last */
    bool pending; /* out: it is NEW again */
};

/* The body's outcome becomes the future's, unless somebody was quicker. True: it did. */
static bool complete_as_runner(rota_future *future, int error, void *result)
{
    if (future_begin_completing(future) == FUTURE_TOO_LATE)
        return false;
    future->result = error == 0 ? result : NULL;
    future->task.error = error;
    future_end_completing_and_leave(future, error == 0 ? FUTURE_NORMAL : FUTURE_FAILED);
    return true;
}

static void body_ended(rota__run *run)
{
    struct future_run *self = ROTA__CONTAINER(run, struct future_run, run);
    rota_future *future = rota__future_of(run->task);
    int error = run->execution.error;

    rota__execution_end(&run->execution);
    bool completes = self->once || error != 0;
    if (completes && complete_as_runner(future, error, run->result)) {
        rota__future_finish(future);
    } else {
        self->pending = future_leave(future) == FUTURE_NEW; /* before any code of the user's */
        if (error == 0)
            rota__future_free_result(future, run->result); /* nobody will see it: OWN-17 */
    }
    if (future->task.periodic && !self->pending)
        rota__future_discard_argument(future); /* F4 */
}

static bool run_body(rota_future *future, bool once)
{
    struct future_run self = {.run = {.task = &future->task, .ended = body_ended}, .once = once};

    rota__execution_begin(&self.run.execution, future);
    if (!future_claim(future, &self.run.execution)) { /* F3 */
        rota__execution_end(&self.run.execution);
        return false;
    }
    rota__run_body(&self.run);
    return self.pending;
}

void rota__future_run(rota_future *future)
{
    run_body(future, true);
}

bool rota__future_run_and_reset(rota_future *future)
{
    return run_body(future, false);
}
