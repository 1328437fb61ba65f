/* SPDX-License-Identifier: MIT */
/*
 * executor_contract.c - the fixture of the contract, and the probes of its tests.
 */
#include "executor_contract.h"

#include <stdio.h>
#include <stdlib.h>

/* -- Probes ------------------------------------------------------------------------------- */

static void begin(probe *self)
{
    atomic_fetch_add(&self->begun, 1);
    atomic_fetch_add(&self->test->begun, 1);
}

void *probe_returns(void *arg)
{
    probe *self = arg;

    begin(self);
    atomic_fetch_add(&self->ended, 1);
    return self;
}

void *probe_fails(void *arg)
{
    probe *self = arg;

    begin(self);
    atomic_fetch_add(&self->ended, 1);
    return rota_fail(FAILURE + (int)(self - self->test->probes));
}

void *probe_waits(void *arg)
{
    probe *self = arg;

    begin(self);
    test_latch_wait(&self->test->gate);
    self->interrupted = rota_is_interrupted();
    atomic_fetch_add(&self->ended, 1);
    return self;
}

void *probe_sleeps(void *arg)
{
    probe *self = arg;

    begin(self);
    self->interrupted = rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED;
    atomic_fetch_add(&self->ended, 1);
    return self;
}

void *probe_interrupts_main(void *arg)
{
    probe *self = arg;

    if (!atomic_exchange(&self->test->main_was_interrupted, true))
        rota_thread_interrupt(self->test->main);
    return probe_sleeps(arg);
}

static void probe_discard(void *arg)
{
    probe *self = arg;

    atomic_fetch_add(&self->discarded, 1);
}

static void probe_free(void *result)
{
    probe *self = result;

    atomic_fetch_add(&self->freed, 1);
}

rota_call contract_call(contract *test, size_t i, rota_fn *fn)
{
    return (rota_call){
        .fn = fn,
        .arg = &test->probes[i],
        .discard = probe_discard,
        .free_result = probe_free,
        .name = "probe",
    };
}

void contract_calls(contract *test, rota_call *calls, size_t n, rota_fn *fn)
{
    for (size_t i = 0; i < n; i++)
        calls[i] = contract_call(test, i, fn);
}

/* -- Together ----------------------------------------------------------------------------- */

struct wanted {
    contract *test;
    unsigned begun;
};

static bool so_many_have_begun(void *arg)
{
    const struct wanted *wanted = arg;

    return atomic_load(&wanted->test->begun) >= wanted->begun;
}

void contract_await_begun(contract *test, unsigned count)
{
    test_until(so_many_have_begun, &(struct wanted){test, count});
}

static void be_a_guest(void *arg)
{
    contract *test = arg;

    test_check(rota_execute(test->executor, probe_waits, &test->busy[0]) == ROTA_OK);
}

unsigned contract_busy(const contract *test)
{
    return test->kind->threads > 0 ? test->kind->threads : 1;
}

void contract_occupy(contract *test)
{
    unsigned before = atomic_load(&test->begun);

    if (test->kind->threads == 0)
        test->guest = test_thread_start(be_a_guest, test);
    for (unsigned i = 0; i < test->kind->threads; i++)
        assert_ok(rota_execute(test->executor, probe_waits, &test->busy[i]));
    contract_await_begun(test, before + contract_busy(test));
}

void contract_open_gate(contract *test)
{
    if (!atomic_exchange(&test->gate_is_open, true))
        test_latch_open(&test->gate);
}

static void end_guest(contract *test)
{
    if (test->guest != NULL)
        test_thread_join(test->guest);
    test->guest = NULL;
}

void contract_end(contract *test)
{
    contract_open_gate(test);
    if (test->executor != NULL)
        assert_ok(rota_close(test->executor));
    test->executor = NULL;
    end_guest(test);
}

void contract_end_each_once(contract *test, size_t n)
{
    contract_end(test);
    for (size_t i = 0; i < n; i++) {
        const probe *met = &test->probes[i];
        assert_int_equal(atomic_load(&met->begun) + atomic_load(&met->discarded), 1);
        assert_int_equal(atomic_load(&met->begun), atomic_load(&met->ended));
    }
}

unsigned contract_bodies(const contract *test, size_t n)
{
    unsigned bodies = 0;

    for (size_t i = 0; i < n; i++)
        bodies += atomic_load(&test->probes[i].begun);
    return bodies;
}

bool contract_all_interrupted(const contract *test, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (atomic_load(&test->probes[i].begun) > 0 && !test->probes[i].interrupted)
            return false;
    }
    return true;
}

/* -- One test for one kind ---------------------------------------------------------------- */

static int set_up(void **state)
{
    const executor_kind *kind = *state;
    contract *test = calloc(1, sizeof *test);

    if (test == NULL)
        return -1;
    test->kind = kind;
    test->main = rota_thread_self();
    test_latch_init(&test->gate, 1);
    for (size_t i = 0; i < MOST_THREADS; i++)
        test->busy[i].test = test;
    for (size_t i = 0; i < PROBES; i++)
        test->probes[i].test = test;
    *state = test;
    return kind->make(&test->executor) == ROTA_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    contract *test = *state;
    bool interrupted = rota_interrupted(); /* no test leaves the flag set */

    contract_open_gate(test);
    int status = test->executor != NULL ? rota_close(test->executor) : ROTA_OK;
    end_guest(test);
    free(test);
    return status == ROTA_OK && !interrupted ? 0 : -1;
}

static unsigned abilities(const executor_kind *kind)
{
    unsigned able = kind->threads == 0 ? IN_CALLER : ON_THREADS;

    able |= kind->threads >= 2 ? TWO_THREADS : 0;
    able |= kind->threads > 0 && !kind->grows ? QUEUES : 0;
    able |= kind->stops ? STOPS : 0;
    able |= kind->hands_over ? HANDS_OVER : 0;
    able |= kind->replaces ? REPLACES : 0;
    able |= kind->knows_its_tasks ? KNOWS_ITS_TASKS : 0;
    return able;
}

/* -- The fixture ---------------------------------------------------------------------------- */

static test_kind kind_at(size_t i)
{
    const executor_kind *kind = &executor_kinds[i];

    test_check(kind->threads <= MOST_THREADS);
    return (test_kind){.name = kind->name, .able = abilities(kind), .value = kind};
}

const test_fixture executor_contract = {set_up, tear_down, .kind = kind_at};
