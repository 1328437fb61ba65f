/* SPDX-License-Identifier: MIT */
/*
 * completers.c - those that complete, fail, cancel and run a completer at once.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/alloc.h"
#include "explore.h"

/* -- A family ----------------------------------------------------------------------------------- */

enum { ROOT, A, B, SIZE };
enum { FAR = 8 }; /* a count that is not taken to 0: what is left says how often it was told */

typedef struct node {
    rota_completer completer; /* first */
    int number;
} node;

static rota_executor *pool;
static node *family;
static rota__os_word ran[SIZE]; /* how often each began, */
static rota__os_word completed[SIZE];
static rota__os_word failed[SIZE];
static int failed_with[SIZE]; /* what on_failure was told */
static int status;            /* of who joins the root */

static rota_completer *completer(int i)
{
    return &family[i].completer;
}

static rota_fj *task(int i)
{
    return &family[i].completer.task;
}

static void add(rota__os_word *word)
{
    rota__add_acq_rel(word, 1);
    rota__os_wake(word);
}

/* The library knows nothing of this wait. */
static void wait_for(rota__os_word *word)
{
    while (rota__load_acquire(word) == 0)
        rota__os_wait(word, 0, ROTA_FOREVER);
    rota__os_wake(word); /* the next who waits */
}

static uint32_t count(const rota__os_word *word)
{
    return rota__load_relaxed(word);
}

static void on_completion(rota_completer *self, rota_completer *caller)
{
    (void)caller;
    add(&completed[((node *)self)->number]);
}

static bool on_failure(rota_completer *self, int code, rota_completer *caller)
{
    int i = ((node *)self)->number;

    (void)caller;
    failed_with[i] = code;
    add(&failed[i]);
    return true;
}

static void just_run(rota_completer *self)
{
    add(&ran[((node *)self)->number]);
}

static void run_and_complete(rota_completer *self)
{
    just_run(self);
    rota_try_complete(self);
}

static void run_and_fail(rota_completer *self)
{
    just_run(self);
    rota_fj_fail(&self->task, ((node *)self)->number);
}

static void fork_both(rota_completer *self)
{
    just_run(self);
    rota_set_pending(self, 2);
    rota_fork(task(A));
    rota_fork(task(B));
    rota_try_complete(self);
}

typedef void computing(rota_completer *self);

static void set(int i, computing *compute, rota_completer *parent)
{
    family[i].completer = (rota_completer)ROTA_COMPLETER(compute, parent);
    family[i].completer.on_completion = on_completion;
    family[i].completer.on_failure = on_failure;
    family[i].number = i;
    rota__store_relaxed(&ran[i], 0);
    rota__store_relaxed(&completed[i], 0);
    rota__store_relaxed(&failed[i], 0);
    failed_with[i] = 0;
}

static void make_pool(rota_forkjoin_options options)
{
    options.keep_alive = ROTA_FOREVER; /* so that a lost wake-up is a deadlock */
    ex_check(rota_forkjoin_new(&options, &pool) == ROTA_OK);
}

/* A root and two children. */
static void begin(unsigned parallelism, computing *root, computing *a, computing *b)
{
    family = rota__alloc(SIZE * sizeof *family);
    ex_check(family != NULL);
    set(ROOT, root, NULL);
    set(A, a, completer(ROOT));
    set(B, b, completer(ROOT));
    status = ROTA_EREJECTED;
    make_pool((rota_forkjoin_options){.parallelism = parallelism});
}

static void free_family(void)
{
    rota__free(family, SIZE * sizeof *family);
}

static void end(void)
{
    ex_check(rota_close(pool) == ROTA_OK);
    free_family();
}

static void check_each_completed_once(void)
{
    for (int i = 0; i < SIZE; i++)
        ex_check(count(&completed[i]) == 1);
}

/* -- What threads do ---------------------------------------------------------------------------- */

static void invoke_root(void *unused)
{
    (void)unused;
    status = rota_invoke(pool, task(ROOT));
}

static void try_complete(void *which)
{
    rota_try_complete(which);
}

static void complete(void *which)
{
    rota_complete(which);
}

static void complete_root(void *which)
{
    rota_complete_root(which);
}

static void fail(void *which)
{
    rota_fj_fail(which, ((node *)which)->number);
}

static bool was_cancelled;

static void cancel(void *which)
{
    was_cancelled = rota_fj_cancel(which);
}

static rota__os_word has_stopped;

static void stop(void *unused)
{
    (void)unused;
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    add(&has_stopped);
}

/* -- Workers that do one thing after another ---------------------------------------------------- */

static rota__fj_worker *take_place(void)
{
    rota__fj_pool *mine = rota__fj_pool_of(pool);

    rota__mutex_lock(&mine->lock);
    rota__fj_worker *place = rota__crew_enter(mine);
    rota__mutex_unlock(&mine->lock);
    ex_check(place != NULL);
    return place;
}

/* The calling thread is that worker now. */
static void work_as(rota__fj_worker *place)
{
    rota__mutex_lock(&place->pool->lock);
    place->self = rota__self();
    rota__mutex_unlock(&place->pool->lock);
    rota__fj_become(place);
}

static void give_up_place(rota__fj_worker *place)
{
    rota__fj_become(NULL);
    rota__crew_exit(place);
}

static void run_all(rota__fj_worker *place)
{
    while (rota__fj_run_one(place))
        continue;
}

/* -- Completing --------------------------------------------------------------------------------- */

/* completer.N3: the last of three completes the root. Nobody touches anything after that. */
EXPLORE(two_children_are_completed_as_the_root_is_joined)
{
    begin(1, run_and_complete, NULL, NULL);
    rota_set_pending(completer(ROOT), 2);
    ex_thread *first = ex_start(try_complete, completer(A));
    ex_thread *second = ex_start(try_complete, completer(B));
    ex_check(rota_invoke(pool, task(ROOT)) == ROTA_OK);
    end();
    ex_join(first);
    ex_join(second);
    check_each_completed_once();
}

/* The same, by workers. */
EXPLORE(two_children_run_at_once)
{
    begin(2, fork_both, run_and_complete, run_and_complete);
    ex_check(rota_invoke(pool, task(ROOT)) == ROTA_OK);
    free_family();
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(count(&ran[A]) == 1 && count(&ran[B]) == 1);
    check_each_completed_once();
}

static void run_a_loop(rota_completer *self)
{
    for (rota_completer *c = rota_first_complete(self); c != NULL; c = rota_next_complete(c))
        on_completion(c, self);
}

static void complete_in_a_loop(void *which)
{
    run_a_loop(which);
}

/* CC-08 */
EXPLORE(two_children_are_completed_in_a_loop)
{
    begin(1, run_a_loop, NULL, NULL);
    rota_set_pending(completer(ROOT), 2);
    ex_thread *first = ex_start(complete_in_a_loop, completer(A));
    ex_thread *second = ex_start(complete_in_a_loop, completer(B));
    ex_check(rota_invoke(pool, task(ROOT)) == ROTA_OK);
    end();
    ex_join(first);
    ex_join(second);
    check_each_completed_once();
}

/* fj.J2: who has no place in the pool waits for what others complete. */
EXPLORE(a_root_is_completed_as_somebody_outside_waits)
{
    begin(1, just_run, NULL, NULL);
    rota__fj_worker *place = take_place();
    ex_thread *joiner = ex_start(invoke_root, NULL);
    ex_thread *last = ex_start(try_complete, completer(A));
    work_as(place);
    run_all(place);
    give_up_place(place);
    ex_join(joiner);
    ex_join(last);
    ex_check(status == ROTA_OK && count(&completed[ROOT]) == 1 && count(&ran[ROOT]) <= 1);
    end();
}

/* CC-09, completer.N4: one ends it, and wakes who waits. */
EXPLORE(two_complete_the_root_as_it_is_joined)
{
    begin(1, just_run, NULL, NULL);
    ex_thread *first = ex_start(complete_root, completer(A));
    ex_thread *second = ex_start(complete_root, completer(B));
    ex_check(rota_invoke(pool, task(ROOT)) == ROTA_OK);
    ex_join(first);
    ex_join(second);
    ex_check(count(&completed[ROOT]) == 0);
    end();
}

/* -- The turn of one that is queued ------------------------------------------------------------- */

/* Forks A, has another thread do something to it, and runs what is left. The root was told so often. */
static int run_against(void (*act)(void *), computing *compute)
{
    begin(1, just_run, compute, NULL);
    rota_set_pending(completer(ROOT), FAR);
    rota__fj_worker *place = take_place();
    work_as(place);
    rota_fork(task(A));
    ex_thread *other = ex_start(act, completer(A));
    run_all(place);
    ex_join(other);
    give_up_place(place);
    return FAR - rota_pending(completer(ROOT));
}

/* completer.N2, CC-11: whether it ran or was passed over, its parent is told once. */
EXPLORE(a_completer_is_cancelled_as_its_turn_comes)
{
    ex_check(run_against(cancel, run_and_complete) == 1);
    ex_check(was_cancelled && rota_fj_is_done(task(A)));
    ex_check(count(&ran[A]) == count(&completed[A]) && count(&ran[A]) <= 1);
    ex_check(count(&failed[ROOT]) == 0);
    end();
}

/* completer.N1, CC-06: who completes it tells its parent; its own turn does nothing, or had come
   before. */
EXPLORE(a_completer_is_completed_as_its_turn_comes)
{
    ex_check(run_against(complete, just_run) == 1);
    ex_check(count(&completed[A]) == 1 && count(&ran[A]) <= 1);
    ex_check(rota_fj_is_done(task(A)));
    end();
}

static rota__os_word is_told, may_go_on;

static void tell_and_wait(rota_completer *self, rota_completer *caller)
{
    on_completion(self, caller);
    add(&is_told);
    wait_for(&may_go_on);
}

/* completer.N1: it has not begun, and never will, also while the completion is only told of. */
EXPLORE(a_turn_comes_as_a_completion_is_told)
{
    begin(1, just_run, just_run, NULL);
    completer(A)->on_completion = tell_and_wait;
    rota__store_relaxed(&is_told, 0);
    rota__store_relaxed(&may_go_on, 0);
    rota__fj_worker *place = take_place();
    work_as(place);
    rota_fork(task(A));
    ex_thread *other = ex_start(complete, completer(A));
    wait_for(&is_told);
    run_all(place);
    add(&may_go_on);
    ex_join(other);
    give_up_place(place);
    ex_check(count(&ran[A]) == 0 && rota_fj_is_done(task(ROOT)));
    end();
}

static void complete_and_cancel(void *which)
{
    rota_complete(which);
    ex_check(!rota_fj_cancel(which));
}

/* completer.N2: it is done, and not by a cancellation. */
EXPLORE(a_completer_that_is_complete_is_cancelled_as_its_turn_comes)
{
    ex_check(run_against(complete_and_cancel, just_run) == 1);
    end();
}

/* CC-12: how it ends and what is called agree; its parent fails, or is told by its turn. */
EXPLORE(a_completer_fails_as_its_turn_comes)
{
    int told = run_against(fail, run_and_complete);

    ex_check(rota_fj_error(task(A)) == A && rota_fj_error(task(ROOT)) == A);
    ex_check(count(&failed[A]) == 1 && count(&failed[ROOT]) == 1);
    ex_check(told == (int)count(&ran[A]) && told <= 1);
    ex_check(count(&completed[A]) <= count(&ran[A]));
    end();
}

/* FJT-14: what is taken back and forked again has its turn, or is passed over. */
EXPLORE(a_completer_is_cancelled_as_its_fork_is_taken_back)
{
    begin(1, just_run, run_and_complete, NULL);
    rota_set_pending(completer(ROOT), FAR);
    rota__fj_worker *place = take_place();
    work_as(place);
    rota_fork(task(A));
    ex_thread *other = ex_start(cancel, completer(A));
    if (rota_unfork(task(A)))
        rota_fork(task(A));
    run_all(place);
    ex_join(other);
    give_up_place(place);
    ex_check(was_cancelled && rota_fj_is_done(task(A)));
    ex_check(rota_pending(completer(ROOT)) == FAR - 1 && count(&ran[A]) <= 1);
    end();
}

/* -- Failing and cancelling --------------------------------------------------------------------- */

static void check_failed_with(int i, int code)
{
    ex_check(rota_fj_error(task(i)) == code && failed_with[i] == code && count(&failed[i]) == 1);
}

/* CC-07, CC-12: the root ends in one of the two ways. */
EXPLORE(a_child_fails_as_another_completes)
{
    begin(1, just_run, NULL, NULL);
    ex_thread *first = ex_start(fail, completer(A));
    ex_thread *second = ex_start(try_complete, completer(B));
    invoke_root(NULL);
    ex_join(first);
    ex_join(second);
    check_failed_with(A, A);
    ex_check(status == ROTA_OK || status == ROTA_EFAILED);
    if (status == ROTA_EFAILED)
        check_failed_with(ROOT, A);
    else
        ex_check(count(&completed[ROOT]) == 1 && count(&failed[ROOT]) == 0);
    end();
}

/* CC-07: the root fails once, with the code that it keeps. */
EXPLORE(two_children_fail_with_different_codes)
{
    begin(1, just_run, NULL, NULL);
    ex_thread *first = ex_start(fail, completer(A));
    ex_thread *second = ex_start(fail, completer(B));
    invoke_root(NULL);
    ex_join(first);
    ex_join(second);
    ex_check(status == ROTA_EFAILED);
    check_failed_with(A, A);
    check_failed_with(B, B);
    check_failed_with(ROOT, rota_fj_error(task(ROOT)));
    end();
}

/* The same in their turns, on workers. */
EXPLORE(two_children_run_and_fail)
{
    begin(2, fork_both, run_and_fail, run_and_fail);
    invoke_root(NULL);
    ex_check(status == ROTA_EFAILED);
    ex_check(rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK);
    check_failed_with(ROOT, rota_fj_error(task(ROOT)));
    ex_check(count(&completed[ROOT]) == 0);
    end();
}

/* completer.N4: who joins it and who cancels it agree. */
EXPLORE(a_root_is_cancelled_as_it_is_completed)
{
    begin(1, just_run, NULL, NULL);
    ex_thread *first = ex_start(cancel, completer(ROOT));
    ex_thread *second = ex_start(try_complete, completer(A));
    invoke_root(NULL);
    ex_join(first);
    ex_join(second);
    ex_check(status == (was_cancelled ? ROTA_ECANCELED : ROTA_OK));
    end();
}

/* -- A pool that stops -------------------------------------------------------------------------- */

static void end_stopped(void)
{
    ex_check(rota_await_termination(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_executor_free(pool) == ROTA_OK);
    free_family();
}

/* CC-13: who joins the root wakes. */
EXPLORE(children_are_forked_and_run_as_the_pool_stops)
{
    begin(1 + ex_choose(2), fork_both, run_and_complete, run_and_complete);
    ex_thread *joiner = ex_start(invoke_root, NULL);
    stop(NULL);
    ex_join(joiner);
    ex_check(status == ROTA_OK || status == ROTA_ECANCELED || status == ROTA_EREJECTED);
    if (status == ROTA_OK)
        check_each_completed_once();
    end_stopped();
}

/* The same with one that waits outside. */
EXPLORE(children_are_forked_as_the_pool_stops_and_somebody_outside_waits)
{
    begin(1, fork_both, run_and_complete, run_and_complete);
    rota__fj_worker *place = take_place();
    ex_thread *joiner = ex_start(invoke_root, NULL);
    ex_thread *other = ex_start(stop, NULL);
    work_as(place);
    run_all(place);
    give_up_place(place);
    ex_join(joiner);
    ex_join(other);
    ex_check(status == ROTA_OK || status == ROTA_ECANCELED || status == ROTA_EREJECTED);
    end_stopped();
}

static unsigned forks_late;

static void fork_around_the_stop(rota_completer *self)
{
    just_run(self);
    rota_set_pending(self, 1);
    if (!forks_late)
        rota_fork(task(A));
    wait_for(&has_stopped);
    if (forks_late)
        rota_fork(task(A));
    rota_try_complete(self);
}

/* FJ-24, CC-13: what has not begun does not begin any more. */
EXPLORE(a_child_is_forked_in_a_pool_that_has_stopped)
{
    begin(1, fork_around_the_stop, run_and_complete, NULL);
    rota__store_relaxed(&has_stopped, 0);
    forks_late = ex_choose(2);
    rota__fj_worker *place = take_place(); /* so that the root is not refused */
    ex_thread *other = ex_start(stop, NULL);
    work_as(place);
    rota__fj_run_shared(task(ROOT), place);
    run_all(place);
    ex_join(other);
    give_up_place(place);
    ex_check(count(&ran[A]) == 0 && rota__fj_status(task(ROOT)) == ROTA_ECANCELED);
    end_stopped();
}

/* -- Helping ------------------------------------------------------------------------------------ */

static void help_root(void *arg)
{
    rota__fj_worker *place = arg;

    work_as(place);
    rota_help_complete(completer(ROOT), 1);
    give_up_place(place);
}

/* CC-10: each runs once, whether it leads to the root or, as B, does not. */
EXPLORE(a_worker_helps_as_the_owner_pops)
{
    int first = ex_choose(2) ? A : B;

    begin(2, just_run, run_and_complete, run_and_complete);
    completer(B)->parent = NULL;
    rota_set_pending(completer(ROOT), FAR);
    rota__fj_worker *mine = take_place();
    rota__fj_worker *others = take_place();
    work_as(mine);
    rota_fork(task(first));
    rota_fork(task(first == A ? B : A));
    rota__deque_open(&mine->deque);
    ex_thread *helper = ex_start(help_root, others);
    run_all(mine);
    ex_join(helper);
    give_up_place(mine);
    ex_check(rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(count(&ran[A]) == 1 && count(&ran[B]) == 1);
    ex_check(rota_pending(completer(ROOT)) == FAR - 1);
    end();
}

static void help_for_nothing(void *arg)
{
    rota_completer goal = ROTA_COMPLETER(just_run, NULL);
    rota__fj_worker *place = arg;

    work_as(place);
    rota_help_complete(&goal, 1);
    wait_for(&ran[A]);
    give_up_place(place);
}

/* crew.W1: what was taken for nothing is run by a third, who may have fallen asleep meanwhile. */
EXPLORE(a_worker_helps_for_nothing_and_waits)
{
    if (!rota__os_membarrier()) /* under TSan, say: nobody can make the task public by force */
        return;
    begin(3, just_run, run_and_complete, NULL);
    rota__fj_worker *mine = take_place();
    rota__fj_worker *others = take_place();
    work_as(mine);
    rota_fork(task(A));
    ex_thread *helper = ex_start(help_for_nothing, others);
    wait_for(&ran[A]);
    ex_join(helper);
    give_up_place(mine);
    ex_check(rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(count(&ran[A]) == 1);
    end();
}
