/* SPDX-License-Identifier: MIT */
/*
 * A scheduled pool under everything at once: tasks and periodic are scheduled, cancelled, completed by
 * hand, removed and purged, its settings and policies change, its workers are torn away, and it is
 * shut down. Each task that was accepted meets its body or its discard, once; each periodic its
 * discard, once, after the last of its runs, which never overlap; what was refused meets neither
 * (OWN-19, SCHED-17, OWN-05, future.F4).
 */
#include "chance.h"
#include "rota_test_race.h"

#include <sched.h>

enum { SUBMITTERS = 2, EACH = 30, ITEMS = SUBMITTERS * EACH };

/* What became of one submission. */
struct item {
    atomic_uint runs, discards;
    atomic_bool is_running;
    unsigned seen; /* plain: a run sees what the one before it did */
    bool is_periodic;
    bool ends_thread;
    bool is_accepted; /* its submitter's to write */
    rota_future *future;
};

struct account {
    rota_executor *sched;
    struct item items[ITEMS];
    test_random randoms[TEST_SIDES]; /* of each side */
};

static _Thread_local bool is_worker;

static void begin_worker(void *ctx)
{
    is_worker = true;
}

/* -- Tasks -------------------------------------------------------------------------------- */

static void *run_item(void *arg)
{
    struct item *item = arg;

    test_check(!atomic_exchange_explicit(&item->is_running, true, memory_order_relaxed));
    test_check(atomic_load(&item->discards) == 0);
    item->seen++;
    atomic_fetch_add_explicit(&item->runs, 1, memory_order_relaxed);
    atomic_store_explicit(&item->is_running, false, memory_order_relaxed);
    if (item->ends_thread && is_worker)
        pthread_exit(NULL);
    return item;
}

static void discard_item(void *arg)
{
    struct item *item = arg;

    test_check(!atomic_load(&item->is_running));
    test_check(atomic_fetch_add(&item->discards, 1) == 0);
}

/* -- Before a round ----------------------------------------------------------------------- */

static struct item any_item(test_random *random)
{
    return (struct item){.is_periodic = test_random_below(random, 3) == 0,
                         .ends_thread = test_random_below(random, 12) == 0};
}

static void begin(void *arg)
{
    struct account *account = arg;
    test_random *random = &account->randoms[0];
    unsigned core = (unsigned)test_random_below(random, 3);

    for (unsigned i = 0; i < ITEMS; i++)
        account->items[i] = any_item(random);
    account->sched = test_sched((rota_sched_options){
        .core_threads = core,
        .core_may_time_out = test_random_below(random, 2) == 0,
        .keep_alive = ROTA_US(50),
        .threads = {.on_start = begin_worker},
        .drop_delayed_on_shutdown = test_random_below(random, 2) == 0,
        .keep_periodic_after_shutdown = test_random_below(random, 2) == 0,
        .keep_cancelled = test_random_below(random, 2) == 0,
    });
}

/* -- The sides ---------------------------------------------------------------------------- */

/* Due, soon, or not in this round. */
static rota_ns any_delay(test_random *random)
{
    size_t kind = test_random_below(random, 4);

    if (kind == 0)
        return ROTA_HOURS(1);
    return kind == 1 ? 0 : (rota_ns)test_random_below(random, ROTA_US(100));
}

static void schedule_item(struct account *account, struct item *item, test_random *random)
{
    rota_call call = {.fn = run_item, .arg = item, .discard = discard_item};
    rota_ns period = (rota_ns)(1 + test_random_below(random, ROTA_US(50)));
    bool is_held = test_random_below(random, 3) > 0;
    rota_future **out = is_held ? &item->future : NULL;
    int status;

    if (!item->is_periodic)
        status = rota_schedule_call(account->sched, &call, any_delay(random), 0, out);
    else if (test_random_below(random, 2) == 0)
        status = rota_schedule_skipping(account->sched, &call, any_delay(random), period, out);
    else
        status = rota_schedule_call(account->sched, &call, any_delay(random), -period, out);
    test_check(status == ROTA_OK || status == ROTA_EREJECTED);
    item->is_accepted = status == ROTA_OK;
    test_check(item->is_accepted || item->future == NULL);
}

static void disturb(struct account *account, struct item *item, size_t how)
{
    if (how == 0)
        rota_future_cancel(item->future);
    else if (how == 1)
        rota_future_cancel_now(item->future);
    else if (how == 2)
        rota_pool_remove(account->sched, item->future);
    else if (how == 3)
        rota_promise_complete(item->future, NULL);
}

static void schedule_all(struct account *account, unsigned side)
{
    struct item *items = &account->items[side * EACH];
    test_random *random = &account->randoms[1 + side];

    for (size_t i = 0; i < EACH; i++) {
        schedule_item(account, &items[i], random);
        struct item *any = &items[test_random_below(random, i + 1)];
        if (any->future != NULL)
            disturb(account, any, test_random_below(random, 8));
    }
}

static void schedule_left(void *arg)
{
    schedule_all(arg, 0);
}

static void schedule_right(void *arg)
{
    schedule_all(arg, 1);
}

static int change_policy(rota_executor *sched, size_t which, bool on)
{
    switch (which) {
    case 0:
        return rota_sched_set_drop_delayed_on_shutdown(sched, on);
    case 1:
        return rota_sched_set_keep_periodic_after_shutdown(sched, on);
    default:
        return rota_sched_set_keep_cancelled(sched, on);
    }
}

static void change(struct account *account, test_random *random)
{
    unsigned n = (unsigned)test_random_below(random, 4);
    int status = ROTA_OK;

    switch (test_random_below(random, 5)) {
    case 0:
        status = rota_pool_set_core_threads(account->sched, n);
        break;
    case 1:
        status = rota_pool_set_keep_alive(account->sched, ROTA_US(1 + n * 20));
        break;
    case 2:
        status = rota_pool_set_core_may_time_out(account->sched, n % 2 == 0);
        break;
    case 3:
        rota_pool_purge(account->sched);
        break;
    default:
        status = change_policy(account->sched, test_random_below(random, 3), n % 2 == 0);
    }
    test_check(status == ROTA_OK);
}

/* Nothing is left that goes on for long. */
static void give_up_all(struct account *account)
{
    test_check(rota_sched_set_drop_delayed_on_shutdown(account->sched, true) == ROTA_OK);
    test_check(rota_sched_set_keep_periodic_after_shutdown(account->sched, false) == ROTA_OK);
}

static void change_and_end(void *arg)
{
    struct account *account = arg;
    test_random *random = &account->randoms[3];
    rota_task_list list;

    for (size_t left = test_random_below(random, 30); left > 0; left--) {
        change(account, random);
        sched_yield();
    }
    size_t how = test_random_below(random, 4);
    if (how != 0)
        test_check(rota_shutdown(account->sched) == ROTA_OK);
    if (how == 1)
        test_check(rota_shutdown_now(account->sched, NULL) == ROTA_OK);
    if (how == 0 || how == 2) {
        test_check(rota_shutdown_now(account->sched, &list) == ROTA_OK);
        test_use_up(&list, random);
    }
    give_up_all(account);
    test_check(rota_await_termination(account->sched, ROTA_FOREVER) == ROTA_OK);
}

/* -- After a round ------------------------------------------------------------------------ */

static void settle(struct item *item)
{
    unsigned runs = atomic_load(&item->runs);
    unsigned discards = atomic_load(&item->discards);

    test_check(item->seen == runs);
    if (!item->is_accepted)
        test_check(runs + discards == 0);
    else if (item->is_periodic)
        test_check(discards == 1);
    else
        test_check(runs + discards == 1);
    if (item->future == NULL)
        return;
    test_check(rota_future_is_done(item->future));
    rota_future_unref(item->future);
}

static void end(void *arg)
{
    struct account *account = arg;
    rota_pool_stats stats = test_stats(account->sched);

    test_check(stats.threads == 0 && stats.active == 0 && stats.queued == 0);
    test_check(stats.submitted <= ITEMS);
    test_check(rota_executor_free(account->sched) == ROTA_OK);
    for (unsigned i = 0; i < ITEMS; i++)
        settle(&account->items[i]);
}

/* FAULT-43 */
TEST(every_task_is_accounted_for)
{
    static const test_race race = {
        .before = begin, .sides = {change_and_end, schedule_left, schedule_right}, .after = end};
    static struct account account;

    test_randoms_init(account.randoms, TEST_SIDES);
    test_race_run(&race, &account);
}
