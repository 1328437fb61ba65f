/* SPDX-License-Identifier: MIT */
/*
 * invoke_any and invoke_all while calls end, the time runs out and the caller is interrupted, all at
 * once; and submissions while the executor is shut down. Every call is accounted for, exactly.
 */
#include "executors.h"
#include "rota_test_race.h"
#include "rota_test_tasks.h"

#include <sched.h>

enum { THREADS = 3, MOST_CALLS = 5, KEPT_ROUNDS = 64, FAILURE = 55 };

/* What a body does. */
enum behaviour { SUCCEEDS, FAILS, NAPS, SLEEPS, BEHAVIOURS };

/* A call, and what became of it; used again after KEPT_ROUNDS, so that what comes late is seen. */
struct record {
    enum behaviour behaviour;
    unsigned yields; /* before that */
    atomic_uint begun;
    atomic_uint ended;
    atomic_uint discarded;
    atomic_uint freed;
};

typedef int invoke_fn(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                      rota_future **futures);

struct stress {
    rota_executor *executor;
    test_random random;
    invoke_fn *invoke;

    /* Of this round. */
    struct record (*records)[MOST_CALLS];
    size_t n;
    rota_ns timeout;
    bool interrupts;
    int status;
    rota_ns lasted;
    rota_future *futures[MOST_CALLS];

    size_t round;
    struct record kept[KEPT_ROUNDS][MOST_CALLS];
};

static void *behave(void *arg)
{
    struct record *self = arg;

    atomic_fetch_add(&self->begun, 1);
    for (unsigned i = 0; i < self->yields; i++)
        sched_yield();
    if (self->behaviour == NAPS)
        rota_sleep(ROTA_US(20));
    else if (self->behaviour == SLEEPS)
        rota_sleep(ROTA_FOREVER);
    atomic_fetch_add(&self->ended, 1);
    if (self->behaviour == FAILS)
        rota_fail(FAILURE);
    return self;
}

static void discard(void *arg)
{
    atomic_fetch_add(&((struct record *)arg)->discarded, 1);
}

static void free_result(void *result)
{
    atomic_fetch_add(&((struct record *)result)->freed, 1);
}

static bool fails(const struct record *record)
{
    return record->behaviour == FAILS;
}

/* -- Accounts ----------------------------------------------------------------------------- */

/* Has it met its body, to the end, or its discard? Each result is freed, once (OWN-17). */
static bool is_settled(struct record *record)
{
    unsigned begun = atomic_load(&record->begun);
    unsigned results = fails(record) ? 0 : begun;

    return begun + atomic_load(&record->discarded) == 1 && atomic_load(&record->ended) == begun
           && atomic_load(&record->freed) == results;
}

static bool all_are_settled(void *arg)
{
    struct stress *stress = arg;

    for (size_t i = 0; i < stress->n; i++) {
        if (!is_settled(&(*stress->records)[i]))
            return false;
    }
    return true;
}

/* EXEC-16: nothing came twice, however late. */
static void check_unchanged(struct record *records)
{
    for (size_t i = 0; i < MOST_CALLS; i++)
        test_check(atomic_load(&records[i].begun) + atomic_load(&records[i].discarded) == 0
                   || is_settled(&records[i]));
}

/* -- A round ------------------------------------------------------------------------------ */

static rota_ns some_timeout(test_random *random)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_FOREVER, 0, ROTA_US(5), ROTA_US(50), ROTA_MS(1)};

    return timeouts[test_random_below(random, sizeof timeouts / sizeof timeouts[0])];
}

/* Are there sleepers that the others do not end, or that keep the others from running? */
static bool may_last(const struct stress *stress)
{
    size_t sleepers = 0;
    size_t successes = 0;

    for (size_t i = 0; i < stress->n; i++) {
        const struct record *record = &(*stress->records)[i];
        sleepers += record->behaviour == SLEEPS;
        successes += record->behaviour != SLEEPS && !fails(record);
    }
    if (stress->invoke == rota_invoke_all)
        return sleepers > 0;
    return sleepers >= THREADS || (sleepers > 0 && successes == 0);
}

static void prepare(void *arg)
{
    struct stress *stress = arg;

    stress->records = &stress->kept[stress->round++ % KEPT_ROUNDS];
    check_unchanged(*stress->records);
    stress->n = 1 + test_random_below(&stress->random, MOST_CALLS);
    for (size_t i = 0; i < MOST_CALLS; i++) {
        struct record *record = &(*stress->records)[i];
        *record = (struct record){
            .behaviour = (enum behaviour)test_random_below(&stress->random, BEHAVIOURS),
            .yields = (unsigned)test_random_below(&stress->random, 4),
        };
        stress->futures[i] = TEST_UNTOUCHED;
    }
    stress->timeout = some_timeout(&stress->random);
    stress->interrupts = test_random_below(&stress->random, 2) == 0;
    if (stress->timeout == ROTA_FOREVER && may_last(stress))
        stress->interrupts = true; /* or it would never end */
}

static void invoke(void *arg)
{
    struct stress *stress = arg;
    rota_call calls[MOST_CALLS];

    for (size_t i = 0; i < stress->n; i++)
        calls[i] = (rota_call){.fn = behave,
                               .arg = &(*stress->records)[i],
                               .discard = discard,
                               .free_result = free_result};
    rota_ns start = rota_now();
    stress->status =
        stress->invoke(stress->executor, calls, stress->n, stress->timeout, stress->futures);
    stress->lasted = rota_now() - start;
}

static void interrupt(void *arg)
{
    struct stress *stress = arg;

    if (stress->interrupts)
        rota_thread_interrupt(test_race_thread(0));
}

/* The status has its reasons. */
static void check_reasons(const struct stress *stress)
{
    if (stress->status == ROTA_ETIMEDOUT)
        test_check(stress->lasted >= stress->timeout); /* GEN-06 */
    else if (stress->status == ROTA_EINTERRUPTED)
        test_check(stress->interrupts);
    else
        test_check(stress->status == ROTA_OK || stress->status == ROTA_EFAILED);
}

static void settle(struct stress *stress)
{
    check_reasons(stress);
    test_until(all_are_settled, stress);
    rota_interrupted(); /* what came too late */
}

/* -- invoke_any --------------------------------------------------------------------------- */

static void check_any(void *arg)
{
    struct stress *stress = arg;
    rota_future *first = stress->futures[0];
    void *result = NULL;

    if (stress->status == ROTA_OK) {
        test_check(rota_future_get_timed(first, 0, &result) == ROTA_OK);
        struct record *winner = result;
        test_check(winner >= *stress->records && winner < *stress->records + stress->n);
        test_check(!fails(winner) && atomic_load(&winner->freed) == 0);
    } else if (stress->status == ROTA_EFAILED) {
        test_check(rota_future_error(first) == FAILURE);
        for (size_t i = 0; i < stress->n; i++) /* EXEC-11: not one is left */
            test_check(fails(&(*stress->records)[i])
                       && atomic_load(&(*stress->records)[i].ended) == 1);
    } else {
        test_check(first == TEST_UNTOUCHED);
    }
    if (first != TEST_UNTOUCHED)
        rota_future_unref(first);
    settle(stress);
}

/* -- invoke_all --------------------------------------------------------------------------- */

static void check_all(void *arg)
{
    struct stress *stress = arg;
    bool returned = stress->status == ROTA_OK || stress->status == ROTA_ETIMEDOUT;
    size_t cancelled = 0;

    test_check(stress->status != ROTA_EFAILED);
    for (size_t i = 0; i < stress->n && returned; i++) {
        const struct record *record = &(*stress->records)[i];
        int status = rota_future_get_timed(stress->futures[i], 0, NULL);
        cancelled += status == ROTA_ECANCELED;
        test_check(status == ROTA_ECANCELED || status == (fails(record) ? ROTA_EFAILED : ROTA_OK));
        rota_future_unref(stress->futures[i]);
    }
    if (returned) /* EXEC-07: the time was up for one at least, or for none */
        test_check((cancelled > 0) == (stress->status == ROTA_ETIMEDOUT));
    else
        test_check(stress->futures[0] == TEST_UNTOUCHED);
    settle(stress);
}

static void run_stress(invoke_fn *fn, void (*check)(void *arg))
{
    static struct stress stress;
    const test_race race = {prepare, {invoke, interrupt}, check};

    stress.invoke = fn;
    test_random_init(&stress.random);
    assert_ok(test_executor_threads(THREADS, &stress.executor));
    test_race_run(&race, &stress);
    assert_ok(rota_close(stress.executor));
    for (size_t i = 0; i < KEPT_ROUNDS; i++)
        check_unchanged(stress.kept[i]);
}

/* EXEC-09 to EXEC-13, EXEC-16 */
TEST(invoke_any_accounts_for_every_call)
{
    run_stress(rota_invoke_any, check_any);
}

/* EXEC-05 to EXEC-07, EXEC-16 */
TEST(invoke_all_accounts_for_every_call)
{
    run_stress(rota_invoke_all, check_all);
}
