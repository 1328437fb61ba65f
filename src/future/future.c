/* SPDX-License-Identifier: MIT */
/*
 * future.c - a future's life: made, held, completed or cancelled, freed. The
 * numbers of the invariants are those of future_internal.h.
 */
#include "future/future_internal.h"

#include "base/block.h"
#include "base/check.h"
#include "future/future_state.h"

/*
 * The word `counts`: references in the lower half, holders in the upper one, which have one
 * reference together (future.F5). In one word, so that one look tells both.
 */
#define REFERENCE UINT64_C(1)
#define HOLDER    (UINT64_C(1) << 32)
#define SOLE      (HOLDER + REFERENCE)

/* -- Making and freeing --------------------------------------------------- */

rota_future *rota__future_new(const rota_call *call, bool held, size_t size)
{
    uint8_t slab_offset;
    size_t units = (size + ROTA__BLOCK_UNIT - 1) / ROTA__BLOCK_UNIT;
    rota_future *future =
        rota__block_get(&rota__self()->magazines, units * ROTA__BLOCK_UNIT, &slab_offset);

    if (future == NULL)
        return NULL;
    future->task.call = call != NULL ? *call : (rota_call){0};
    rota__store_relaxed(&future->task.next, NULL);
    rota__store_relaxed(&future->task.executor, 0);
    future->task.slab_offset = slab_offset;
    future->task.units = (uint8_t)units; /* by which destroy knows what was asked for */
    future->task.kind = ROTA__TASK_FUTURE;
    future->task.periodic = false;
    rota__store_relaxed(&future->task.counts,
                        (call != NULL) * REFERENCE + held * (HOLDER + REFERENCE));
    rota__store_relaxed(&future->state, FUTURE_NEW);
    rota__store_relaxed(&future->actions, 0);
    rota__store_relaxed(&future->free_result, (uintptr_t)future->task.call.free_result);
    rota__store_relaxed(&future->event, NULL);
    rota__store_relaxed(&future->listener, 0);
    rota__store_relaxed(&future->time, ROTA__NOT_SCHEDULED);
    future->result = NULL;
    future->value_of = NULL;
    return future;
}

/* In checked builds one that is gone is known by having neither, as long as its memory is not used
   again. */
static void note_gone(rota_future *future)
{
#ifdef ROTA_CHECKED
    rota__store_relaxed(&future->task.counts, 0);
#else
    (void)future;
#endif
}

static void destroy(rota_future *future)
{
    rota__future_check(future);
    if (future_phase_in(future_state_load(future)) == FUTURE_NORMAL)
        rota__future_free_result(future, future->result, future->value_of);
    rota__event_free(rota__load_acquire(&future->event));
    if (future->value_of != NULL)
        rota__future_unpin(future->value_of); /* which has none of its own: no deeper than this */
    note_gone(future);
    rota__block_put(&rota__self()->magazines, future, (size_t)future->task.units * ROTA__BLOCK_UNIT,
                    future->task.slab_offset);
}

bool rota__future_is_held(const rota_future *future)
{
    return rota__load_relaxed(&future->task.counts) >= HOLDER;
}

void rota__future_pin(rota_future *future)
{
    rota__add_relaxed(&future->task.counts, REFERENCE); /* the caller has, or is lent, another */
}

void rota__future_unpin(rota_future *future)
{
    if (rota__sub_acq_rel(&future->task.counts, REFERENCE) == REFERENCE) /* future.F7a */
        destroy(future);
}

void rota__future_check(const rota_future *future)
{
    ROTA__ASSERT(future_runner_in(future_state_load(future)) == NULL);
    ROTA__ASSERT(future_phase_in(future_state_load(future)) != FUTURE_COMPLETING);
    ROTA__ASSERT(future_phase_in(future_state_load(future)) != FUTURE_INTERRUPTING);
    ROTA__ASSERT(future->task.kind == ROTA__TASK_FUTURE);
}

/* -- Holding -------------------------------------------------------------- */

/* Only checked builds call it. */
__attribute__((unused)) static inline bool is_gone(const rota_future *future)
{
    uint64_t counts = rota__load_relaxed(&future->task.counts);

    return counts == 0 || counts == ROTA__FREED_WORD;
}

rota_future *rota_future_ref(rota_future *future)
{
    if (future == NULL)
        return NULL;
    ROTA__DEMAND(!is_gone(future), "rota_future_ref of a future that is gone");
    /* One that no one holds any more is lent by a hook or a handler: held anew. */
    if (rota__add_relaxed(&future->task.counts, HOLDER) < HOLDER)
        rota__future_pin(future); /* future.F5a */
    return future;
}

static bool is_promise(const rota_future *future)
{
    return future->task.call.fn == NULL;
}

void rota_future_unref(rota_future *future)
{
    if (future == NULL)
        return;
    ROTA__DEMAND(!is_gone(future) && rota__future_is_held(future),
                 "rota_future_unref of a future that nobody holds: once too often");
    /* The one holder has the one reference, so nobody else can have, get or lend one. */
    uint64_t counts = rota__load_acquire(&future->task.counts); /* future.F7b */
    bool sole = ROTA__BUG(future.F5b, counts == SOLE, counts / HOLDER == 1);
    if (sole && rota_future_is_done(future)) {
        destroy(future); /* as below, without the two subtractions */
        return;
    }
    if (rota__sub_acq_rel(&future->task.counts, HOLDER) >= 2 * HOLDER)
        return;
    if (is_promise(future))
        rota_future_cancel(future); /* future.F5; without effect if it is done */
    rota__future_unpin(future);
}

int rota_promise_new(rota_future **out)
{
    if (out == NULL)
        return ROTA_EINVAL;
    rota_future *promise = rota__future_new(NULL, true, sizeof *promise);
    if (promise == NULL)
        return ROTA_ENOMEM;
    *out = promise;
    return ROTA_OK;
}

/* -- Ending it from outside ----------------------------------------------- */

void rota__future_discard_argument(rota_future *future)
{
    const rota_call *call = &future->task.call;

    if (call->discard != NULL)
        ROTA__MUST_RETURN("discard", call->discard(call->arg));
}

/* After any end but the runner's own. */
static bool ended(rota_future *future, future_end end)
{
    rota__action_queue queue = {NULL, NULL};

    if (end == FUTURE_TOO_LATE)
        return false;
    if (end == FUTURE_WAS_PENDING)
        rota__future_notify_listener(future); /* future.F6: before any waiter sees the end */
    rota__future_collect(future, &queue);
    if (end == FUTURE_WAS_PENDING)
        rota__future_discard_argument(future); /* future.F4 */
    rota__actions_run(&queue); /* last: an action may run a task that ends the thread */
    return true;
}

bool rota_future_cancel(rota_future *future)
{
    ROTA__PREFETCH(future); /* the task: its state is in the next cache line */
    return future != NULL && ended(future, future_cancel(future));
}

bool rota_future_cancel_now(rota_future *future)
{
    rota__execution *runner;

    if (future == NULL)
        return false;
    future_end end = future_begin_interrupting(future, &runner);
    if (end == FUTURE_WAS_RUNNING) {
        if (runner != &rota__visiting)
            rota__interrupt_execution(runner);
        future_end_interrupting(future);
    }
    return ended(future, end);
}

static bool complete(rota_future *future, future_phase outcome, void *value, int code)
{
    future_end end = future_begin_completing(future);

    if (end != FUTURE_TOO_LATE) {
        future->result = value;
        rota__store_relaxed(&future->task.error, code);
        future_end_completing(future, outcome);
    }
    return ended(future, end);
}

bool rota_promise_complete(rota_future *promise, void *value)
{
    return promise != NULL && complete(promise, FUTURE_NORMAL, value, 0);
}

bool rota_promise_fail(rota_future *promise, int code)
{
    return promise != NULL && code != 0 && complete(promise, FUTURE_FAILED, NULL, code);
}

/* -- Visits --------------------------------------------------------------- */

rota__execution rota__visiting;

bool rota__future_visit_begin(rota_future *future)
{
    return future_claim(future, &rota__visiting);
}

bool rota__future_visit_end(rota_future *future)
{
    if (future_leave(future) == FUTURE_NEW)
        return false;
    rota__future_pin(future); /* for visit_done: the task may leave its queue before */
    return true;
}

void rota__future_visit_done(rota_future *future)
{
    rota__future_notify_listener(future);  /* future.F6 */
    rota__future_discard_argument(future); /* future.F4 */
    rota__future_unpin(future);
}

/* -- Ending it as another has --------------------------------------------- */

rota_future *rota__future_maker(rota_future *future)
{
    return future->value_of != NULL ? future->value_of : future;
}

static bool collected(rota_future *future, rota__action_queue *more)
{
    rota__future_collect(future, more);
    return true;
}

bool rota__future_end_failed(rota_future *future, int code, rota__action_queue *more)
{
    if (future_begin_completing(future) == FUTURE_TOO_LATE)
        return false; /* GCOVR_EXCL_LINE: another thread completes it just now */
    rota__store_relaxed(&future->task.error, code);
    future_end_completing(future, FUTURE_FAILED);
    return collected(future, more);
}

bool rota__future_end_like(rota_future *future, rota_future *source, rota__action_queue *more)
{
    future_phase phase = source != NULL ? future_phase_settled(source) : FUTURE_NORMAL;

    if (phase == FUTURE_FAILED)
        return rota__future_end_failed(future, rota_future_error(source), more);
    if (phase != FUTURE_NORMAL)
        return future_cancel(future) != FUTURE_TOO_LATE && collected(future, more);
    if (future_begin_completing(future) == FUTURE_TOO_LATE)
        return false;
    if (source != NULL) {
        future->result = source->result;
        future->value_of = rota__future_maker(source);
        rota__future_pin(future->value_of);
    }
    future_end_completing(future, FUTURE_NORMAL);
    return collected(future, more);
}

void rota__future_refuse(rota_future *future)
{
    /* Only who got hold of it in the executor's hands can see this. */
    if (future_cancel(future) != FUTURE_TOO_LATE)
        rota__future_finish(future);
    rota__future_unpin(future);
}

/* -- Whose the result is -------------------------------------------------- */

void rota__future_free_result(const rota_future *future, void *result, const rota_future *maker)
{
    /* Pairs with rota_future_own_result. */
    uintptr_t function = rota__load_acquire(&future->free_result);

    if (function != 0 && (maker == NULL || rota__load_acquire(&maker->free_result) == 0))
        ROTA__MUST_RETURN("free_result", ((void (*)(void *))function)(result));
}

int rota_future_own_result(rota_future *future, void (*free_result)(void *result))
{
    uintptr_t none = 0;

    if (future == NULL || free_result == NULL)
        return ROTA_EINVAL;
    rota__cas_acq_rel(&future->free_result, &none, (uintptr_t)free_result);
    return ROTA_OK; /* an owner that was there before stays */
}
