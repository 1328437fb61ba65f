/* SPDX-License-Identifier: MIT */
/*
 * futures.c - get, cancel, complete, run and letting go meet one another.
 */
#include "base/alloc.h"
#include "exec/exec_internal.h"
#include "explore.h"
#include "future/future_internal.h"
#include "linearizable.h"

static int payload; /* plain: a future that is done has it in order, or a data race is found */

static rota_future *new_promise(void)
{
    rota_future *promise = NULL;

    payload = 0;
    ex_check(rota_promise_new(&promise) == ROTA_OK);
    return promise;
}

/* -- Promises -------------------------------------------------------------------------------- */

static void complete(void *future)
{
    payload = 42;
    rota_promise_complete(future, &payload);
}

static void get(void *future)
{
    void *result = NULL;

    ex_check(rota_future_get(future, &result) == ROTA_OK);
    ex_check(*(int *)result == 42);
}

/* FUT-08, GEN-08 */
EXPLORE(a_getter_meets_a_completer)
{
    rota_future *future = new_promise();
    ex_thread *completer = ex_start(complete, future);

    get(future);
    ex_join(completer);
    rota_future_unref(future);
}

/* FUT-18 */
EXPLORE(two_getters_meet_a_completer)
{
    rota_future *future = new_promise();
    ex_thread *completer = ex_start(complete, future);
    ex_thread *getter = ex_start(get, future);

    get(future);
    ex_join(getter);
    ex_join(completer);
    rota_future_unref(future);
}

static void get_and_unref(void *future)
{
    get(future);
    rota_future_unref(future);
}

/* OWN-01: whoever is last frees it, also the one that completes. */
EXPLORE(the_last_of_three_holders_frees)
{
    rota_future *future = new_promise();
    ex_thread *first = ex_start(get_and_unref, rota_future_ref(future));
    ex_thread *second = ex_start(get_and_unref, rota_future_ref(future));

    complete(future);
    rota_future_unref(future);
    ex_join(first);
    ex_join(second);
}

static void let_go(void *future)
{
    rota_future_unref(future);
}

/* future.F5: what somebody still works on stays, though all holders go. */
EXPLORE(a_pin_outlasts_the_holders)
{
    rota_future *future = new_promise();
    ex_thread *other = ex_start(let_go, rota_future_ref(future));

    rota__future_pin(future);
    complete(future);
    rota_future_unref(future);
    ex_check(rota_future_state_of(future) == ROTA_FUTURE_SUCCEEDED);
    rota__future_unpin(future);
    ex_join(other);
}

static void get_timed(void *future)
{
    int status = rota_future_get_timed(future, ROTA_MS(5), NULL);

    ex_check(status == ROTA_OK || status == ROTA_ETIMEDOUT);
    ex_check(status != ROTA_OK || payload == 42);
}

/* FUT-19, OWN-14: who leaves early leaves nothing behind, also when two do so together. */
EXPLORE(two_impatient_getters_meet_a_completer)
{
    rota_future *future = new_promise();
    ex_thread *first = ex_start(get_timed, future);
    ex_thread *second = ex_start(get_timed, future);

    complete(future);
    ex_join(first);
    ex_join(second);
    rota_future_unref(future);
}

EXPLORE(three_impatient_getters_leave_in_any_order)
{
    rota_future *future = new_promise();
    ex_thread *first = ex_start(get_timed, future);
    ex_thread *second = ex_start(get_timed, future);

    get_timed(future);
    ex_join(first);
    ex_join(second);
    rota_future_unref(future);
}

static void interrupt(void *thread)
{
    rota_thread_interrupt(thread);
}

/* FUT-07, INT-05: the outcome, with the interrupt left; or the interrupt, and only that. */
EXPLORE(an_interrupted_getter_meets_a_completer)
{
    rota_future *future = new_promise();
    ex_thread *interrupter = ex_start(interrupt, rota_thread_self());
    ex_thread *completer = ex_start(complete, future);
    int status = rota_future_get(future, NULL);

    ex_join(interrupter);
    ex_join(completer);
    ex_check(status == ROTA_OK || status == ROTA_EINTERRUPTED);
    ex_check((status == ROTA_EINTERRUPTED) != rota_interrupted());
    rota_future_unref(future);
}

static void let_go_once_awaited(void *arg)
{
    rota_future *future = arg;

    while (rota__load_acquire(&future->actions) == 0)
        rota__os_yield();
    rota_future_unref(future);
}

/* OWN-10, OWN-20: a getter is no holder; the last holder's leaving cancels and wakes it. */
EXPLORE(a_promise_let_go_of_wakes_its_getter)
{
    rota_future *future = new_promise();
    ex_thread *holder = ex_start(let_go_once_awaited, future);

    ex_check(rota_future_get(future, NULL) == ROTA_ECANCELED);
    ex_join(holder);
}

static int wins;
static rota__atomic(uint32_t) win_count;

static void try_complete(void *future)
{
    if (rota_promise_complete(future, &wins))
        rota__add_relaxed(&win_count, 1);
}

static void try_fail(void *future)
{
    if (rota_promise_fail(future, 7))
        rota__add_relaxed(&win_count, 1);
}

static void try_cancel(void *future)
{
    if (rota_future_cancel(future))
        rota__add_relaxed(&win_count, 1);
}

/* FUT-02, FUT-10, FUT-17: one wins, and its outcome stays. */
EXPLORE(complete_fail_and_cancel_have_one_winner)
{
    rota_future *future = new_promise();

    rota__store_relaxed(&win_count, 0);
    ex_thread *first = ex_start(try_fail, future);
    ex_thread *second = ex_start(try_cancel, future);
    try_complete(future);
    int status = rota_future_get(future, NULL);
    ex_join(first);
    ex_join(second);
    ex_check(rota__load_relaxed(&win_count) == 1);
    ex_check(rota_future_get(future, NULL) == status);
    rota_future_unref(future);
}

static void get_when_done(void *future)
{
    while (!rota_future_is_done(future))
        rota__os_yield();
    ex_check(rota_future_get_timed(future, 0, NULL) == ROTA_OK && payload == 42);
}

/* FUT-07: a thread that has seen it done gets the result, even with no time left and interrupted. */
EXPLORE(a_future_that_was_seen_done_answers_at_once)
{
    rota_future *future = new_promise();
    ex_thread *completer = ex_start(complete, future);

    rota_thread_interrupt(rota_thread_self());
    get_when_done(future);
    ex_check(rota_interrupted());
    ex_join(completer);
    rota_future_unref(future);
}

static rota__atomic(uint32_t) results_freed;

static void free_once(void *unused)
{
    (void)unused;
    rota__add_relaxed(&results_freed, 1);
}

static void free_once_more(void *unused)
{
    free_once(unused);
}

static void own_as_well(void *future)
{
    ex_check(rota_future_own_result(future, free_once_more) == ROTA_OK);
}

/* OWN-06: if two threads pass a function that frees the result, one of the two frees it, once. */
EXPLORE(two_threads_make_a_future_own_its_result)
{
    rota_future *future = new_promise();
    ex_thread *completer = ex_start(complete, future);
    ex_thread *other = ex_start(own_as_well, future);

    rota__store_relaxed(&results_freed, 0);
    ex_check(rota_future_own_result(future, free_once) == ROTA_OK);
    ex_join(completer);
    ex_join(other);
    rota_future_unref(future);
    ex_check(rota__load_relaxed(&results_freed) == 1);
}

/* -- Tasks ----------------------------------------------------------------------------------- */

static int ran, discarded, freed;

static void *body(void *arg)
{
    ran++;
    return arg;
}

static void discard(void *arg)
{
    (void)arg;
    discarded++;
}

static void free_result(void *result)
{
    (void)result;
    freed++;
}

static rota_future *new_task(rota_fn *fn)
{
    rota_call call = {.fn = fn, .arg = &payload, .discard = discard, .free_result = free_result};
    rota_future *future = rota__future_new(&call, true, sizeof *future);

    ran = discarded = freed = 0;
    ex_check(future != NULL);
    return future;
}

static void run(void *future)
{
    rota_task_run(&((rota_future *)future)->task);
}

/* FUT-14, FUT-22, OWN-04, OWN-17: body or discard, and each result freed once. */
EXPLORE(cancel_meets_run_and_get)
{
    rota_future *future = new_task(body);

    rota__store_relaxed(&win_count, 0);
    ex_thread *runner = ex_start(run, future);
    ex_thread *canceller = ex_start(try_cancel, future);
    int status = rota_future_get(future, NULL);
    ex_join(runner);
    ex_join(canceller);
    ex_check(ran + discarded == 1);
    ex_check(status == (rota__load_relaxed(&win_count) == 1 ? ROTA_ECANCELED : ROTA_OK));
    rota_future_unref(future);
    ex_check(freed == ran);
}

/* FUT-04, FAULT-09: whoever runs it, it runs once. */
EXPLORE(two_runners_run_it_once)
{
    rota_future *future = new_task(body);

    rota__future_pin(future); /* a second task in hand, as it were */
    ex_thread *first = ex_start(run, future);
    run(future);
    ex_check(rota_future_get(future, NULL) == ROTA_OK);
    ex_join(first);
    ex_check(ran == 1 && discarded == 0);
    rota_future_unref(future);
    ex_check(freed == 1);
}

/* OWN-02 */
EXPLORE(letting_go_while_it_runs_is_no_cancel)
{
    rota_future *future = new_task(body);
    ex_thread *runner = ex_start(run, future);

    rota_future_unref(future);
    ex_join(runner);
    ex_check(ran == 1 && discarded == 0 && freed == 1);
}

static bool was_interrupted;

static void *look_at_flag(void *arg)
{
    was_interrupted = rota_is_interrupted();
    return arg;
}

static void run_two(void *future)
{
    run(future);
    ex_check(!rota_is_interrupted()); /* INT-08 */
    rota_task *next = rota__plain_task_new(look_at_flag, NULL);
    ex_check(next != NULL);
    rota_task_run(next);
    ex_check(!was_interrupted);
}

/* INT-08, FUT-13: an interrupt that comes late reaches neither the thread nor its next task. */
EXPLORE(a_late_interrupt_is_void)
{
    rota_future *future = new_task(look_at_flag);
    ex_thread *runner = ex_start(run_two, future);

    rota_future_cancel_now(future);
    ex_join(runner);
    rota_future_unref(future);
}

static rota_future *borrowed;

static void *borrow(void *future)
{
    borrowed = rota_future_ref(future);
    return NULL;
}

/* OWN-01: what a task lends is held anew, while its last holder goes. */
EXPLORE(a_lent_future_is_held_while_its_holder_lets_go)
{
    rota_future *future = new_task(borrow);

    future->task.call.arg = future;
    ex_thread *runner = ex_start(run, future);
    rota_future_unref(future);
    ex_join(runner);
    ex_check(rota_future_get_timed(borrowed, 0, NULL) == ROTA_OK && freed == 0);
    rota_future_unref(borrowed);
    ex_check(freed == 1);
}

static void *sleep_until_interrupted(void *arg)
{
    ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    ran++;
    return arg;
}

/* FUT-12: the body is interrupted, or never begins. */
EXPLORE(cancel_now_interrupts_or_prevents)
{
    rota_future *future = new_task(sleep_until_interrupted);
    ex_thread *runner = ex_start(run, future);

    ex_check(rota_future_cancel_now(future));
    ex_check(rota_future_get(future, NULL) == ROTA_ECANCELED);
    ex_join(runner);
    ex_check(ran + discarded == 1);
    rota_future_unref(future);
}

static void *exits(void *arg)
{
    (void)arg;
    ran++;
    ex_exit();
    return NULL;
}

/* GEN-14: a task that ends its thread has failed, and its getter hears of it. */
EXPLORE(a_task_that_ends_its_thread_has_failed)
{
    rota_future *future = new_task(exits);
    ex_thread *runner = ex_start(run, future);

    ex_check(rota_future_get(future, NULL) == ROTA_EFAILED);
    ex_check(rota_future_error(future) == ROTA_ECANCELED);
    ex_join(runner);
    rota_future_unref(future);
}

static rota__run_mode run_periodic(rota_executor *ex, rota_future *future)
{
    (void)ex;
    (void)future;
    return ROTA__RUN_PERIODIC;
}

/* Keeps the reference of the task, as a queue would. */
static bool keep(rota_executor *ex, rota_future *future)
{
    (void)ex;
    (void)future;
    return true;
}

static void give_up_reference(rota_executor *ex, rota_future *future)
{
    (void)ex;
    rota__future_pin(future); /* for the caller of run_and_reset */
}

static const rota__run_ops periodic_ops = {run_periodic, keep, give_up_reference};

/* True: the future is pending again. The caller keeps its reference to the task. */
static bool run_and_reset(rota_future *future)
{
    rota__run run;

    rota__run_init(&run, NULL, &rota__no_hooks, &periodic_ops, NULL, NULL);
    rota__run_task(&run, &future->task);
    return rota_future_state_of(future) == ROTA_FUTURE_PENDING;
}

static void run_periodically(void *arg)
{
    rota_future *future = arg;

    while (run_and_reset(future) && ran < 2)
        continue;
    rota__task_release(&future->task);
}

/* OWN-19, FUT-20: discarded once, after the last run, however it ends. */
EXPLORE(cancel_meets_a_periodic_task)
{
    rota_future *future = new_task(body);

    future->task.periodic = true;
    ex_thread *runner = ex_start(run_periodically, future);
    rota_future_cancel_now(future);
    ex_join(runner);
    ex_check(discarded == 1);
    ex_check(freed == ran);
    rota_future_unref(future);
}

static void run_twice(void *future)
{
    for (int i = 0; i < 2; i++)
        run_and_reset(future);
}

/* FUT-20, GEN-08: runs follow one another, although two threads run it. */
EXPLORE(two_threads_run_a_periodic_task_as_it_is_cancelled)
{
    rota_call call = {.fn = body, .arg = &payload, .discard = discard, .free_result = free_once};
    rota_future *future = rota__future_new(&call, true, sizeof *future);

    ex_check(future != NULL);
    future->task.periodic = true;
    ran = discarded = 0; /* not atomic: runs that overlap would be a data race */
    rota__store_relaxed(&results_freed, 0);
    ex_thread *first = ex_start(run_twice, future);
    ex_thread *second = ex_start(run_twice, future);
    ex_check(ex_choose(2) == 0 ? rota_future_cancel(future) : rota_future_cancel_now(future));
    ex_join(first);
    ex_join(second);
    ex_check(rota__load_relaxed(&results_freed) == (uint32_t)ran);
    rota_task_discard(&future->task);
    rota_future_unref(future);
    ex_check(discarded == 1);
}

/* -- Actions --------------------------------------------------------------------------------- */

static int acted;

static void act(rota__action *self, rota__action_queue *more)
{
    (void)self;
    (void)more;
    acted++;
}

/* An action runs, is refused, or was taken out: one of the three. */
EXPLORE(an_action_is_added_and_removed_while_it_completes)
{
    static rota__action first, second;
    rota_future *future = new_promise();

    acted = 0;
    first.run = second.run = act;
    int expected = rota__future_add(future, &first);
    ex_thread *completer = ex_start(complete, future);
    expected += rota__future_add(future, &second);
    expected -= rota__future_remove(future, &first);
    ex_join(completer);
    ex_check(acted == expected);
    rota_future_unref(future);
}

typedef struct noted_action {
    rota__action action;
    rota_future *future;
} noted_action;

static void add_and_remove(void *arg)
{
    noted_action *noted = arg;

    ex_check(rota__future_add(noted->future, &noted->action));
    ex_check(rota__future_remove(noted->future, &noted->action));
}

/* FUT-19: of three actions that threads add at once, the one that stays runs, once. */
EXPLORE(three_threads_add_actions_and_two_remove_theirs)
{
    rota_future *future = new_promise();
    noted_action noted[3];

    acted = 0;
    for (int i = 0; i < 3; i++)
        noted[i] = (noted_action){.action = {.run = act}, .future = future};
    ex_thread *first = ex_start(add_and_remove, &noted[0]);
    ex_thread *second = ex_start(add_and_remove, &noted[1]);
    ex_check(rota__future_add(future, &noted[2].action));
    ex_join(first);
    ex_join(second);
    complete(future);
    ex_check(acted == 1);
    rota_future_unref(future);
}

/* actions.N3: whoever is taken out, and in whatever order, the others stay linked. */
EXPLORE(four_actions_leave_in_any_order)
{
    rota_future *future = new_promise();
    rota__action *actions[4];

    acted = 0;
    for (int i = 0; i < 4; i++) {
        actions[i] = rota__alloc(sizeof *actions[i]);
        ex_check(actions[i] != NULL);
        actions[i]->run = act;
        ex_check(rota__future_add(future, actions[i]));
    }
    for (unsigned left = 4; left > 1; left--) {
        unsigned i = ex_choose(left);
        ex_check(rota__future_remove(future, actions[i]));
        rota__free(actions[i], sizeof *actions[i]);
        actions[i] = actions[left - 1];
    }
    complete(future);
    ex_check(acted == 1);
    rota__free(actions[0], sizeof *actions[0]);
    rota_future_unref(future);
}

static void want_descriptor(void *future)
{
    int fd;

    ex_check(rota_future_fd(future, &fd) == ROTA_OK);
}

/* Two ask for it while it completes: the same one for both, and readable in the end. */
EXPLORE(the_descriptor_is_signalled_whenever_it_is_made)
{
    rota_future *future = new_promise();
    ex_thread *completer = ex_start(complete, future);
    ex_thread *other = ex_start(want_descriptor, future);
    int fd = 0;

    want_descriptor(future);
    ex_join(completer);
    ex_join(other);
    ex_check(rota_future_fd(future, &fd) == ROTA_OK && ex_is_readable(fd));
    rota_future_unref(future);
}

static void get_or_enomem(void *future)
{
    int status = rota_future_get(future, NULL);

    ex_check(status == ROTA_OK || status == ROTA_ENOMEM);
}

/* GEN-10: what is refused leaves nothing behind. */
EXPLORE_WITH_FAULTS(futures_survive_refusals)
{
    rota_future *future;
    int fd;

    payload = 0;
    if (rota_promise_new(&future) != ROTA_OK)
        return;
    ex_thread *getter = ex_start(get_or_enomem, future);
    int status = rota_future_fd(future, &fd);
    ex_check(status == ROTA_OK || status == ROTA_ENOMEM || status == ROTA_EAGAIN);
    complete(future);
    ex_join(getter);
    ex_check(status != ROTA_OK || ex_is_readable(fd));
    rota_future_unref(future);
}

/* -- As if one after the other --------------------------------------------------------------- */

enum { COMPLETE, CANCEL, LOOK };

static lin_history history;

/* The state is the future's; the first end counts. */
static bool promise_apply(void *state, const lin_operation *operation)
{
    int *phase = state;
    bool pending = *phase == ROTA_FUTURE_PENDING;

    if (operation->kind == LOOK)
        return operation->result == *phase;
    if (pending)
        *phase = operation->kind == COMPLETE ? ROTA_FUTURE_SUCCEEDED : ROTA_FUTURE_CANCELED;
    return operation->result == pending;
}

static void operate(rota_future *future, int kind)
{
    size_t i = lin_call(&history, kind, 0);

    if (kind == COMPLETE)
        lin_return(&history, i, rota_promise_complete(future, NULL));
    else if (kind == CANCEL)
        lin_return(&history, i, rota_future_cancel(future));
    else
        lin_return(&history, i, (long)rota_future_state_of(future));
}

static void complete_and_look(void *future)
{
    operate(future, COMPLETE);
    operate(future, LOOK);
}

static void look_twice(void *future)
{
    operate(future, LOOK);
    operate(future, LOOK);
}

/* FUT-02, FUT-25 */
EXPLORE(a_promise_is_linearizable)
{
    static const lin_model model = {promise_apply};
    rota_future *future = new_promise();

    lin_clear(&history);
    ex_thread *first = ex_start(complete_and_look, future);
    ex_thread *second = ex_start(look_twice, future);
    operate(future, CANCEL);
    operate(future, LOOK);
    ex_join(first);
    ex_join(second);
    ex_check(lin_check(&history, &model));
    rota_future_unref(future);
}
