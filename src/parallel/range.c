/* SPDX-License-Identifier: MIT */
/*
 * range.c - a range is worked through.
 */
#include "parallel/parallel_internal.h"

#include "base/time.h"

#define LONG_ENOUGH  ROTA_US(4) /* for a piece: so that what is around it does not count */
#define WORTH_A_WAKE ROTA_US(8) /* for what is left: about what it costs to call another worker */

int rota__parallel_find(rota_executor **ex)
{
    if (*ex == NULL)
        *ex = rota_fj_pool();
    if (*ex == NULL)
        *ex = rota_common_pool();
    return *ex != NULL ? ROTA_OK : ROTA_ENOMEM;
}

/* -- Pieces --------------------------------------------------------------- */

typedef struct rhythm {
    size_t length;  /* of the next piece */
    bool is_given;  /* by the user */
    double element; /* ns that one took, of late; 0: none has run */
} rhythm;

static rhythm first_pace(const rota__loop *loop)
{
    return (rhythm){.length = loop->grain != 0 ? loop->grain : 1, .is_given = loop->grain != 0};
}

/* Longer, until it is long enough. */
static void set_pace(rhythm *pace, size_t length, rota_ns took)
{
    size_t times = took < LONG_ENOUGH / 16 ? 8 : 2;

    pace->element = (double)(took > 0 ? took : 1) / (double)length; /* mutants: an estimate */
    if (took < LONG_ENOUGH && pace->length <= SIZE_MAX / times)
        pace->length *= times;
    else if (took > 4 * LONG_ENOUGH && pace->length > 1)
        pace->length /= 2;
}

static void run_piece(const rota__part *part, size_t *begin, size_t end, rhythm *pace)
{
    size_t length = end - *begin < pace->length ? end - *begin : pace->length;
    rota_ns start;

    if (pace->is_given) {
        part->loop->run(part, *begin, *begin + length);
    } else {
        start = rota__os_now();
        part->loop->run(part, *begin, *begin + length);
        set_pace(pace, length, rota__os_now() - start);
    }
    *begin += length;
}

/* -- Splitting ------------------------------------------------------------ */

/*
 * Is what is left enough for two? Of a few elements each may be long; where there are
 * many, the first tells what one takes before anybody is called.
 */
static bool is_worth_it(const rota__fj_worker *worker, size_t left, const rhythm *pace)
{
    if (left < 2 || worker == NULL)
        return false;
    if (pace->is_given)
        return left > pace->length;
    if (pace->element == 0)
        return left <= (size_t)worker->pool->parallelism * 8; /* mutants: an estimate */
    return (double)left * pace->element > (double)WORTH_A_WAKE;
}

/* Has the pool a worker to spare, for whom there is nothing? */
static bool is_wanted(const rota__fj_worker *worker)
{
    return rota__crew_wants_more(worker->pool, rota__load_relaxed(&worker->pool->crowd))
           && !rota__deque_has_public(&worker->deque);
}

static bool must_end(const rota__loop *loop, const rota__fj_worker *worker)
{
    return rota__load_relaxed(&loop->failed) || rota__load_relaxed(&loop->cancelled)
           || (worker != NULL && rota__fj_pool_state(worker->pool) >= ROTA_STOP);
}

static void run_part(rota_fj *task);
static void work_through(rota__part *part, size_t begin, size_t end, rhythm *pace,
                         rota__execution *execution);

/* Goes on with the left half. False: it did not split. */
static bool fork_right(rota__part *part, size_t begin, size_t end, rhythm *pace,
                       rota__execution *execution)
{
    size_t middle = begin + (end - begin) / 2;
    rota__part right = {ROTA_FJ(run_part), part->loop, middle, end, NULL};

    if (part->loop->split != NULL && !part->loop->split(part, &right))
        return false;
    rota_fork(&right.task);
    work_through(part, begin, middle, pace, execution);
    if (rota_join(&right.task) == ROTA_ECANCELED)
        rota__store_relaxed(&part->loop->cancelled, true);
    if (part->loop->joined != NULL)
        part->loop->joined(part, &right);
    return true;
}

static void work_through(rota__part *part, size_t begin, size_t end, rhythm *pace,
                         rota__execution *execution)
{
    rota__loop *loop = part->loop;
    const rota__fj_worker *worker = rota__fj_me();

    while (begin < end && !must_end(loop, worker)) {
        if (is_worth_it(worker, end - begin, pace) && is_wanted(worker)
            && fork_right(part, begin, end, pace, execution))
            return;
        run_piece(part, &begin, end, pace);
        if (execution->error != 0)
            rota__store_relaxed(&loop->failed, true);
    }
    if (begin < end && worker != NULL && rota__fj_pool_state(worker->pool) >= ROTA_STOP)
        rota__store_relaxed(&loop->cancelled, true);
}

/* With an execution of its own, in which rota_fail is heard. */
static void run_part(rota_fj *task)
{
    rota__part *part = (rota__part *)task;
    rota__execution execution;
    rhythm pace = first_pace(part->loop);

    rota__execution_begin(&execution, NULL, rota__self()->current->stop);
    work_through(part, part->begin, part->end, &pace, &execution);
    rota__execution_end(&execution);
}

int rota__loop_run(rota_executor *ex, rota__loop *loop, size_t begin, size_t end, void *own)
{
    rota__part all = {ROTA_FJ(run_part), loop, begin, end, own};
    int status = rota__parallel_find(&ex);

    rota__store_relaxed(&loop->failed, false);
    rota__store_relaxed(&loop->cancelled, false);
    if (status == ROTA_OK)
        status = rota_invoke(ex, &all.task);
    if (status != ROTA_OK)
        return status;
    if (rota__load_relaxed(&loop->failed))
        return ROTA_EFAILED;
    return rota__load_relaxed(&loop->cancelled) ? ROTA_ECANCELED : ROTA_OK;
}

/* -- For ------------------------------------------------------------------ */

typedef struct for_loop {
    rota__loop loop;
    rota_range_fn *body;
    void *ctx;
} for_loop;

static void run_for(const rota__part *part, size_t begin, size_t end)
{
    const for_loop *self = ROTA__CONTAINER(part->loop, for_loop, loop);

    self->body(begin, end, self->ctx);
}

int rota_parallel_for(rota_executor *ex, size_t begin, size_t end, size_t grain,
                      rota_range_fn *body, void *ctx)
{
    for_loop self = {.loop = {.grain = grain, .run = run_for}, .body = body, .ctx = ctx};

    return body != NULL ? rota__loop_run(ex, &self.loop, begin, end, NULL) : ROTA_EINVAL;
}

/* -- Map ------------------------------------------------------------------ */

typedef struct map_loop {
    rota__loop loop;
    const char *in;
    char *out;
    size_t in_size;
    size_t out_size;
    rota_map_fn *fn;
    void *ctx;
} map_loop;

static void run_map(const rota__part *part, size_t begin, size_t end)
{
    const map_loop *self = ROTA__CONTAINER(part->loop, map_loop, loop);

    for (size_t i = begin; i < end; i++)
        self->fn(self->in + i * self->in_size, self->out + i * self->out_size, self->ctx);
}

static bool is_array(const void *base, size_t n, size_t size)
{
    return size > 0 && n <= SIZE_MAX / size && (base != NULL || n == 0);
}

int rota_parallel_map(rota_executor *ex, const void *in, size_t in_size, void *out, size_t out_size,
                      size_t n, rota_map_fn *fn, void *ctx)
{
    map_loop self = {.loop = {.run = run_map},
                     .in = in,
                     .out = out,
                     .in_size = in_size,
                     .out_size = out_size,
                     .fn = fn,
                     .ctx = ctx};

    if (fn == NULL || !is_array(in, n, in_size) || !is_array(out, n, out_size))
        return ROTA_EINVAL;
    return rota__loop_run(ex, &self.loop, 0, n, NULL);
}
