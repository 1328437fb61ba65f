/* SPDX-License-Identifier: MIT */
/*
 * again.c - a call that is tried again when it fails, or twice when it is late.
 *
 *   again.Y1  An errand is there until its promise is done, and no try and no timer of it is left:
 *             each of those is one reference, and a try's body another until it has begun, as a try
 *             that is cancelled is over before its body is.
 *   again.Y2  A try is under way when it is in `tries`, with the lock held. Who ends the promise
 *             then cancels all that are.
 *   again.Y3  The executor is there until the promise is over: a try that comes later than the
 *             first becomes its guest with the lock held, unless `is_over`, which is set before the
 *             promise ends, or by the call that ends it.
 *   again.Y4  An errand holds one timer, the newest, until it is over, and releases every other.
 */
#include "compose/compose_internal.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/mutex.h"
#include "base/time.h"
#include "os/cleanup.h"

#include <rota/sched.h>

enum { MOST_TRIES = 2 }; /* at a time */

typedef struct errand errand;

/* A try that is under way. */
typedef struct attempt {
    rota__action action; /* hears of its end */
    errand *errand;
    rota_future *future; /* NULL: none */
} attempt;

struct errand {
    rota__atomic(uint32_t) references; /* again.Y1 */
    rota__atomic(bool) has_begun;      /* any try */
    rota_executor *executor;
    rota_call call;
    rota_future *promise; /* a holder: it is the one that ends it */
    rota__action over;    /* hears of its end */
    rota__mutex lock;     /* the rest */
    attempt tries[MOST_TRIES];
    rota_future *timer; /* a holder; NULL once it is over */
    bool is_over;
    bool is_hedge;
    unsigned left; /* tries that may still begin */
    rota_ns delay; /* before the next */
    rota_retry_options options;
    uint64_t random;
};

static void unref(errand *self)
{
    if (rota__sub_acq_rel(&self->references, 1) != 1) /* pairs with the others' */
        return;
    if (!rota__load_relaxed(&self->has_begun) && self->call.discard != NULL)
        self->call.discard(self->call.arg);
    rota_future_unref(self->promise);
    rota__free(self, sizeof *self);
}

static errand *ref(errand *self)
{
    rota__add_relaxed(&self->references, 1);
    return self;
}

/* -- Tries ---------------------------------------------------------------- */

static void *try_it(void *arg)
{
    errand *self = arg;
    rota_call call = self->call;

    rota__store_relaxed(&self->has_begun, true);
    unref(self); /* again.Y1: the body's; it may run on when all is over */
    return call.fn(call.arg);
}

static void try_dropped(void *arg)
{
    unref(arg); /* as above; the errand may have another try, which unref tells */
}

/* Its place is free for another. True: all depends on it, as it has succeeded, or none is under way
   now; and nobody else ends the promise. */
static bool leave_try(errand *self, attempt *mine, bool has_succeeded)
{
    bool decides = true;

    rota__mutex_lock(&self->lock);
    mine->future = NULL;
    for (size_t i = 0; i < MOST_TRIES; i++)
        decides = decides && self->tries[i].future == NULL;
    decides = (decides || has_succeeded) && !self->is_over;
    if (decides && (has_succeeded || self->is_hedge))
        self->is_over = true; /* again.Y3; a retry has no timer while a try is under way */
    rota__mutex_unlock(&self->lock);
    return decides;
}

static bool is_worth_it(errand *self, rota_future *future)
{
    const rota_retry_options *options = &self->options;

    if (self->is_hedge || self->left == 0 || rota_future_is_done(self->promise)
        || rota_future_state_of(future) != ROTA_FUTURE_FAILED)
        return false;
    if (options->retries == NULL)
        return true;
    bool is_wanted;
    ROTA__MUST_RETURN("retries",
                      is_wanted = options->retries(rota_future_error(future), options->ctx));
    return is_wanted;
}

static int schedule_next(errand *self);

static void tried(rota__action *action, rota__action_queue *more)
{
    attempt *mine = ROTA__CONTAINER(action, attempt, action);
    errand *self = mine->errand;
    rota_future *future = mine->future;
    bool has_succeeded = rota_future_state_of(future) == ROTA_FUTURE_SUCCEEDED;

    if (leave_try(self, mine, has_succeeded)
        && (has_succeeded || !is_worth_it(self, future) || schedule_next(self) != ROTA_OK))
        rota__future_end_like(self->promise, future, more);
    rota_future_unref(future);
    unref(self);
}

/* again.Y2. There is a place: a retry has one try at a time, a hedge two in all. */
static attempt *enter(errand *self, rota_future *future, bool *is_over)
{
    attempt *mine = self->tries;

    rota__mutex_lock(&self->lock);
    if (mine->future != NULL)
        mine++;
    mine->future = future;
    *is_over = self->is_over;
    rota__mutex_unlock(&self->lock);
    return mine;
}

/* Needs no memory: once a try is submitted, its end is heard of. */
static void watch(errand *self, rota_future *future)
{
    bool is_over;
    attempt *mine = enter(self, future, &is_over);

    if (is_over)
        rota_future_cancel_now(future);
    if (!rota__future_add(future, &mine->action))
        rota__action_run(&mine->action);
}

struct start {
    errand *self;
    rota_future *future;
};

/* The executor has run the try here, and its body has ended the thread. */
static void start_unwound(void *arg)
{
    struct start *start = arg;

    watch(start->self, start->future);
}

/* As the executor's guest. */
static int begin_try(errand *self)
{
    rota_call call = {.fn = try_it,
                      .arg = self,
                      .discard = try_dropped,
                      .free_result = self->call.free_result,
                      .name = self->call.name};
    struct start start = {self, rota__future_new(&call, true, sizeof(rota_future))};
    int status;

    if (start.future == NULL) {
        /* GCOVR_EXCL_START: the task cache has one, as a rule; without the cache a test gets here */
        rota__inflight_end(self->executor);
        return ROTA_ENOMEM;
        /* GCOVR_EXCL_STOP */
    }
    ref(ref(self)); /* again.Y1: the body's, and that of who hears of its end */
    ROTA__ON_UNWIND_BEGIN(start_unwound, &start);
    status = rota__submit_inflight(self->executor, &start.future->task, NULL);
    ROTA__ON_UNWIND_END;
    status = rota__finish_submit(start.future, status, &start.future);
    if (status == ROTA_OK)
        watch(self, start.future);
    else
        rota__sub_acq_rel(&self->references, 2); /* not the last: the caller has one */
    return status;
}

static void next_try(errand *self)
{
    int status;

    self->left--;
    status = begin_try(self);
    if (status != ROTA_OK && !self->is_hedge)
        rota_promise_fail(self->promise, status);
}

/* -- Later ---------------------------------------------------------------- */

static void timer_dropped(void *arg)
{
    unref(arg);
}

/* again.Y3 */
static bool becomes_guest(errand *self)
{
    bool is_wanted;

    rota__mutex_lock(&self->lock);
    is_wanted = !self->is_over && !rota_future_is_done(self->promise);
    if (is_wanted) /* again.Y3a */
        rota__inflight_begin(self->executor);
    rota__mutex_unlock(&self->lock);
    return is_wanted;
}

static void *it_is_time(void *arg)
{
    errand *self = arg;

    ROTA__CLEANUP_BEGIN(timer_dropped, self); /* a try may run here, and end this thread */
    if (becomes_guest(self))
        next_try(self);
    ROTA__CLEANUP_END;
    return NULL;
}

static double random_part(errand *self)
{
    self->random = self->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(self->random >> 11) / 9007199254740992.0; /* 2^53 */
}

static rota_ns next_delay(errand *self)
{
    const rota_retry_options *options = &self->options;
    rota_ns delay = self->delay;
    double next = (double)delay * (options->factor > 0 ? options->factor : 2);

    self->delay = next < (double)ROTA_HOURS(24 * 365) ? (rota_ns)next : ROTA_HOURS(24 * 365);
    if (options->cap > 0 && self->delay > options->cap) /* mutants: an equal delay stays */
        self->delay = options->cap;
    return delay - (rota_ns)((double)delay * options->jitter * random_part(self));
}

/* In place of the last, which is done; until it is over. */
static void keep_timer(errand *self, rota_future *set)
{
    rota_future *useless = set; /* again.Y4 */

    rota__mutex_lock(&self->lock);
    bool is_over = self->is_over;
    if (!is_over) {
        useless = self->timer;
        self->timer = set;
    }
    rota__mutex_unlock(&self->lock);
    if (is_over)
        rota_future_cancel(set);
    rota_future_unref(useless);
}

static int schedule_in(errand *self, rota_ns delay)
{
    rota_call call = {.fn = it_is_time, .arg = self, .discard = timer_dropped};
    rota_future *set;
    int status;

    ref(self); /* again.Y1: the timer's */
    status = rota__timer_set(&call, delay, &set);
    if (status != ROTA_OK) {
        rota__sub_acq_rel(&self->references, 1); /* not the last: the caller has one */
        return status;
    }
    keep_timer(self, set);
    return ROTA_OK;
}

static int schedule_next(errand *self)
{
    return schedule_in(self, next_delay(self));
}

/* -- The end -------------------------------------------------------------- */

/* Of the promise, however it came: again.Y2. */
static void over(rota__action *action, rota__action_queue *more)
{
    errand *self = ROTA__CONTAINER(action, errand, over);
    rota_future *under_way[MOST_TRIES + 1];

    (void)more;
    rota__mutex_lock(&self->lock);
    self->is_over = true;
    for (size_t i = 0; i < MOST_TRIES; i++)
        under_way[i] = rota_future_ref(self->tries[i].future);
    under_way[MOST_TRIES] = self->timer;
    self->timer = NULL;
    rota__mutex_unlock(&self->lock);
    for (size_t i = 0; i <= MOST_TRIES; i++) {
        rota_future_cancel_now(under_way[i]);
        rota_future_unref(under_way[i]);
    }
    unref(self);
}

static errand *errand_new(rota_executor *ex, const rota_call *call)
{
    errand *self = rota__alloc(sizeof *self);

    if (self == NULL)
        return NULL;
    *self = (errand){.executor = ex, .call = *call, .random = (uint64_t)rota__now()};
    rota__store_relaxed(&self->references, 1);
    rota__store_relaxed(&self->has_begun, false);
    self->over.run = over;
    for (size_t i = 0; i < MOST_TRIES; i++)
        self->tries[i] = (attempt){.action = {.run = tried}, .errand = self};
    if (rota_promise_new(&self->promise) == ROTA_OK)
        return self;
    rota__free(self, sizeof *self);
    return NULL;
}

/* What fails now has not happened: the argument is still the caller's. */
static int abandon(errand *self, int status)
{
    self->call.discard = NULL;
    rota_future_cancel(self->promise);
    unref(self);
    return status;
}

/* Begins the first try. With the caller's reference, which it takes. */
static int begin(errand *self, rota_ns later, rota_future **out)
{
    rota_future *promise = rota_future_ref(self->promise);
    int status;

    rota__future_add(promise, &ref(self)->over); /* nobody has ended it yet */
    rota__inflight_begin(self->executor);
    status = begin_try(self);
    if (status != ROTA_OK) {
        status = abandon(self, status);
        rota_future_unref(promise);
        return status;
    }
    if (self->is_hedge)
        schedule_in(self, later); /* without memory it is tried once */
    *out = promise;
    unref(self);
    return ROTA_OK;
}

static bool are_possible(const rota_retry_options *options)
{
    return options->attempts > 0 && options->first_delay >= 0 && options->cap >= 0
           && options->factor >= 0 && options->jitter >= 0 && options->jitter <= 1;
}

int rota_retry(rota_executor *ex, const rota_call *call, const rota_retry_options *options,
               rota_future **out)
{
    errand *self;

    if (ex == NULL || call == NULL || call->fn == NULL || options == NULL || out == NULL
        || !are_possible(options))
        return ROTA_EINVAL;
    self = errand_new(ex, call);
    if (self == NULL)
        return ROTA_ENOMEM;
    self->options = *options;
    self->left = options->attempts - 1;
    self->delay = options->first_delay;
    return begin(self, 0, out);
}

int rota_hedge(rota_executor *ex, const rota_call *call, rota_ns delay, rota_future **out)
{
    errand *self;

    if (ex == NULL || call == NULL || call->fn == NULL || out == NULL)
        return ROTA_EINVAL;
    self = errand_new(ex, call);
    if (self == NULL)
        return ROTA_ENOMEM;
    self->is_hedge = true;
    self->left = 1; /* mutants: a hedge does not count its tries */
    return begin(self, delay, out);
}
