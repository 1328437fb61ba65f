/* SPDX-License-Identifier: MIT */
/*
 * A scheduled pool's narrow places: a task or a periodic task meets those who cancel it, all at once, and
 * the end of its pool, which may be freed while they still are at it.
 */
#include "pools.h"
#include "rounds.h"

#include <sched.h>

enum { PERIODIC = 3 };

struct round {
    test_round all;        /* first */
    atomic_uint cancelled; /* by one of those who tried */
    atomic_int running[PERIODIC];
    unsigned seen[PERIODIC]; /* plain: a run sees what the one before it did */
    rota_future *futures[PERIODIC];
    unsigned count;
};

struct beat {
    struct round *round;
    unsigned number;
};

static struct beat beats[PERIODIC];

static void *run(void *arg)
{
    struct beat *beat = arg;
    struct round *round = beat->round;
    atomic_int *running = &round->running[beat->number];

    test_check(atomic_fetch_add_explicit(running, 1, memory_order_relaxed) == 0);
    round->seen[beat->number]++;
    atomic_fetch_add_explicit(&round->all.runs, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(running, 1, memory_order_relaxed);
    return NULL;
}

static void discard(void *arg)
{
    struct beat *beat = arg;

    test_check(atomic_load(&beat->round->running[beat->number]) == 0);
    atomic_fetch_add(&beat->round->all.discards, 1);
}

static void begin_round(struct round *round, rota_sched_options options)
{
    test_round_begin(&round->all, test_sched(options));
    round->count = 0;
    atomic_store(&round->cancelled, 0);
    for (unsigned i = 0; i < PERIODIC; i++)
        round->seen[i] = 0;
}

static void schedule(struct round *round, rota_ns delay, rota_ns period)
{
    unsigned number = round->count++;
    rota_call call = {.fn = run, .arg = &beats[number], .discard = discard};

    beats[number] = (struct beat){round, number};
    test_check(rota_schedule_call(round->all.pool, &call, delay, period, &round->futures[number])
               == ROTA_OK);
}

static void race(const test_race *race)
{
    static struct round round;

    test_round_race(race, &round.all);
}

static void forget_futures(struct round *round)
{
    for (unsigned i = 0; i < round->count; i++) {
        test_check(rota_future_is_done(round->futures[i]));
        rota_future_unref(round->futures[i]);
    }
}

/* -- Cancelling, and the end of the pool --------------------------------------------------- */

/* One task, which is due soon, or not in this round. */
static void make_once(void *arg)
{
    struct round *round = arg;
    bool is_late = test_random_below(&round->all.random, 2) == 0;

    begin_round(round, (rota_sched_options){
                           .core_threads = (unsigned)test_random_below(&round->all.random, 2)});
    schedule(round, is_late ? ROTA_SEC(100) : (rota_ns)test_random_below(&round->all.random, 20000),
             0);
}

static void cancel(void *arg)
{
    struct round *round = arg;

    test_round_linger(&round->all);
    for (unsigned i = 0; i < round->count; i++)
        atomic_fetch_add(&round->cancelled, rota_future_cancel(round->futures[i]));
}

static void complete(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < round->count; i++)
        atomic_fetch_add(&round->cancelled, rota_promise_complete(round->futures[i], NULL));
}

/* It ends when its task does, and is freed at once: cancel_listener.L1 to cancel_listener.L3. */
static void close_it(void *arg)
{
    test_check(rota_close(((struct round *)arg)->all.pool) == ROTA_OK);
}

static void stop_it(void *arg)
{
    struct round *round = arg;

    test_check(rota_shutdown_now(round->all.pool, NULL) == ROTA_OK);
    test_check(rota_close(round->all.pool) == ROTA_OK);
}

/* future.F3, future.F4 */
static void ran_or_was_discarded(void *arg)
{
    struct round *round = arg;

    test_check(atomic_load(&round->all.runs) + atomic_load(&round->all.discards) == round->count);
    test_check(atomic_load(&round->cancelled) <= round->count);
    forget_futures(round);
}

TEST(a_pool_is_freed_while_its_last_task_is_cancelled)
{
    race(&(test_race){make_once, {close_it, cancel, complete}, ran_or_was_discarded});
}

TEST(a_pool_is_stopped_while_its_last_task_is_cancelled)
{
    race(&(test_race){make_once, {stop_it, cancel, complete}, ran_or_was_discarded});
}

/* -- Periodic tasks --------------------------------------------------------------------------- */

static void make_periodic(void *arg)
{
    struct round *round = arg;

    begin_round(round, (rota_sched_options){
                           .core_threads = 1 + (unsigned)test_random_below(&round->all.random, 2),
                           .keep_periodic_after_shutdown = true,
                           .keep_cancelled = test_random_below(&round->all.random, 2) == 0});
    for (unsigned i = 0; i < PERIODIC; i++)
        schedule(round, 0, test_random_below(&round->all.random, 2) == 0 ? 1 : -ROTA_US(1));
}

/* future.F4, OWN-19: however often they ran. */
static void all_were_discarded_once(void *arg)
{
    struct round *round = arg;
    unsigned seen = 0;

    for (unsigned i = 0; i < PERIODIC; i++)
        seen += round->seen[i];
    test_check(seen == atomic_load(&round->all.runs));
    test_check(atomic_load(&round->all.discards) == PERIODIC);
    forget_futures(round);
}

TEST(a_pool_ends_when_its_periodic_tasks_are_cancelled)
{
    race(&(test_race){make_periodic, {close_it, cancel, cancel}, all_were_discarded_once});
}

TEST(a_pool_is_stopped_while_its_periodic_tasks_are_cancelled)
{
    race(&(test_race){make_periodic, {stop_it, cancel, cancel}, all_were_discarded_once});
}

static void purge(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < 5; i++) {
        rota_pool_purge(round->all.pool);
        sched_yield();
    }
}

static void remove_all(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < round->count; i++)
        rota_pool_remove(round->all.pool, round->futures[i]);
}

static void close_and_check(void *arg)
{
    close_it(arg);
    all_were_discarded_once(arg);
}

/* Whose a periodic task is that many want to take out: one of them discards it. */
TEST(periodic_tasks_are_cancelled_removed_and_purged)
{
    race(&(test_race){make_periodic, {cancel, remove_all, purge}, close_and_check});
}

static void drop_periodic(void *arg)
{
    struct round *round = arg;

    test_round_linger(&round->all);
    test_check(rota_sched_set_keep_periodic_after_shutdown(round->all.pool, false) == ROTA_OK);
}

static void shut_down(void *arg)
{
    test_check(rota_shutdown(((struct round *)arg)->all.pool) == ROTA_OK);
}

/* SCHED-25: with nobody else who would end them. */
TEST(a_policy_changes_while_the_pool_is_shut_down)
{
    race(&(test_race){make_periodic, {shut_down, drop_periodic}, close_and_check});
}

/* -- Threads that come and go -------------------------------------------------------------- */

static void make_fleeting(void *arg)
{
    struct round *round = arg;

    begin_round(round, (rota_sched_options){.keep_alive = 1});
}

static void schedule_and_get(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < 3; i++) {
        rota_future *future;
        test_check(
            rota_schedule(round->all.pool, test_count, &round->all.runs, i * ROTA_US(5), &future)
            == ROTA_OK);
        test_check(rota_future_get(future, NULL) == ROTA_OK);
        rota_future_unref(future);
    }
}

static void schedule_late_and_cancel(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < 3; i++) {
        rota_future *future;
        test_check(
            rota_schedule(round->all.pool, test_count, &round->all.runs, ROTA_SEC(100), &future)
            == ROTA_OK);
        test_round_linger(&round->all);
        test_check(rota_future_cancel(future));
        rota_future_unref(future);
    }
}

static void all_six_ran(void *arg)
{
    struct round *round = arg;

    test_check(rota_close(round->all.pool) == ROTA_OK);
    test_check(atomic_load(&round->all.runs) == 6);
}

/* SCHED-19, L1: else a get never returns. */
TEST(no_task_is_left_by_a_thread_that_times_out)
{
    race(&(test_race){make_fleeting,
                      {schedule_and_get, schedule_and_get, schedule_late_and_cancel},
                      all_six_ran});
}
