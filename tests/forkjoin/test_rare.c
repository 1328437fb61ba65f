/* SPDX-License-Identifier: MIT */
/*
 * What is rarely met: waits that meet other pools, threads that end where they are blocked, pools
 * without room.
 */
#define _GNU_SOURCE
#include "forkjoin/forkjoin_internal.h"

#include "completers.h"
#include "rota_test_internal.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>

/* -- The common pool without threads: each in a process of its own -------------------------- */

static void set_parallelism(const char *value)
{
    test_check(setenv("ROTA_COMMON_PARALLELISM", value, 1) == 0);
}

static void get_without_memory(void *arg)
{
    atomic_uint runs = 0;
    rota_future *future;

    set_parallelism("0");
    test_check(rota_submit(rota_common_pool(), test_count, &runs, &future) == ROTA_OK);
    test_memory_fail_at(1, true);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    test_memory_fail_at(0, false);
    test_check(atomic_load(&runs) == 1);
    rota_future_unref(future);
}

/* FJ-07, GEN-10: also if it can be no worker meanwhile. */
TEST(without_threads_and_memory_who_waits_does_the_work)
{
    assert_int_equal(test_in_child(get_without_memory, NULL), 0);
}

static void wait_for_promise(void *arg)
{
    rota_future *promise;
    test_getter getter;

    test_check(rota_promise_new(&promise) == ROTA_OK);
    test_getter_start(&getter, promise, ROTA_FOREVER);
    test_check(rota_promise_complete(promise, NULL));
    test_getter_ends(&getter, ROTA_OK, NULL);
    rota_future_unref(promise);
}

static void fork_with_common_pool(void *arg)
{
    set_parallelism("0");
    test_check(rota_common_pool() != NULL);
    wait_for_promise(NULL);
    test_check(test_in_child(wait_for_promise, NULL) == 0);
}

/* FAULT-44: the parent's pool is no help. */
TEST(a_child_waits_without_the_common_pool_of_its_parent)
{
    assert_int_equal(test_in_child(fork_with_common_pool, NULL), 0);
}

static void be_plain(rota_fj *task)
{
}

static void help_past_others(void *arg)
{
    rota_fj plain = ROTA_FJ(be_plain);
    test_counted goal, child;

    set_parallelism("0");
    test_counted_init(&goal, NULL);
    test_counted_init(&child, &goal);
    rota_set_pending(&goal.completer, 1);
    rota_fork(&plain);
    rota_fork(&child.completer.task);
    rota_help_complete(&goal.completer, 9);
    test_counted_is(&child, 1, 1, 0);
    test_check(!rota_fj_is_done(&plain));
    test_check(rota_join(&plain) == ROTA_OK);
}

/* CC-10: who helps runs what leads to its goal, and no other fork. */
TEST(who_helps_from_outside_leaves_other_forks)
{
    assert_int_equal(test_in_child(help_past_others, NULL), 0);
}

static void help_without_pool(void *arg)
{
    test_counted goal;

    test_counted_init(&goal, NULL);
    test_memory_fail_at(1, true);
    rota_help_complete(&goal.completer, 9);
    test_memory_fail_at(0, false);
    test_counted_is(&goal, 0, 0, 0);
}

/* CC-10, GEN-10 */
TEST(where_no_pool_can_be_made_there_is_no_help)
{
    assert_int_equal(test_in_child(help_without_pool, NULL), 0);
}

/* -- Waits -------------------------------------------------------------------------------- */

/* A task that waits, and says on which thread. */
struct waiting {
    void (*wait)(struct waiting *self);
    rota_executor *pool;
    rota_future *future; /* the task's own */
    test_latch begun;
    rota_thread *thread;
    rota_future *other;
    rota_fj *joined;
};

static void *wait_for_it(void *arg)
{
    struct waiting *waiting = arg;

    waiting->thread = rota_thread_self();
    test_latch_open(&waiting->begun);
    waiting->wait(waiting);
    return NULL;
}

/* When this returns, it has begun. */
static void waiting_start(struct waiting *waiting)
{
    test_latch_init(&waiting->begun, 1);
    assert_ok(rota_submit(waiting->pool, wait_for_it, waiting, &waiting->future));
    test_latch_wait(&waiting->begun);
}

static void waiting_ends(struct waiting *waiting)
{
    assert_ok(rota_future_get(waiting->future, NULL));
    rota_future_unref(waiting->future);
    assert_ok(rota_close(waiting->pool));
}

struct gated {
    rota_fj task; /* first */
    test_gate gate;
};

static void be_gated(rota_fj *task)
{
    test_wait_at(&((struct gated *)task)->gate);
}

static void join_other(struct waiting *self)
{
    test_check(rota_join(self->joined) == ROTA_OK);
}

struct inbox {
    struct waiting waiting; /* first */
    test_gate gate;
};

static void get_other(struct waiting *self)
{
    test_wait_at(&((struct inbox *)self)->gate);
    test_check(rota_future_get(self->other, NULL) == ROTA_OK);
}

/* EXEC-18: it is its only worker that waits, which runs that one and not those before it. */
TEST(a_worker_runs_what_it_waits_for_out_of_turn)
{
    struct inbox inbox = {.waiting = {.wait = get_other, .pool = test_forkjoin_of(1)}};
    rota_executor *pool = inbox.waiting.pool;
    test_note notes[3];
    test_journal journal = {.count = 0};

    test_gate_init(&inbox.gate);
    test_notes_init(notes, 3, &journal);
    waiting_start(&inbox.waiting);
    assert_ok(rota_execute(pool, test_note_down, &notes[0]));
    assert_ok(rota_submit(pool, test_note_down, &notes[1], &inbox.waiting.other));
    assert_ok(rota_execute(pool, test_note_down, &notes[2]));
    test_gate_open(&inbox.gate);
    waiting_ends(&inbox.waiting);
    rota_future_unref(inbox.waiting.other);
    test_journal_is(&journal, (const unsigned[]){1, 0, 2}, 3);
}

static void await_quiet(struct waiting *self)
{
    test_check(rota_await_quiescence(self->pool, ROTA_FOREVER) == ROTA_OK);
}

static bool is_resting(void *arg)
{
    rota__fj_pool *pool = rota__as_forkjoin(arg);

    rota__mutex_lock(&pool->lock);
    bool is_so = pool->resting == 1;
    rota__mutex_unlock(&pool->lock);
    return is_so;
}

/* FJ-22: nobody else is left to run it. */
TEST(who_waits_for_quiet_runs_what_comes_meanwhile)
{
    struct waiting waiting = {.wait = await_quiet, .pool = test_forkjoin_of(2)};
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(waiting.pool, &gate, 1);
    waiting_start(&waiting);
    test_until(is_resting, waiting.pool);
    assert_ok(rota_execute(waiting.pool, test_count, &runs));
    test_await_count(&runs, 1);
    assert_int_equal(gate.ended, 0);
    test_gate_open(&gate);
    waiting_ends(&waiting);
}

enum { LEVELS = 17 }; /* one more than waits may help inside one another */

struct nest {
    test_gate gate;
    test_counted roots[LEVELS]; /* done when the last task has its turn */
    atomic_uint begun;
};

static void *go_deeper(void *arg)
{
    struct nest *nest = arg;
    unsigned level = atomic_fetch_add(&nest->begun, 1);

    if (level == 0)
        test_wait_at(&nest->gate);
    if (level < LEVELS) {
        rota_fork(&nest->roots[level].completer.task);
        test_check(rota_join(&nest->roots[level].completer.task) == ROTA_OK);
        return NULL;
    }
    for (int i = 0; i < LEVELS; i++)
        rota_try_complete(&nest->roots[i].completer);
    return NULL;
}

/* Who joins a completer runs other tasks, which do so as well; but not without end. */
TEST(helping_inside_of_help_has_a_bound)
{
    rota_executor *pool = test_forkjoin_of(1);
    static struct nest nest;

    test_gate_init(&nest.gate);
    for (int i = 0; i < LEVELS; i++) {
        test_counted_init(&nest.roots[i], NULL);
        rota_set_pending(&nest.roots[i].completer, 1);
    }
    for (int i = 0; i < LEVELS + 1; i++)
        assert_ok(rota_execute(pool, go_deeper, &nest));
    test_gate_open(&nest.gate);
    assert_ok(rota_close(pool));
    for (int i = 0; i < LEVELS; i++)
        test_counted_is(&nest.roots[i], 1, 1, 0);
}

/* -- Signals ------------------------------------------------------------------------------ */

static atomic_uint signals;

static void count_signal(int signal)
{
    atomic_fetch_add(&signals, 1);
}

static void *run_until_interrupted(void *arg)
{
    while (!rota_is_interrupted())
        sched_yield();
    return NULL;
}

/* INT-10: as in any pool. */
TEST(an_interrupt_sends_the_signal)
{
    struct sigaction counting = {.sa_handler = count_signal}, before;
    rota_executor *pool;
    rota_future *future;

    assert_int_equal(sigaction(SIGUSR1, &counting, &before), 0);
    pool = test_forkjoin(
        (rota_forkjoin_options){.parallelism = 1, .threads.interrupt_signal = SIGUSR1});
    assert_ok(rota_submit(pool, run_until_interrupted, NULL, &future));
    test_await_running(future);
    assert_true(rota_future_cancel_now(future));
    test_await_count(&signals, 1);
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

/* -- The common pool, which stays ---------------------------------------------------------- */

/* FJ-10: a worker cannot help one of another pool, and sleeps. */
TEST_WITH(test_keeping_memory, a_task_may_be_joined_in_another_pool)
{
    struct gated gated = {.task = ROTA_FJ(be_gated)};
    struct waiting waiting = {
        .wait = join_other, .joined = &gated.task, .pool = test_forkjoin_of(1)};

    test_gate_init(&gated.gate);
    rota_fork(&gated.task); /* into the common pool */
    test_await_count(&gated.gate.begun, 1);
    waiting_start(&waiting);
    test_await_parked(waiting.thread);
    test_gate_open(&gated.gate);
    waiting_ends(&waiting);
}
