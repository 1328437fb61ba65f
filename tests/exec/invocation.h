/* SPDX-License-Identifier: MIT */
/*
 * invocation.h - one call of invoke_all or invoke_any, with an executor that does by itself only
 * what the test has asked for.
 */
#ifndef ROTA_TEST_INVOCATION_H
#define ROTA_TEST_INVOCATION_H

#include "executors.h"
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

enum { CALLS = 4, ORDERS = 24, NONE = 99 };

typedef int invoke_fn(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                      rota_future **futures);

struct invocation {
    invoke_fn *fn;
    rota_executor *executor;
    test_manual *manual;
    test_probe probes[CALLS];
    rota_call calls[CALLS];
    rota_ns timeout;
    int status;
    rota_future *futures[CALLS]; /* of invoke_any one */

    /* When the executor takes the task of the number `at` ... */
    size_t at;
    rota_ns advance;      /* ... time passes, */
    size_t count;         /* and it runs so many, */
    size_t places[CALLS]; /* each at this place of those still there */
};

static inline void start(struct invocation *self, invoke_fn *fn)
{
    *self = (struct invocation){.fn = fn, .timeout = ROTA_FOREVER, .at = NONE};
    self->manual = test_executor_manual(&self->executor);
    for (size_t i = 0; i < CALLS; i++) {
        self->calls[i] = test_probe_call(&self->probes[i]);
        self->futures[i] = TEST_UNTOUCHED;
    }
}

static inline void taken(size_t nth, void *arg)
{
    struct invocation *self = arg;

    if (nth != self->at)
        return;
    if (self->advance > 0)
        test_clock_advance(self->advance);
    for (size_t i = 0; i < self->count; i++)
        test_manual_run(self->manual, self->places[i]);
}

static inline void invoke(void *arg)
{
    struct invocation *self = arg;

    test_manual_on_taken(self->manual, taken, self);
    self->status = self->fn(self->executor, self->calls, CALLS, self->timeout, self->futures);
}

/* Each call met its body or its discard, once (EXEC-16); so many met their body. */
static inline void assert_each_once(const struct invocation *self, size_t runs)
{
    size_t ran = 0;

    for (size_t i = 0; i < CALLS; i++) {
        assert_int_equal(self->probes[i].runs + self->probes[i].discards, 1);
        ran += self->probes[i].runs;
    }
    assert_int_equal(ran, runs);
}

static inline void assert_no_futures(const struct invocation *self, int status)
{
    assert_int_equal(self->status, status);
    for (size_t i = 0; i < CALLS; i++)
        assert_ptr_equal(self->futures[i], TEST_UNTOUCHED);
}

static inline unsigned met(const struct invocation *self)
{
    unsigned sum = 0;

    for (size_t i = 0; i < CALLS; i++)
        sum += self->probes[i].runs + self->probes[i].discards;
    return sum;
}

/* What is still in the executor's hands does nothing more. */
static inline void end(struct invocation *self)
{
    unsigned before = met(self);

    while (test_manual_count(self->manual) > 1)
        test_manual_run(self->manual, 0);
    assert_ok(rota_close(self->executor)); /* discards the last */
    assert_int_equal(met(self), before);
    for (size_t i = 0; i < CALLS && self->futures[i] != TEST_UNTOUCHED; i++)
        rota_future_unref(self->futures[i]);
}

/* The places, among those still there, of tasks run in the nth of all orders; who runs as last. */
static inline size_t order_of(size_t nth, size_t *places)
{
    size_t left[CALLS] = {0, 1, 2, 3};
    size_t last = 0;

    for (size_t count = CALLS; count > 0; count--) {
        size_t place = nth % count;
        nth /= count;
        places[CALLS - count] = place;
        last = left[place];
        for (size_t i = place; i + 1 < count; i++)
            left[i] = left[i + 1];
    }
    return last;
}

/* -- Refused ------------------------------------------------------------------------------ */

static inline bool says_nothing_happened(int status)
{
    return status == ROTA_ENOMEM || status == ROTA_EINVAL;
}

/* The executor takes `accepted` calls, of which it runs the first `ran`, and refuses the next. */
static inline void be_refused(invoke_fn *fn, size_t accepted, size_t ran, int status)
{
    struct invocation self;

    start(&self, fn);
    for (size_t i = 0; i < CALLS; i++)
        self.probes[i].error = 100; /* a success would end invoke_any */
    self.at = accepted - 1;
    self.count = ran;
    test_manual_refuse_after(self.manual, accepted, status);
    invoke(&self);
    if (accepted == 0 && says_nothing_happened(status)) {
        assert_no_futures(&self, status);
        assert_int_equal(met(&self), 0);
    } else {
        assert_no_futures(&self, says_nothing_happened(status) ? ROTA_EAGAIN : status);
        assert_each_once(&self, ran);
        assert_int_equal(test_manual_count(self.manual), accepted - ran);
    }
    end(&self);
}

/* At any call, with any status, after any number of calls have run. */
static inline void be_refused_in_every_way(invoke_fn *fn)
{
    static const int refusals[] = {ROTA_EREJECTED, ROTA_ENOMEM, ROTA_EAGAIN,
                                   ROTA_EINVAL,    ROTA_EBUSY,  -99};

    for (size_t accepted = 0; accepted < CALLS; accepted++) {
        for (size_t ran = 0; ran <= accepted; ran++) {
            for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
                be_refused(fn, accepted, ran, refusals[i]);
        }
    }
}

#endif
