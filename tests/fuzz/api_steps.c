/* SPDX-License-Identifier: MIT */
/*
 * api_steps.c - futures made of futures. What they must have ended as follows from what their sources
 * have ended as.
 */
#include "api.h"

enum { FAILURE = 8000 };

/* -- The functions --------------------------------------------------------------------------- */

static bool fails(const node *self)
{
    return self->detail % 4 == 3;
}

/* What a step computes: itself, or a failure. */
static void *compute(node *self)
{
    self->runs++;
    ex_check(self->runs == 1);
    return fails(self) ? rota_fail(FAILURE) : self;
}

static void *then(void *value, void *self)
{
    (void)value;
    return compute(self);
}

static void *both(void *first, void *second, void *self)
{
    (void)first;
    (void)second;
    return compute(self);
}

static void *handle(int status, void *value, int error, void *self)
{
    check_status(status, status == ROTA_OK || status == ROTA_EFAILED || status == ROTA_ECANCELED);
    check_status(status, (error != 0) == (status == ROTA_EFAILED));
    check_status(status, status == ROTA_OK || value == NULL);
    return compute(self);
}

static void when_done(rota_future *future, void *self)
{
    ex_check(rota_future_is_done(future));
    compute(self);
}

/* One that was made before, so that nothing waits for itself; or none. */
static rota_future *give_another(node *self)
{
    if (compute(self) == NULL)
        return NULL;
    node *inner = self->detail % 4 == 2 ? NULL : node_before(self, self->detail);
    if (inner == NULL)
        return NULL;
    inner->users++; /* and is never let go of */
    inner->is_owned |= self->is_owner;
    self->inner = inner;
    return rota_future_ref(inner->future);
}

static rota_future *chain(void *value, void *self)
{
    (void)value;
    return give_another(self);
}

static rota_future *handle_chain(int status, void *value, int error, void *self)
{
    (void)status;
    (void)value;
    (void)error;
    return give_another(self);
}

/* -- Making them ----------------------------------------------------------------------------- */

static bool add_sources(node *self, unsigned count)
{
    while (self->source_count < count) {
        node *source = node_any();
        if (source == NULL)
            return false;
        source->is_used = true;
        self->sources[self->source_count++] = source;
    }
    return true;
}

static int make_several(node *self, rota_future **out)
{
    rota_future *futures[SOURCES];

    for (unsigned i = 0; i < self->source_count; i++)
        futures[i] = self->sources[i]->future;
    self->is_endless = self->kind == ANY_OF && self->source_count == 0;
    return self->kind == ALL_OF ? rota_all_of(futures, self->source_count, out)
                                : rota_any_of(futures, self->source_count, out);
}

static int make_step(node *self, rota_future **out)
{
    rota_executor *ex = self->executor != NULL ? self->executor->handle : NULL;
    rota_future *f = self->source_count > 0 ? self->sources[0]->future : NULL;

    switch (self->kind) {
    case THEN:
        return rota_then(f, ex, then, self, out);
    case CHAIN:
        return rota_chain(f, ex, chain, self, out);
    case BOTH:
        return rota_both(f, self->sources[1]->future, ex, both, self, out);
    case EITHER:
        return rota_either(f, self->sources[1]->future, ex, then, self, out);
    case HANDLE:
        return rota_handle(f, ex, handle, self, out);
    case HANDLE_CHAIN:
        return rota_handle_chain(f, ex, handle_chain, self, out);
    case RECOVER:
        return rota_recover(f, ex, handle, self, out);
    case WHEN_DONE:
        return rota_when_done(f, ex, when_done, self, out);
    case TIMEOUT:
        return rota_timeout(f, next_time(), out);
    case TIMEOUT_VALUE:
        return rota_timeout_value(f, next_time(), self, out);
    case COPY:
        return rota_copy(f, out);
    default:
        return make_several(self, out);
    }
}

static bool retries(int code, void *self)
{
    ex_check(code != 0);
    return ((node *)self)->detail % 8 != 7;
}

/* Not in an executor that delays, which may be gone before the timer is. */
static int make_again(node *self, rota_future **out)
{
    static const double factors[] = {0, 1, 2, 1e300, 0.5};
    executor *executor = self->executor;
    rota_retry_options options = {.attempts = 1 + next_byte() % 3,
                                  .first_delay = next_time(),
                                  .factor = factors[next_byte() % 5],
                                  .cap = next_wait(),
                                  .jitter = next_byte() % 3 / 2.0,
                                  .retries = retries,
                                  .ctx = self};

    if (executor == NULL || executor->kind == DELAYED
        || (self->job = job_new(executor, TRIES, next_byte())) == NULL)
        return ROTA_EINVAL;
    rota_call call = job_call(self->job);
    self->is_endless = true;
    self->job->accepted = true; /* it may run before we are told */
    int status = self->detail % 2 ? rota_retry(executor->handle, &call, &options, out)
                                  : rota_hedge(executor->handle, &call, options.first_delay, out);
    self->job->accepted = status == ROTA_OK;
    return status;
}

static unsigned sources_of(node_kind kind)
{
    switch (kind) {
    case BOTH:
    case EITHER:
        return 2;
    case ALL_OF:
    case ANY_OF:
        return next_byte() % (SOURCES + 1);
    case AGAIN:
        return 0;
    default:
        return 1;
    }
}

void step_own(node *self)
{
    int status = rota_future_own(self->future);

    self->is_owner = true;
    for (unsigned i = 0; i < self->source_count; i++)
        self->sources[i]->is_owned = true;
    if (self->inner != NULL)
        self->inner->is_owned = true;
    check_status(status, self->kind == PROMISE || self->kind == TASK
                             ? status == ROTA_ENOTSUP
                             : status == ROTA_OK || status == ROTA_ENOTSUP);
}

void step_make(void)
{
    node_kind kind = THEN + next_byte() % (AGAIN - THEN + 1);
    uint8_t flags = next_byte();
    executor *executor = flags & 1 || kind == AGAIN ? executor_any() : NULL;
    node *self = node_new(kind, executor);
    rota_future *future = NULL;

    if (self == NULL)
        return;
    self->detail = flags / 2;
    if (!add_sources(self, sources_of(kind)))
        return;
    if (executor != NULL)
        executor->is_target = true;
    int status = kind == AGAIN ? make_again(self, &future) : make_step(self, &future);
    check_status(status, status == ROTA_OK || is_lack(status)
                             || (status == ROTA_EINVAL && kind == AGAIN)
                             || (kind == AGAIN && status == ROTA_EREJECTED));
    check_status(status, (future != NULL) == (status == ROTA_OK));
    show();
    self->future = future;
    if (status != ROTA_OK)
        ex_check(self->runs == 0);
}

/* -- How they must have ended ---------------------------------------------------------------- */

static outcome source(const node *self, unsigned i)
{
    return node_outcome(self->sources[i]);
}

static bool succeeded(outcome is)
{
    return is.state == ROTA_FUTURE_SUCCEEDED;
}

/* The step was to run: it has, or its executor did not let it. */
static void check_ran(const node *self, outcome actual, outcome expected)
{
    if (self->runs == 1 && is_same(actual, expected))
        return;
    ex_check(self->executor != NULL && executor_may_refuse(self->executor));
    ex_check(self->runs == 0 || self->kind == CHAIN || self->kind == HANDLE_CHAIN);
    ex_check(is_same(actual, cancelled) || actual.state == ROTA_FUTURE_FAILED);
}

static void check_skipped(const node *self, outcome actual, outcome expected)
{
    ex_check(self->runs == 0 && is_same(actual, expected));
}

static outcome computed(const node *self)
{
    return fails(self) ? failed_with(FAILURE) : succeeded_with((void *)(uintptr_t)self);
}

static outcome chained(const node *self)
{
    if (fails(self))
        return failed_with(FAILURE);
    return self->inner != NULL ? node_outcome(self->inner) : failed_with(ROTA_EINVAL);
}

static void check_both(const node *self, outcome actual)
{
    outcome first = source(self, 0);
    outcome second = source(self, 1);

    if (succeeded(first) && succeeded(second))
        check_ran(self, actual, computed(self));
    else
        ex_check(self->runs == 0
                 && ((!succeeded(first) && is_same(actual, first))
                     || (!succeeded(second) && is_same(actual, second))));
}

static bool is_of_a_source(const node *self, outcome actual)
{
    for (unsigned i = 0; i < self->source_count; i++) {
        if (is_same(actual, source(self, i)))
            return true;
    }
    return false;
}

static void check_either(const node *self, outcome actual)
{
    if (self->runs == 1)
        check_ran(self, actual, computed(self));
    else if (!is_of_a_source(self, actual) || succeeded(actual))
        check_ran(self, actual, computed(self));
}

static void check_all(const node *self, outcome actual)
{
    outcome expected = succeeded_with(NULL);

    for (unsigned i = self->source_count; i-- > 0;) {
        if (!succeeded(source(self, i)))
            expected = source(self, i);
    }
    ex_check(is_same(actual, expected));
}

static void check_done(const node *self, outcome actual)
{
    outcome of_source = source(self, 0);

    if (self->runs == 0) /* if its executor refuses, it is called all the same; unless dropped */
        check_ran(self, actual, cancelled);
    else if (succeeded(of_source) && fails(self))
        ex_check(is_same(actual, failed_with(FAILURE)));
    else
        ex_check(is_same(actual, of_source));
}

void step_check(const node *self, outcome actual)
{
    switch (self->kind) {
    case THEN:
        if (succeeded(source(self, 0)))
            check_ran(self, actual, computed(self));
        else
            check_skipped(self, actual, source(self, 0));
        break;
    case CHAIN:
        if (succeeded(source(self, 0)))
            check_ran(self, actual, chained(self));
        else
            check_skipped(self, actual, source(self, 0));
        break;
    case BOTH:
        check_both(self, actual);
        break;
    case EITHER:
        check_either(self, actual);
        break;
    case HANDLE:
        check_ran(self, actual, computed(self));
        break;
    case HANDLE_CHAIN:
        check_ran(self, actual, chained(self));
        break;
    case RECOVER:
        if (succeeded(source(self, 0)))
            check_skipped(self, actual, source(self, 0));
        else
            check_ran(self, actual, computed(self));
        break;
    case WHEN_DONE:
        check_done(self, actual);
        break;
    case ALL_OF:
        check_all(self, actual);
        break;
    case TIMEOUT:
        ex_check(is_of_a_source(self, actual) || is_same(actual, failed_with(ROTA_ETIMEDOUT)));
        break;
    case TIMEOUT_VALUE:
        ex_check(is_of_a_source(self, actual)
                 || is_same(actual, succeeded_with((void *)(uintptr_t)self)));
        break;
    default: /* ANY_OF, COPY */
        ex_check(is_of_a_source(self, actual));
        break;
    }
}
