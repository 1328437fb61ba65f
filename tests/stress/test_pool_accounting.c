/* SPDX-License-Identifier: MIT */
/*
 * A pool under everything at once: tasks are submitted, cancelled, removed and purged, its settings
 * and its policy change, its workers are torn away, and it is shut down. Each task that was accepted
 * meets its body or its discard, once; each that was refused neither (POOL-17, OWN-05, A1 to A5).
 */
#include "chance.h"
#include "rota_test_race.h"

#include <sched.h>

enum { SUBMITTERS = 2, EACH = 40, ITEMS = SUBMITTERS * EACH };

/* What became of one submission. */
struct item {
    struct account *account;
    atomic_uint runs, discards;
    bool ends_thread;
    bool is_accepted; /* its submitter's to write */
    rota_future *future;
};

struct account {
    rota_executor *pool;
    struct item items[ITEMS];
    atomic_uint afters;
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

    test_check(atomic_fetch_add(&item->runs, 1) == 0);
    if (item->ends_thread && is_worker)
        pthread_exit(NULL);
    return item;
}

static void discard_item(void *arg)
{
    struct item *item = arg;

    test_check(atomic_fetch_add(&item->discards, 1) == 0);
}

static void count_after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct account *account = ctx;

    atomic_fetch_add(&account->afters, 1);
}

/* -- Before a round ----------------------------------------------------------------------- */

static void begin(void *arg)
{
    struct account *account = arg;
    test_random *random = &account->randoms[0];
    unsigned core = (unsigned)test_random_below(random, 3);

    for (unsigned i = 0; i < ITEMS; i++)
        account->items[i] =
            (struct item){.account = account, .ends_thread = test_random_below(random, 12) == 0};
    atomic_store(&account->afters, 0);
    account->pool = test_pool((rota_pool_options){
        .core_threads = core,
        .max_threads = core + 1 + (unsigned)test_random_below(random, 2),
        .keep_alive = test_random_below(random, 2) == 0 ? 1 : ROTA_US(50),
        .queue = test_any_queue(random),
        .on_reject = test_any_policy(random),
        .threads = {.on_start = begin_worker},
        .hooks = {.after_execute = count_after, .ctx = account},
    });
}

/* -- The sides ---------------------------------------------------------------------------- */

static void submit_item(struct account *account, struct item *item, bool is_held)
{
    rota_call call = {.fn = run_item, .arg = item, .discard = discard_item};
    int status = rota_submit_call(account->pool, &call, is_held ? &item->future : NULL);

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
        rota_pool_remove(account->pool, item->future);
}

static void submit_all(struct account *account, unsigned side)
{
    struct item *items = &account->items[side * EACH];
    test_random *random = &account->randoms[1 + side];

    for (size_t i = 0; i < EACH; i++) {
        submit_item(account, &items[i], test_random_below(random, 3) > 0);
        struct item *any = &items[test_random_below(random, i + 1)];
        if (any->future != NULL)
            disturb(account, any, test_random_below(random, 6));
    }
}

static void submit_left(void *arg)
{
    submit_all(arg, 0);
}

static void submit_right(void *arg)
{
    submit_all(arg, 1);
}

static void change(struct account *account, test_random *random)
{
    unsigned n = (unsigned)test_random_below(random, 4);
    int status = ROTA_OK;

    switch (test_random_below(random, 6)) {
    case 0:
        status = rota_pool_set_core_threads(account->pool, n);
        break;
    case 1:
        status = rota_pool_set_max_threads(account->pool, n + 1);
        break;
    case 2:
        status = rota_pool_set_keep_alive(account->pool, ROTA_US(n * 20));
        break;
    case 3:
        status = rota_pool_set_reject(account->pool, test_any_policy(random), NULL);
        break;
    case 4:
        rota_pool_purge(account->pool);
        break;
    default:
        status = rota_pool_set_core_may_time_out(account->pool, n % 2 == 0);
    }
    test_check(status == ROTA_OK || status == ROTA_EINVAL);
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
        test_check(rota_shutdown(account->pool) == ROTA_OK);
    if (how == 1)
        test_check(rota_shutdown_now(account->pool, NULL) == ROTA_OK);
    if (how == 0 || how == 2) {
        test_check(rota_shutdown_now(account->pool, &list) == ROTA_OK);
        test_use_up(&list, random);
    }
    test_check(rota_await_termination(account->pool, ROTA_FOREVER) == ROTA_OK);
}

/* -- After a round ------------------------------------------------------------------------ */

static void settle(struct item *item)
{
    unsigned met = atomic_load(&item->runs) + atomic_load(&item->discards);

    test_check(met == (item->is_accepted ? 1 : 0));
    if (item->future == NULL)
        return;
    test_check(rota_future_is_done(item->future));
    test_check(rota_future_state_of(item->future) == ROTA_FUTURE_CANCELED
               || atomic_load(&item->runs) == 1);
    rota_future_unref(item->future);
}

static void end(void *arg)
{
    struct account *account = arg;
    rota_pool_stats stats = test_stats(account->pool);

    test_check(stats.threads == 0 && stats.active == 0 && stats.queued == 0);
    test_check(stats.completed >= atomic_load(&account->afters)); /* cancelled ones have no hook */
    test_check(stats.completed <= stats.submitted && stats.submitted <= ITEMS);
    test_check(rota_executor_free(account->pool) == ROTA_OK);
    for (unsigned i = 0; i < ITEMS; i++)
        settle(&account->items[i]);
}

/* FAULT-43 */
TEST(every_task_is_accounted_for)
{
    static const test_race race = {
        .before = begin, .sides = {change_and_end, submit_left, submit_right}, .after = end};
    static struct account account;

    test_randoms_init(account.randoms, TEST_SIDES);
    test_race_run(&race, &account);
}
