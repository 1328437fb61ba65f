/* SPDX-License-Identifier: MIT */
#include "pools.h"

/* -- Pools -------------------------------------------------------------------------------- */

rota_executor *test_pool(rota_pool_options options)
{
    rota_executor *pool = NULL;

    test_check(rota_pool_new(&options, &pool) == ROTA_OK);
    return pool;
}

rota_queue *test_array(size_t capacity)
{
    rota_queue *queue = NULL;

    test_check(rota_array_queue(capacity, &queue) == ROTA_OK);
    return queue;
}

rota_queue *test_handoff(void)
{
    rota_queue *queue = NULL;

    test_check(rota_handoff_queue(&queue) == ROTA_OK);
    return queue;
}

rota_executor *test_small_pool(unsigned core, unsigned max, size_t room)
{
    return test_pool(
        (rota_pool_options){.core_threads = core, .max_threads = max, .queue = test_array(room)});
}

rota_pool_stats test_stats(rota_executor *pool)
{
    rota_pool_stats stats;

    test_check(rota_pool_stats_get(pool, &stats) == ROTA_OK);
    return stats;
}

rota_pool_options test_options(rota_executor *pool)
{
    rota_pool_options options;

    test_check(rota_pool_options_get(pool, &options) == ROTA_OK);
    return options;
}

rota_executor *test_sched(rota_sched_options options)
{
    rota_executor *sched = NULL;

    test_check(rota_sched_new(&options, &sched) == ROTA_OK);
    return sched;
}

rota_sched_options test_sched_options(rota_executor *sched)
{
    rota_sched_options options;

    test_check(rota_sched_options_get(sched, &options) == ROTA_OK);
    return options;
}

void test_stop(rota_executor *pool)
{
    test_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    test_check(rota_close(pool) == ROTA_OK);
}

struct wanted {
    rota_executor *pool;
    uint64_t count;
};

static bool has_threads(void *arg)
{
    const struct wanted *wanted = arg;

    return test_stats(wanted->pool).threads == wanted->count;
}

void test_await_threads(rota_executor *pool, unsigned count)
{
    test_until(has_threads, &(struct wanted){pool, count});
}

static bool has_active(void *arg)
{
    const struct wanted *wanted = arg;

    return test_stats(wanted->pool).active == wanted->count;
}

void test_await_active(rota_executor *pool, unsigned count)
{
    test_until(has_active, &(struct wanted){pool, count});
}

static bool has_completed(void *arg)
{
    const struct wanted *wanted = arg;

    return test_stats(wanted->pool).completed >= wanted->count;
}

void test_await_completed(rota_executor *pool, uint64_t count)
{
    test_until(has_completed, &(struct wanted){pool, count});
}

static bool has_waiting(void *arg)
{
    const struct wanted *wanted = arg;

    return rota_queue_waiting(rota_pool_queue(wanted->pool)) == wanted->count;
}

void test_await_waiting(rota_executor *pool, size_t count)
{
    test_until(has_waiting, &(struct wanted){pool, count});
}

static bool has_state(void *arg)
{
    const struct wanted *wanted = arg;

    return (uint64_t)rota_executor_state_of(wanted->pool) >= wanted->count;
}

void test_await_state(rota_executor *pool, rota_executor_state state)
{
    test_until(has_state, &(struct wanted){pool, (uint64_t)state});
}

struct counted {
    atomic_uint *counter;
    unsigned count;
};

static bool has_counted(void *arg)
{
    const struct counted *counted = arg;

    return atomic_load(counted->counter) >= counted->count;
}

void test_await_count(atomic_uint *counter, unsigned count)
{
    test_until(has_counted, &(struct counted){counter, count});
}

/* -- Tasks that wait at a gate ------------------------------------------------------------ */

void test_gate_init(test_gate *gate)
{
    *gate = (test_gate){.begun = 0};
    test_latch_init(&gate->latch, 1);
}

void test_gate_open(test_gate *gate)
{
    test_latch_open(&gate->latch);
}

void *test_wait_at(void *arg)
{
    test_gate *gate = arg;

    atomic_fetch_add(&gate->begun, 1);
    test_latch_wait(&gate->latch);
    if (rota_is_interrupted())
        atomic_fetch_add(&gate->interrupted, 1);
    atomic_fetch_add(&gate->ended, 1);
    return gate;
}

void *test_sleep_long(void *arg)
{
    test_gate *gate = arg;

    atomic_fetch_add(&gate->begun, 1);
    if (rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED)
        atomic_fetch_add(&gate->interrupted, 1);
    atomic_fetch_add(&gate->ended, 1);
    return gate;
}

void test_occupy(rota_executor *pool, test_gate *gate, unsigned count)
{
    unsigned begun = atomic_load(&gate->begun);

    for (unsigned i = 0; i < count; i++)
        test_check(rota_execute(pool, test_wait_at, gate) == ROTA_OK);
    test_await_count(&gate->begun, begun + count);
}

void test_fill(rota_executor *pool, test_gate *gate, test_probe *probe, unsigned queued)
{
    rota_call call = test_probe_call(probe);

    test_gate_init(gate);
    test_occupy(pool, gate, 1);
    for (unsigned i = 0; i < queued; i++)
        test_check(rota_submit_call(pool, &call, NULL) == ROTA_OK);
}

/* -- Tasks that note when they run -------------------------------------------------------- */

void test_notes_init(test_note *notes, unsigned count, test_journal *journal)
{
    test_check(count <= TEST_NOTES);
    atomic_init(&journal->count, 0);
    for (unsigned i = 0; i < count; i++)
        notes[i] = (test_note){journal, i};
}

void *test_note_down(void *arg)
{
    const test_note *note = arg;
    unsigned at = atomic_fetch_add(&note->journal->count, 1);

    test_check(at < TEST_NOTES);
    note->journal->numbers[at] = note->number;
    return arg;
}

void *test_count(void *counter)
{
    atomic_fetch_add((atomic_uint *)counter, 1);
    return counter;
}

void test_journal_is(const test_journal *journal, const unsigned *numbers, unsigned count)
{
    assert_int_equal(atomic_load(&journal->count), count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(journal->numbers[i], numbers[i]);
}
