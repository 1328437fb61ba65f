/* SPDX-License-Identifier: MIT */
/*
 * rota.c - what futures made of futures cost. A request is SIZE MODE 1 WORKERS COUNT: so many steps
 * at a time, on this thread or in a pool of so many workers, until COUNT have run. The answer is ns
 * for each step: in all, to make it, to complete it, of processor time. counted: instead, bytes for
 * each that waits.
 */
#include <bench/counted.h>
#include <bench/driver.h>
#include <rota/compose.h>
#include <rota/factory.h>
#include <rota/pool.h>
#include <sys/wait.h>

#define PATIENCE 240 /* seconds until a run that does not end has lost something */
#define HOUR     ROTA_SEC(3600)

struct work {
    size_t size;
    rota_executor *pool; /* NULL: on the thread that completes */
    rota_future *source; /* what all begins with, where that is one */
    rota_future *last;   /* what all ends with */
    rota_future *given;  /* by the latest step of a chain */
    rota_future **leaves, **made;
    atomic_size_t ran; /* written by one thread at a time, but for count_anywhere */
};

static void must(bool holds)
{
    if (!holds)
        fail("a call has failed, or a step has not run");
}

static rota_future *promise(void)
{
    rota_future *new = NULL;

    must(rota_promise_new(&new) == ROTA_OK);
    return new;
}

static void complete(rota_future *future, void *value)
{
    must(rota_promise_complete(future, value));
}

/* -- Steps ----------------------------------------------------------------------------------- */

static void count(struct work *work)
{
    size_t ran = atomic_load_explicit(&work->ran, memory_order_relaxed);

    atomic_store_explicit(&work->ran, ran + 1, memory_order_relaxed);
}

/* Each step has a result of its own. */
static void *next(void *value)
{
    return (void *)((uintptr_t)value + 1);
}

static void *count_here(void *value, void *work)
{
    count(work);
    return next(value);
}

static void *count_anywhere(void *value, void *arg)
{
    struct work *work = arg;

    if (atomic_fetch_add(&work->ran, 1) + 1 == work->size) {
        rota_future *last = work->last; /* a reference of its own: the other goes once it is done */
        complete(last, value);
        rota_future_unref(last);
    }
    return next(value);
}

static void *count_both(void *first, void *second, void *work)
{
    (void)second;
    count(work);
    return next(first);
}

static rota_future *give_done(void *value, void *work)
{
    rota_future *given = promise();

    count(work);
    complete(given, next(value));
    return given;
}

static rota_future *give_pending(void *value, void *arg)
{
    struct work *work = arg;

    (void)value;
    count(work);
    work->given = promise();
    return rota_future_ref(work->given);
}

/* -- One after the other --------------------------------------------------------------------- */

/* With `give`, of a chain. */
static void make_steps(struct work *work, rota_chain_fn *give)
{
    rota_future *from = rota_future_ref(work->source);

    for (size_t i = 0; i < work->size; i++) {
        int status = give != NULL ? rota_chain(from, work->pool, give, work, &work->last)
                                  : rota_then(from, work->pool, count_here, work, &work->last);
        must(status == ROTA_OK);
        rota_future_unref(from);
        from = work->last;
    }
}

static void make_then(struct work *work)
{
    make_steps(work, NULL);
}

static void make_done(struct work *work)
{
    make_steps(work, give_done);
}

static void make_pending(struct work *work)
{
    make_steps(work, give_pending);
}

static void complete_source(struct work *work)
{
    complete(work->source, work);
    must(rota_future_get(work->last, NULL) == ROTA_OK);
}

static void complete_given(struct work *work)
{
    complete(work->source, work);
    for (size_t i = 0; i < work->size; i++) {
        rota_future *given = work->given; /* the next step sets another */
        complete(given, work);
        rota_future_unref(given);
    }
}

/* -- Many of one ----------------------------------------------------------------------------- */

static void make_fan(struct work *work)
{
    rota_then_fn *step = work->pool != NULL ? count_anywhere : count_here;
    rota_future *made;

    work->last = promise();
    if (work->pool != NULL)
        rota_future_ref(work->last);
    for (size_t i = 0; i < work->size; i++) {
        must(rota_then(work->source, work->pool, step, work, &made) == ROTA_OK);
        rota_future_unref(made);
    }
}

static void complete_fan(struct work *work)
{
    complete(work->source, work);
    if (work->pool != NULL)
        must(rota_future_get(work->last, NULL) == ROTA_OK);
    else
        complete(work->last, work);
}

/* -- One of many ----------------------------------------------------------------------------- */

static void make_all(struct work *work)
{
    must(rota_all_of(work->leaves, work->size, &work->last) == ROTA_OK);
}

static void make_any(struct work *work)
{
    must(rota_any_of(work->leaves, work->size, &work->last) == ROTA_OK);
}

/* Level by level; `made` has room for one. */
static void make_both(struct work *work)
{
    rota_future **from = work->leaves;
    rota_future *made;

    for (size_t left = work->size; left > 1; left /= 2) {
        for (size_t i = 0; i < left; i += 2) {
            must(rota_both(from[i], from[i + 1], work->pool, count_both, work, &made) == ROTA_OK);
            if (from == work->made) {
                rota_future_unref(from[i]);
                rota_future_unref(from[i + 1]);
            }
            work->made[i / 2] = made;
        }
        from = work->made;
    }
    work->last = work->made[0];
}

static void complete_leaves(struct work *work)
{
    for (size_t i = 0; i < work->size; i++)
        complete(work->leaves[i], work);
}

static void complete_one_leaf(struct work *work)
{
    complete(work->leaves[work->size - 1], work);
}

/* -- Time ------------------------------------------------------------------------------------ */

static void make_timeouts(struct work *work)
{
    for (size_t i = 0; i < work->size; i++)
        must(rota_timeout(work->leaves[i], HOUR, &work->made[i]) == ROTA_OK);
    work->last = rota_future_ref(work->made[0]);
}

static void complete_timeouts(struct work *work)
{
    for (size_t i = 0; i < work->size; i++) {
        complete(work->leaves[i], work);
        rota_future_unref(work->made[i]);
    }
}

/* -- Requests -------------------------------------------------------------------------------- */

static const struct mode {
    const char *name;
    void (*make)(struct work *work);
    void (*complete)(struct work *work);
    bool leaves; /* from many, not from one source */
    bool runs;   /* steps of ours: one for each, or for each pair of leaves */
} modes[] = {
    {"then", make_then, complete_source, false, true},
    {"done", make_done, complete_source, false, true},
    {"pending", make_pending, complete_given, false, true},
    {"fan", make_fan, complete_fan, false, true},
    {"all", make_all, complete_leaves, true, false},
    {"any", make_any, complete_one_leaf, true, false},
    {"both", make_both, complete_leaves, true, true},
    {"timeout", make_timeouts, complete_timeouts, true, false},
};

static const struct mode *mode_of(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(name, modes[i].name) == 0)
            return &modes[i];
    fail("the request makes no sense");
    return NULL;
}

static void begin(struct work *work, const struct mode *mode)
{
    atomic_store(&work->ran, 0);
    if (!mode->leaves)
        work->source = promise();
    for (size_t i = 0; mode->leaves && i < work->size; i++)
        work->leaves[i] = promise();
}

static void end(struct work *work, const struct mode *mode)
{
    size_t ran = mode->runs ? work->size - mode->leaves : 0;

    must(atomic_load(&work->ran) == ran && rota_future_get(work->last, NULL) == ROTA_OK);
    rota_future_unref(work->last);
    if (!mode->leaves)
        rota_future_unref(work->source);
    for (size_t i = 0; mode->leaves && i < work->size; i++)
        rota_future_unref(work->leaves[i]);
}

static void measure_time(struct work *work, const struct mode *mode, uint64_t count)
{
    uint64_t make = 0, all = 0, cpu = 0, steps = 0;

    for (; steps < count; steps += work->size) {
        begin(work, mode);
        uint64_t used = now(CLOCK_PROCESS_CPUTIME_ID);
        uint64_t start = now(CLOCK_MONOTONIC);
        mode->make(work);
        make += now(CLOCK_MONOTONIC) - start;
        mode->complete(work);
        all += now(CLOCK_MONOTONIC) - start;
        cpu += now(CLOCK_PROCESS_CPUTIME_ID) - used;
        end(work, mode);
    }
    printf(";%.2f;%.2f;%.2f;%.2f\n", more(all, 0, steps), more(make, 0, steps),
           more(all, make, steps), more(cpu, 0, steps));
}

static void measure_bytes(struct work *work, const struct mode *mode)
{
    begin(work, mode);
    uint64_t before = resident();
    size_t asked = atomic_load(&counted_bytes);
    mode->make(work);
    printf(";%.1f", more(resident(), before, work->size));
    printf(";%.1f\n", more(atomic_load(&counted_bytes), asked, work->size));
    mode->complete(work);
    end(work, mode);
}

/* In a child, whose memory is not used yet. */
static void measure_bytes_apart(struct work *work, const struct mode *mode)
{
    int status;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        count_bytes();
        measure_bytes(work, mode);
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("the run has failed");
}

static rota_executor *pool_of(unsigned workers)
{
    static rota_executor *pool; /* to the end */
    unsigned started;

    if (workers == 0 || pool != NULL)
        return workers == 0 ? NULL : pool;
    must(rota_fixed_pool(workers, &pool) == ROTA_OK);
    must(rota_pool_prestart(pool, &started) == ROTA_OK);
    return pool;
}

static rota_future **room(size_t size)
{
    rota_future **futures = malloc((size + 1) * sizeof *futures);

    must(futures != NULL);
    memset(futures, 0xff, (size + 1) * sizeof *futures); /* in memory before all is measured */
    return futures;
}

int main(int argc, char **argv)
{
    bool bytes = argc > 1 && strcmp(argv[1], "counted") == 0;
    struct work work = {0};
    char name[16];
    unsigned producers, workers;
    uint64_t count;

    while (scanf("%zu %15s %u %u %" SCNu64, &work.size, name, &producers, &workers, &count) == 5) {
        const struct mode *mode = mode_of(name);
        printf("%s;%zu;%s;%u;%u", name_of(argv[0]), work.size, name, producers, workers);
        work.pool = pool_of(workers);
        work.leaves = room(work.size);
        work.made = room(work.size);
        if (bytes)
            measure_bytes_apart(&work, mode);
        else
            measure_time(&work, mode, count);
        fflush(stdout);
        free(work.leaves);
        free(work.made);
    }
    return 0;
}
