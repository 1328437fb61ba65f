/* SPDX-License-Identifier: MIT */
/*
 * forkjoin.c - owners and thieves, those who join and those who sleep, and the end of their pool.
 */
#include "forkjoin/forkjoin_internal.h"

#include "explore.h"

/* -- A pool ------------------------------------------------------------------------------------- */

enum { TASKS = 4 };

static rota_executor *pool;
static rota__os_word ran[TASKS]; /* how often */
static int statuses[TASKS];
static unsigned order; /* of joins */

typedef struct node {
    rota_fj task; /* first */
    int number;
} node;

#define NODE(fn, number)    \
    {                       \
        ROTA_FJ(fn), number \
    }
#define NUMBER(i) ((void *)(uintptr_t)(i))

static void forget(void)
{
    for (int i = 0; i < TASKS; i++) {
        rota__store_relaxed(&ran[i], 0);
        statuses[i] = ROTA_EREJECTED;
    }
}

/* Who sleeps does so until it is called: a lost wake-up is a deadlock. */
static void begin(rota_forkjoin_options options)
{
    if (options.keep_alive == 0)
        options.keep_alive = ROTA_FOREVER;
    forget();
    ex_check(rota_forkjoin_new(&options, &pool) == ROTA_OK);
}

static uint32_t runs(int i)
{
    return rota__load_relaxed(&ran[i]);
}

static void *run(void *i)
{
    rota__add_acq_rel(&ran[(uintptr_t)i], 1);
    rota__os_wake(&ran[(uintptr_t)i]);
    return NULL;
}

static void leaf(rota_fj *self)
{
    run(NUMBER(((node *)self)->number));
}

/* The library knows nothing of this wait. */
static void wait_for(int i)
{
    while (rota__load_acquire(&ran[i]) == 0)
        rota__os_wait(&ran[i], 0, ROTA_FOREVER);
    rota__os_wake(&ran[i]); /* the next who waits for it */
}

static void execute(void *i)
{
    statuses[(uintptr_t)i] = rota_execute(pool, run, i);
}

static void end(void)
{
    ex_check(rota_await_termination(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_executor_free(pool) == ROTA_OK);
}

static void invoke(void *task)
{
    node *root = task;

    statuses[root->number] = rota_invoke(pool, &root->task);
}

static void fork_two(rota_fj *self)
{
    node a = NODE(leaf, 1);
    node b = NODE(leaf, 2);

    run(NUMBER(((node *)self)->number));
    rota_fork(&a.task);
    rota_fork(&b.task);
    if (order == 0)
        statuses[1] = rota_join(&a.task);
    statuses[2] = rota_join(&b.task);
    if (order != 0)
        statuses[1] = rota_join(&a.task);
}

static void *call_fork_two(void *unused)
{
    node root = NODE(fork_two, 0);

    fork_two(&root.task);
    return unused;
}

/* FJT-21 */
EXPLORE(two_forks_are_joined_in_any_order)
{
    node root = NODE(fork_two, 0);

    order = ex_choose(2);
    begin((rota_forkjoin_options){.parallelism = 2});
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_check(statuses[1] == ROTA_OK && statuses[2] == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1 && runs(2) == 1);
    ex_check(rota_close(pool) == ROTA_OK);
}

static void fork_one(rota_fj *self)
{
    node child = NODE(leaf, ((node *)self)->number + 1);

    run(NUMBER(((node *)self)->number));
    rota_fork(&child.task);
    ex_check(rota_join(&child.task) == ROTA_OK);
}

static void fork_one_that_forks(rota_fj *self)
{
    node child = NODE(fork_one, 1);

    (void)self;
    rota_fork(&child.task);
    ex_check(rota_join(&child.task) == ROTA_OK);
}

/* Helps its thief, blocks, or runs it itself. */
EXPLORE(a_stolen_task_forks_another)
{
    node root = NODE(fork_one_that_forks, 0);

    begin((rota_forkjoin_options){.parallelism = 2});
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_check(runs(1) == 1 && runs(2) == 1);
    ex_check(rota_close(pool) == ROTA_OK);
}

static void fork_many(rota_fj *self)
{
    node children[4] = {NODE(leaf, 0), NODE(leaf, 1), NODE(leaf, 2), NODE(leaf, 3)};

    (void)self;
    for (int i = 0; i < 4; i++)
        rota_fork(&children[i].task);
    for (int i = 4; i-- > 0;)
        ex_check(rota_join(&children[i].task) == ROTA_OK);
}

/* deck.Q5: over the border of a chunk and back, and once more. */
EXPLORE(more_is_forked_than_a_chunk_holds)
{
    node root = NODE(fork_many, 0);

    begin((rota_forkjoin_options){.parallelism = 2});
    for (uint32_t i = 1; i <= 2; i++) {
        rota_fj_reset(&root.task);
        ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
        ex_check(runs(0) == i && runs(1) == i && runs(2) == i && runs(3) == i);
    }
    ex_check(rota_close(pool) == ROTA_OK);
}

static void fork_and_take_back(rota_fj *self)
{
    node a = NODE(leaf, 1);
    node b = NODE(leaf, 2);

    (void)self;
    rota_fork(&a.task);
    rota_fork(&b.task);
    if (rota_unfork(&b.task))
        run(NUMBER(2));
    else
        ex_check(rota_join(&b.task) == ROTA_OK);
    if (rota_unfork(&a.task))
        run(NUMBER(1));
    else
        ex_check(rota_join(&a.task) == ROTA_OK);
}

EXPLORE(forks_are_taken_back_as_they_are_stolen)
{
    node root = NODE(fork_and_take_back, 0);

    begin((rota_forkjoin_options){.parallelism = 2});
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_check(runs(1) == 1 && runs(2) == 1);
    ex_check(rota_close(pool) == ROTA_OK);
}

static node shared; /* somebody else knows of it */

static void fork_shared(rota_fj *self)
{
    (void)self;
    rota_fork(&shared.task);
    statuses[1] = rota_join(&shared.task);
}

static void cancel_shared(void *cancelled)
{
    *(bool *)cancelled = rota_fj_cancel(&shared.task);
}

static void fork_shared_again(rota_fj *self)
{
    (void)self;
    rota_fork(&shared.task);
    if (rota_unfork(&shared.task))
        rota_fork(&shared.task);
    statuses[1] = rota_join(&shared.task);
}

static void cancel_while(rota_fj_fn *body)
{
    node root = NODE(body, 0);
    bool cancelled;

    begin((rota_forkjoin_options){.parallelism = 2});
    shared = (node)NODE(leaf, 1);
    ex_thread *other = ex_start(cancel_shared, &cancelled);
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_join(other);
    ex_check(statuses[1] == ROTA_OK || statuses[1] == ROTA_ECANCELED);
    ex_check(runs(1) <= 1 && (statuses[1] != ROTA_OK || runs(1) == 1));
    ex_check(cancelled || statuses[1] == ROTA_OK);
    ex_check(rota_close(pool) == ROTA_OK);
}

/* fj.J4: its body runs or not, once at most, and who joins it hears of it. */
EXPLORE(a_task_is_cancelled_as_it_is_forked_and_run)
{
    cancel_while(fork_shared);
}

/* fj.J5: also if it is taken back, and forked once more. */
EXPLORE(a_task_is_cancelled_as_it_is_taken_back)
{
    cancel_while(fork_shared_again);
}

/* -- Sleeping and being found ------------------------------------------------------------------- */

static void submit_and_get(void *i)
{
    rota_future *future;

    ex_check(rota_submit(pool, run, i, &future) == ROTA_OK);
    ex_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    ex_check(runs((int)(uintptr_t)i) == 1);
}

/* crew.W1, crew.W4 */
EXPLORE(a_task_comes_as_the_worker_falls_asleep)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    submit_and_get(NUMBER(0));
    submit_and_get(NUMBER(1));
    ex_check(rota_close(pool) == ROTA_OK);
}

/* The same with one that goes after a while; or is not quite gone, when no other may be made. */
EXPLORE(a_task_comes_as_the_worker_times_out)
{
    begin((rota_forkjoin_options){
        .parallelism = 1, .max_threads = 1 + ex_choose(2), .keep_alive = ROTA_MS(1)});
    submit_and_get(NUMBER(0));
    submit_and_get(NUMBER(1));
    submit_and_get(NUMBER(2));
    ex_check(rota_close(pool) == ROTA_OK);
}

EXPLORE(two_submit_to_a_pool_that_sleeps)
{
    begin((rota_forkjoin_options){.parallelism = 2});
    ex_thread *other = ex_start(submit_and_get, NUMBER(0));
    submit_and_get(NUMBER(1));
    ex_join(other);
    ex_check(rota_close(pool) == ROTA_OK);
}

static void fork_and_block(rota_fj *self)
{
    node child = NODE(leaf, 1);

    (void)self;
    rota_fork(&child.task);
    ex_check(rota_block_begin() == ROTA_OK);
    wait_for(1);
    rota_block_end();
    ex_check(rota_join(&child.task) == ROTA_OK);
}

/* FJ-14, crew.W3: somebody else runs what is forked, whatever it was about to do. */
EXPLORE(a_task_is_forked_as_the_other_worker_falls_asleep)
{
    node root = NODE(fork_and_block, 0);

    begin((rota_forkjoin_options){.parallelism = 1 + ex_choose(2)});
    ex_check(rota_execute(pool, run, NUMBER(0)) == ROTA_OK);
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

/* The main thread takes part; nobody else does. */
static rota__fj_worker *enter(void)
{
    rota__fj_pool *mine = rota__fj_pool_of(pool);

    rota__mutex_lock(&mine->lock);
    rota__fj_worker *worker = rota__crew_enter(mine);
    rota__mutex_unlock(&mine->lock);
    ex_check(worker != NULL);
    return worker;
}

static void fork_and_wait(rota_fj *self)
{
    node child = NODE(leaf, 1);

    (void)self;
    rota_fork(&child.task);
    wait_for(1);
    ex_check(rota_join(&child.task) == ROTA_OK);
}

/* FJ-14, deck.Q6: also if it was private, and its owner does nothing that the library could see. */
EXPLORE(a_task_is_forked_by_an_owner_that_does_not_answer)
{
    node root = NODE(fork_and_wait, 0);

    if (!rota__os_membarrier()) /* under TSan, say: nobody can make the task public by force */
        return;
    begin((rota_forkjoin_options){.parallelism = 2});
    ex_check(rota_execute(pool, run, NUMBER(0)) == ROTA_OK);
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

#ifdef ROTA_EXPLORE /* without membarrier(2), three tasks must be more than a chunk holds */
static void wait_for_the_last(rota_fj *self)
{
    wait_for(TASKS - 1);
    leaf(self);
}

/* The last goes the long way, and something is public by then. */
static void fork_three_and_wait(rota_fj *self)
{
    node first = NODE(wait_for_the_last, 1);
    node second = NODE(leaf, 2);
    node third = NODE(leaf, 3);

    (void)self;
    rota_fork(&first.task);
    rota_fork(&second.task);
    rota_fork(&third.task);
    wait_for(3);
    ex_check(rota_join(&third.task) == ROTA_OK);
    ex_check(rota_join(&second.task) == ROTA_OK);
    ex_check(rota_join(&first.task) == ROTA_OK);
}

/* FJ-13, crew.W2: who takes the one that is public calls another for those that are not. */
EXPLORE(a_thief_waits_for_what_its_victim_has_kept)
{
    node root = NODE(fork_three_and_wait, 0);

    begin((rota_forkjoin_options){.parallelism = 3});
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(1) == 1 && runs(2) == 1 && runs(3) == 1);
}
#endif

static void *wait_for_the_next(void *i)
{
    wait_for((int)(uintptr_t)i + 1);
    return run(i);
}

static void *submit_two_and_wait(void *i)
{
    ex_check(rota_execute(pool, wait_for_the_next, NUMBER(1)) == ROTA_OK);
    ex_check(rota_execute(pool, run, NUMBER(2)) == ROTA_OK);
    wait_for(2);
    return run(i);
}

/* FJ-14: the same for what a worker submits, whatever the system can do. */
EXPLORE(a_task_waits_for_one_that_its_worker_has_submitted_since)
{
    begin((rota_forkjoin_options){.parallelism = 3});
    ex_check(rota_execute(pool, submit_two_and_wait, NUMBER(0)) == ROTA_OK);
    wait_for(0);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1 && runs(2) == 1);
}

static void *wait_twice(void *unused)
{
    for (int i = 1; i <= 2; i++) {
        ex_check(rota_block_begin() == ROTA_OK);
        wait_for(i);
        rota_block_end();
    }
    return unused;
}

/* crew.W3: one stands in for who blocks; also when it was one too many a moment ago. */
EXPLORE(a_worker_blocks_and_blocks_again)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    ex_check(rota_execute(pool, wait_twice, NULL) == ROTA_OK);
    ex_check(rota_execute(pool, run, NUMBER(1)) == ROTA_OK);
    ex_check(rota_execute(pool, run, NUMBER(2)) == ROTA_OK);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(1) == 1 && runs(2) == 1);
}

static void sleep_and_take(void *arg)
{
    rota__fj_worker *worker = arg;
    rota__fj_pool *mine = worker->pool;
    rota_fj *entry;

    rota__mutex_lock(&mine->lock);
    worker->self = rota__self();
    rota__mutex_unlock(&mine->lock);
    rota__crew_search(worker);
    ex_check(rota__crew_sleep(worker));
    rota__mutex_lock(&mine->lock);
    entry = rota__inbox_take(mine);
    rota__mutex_unlock(&mine->lock);
    rota__crew_found(worker);
    if (entry != NULL)
        rota__fj_run_entry(worker, entry, false);
    rota__crew_exit(worker);
}

/* crew.W3: who is one too many looks around if another has blocked, also one that asks for nobody. */
EXPLORE(a_worker_blocks_as_one_too_many_falls_asleep)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    rota__fj_worker *first = enter();
    ex_check(rota__crew_block(first, false) == ROTA_OK);
    rota__fj_worker *second = enter();
    rota__crew_unblock(first);
    execute(NUMBER(0)); /* for one of the two, as it seems */
    ex_thread *other = ex_start(sleep_and_take, second);
    ex_check(rota__crew_block(first, false) == ROTA_OK);
    wait_for(0);
    rota__crew_unblock(first);
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK); /* which wakes it if it sleeps */
    ex_join(other);
    rota__crew_exit(first);
    end();
}

static void *nest(void *depth)
{
    rota_future *inner;
    uintptr_t left = (uintptr_t)depth;

    if (left == 0)
        return NULL;
    ex_check(rota_submit(pool, nest, NUMBER(left - 1), &inner) == ROTA_OK);
    ex_check(rota_future_get(inner, NULL) == ROTA_OK);
    rota_future_unref(inner);
    return NULL;
}

/* EXEC-18, FJ-16 */
EXPLORE(a_task_of_a_forkjoin_pool_waits_for_a_future)
{
    rota_future *outer;

    begin((rota_forkjoin_options){.parallelism = 1 + ex_choose(2)});
    ex_check(rota_submit(pool, nest, NUMBER(2), &outer) == ROTA_OK);
    ex_check(rota_future_get(outer, NULL) == ROTA_OK);
    rota_future_unref(outer);
    ex_check(rota_close(pool) == ROTA_OK);
}

static void *wait_for_the_other(void *unused)
{
    wait_for(1);
    return unused;
}

/* Two may run at once: also if the other worker is about to go, and no third may be made. */
EXPLORE(a_task_waits_for_one_that_comes_as_the_other_worker_times_out)
{
    begin((rota_forkjoin_options){.parallelism = 2, .max_threads = 2, .keep_alive = ROTA_MS(1)});
    submit_and_get(NUMBER(0));
    ex_check(rota_execute(pool, wait_for_the_other, NULL) == ROTA_OK);
    ex_check(rota_execute(pool, run, NUMBER(1)) == ROTA_OK);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(1) == 1);
}

/* -- Callers that take part --------------------------------------------------------------------- */

/* One takes part, the other waits, or takes part when the first has gone. */
EXPLORE(two_callers_invoke_where_there_is_one_place)
{
    node roots[2] = {NODE(leaf, 0), NODE(fork_one, 1)};

    begin((rota_forkjoin_options){.parallelism = 1});
    ex_thread *other = ex_start(invoke, &roots[0]);
    invoke(&roots[1]);
    ex_join(other);
    ex_check(statuses[0] == ROTA_OK && statuses[1] == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1 && runs(2) == 1);
    ex_check(rota_close(pool) == ROTA_OK);
}

static void execute_and_leave(rota_fj *self)
{
    (void)self;
    ex_check(rota_execute(pool, run, NUMBER(1)) == ROTA_OK);
}

/* What it leaves in its deque runs before it goes, and what came meanwhile after that. */
EXPLORE(a_caller_that_takes_part_leaves_work)
{
    node root = NODE(execute_and_leave, 0);

    begin((rota_forkjoin_options){.parallelism = 1});
    ex_thread *other = ex_start(submit_and_get, NUMBER(2));
    ex_check(rota_invoke(pool, &root.task) == ROTA_OK);
    ex_join(other);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(1) == 1 && runs(2) == 1);
}

/* -- The end ------------------------------------------------------------------------------------ */

static void check_accepted(void)
{
    for (int i = 0; i < TASKS; i++)
        ex_check(runs(i) == (statuses[i] == ROTA_OK ? 1 : 0));
}

EXPLORE(a_task_is_submitted_as_its_forkjoin_pool_ends)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    execute(NUMBER(0));
    ex_thread *other = ex_start(execute, NUMBER(1));
    ex_check(rota_shutdown(pool) == ROTA_OK);
    ex_join(other);
    end();
    check_accepted();
}

/* FJ-23 */
EXPLORE(tasks_are_forked_as_their_pool_ends)
{
    order = ex_choose(2);
    begin((rota_forkjoin_options){.parallelism = 2});
    ex_check(rota_execute(pool, call_fork_two, NULL) == ROTA_OK);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    end();
    ex_check(statuses[1] == ROTA_OK && statuses[2] == ROTA_OK);
    ex_check(runs(1) == 1 && runs(2) == 1);
}

static void check_run_or_cancelled(int i)
{
    ex_check(statuses[i] == ROTA_OK || statuses[i] == ROTA_ECANCELED);
    ex_check(runs(i) <= 1 && (statuses[i] != ROTA_OK || runs(i) == 1));
}

/* FJ-24: everybody wakes. */
EXPLORE(tasks_are_forked_as_their_pool_stops)
{
    order = 1;
    begin((rota_forkjoin_options){.parallelism = 2});
    ex_check(rota_execute(pool, call_fork_two, NULL) == ROTA_OK);
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    end();
    if (runs(0) == 0)
        return;
    check_run_or_cancelled(1);
    check_run_or_cancelled(2);
}

/* A task of its own is interrupted, and nothing after it. */
EXPLORE(a_caller_invokes_as_the_pool_stops)
{
    node root = NODE(fork_one_that_forks, 0);

    begin((rota_forkjoin_options){.parallelism = 1});
    root.task.run = leaf;
    ex_thread *other = ex_start(invoke, &root);
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    ex_join(other);
    end();
    ex_check(runs(0) == (statuses[0] == ROTA_OK));
    ex_check(statuses[0] == ROTA_OK || statuses[0] == ROTA_ECANCELED
             || statuses[0] == ROTA_EREJECTED);
}

static void stop(void *unused)
{
    (void)unused;
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
}

/* INT-07: the stop of a pool is none of a thread that only took part in it. */
EXPLORE(a_caller_goes_on_when_the_pool_has_stopped)
{
    node root = NODE(leaf, 0);

    begin((rota_forkjoin_options){.parallelism = 1});
    ex_thread *other = ex_start(stop, NULL);
    invoke(&root);
    ex_join(other);
    ex_check(!rota_is_interrupted());
    end();
}

EXPLORE(two_callers_invoke_as_the_pool_stops)
{
    node roots[2] = {NODE(leaf, 0), NODE(leaf, 1)};

    begin((rota_forkjoin_options){.parallelism = 1});
    ex_thread *first = ex_start(invoke, &roots[0]);
    ex_thread *second = ex_start(invoke, &roots[1]);
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    ex_join(first);
    ex_join(second);
    end();
    for (int i = 0; i < 2; i++)
        ex_check(runs(i) == (statuses[i] == ROTA_OK));
}

/* Nobody touches the pool after its end. */
EXPLORE(two_forkjoin_workers_leave_at_once)
{
    begin((rota_forkjoin_options){.parallelism = 2, .keep_alive = ex_choose(2)});
    execute(NUMBER(0));
    execute(NUMBER(1));
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

static void shut_down(void *unused)
{
    (void)unused;
    ex_check(rota_shutdown(pool) == ROTA_OK);
}

/* Who has ended it has left it when another frees it. */
EXPLORE(a_forkjoin_pool_is_freed_as_soon_as_it_says_that_it_has_ended)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    ex_thread *ender = ex_start(shut_down, NULL);
    while (!rota_is_terminated(pool))
        rota__os_yield();
    ex_check(rota_executor_free(pool) == ROTA_OK);
    ex_join(ender);
}

EXPLORE(somebody_waits_for_quiescence_as_a_task_comes)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    ex_thread *other = ex_start(execute, NUMBER(0));
    ex_check(rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK);
    ex_join(other);
    ex_check(rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(runs(0) == 1);
    ex_check(rota_close(pool) == ROTA_OK);
}

/* -- Faults ------------------------------------------------------------------------------------- */

EXPLORE_WITH_FAULTS(a_forkjoin_pool_without_memory_or_threads_loses_nothing)
{
    node root = NODE(leaf, 2); /* its forks would go to the common pool */
    rota_forkjoin_options options = {.parallelism = 2, .keep_alive = ROTA_FOREVER};

    forget();
    if (rota_forkjoin_new(&options, &pool) != ROTA_OK)
        return;
    ex_thread *other = ex_start(execute, NUMBER(1));
    invoke(&root);
    ex_check(statuses[2] == ROTA_OK && runs(2) == 1);
    ex_join(other);
    ex_check(runs(1) <= (statuses[1] == ROTA_OK));
    ex_check(rota_shutdown(pool) == ROTA_OK);
    while (rota_await_termination(pool, ROTA_FOREVER) == ROTA_ENOMEM)
        continue;
    ex_check(rota_executor_free(pool) == ROTA_OK);
    ex_check(runs(1) == (statuses[1] == ROTA_OK));
}

/* crew.W2: who counted on a thread that could not be made is not forgotten. */
EXPLORE_WITH_FAULTS(two_submit_and_count_on_one_thread)
{
    rota_forkjoin_options options = {.parallelism = 1, .keep_alive = ROTA_FOREVER};

    forget();
    if (rota_forkjoin_new(&options, &pool) != ROTA_OK)
        return;
    ex_thread *other = ex_start(execute, NUMBER(0));
    execute(NUMBER(1));
    ex_join(other);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    while (rota_await_termination(pool, ROTA_FOREVER) == ROTA_ENOMEM)
        continue;
    ex_check(rota_executor_free(pool) == ROTA_OK);
    check_accepted();
}

/* Forks that cannot be queued run at once. */
EXPLORE_WITH_FAULTS(tasks_are_forked_without_memory)
{
    rota_forkjoin_options options = {.parallelism = 2, .keep_alive = ROTA_FOREVER};

    forget();
    order = 0;
    if (rota_forkjoin_new(&options, &pool) != ROTA_OK)
        return;
    int status = rota_execute(pool, call_fork_two, NULL);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    while (rota_await_termination(pool, ROTA_FOREVER) == ROTA_ENOMEM)
        continue;
    ex_check(rota_executor_free(pool) == ROTA_OK);
    for (int i = 0; i < 3; i++)
        ex_check(runs(i) == (status == ROTA_OK));
}
