/* SPDX-License-Identifier: MIT */
/*
 * An executor is shut down while tasks are submitted in every way: what it took has run when it
 * ends, what it refused has not.
 */
#include "executors.h"
#include "rota_test_race.h"
#include "rota_test_tasks.h"

#include <sched.h>

enum { GROUP = 3 };

struct account {
    rota_executor *executor;
    test_random random;
    unsigned yields;   /* before the shutdown */
    atomic_uint taken; /* that must run */
    atomic_uint ran;
    atomic_uint grouped; /* that must run or be discarded */
    atomic_uint group_ran;
    atomic_uint group_discarded;
};

/* Mostly direct ones: threads take their time. */
static int make_executor(struct account *account)
{
    if (test_random_below(&account->random, 5) > 0)
        return test_executor_direct(&account->executor);
    return test_executor_threads(2, &account->executor);
}

static void make(void *arg)
{
    struct account *account = arg;

    atomic_store(&account->taken, 0);
    atomic_store(&account->ran, 0);
    atomic_store(&account->grouped, 0);
    atomic_store(&account->group_ran, 0);
    atomic_store(&account->group_discarded, 0);
    account->yields = (unsigned)test_random_below(&account->random, 20);
    test_check(make_executor(account) == ROTA_OK);
}

static void *count_run(void *arg)
{
    struct account *account = arg;

    atomic_fetch_add(&account->ran, 1);
    return account;
}

static void never(void *arg)
{
    test_die(__FILE__, __LINE__, "a call was discarded that had been refused, or had run");
}

static void shut_down(void *arg)
{
    struct account *account = arg;

    for (unsigned i = 0; i < account->yields; i++)
        sched_yield();
    test_check(rota_shutdown(account->executor) == ROTA_OK);
    test_check(rota_execute(account->executor, count_run, account) == ROTA_EREJECTED);
    test_check(rota_await_termination(account->executor, ROTA_FOREVER) == ROTA_OK);
}

/* OWN-05: a future for each that was taken, and it will be done. */
static void submit_one_by_one(void *arg)
{
    struct account *account = arg;
    rota_call call = {.fn = count_run, .arg = account, .discard = never};

    for (;;) {
        rota_future *future = TEST_UNTOUCHED;
        void *result = NULL;
        int status = rota_submit_call(account->executor, &call, &future);

        if (status != ROTA_OK) {
            test_check(status == ROTA_EREJECTED);
            test_check(future == TEST_UNTOUCHED);
            test_check(rota_is_shutdown(account->executor));
            return;
        }
        atomic_fetch_add(&account->taken, 1);
        if (rota_execute(account->executor, count_run, account) == ROTA_OK)
            atomic_fetch_add(&account->taken, 1);
        test_check(rota_future_get(future, &result) == ROTA_OK);
        test_check(result == account);
        rota_future_unref(future);
    }
}

static void *count_group_run(void *arg)
{
    struct account *account = arg;

    atomic_fetch_add(&account->group_ran, 1);
    return account;
}

static void count_group_discard(void *arg)
{
    struct account *account = arg;

    atomic_fetch_add(&account->group_discarded, 1);
}

/* EXEC-06, EXEC-16: refused half-way, each still meets its body or its discard. */
static void submit_in_groups(void *arg)
{
    struct account *account = arg;
    const rota_call call = {.fn = count_group_run, .arg = account, .discard = count_group_discard};
    const rota_call calls[GROUP] = {call, call, call};
    int status;

    do {
        rota_future *futures[GROUP] = {TEST_UNTOUCHED};

        status = rota_invoke_all(account->executor, calls, GROUP, ROTA_FOREVER, futures);
        atomic_fetch_add(&account->grouped, GROUP);
        for (size_t i = 0; i < GROUP && status == ROTA_OK; i++)
            rota_future_unref(futures[i]);
        test_check(status == ROTA_OK || futures[0] == TEST_UNTOUCHED);
    } while (status == ROTA_OK);
    test_check(status == ROTA_EREJECTED);
}

static void check_account(void *arg)
{
    struct account *account = arg;

    test_check(rota_executor_free(account->executor) == ROTA_OK);
    test_check(atomic_load(&account->taken) == atomic_load(&account->ran));
    test_check(atomic_load(&account->grouped)
               == atomic_load(&account->group_ran) + atomic_load(&account->group_discarded));
}

/* custom.U1, OWN-05, EXEC-16 */
TEST(what_was_taken_has_run)
{
    static const test_race race = {
        make, {shut_down, submit_one_by_one, submit_in_groups}, check_account};
    struct account account;

    test_random_init(&account.random);
    test_race_run(&race, &account);
}
