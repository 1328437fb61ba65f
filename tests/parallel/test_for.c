/* SPDX-License-Identifier: MIT */
/*
 * rota_parallel_for and rota_parallel_map: every index once, in pieces; failures end them early.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

#include <stdlib.h>
#include <string.h>

/* The sanitizers make it slow. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MOST = 100000 };
#else
enum { MOST = 1000000 };
#endif

/* -- Where loops run ---------------------------------------------------------------------- */

static const unsigned parallelisms[] = {1, 2, 8};
static const size_t sizes[] = {0, 1, 2, 3, 7, 64, 101, 1024, 4099, 65536};
enum { POOLS = 3, SIZES = sizeof sizes / sizeof sizes[0] };

/* In every pool, and inside of a worker with NULL, which is the same pool then: PAR-01. */
static void in_all_pools(void (*body)(void *pool))
{
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        body(pool);
        test_fj_inside(pool, body, NULL);
        test_fj_inside(pool, body, pool);
        assert_ok(rota_close(pool));
    }
}

/* -- For ---------------------------------------------------------------------------------- */

struct marks {
    atomic_uchar *seen; /* by index, from `begin` on */
    size_t begin, end;
    size_t grain;
    atomic_uint pieces;
};

static void mark(size_t begin, size_t end, void *ctx)
{
    struct marks *marks = ctx;

    test_check(begin < end);
    test_check(begin >= marks->begin && end <= marks->end);
    test_check(marks->grain == 0 || end - begin <= marks->grain);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&marks->seen[i - marks->begin], 1);
    atomic_fetch_add(&marks->pieces, 1);
}

static void mark_range(rota_executor *pool, size_t begin, size_t n, size_t grain)
{
    struct marks marks = {.begin = begin, .end = begin + n, .grain = grain};

    marks.seen = calloc(n + 1, 1);
    test_check(marks.seen != NULL);
    test_check(rota_parallel_for(pool, begin, begin + n, grain, mark, &marks) == ROTA_OK);
    for (size_t i = 0; i < n; i++)
        test_check(atomic_load(&marks.seen[i]) == 1);
    test_check(grain == 0 || atomic_load(&marks.pieces) >= (n + grain - 1) / grain);
    free(marks.seen);
}

static void mark_all_sizes(void *pool)
{
    for (int i = 0; i < SIZES; i++) {
        mark_range(pool, 0, sizes[i], 0);
        mark_range(pool, 1000, sizes[i], 1);
        mark_range(pool, 77, sizes[i], 10);
        mark_range(pool, 0, sizes[i], SIZE_MAX);
    }
}

/* PAR-02, PAR-07 */
TEST(every_index_is_met_once_in_pieces_of_the_grain)
{
    in_all_pools(mark_all_sizes);
}

static void mark_a_million(void *pool)
{
    mark_range(pool, 0, MOST, 0);
    mark_range(pool, 0, MOST, 1000);
}

TEST(a_million_indices_are_met_once)
{
    in_all_pools(mark_a_million);
}

/* PAR-02: "do not overflow" */
TEST(the_last_indices_are_no_exception)
{
    rota_executor *pool = test_forkjoin_of(2);

    mark_range(pool, SIZE_MAX - 1000, 1000, 0);
    mark_range(pool, SIZE_MAX - 1000, 1000, 300);
    mark_range(pool, SIZE_MAX - 1, 1, SIZE_MAX);
    assert_ok(rota_close(pool));
}

struct ends {
    atomic_size_t least, most, sum;
};

static void note_ends(size_t begin, size_t end, void *ctx)
{
    struct ends *ends = ctx;

    if (begin == 0)
        atomic_fetch_add(&ends->least, 1);
    if (end == SIZE_MAX)
        atomic_fetch_add(&ends->most, 1);
    atomic_fetch_add(&ends->sum, end - begin);
}

/* PAR-02: the widest range that there is. */
TEST(a_range_may_be_as_wide_as_can_be)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct ends ends = {0};

    assert_ok(rota_parallel_for(pool, 0, SIZE_MAX, SIZE_MAX / 100, note_ends, &ends));
    assert_int_equal(ends.least, 1);
    assert_int_equal(ends.most, 1);
    assert_true(atomic_load(&ends.sum) == SIZE_MAX);
    assert_ok(rota_close(pool));
}

static void never(size_t begin, size_t end, void *ctx)
{
    test_die(__FILE__, __LINE__, "a body without indices");
}

/* PAR-02 */
TEST(nothing_to_do_is_done)
{
    rota_executor *pool = test_forkjoin_of(2);

    assert_ok(rota_parallel_for(pool, 0, 0, 0, never, NULL));
    assert_ok(rota_parallel_for(pool, 5, 5, 1, never, NULL));
    assert_ok(rota_parallel_for(pool, 5, 4, 1, never, NULL));
    assert_ok(rota_parallel_for(pool, SIZE_MAX, 0, 0, never, NULL));
    assert_ok(rota_close(pool));
}

TEST(what_cannot_be_is_refused)
{
    rota_executor *pool = test_forkjoin_of(2);
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});

    assert_status(rota_parallel_for(pool, 0, 9, 0, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_for(other, 0, 9, 0, never, NULL), ROTA_ENOTSUP);
    assert_ok(rota_shutdown(pool));
    assert_status(rota_parallel_for(pool, 0, 9, 0, never, NULL), ROTA_EREJECTED);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}

/* -- Who takes part ----------------------------------------------------------------------- */

struct crew {
    test_barrier meeting;
    atomic_bool caller_was_there;
    pthread_t caller;
};

static void meet(size_t begin, size_t end, void *ctx)
{
    struct crew *crew = ctx;

    if (pthread_equal(pthread_self(), crew->caller))
        atomic_store(&crew->caller_was_there, true);
    test_barrier_wait(&crew->meeting);
}

/* PAR-08: two pieces that meet need two threads, and the caller is one. */
TEST(the_caller_and_a_worker_share_the_work)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct crew crew = {.caller = pthread_self()};

    test_barrier_init(&crew.meeting, 2);
    assert_ok(rota_parallel_for(pool, 0, 2, 1, meet, &crew));
    assert_true(crew.caller_was_there);
    assert_int_equal(test_fj_stats(pool).threads, 1);
    assert_ok(rota_close(pool));
}

/* -- Nested ------------------------------------------------------------------------------- */

enum { ROWS = 60 };

struct matrix {
    rota_executor *pool;
    atomic_uchar cells[ROWS][ROWS];
};

struct row {
    struct matrix *matrix;
    size_t number;
};

static void fill_row(size_t begin, size_t end, void *ctx)
{
    const struct row *row = ctx;

    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&row->matrix->cells[row->number][i], 1);
}

static void fill_rows(size_t begin, size_t end, void *ctx)
{
    struct matrix *matrix = ctx;

    for (size_t i = begin; i < end; i++) {
        struct row row = {matrix, i};
        test_check(rota_parallel_for(matrix->pool, 0, ROWS, i % 3, fill_row, &row) == ROTA_OK);
    }
}

static void fill_matrix(void *pool)
{
    struct matrix matrix = {.pool = pool};

    test_check(rota_parallel_for(pool, 0, ROWS, 1, fill_rows, &matrix) == ROTA_OK);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++)
            test_check(atomic_load(&matrix.cells[i][j]) == 1);
    }
}

/* PAR-07 */
TEST(loops_may_be_nested)
{
    in_all_pools(fill_matrix);
}

/* Some parts take far longer than others. */
static void work_unevenly(size_t begin, size_t end, void *ctx)
{
    struct marks *marks = ctx;
    volatile size_t spent = 0;

    for (size_t i = begin; i < end; i++) {
        for (size_t turn = 0; turn < (i < 20 ? 20000 : 1); turn++)
            spent += turn;
    }
    (void)spent;
    mark(begin, end, marks);
}

static void loop_unevenly(void *pool)
{
    struct marks marks = {.seen = calloc(3000, 1), .end = 3000};

    test_check(marks.seen != NULL);
    test_check(rota_parallel_for(pool, 0, 3000, 0, work_unevenly, &marks) == ROTA_OK);
    for (int i = 0; i < 3000; i++)
        test_check(atomic_load(&marks.seen[i]) == 1);
    free(marks.seen);
}

TEST(uneven_loops_end)
{
    in_all_pools(loop_unevenly);
}

/* -- Failure ------------------------------------------------------------------------------ */

struct failing {
    size_t from; /* which index fails */
    atomic_uint running;
    atomic_bool failed;
};

static void fail_at(size_t begin, size_t end, void *ctx)
{
    struct failing *failing = ctx;

    atomic_fetch_add(&failing->running, 1);
    if (begin <= failing->from && failing->from < end) {
        atomic_store(&failing->failed, true);
        rota_fail(5);
    }
    atomic_fetch_sub(&failing->running, 1);
}

static void fail_here_and_there(void *pool)
{
    const size_t places[] = {0, 1, 500, 9998, 9999};

    for (int i = 0; i < 5; i++) {
        for (size_t grain = 0; grain < 3; grain++) {
            struct failing failing = {.from = places[i]};
            test_check(rota_parallel_for(pool, 0, 10000, grain, fail_at, &failing) == ROTA_EFAILED);
            test_check(atomic_load(&failing.running) == 0); /* PAR-06 */
            test_check(atomic_load(&failing.failed));
        }
    }
}

/* PAR-06 */
TEST(a_body_that_fails_ends_the_loop)
{
    in_all_pools(fail_here_and_there);
}

static void fail_first(size_t begin, size_t end, void *ctx)
{
    atomic_uint *pieces = ctx;

    atomic_fetch_add(pieces, 1);
    rota_fail(1);
}

/* PAR-06: "no chunk starts after that is noticed". */
TEST(after_a_failure_no_piece_is_begun)
{
    rota_executor *pool = test_forkjoin_of(1);
    atomic_uint pieces = 0;

    assert_status(rota_parallel_for(pool, 0, 1000, 1, fail_first, &pieces), ROTA_EFAILED);
    assert_int_equal(pieces, 1);
    assert_ok(rota_close(pool));
}

struct pair {
    test_barrier both;
    rota_thread *caller;
    atomic_bool has_ended;
};

/* The caller's piece fails at once, the other goes on until the caller sleeps. */
static void fail_beside_another(size_t begin, size_t end, void *ctx)
{
    struct pair *pair = ctx;

    test_barrier_wait(&pair->both);
    if (rota_thread_self() == pair->caller) {
        rota_fail(5);
        return;
    }
    test_await_parked(pair->caller);
    atomic_store(&pair->has_ended, true);
}

/* PAR-06: "running chunks finish", "it never returns while a body is running". */
TEST(a_loop_that_failed_waits_for_what_still_runs)
{
    for (int i = 0; i < 20; i++) {
        rota_executor *pool = test_forkjoin_of(2); /* a new one: there is a place for the other */
        struct pair pair = {.caller = rota_thread_self()};

        test_barrier_init(&pair.both, 2);
        assert_status(rota_parallel_for(pool, 0, 2, 1, fail_beside_another, &pair), ROTA_EFAILED);
        assert_true(pair.has_ended);
        assert_ok(rota_close(pool));
    }
}

static void take_it_back(size_t begin, size_t end, void *ctx)
{
    rota_fail(3);
    rota_fail(0);
}

TEST(a_failure_can_be_taken_back)
{
    rota_executor *pool = test_forkjoin_of(2);

    assert_ok(rota_parallel_for(pool, 0, 100, 1, take_it_back, NULL));
    assert_ok(rota_close(pool));
}

static void *loop_in_a_task(void *arg)
{
    atomic_uint pieces = 0;

    test_check(rota_parallel_for(NULL, 0, 100, 1, fail_first, &pieces) == ROTA_EFAILED);
    return arg;
}

/* A loop's failure is not that of the task around it. */
TEST(a_task_whose_loop_failed_has_not_failed)
{
    rota_executor *pool = test_forkjoin_of(2);
    rota_future *future;

    assert_ok(rota_submit(pool, loop_in_a_task, NULL, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
}

/* -- The pool is stopped ------------------------------------------------------------------ */

static void stop_it(size_t begin, size_t end, void *ctx)
{
    test_check(rota_shutdown_now(rota_fj_pool(), NULL) == ROTA_OK);
}

/* "ROTA_ECANCELED when it is shut down now while the loop runs" */
TEST(a_loop_ends_when_its_pool_is_stopped)
{
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        assert_status(rota_parallel_for(pool, 0, 1000, 1, stop_it, NULL), ROTA_ECANCELED);
        assert_false(rota_interrupted()); /* that was for the loop */
        assert_ok(rota_close(pool));
    }
}

static void stop_map(const void *in, void *out, void *ctx)
{
    stop_it(0, 1, ctx);
}

TEST(a_map_ends_when_its_pool_is_stopped)
{
    int in[1000] = {0}, out[1000];
    size_t size = sizeof in[0];

    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        assert_status(rota_parallel_map(pool, in, size, out, size, 1000, stop_map, NULL),
                      ROTA_ECANCELED);
        assert_false(rota_interrupted());
        assert_ok(rota_close(pool));
    }
}

static void shut_down(size_t begin, size_t end, void *ctx)
{
    test_check(rota_shutdown(rota_fj_pool()) == ROTA_OK);
    mark(begin, end, ctx);
}

/* FJ-33 */
TEST(a_loop_goes_on_when_its_pool_is_shut_down)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct marks marks = {.seen = calloc(1000, 1), .end = 1000, .grain = 1};

    assert_non_null(marks.seen);
    assert_ok(rota_parallel_for(pool, 0, 1000, 1, shut_down, &marks));
    assert_int_equal(marks.pieces, 1000);
    assert_ok(rota_close(pool));
    free(marks.seen);
}

/* -- Map ---------------------------------------------------------------------------------- */

static void square(const void *in, void *out, void *ctx)
{
    uint32_t value;
    uint64_t result;

    memcpy(&value, in, sizeof value);
    result = (uint64_t)value * value + (size_t)(uintptr_t)ctx;
    memcpy(out, &result, sizeof result);
}

static void map_size(rota_executor *pool, size_t n)
{
    uint32_t *in = calloc(n + 1, sizeof *in);
    uint64_t *out = calloc(n + 1, sizeof *out);

    test_check(in != NULL && out != NULL);
    for (size_t i = 0; i < n; i++)
        in[i] = (uint32_t)i * 7;
    test_check(rota_parallel_map(pool, in, sizeof *in, out, sizeof *out, n, square, (void *)3)
               == ROTA_OK);
    for (size_t i = 0; i < n; i++)
        test_check(out[i] == (uint64_t)in[i] * in[i] + 3);
    test_check(out[n] == 0);
    free(in);
    free(out);
}

static void map_all_sizes(void *pool)
{
    for (int i = 0; i < SIZES; i++)
        map_size(pool, sizes[i]);
    map_size(pool, MOST);
}

/* PAR-03 */
TEST(a_map_is_as_one_by_one)
{
    in_all_pools(map_all_sizes);
}

static void add_one(const void *in, void *out, void *ctx)
{
    *(int *)out = *(const int *)in + 1;
}

/* PAR-03 */
TEST(a_map_may_be_in_place)
{
    rota_executor *pool = test_forkjoin_of(2);
    int *values = calloc(5000, sizeof *values);

    assert_non_null(values);
    for (int i = 0; i < 5000; i++)
        values[i] = i;
    assert_ok(rota_parallel_map(pool, values, sizeof *values, values, sizeof *values, 5000, add_one,
                                NULL));
    for (int i = 0; i < 5000; i++)
        assert_int_equal(values[i], i + 1);
    free(values);
    assert_ok(rota_close(pool));
}

static void complement(const void *in, void *out, void *ctx)
{
    *(unsigned char *)out = (unsigned char)~*(const unsigned char *)in;
}

/* PAR-03: elements may be as small as a byte. */
TEST(bytes_can_be_mapped)
{
    rota_executor *pool = test_forkjoin_of(2);
    unsigned char in[3] = {0, 1, 255}, out[4] = {9, 9, 9, 9};

    assert_ok(rota_parallel_map(pool, in, 1, out, 1, 3, complement, NULL));
    assert_memory_equal(out, ((unsigned char[]){255, 254, 0, 9}), 4);
    assert_ok(rota_close(pool));
}

static void fail_map(const void *in, void *out, void *ctx)
{
    rota_fail(2);
}

TEST(a_map_that_fails_says_so)
{
    rota_executor *pool = test_forkjoin_of(2);
    int in[100] = {0}, out[100];

    assert_status(rota_parallel_map(pool, in, sizeof in[0], out, sizeof out[0], 100, fail_map, in),
                  ROTA_EFAILED);
    assert_ok(rota_close(pool));
}

TEST(what_cannot_be_mapped_is_refused)
{
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    rota_executor *pool = test_forkjoin_of(2);
    int a[2] = {0}, b[2];
    size_t s = sizeof a[0];

    assert_status(rota_parallel_map(pool, a, s, b, s, 2, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_map(pool, NULL, s, b, s, 2, add_one, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_map(pool, a, s, NULL, s, 2, add_one, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_map(pool, a, 0, b, s, 2, add_one, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_map(pool, a, s, b, 0, 2, add_one, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_map(pool, a, s, b, 1, SIZE_MAX / 2, add_one, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_map(pool, a, 1, b, s, SIZE_MAX / 2, add_one, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_map(other, a, s, b, s, 2, add_one, NULL), ROTA_ENOTSUP);
    assert_ok(rota_close(other));
    assert_ok(rota_parallel_map(pool, NULL, s, NULL, s, 0, add_one, NULL));
    assert_ok(rota_shutdown(pool));
    assert_status(rota_parallel_map(pool, a, s, b, s, 2, add_one, NULL), ROTA_EREJECTED);
    assert_ok(rota_close(pool));
}

/* -- The common pool, which stays --------------------------------------------------------- */

/* PAR-01: NULL outside of a pool. */
static void look_for_common(size_t begin, size_t end, void *ctx)
{
    test_check(rota_fj_pool() == rota_common_pool());
    mark(begin, end, ctx);
}

TEST_WITH(test_keeping_memory, without_a_pool_the_common_one_is_taken)
{
    struct marks marks = {.seen = calloc(1000, 1), .end = 1000};

    assert_non_null(marks.seen);
    assert_ok(rota_parallel_for(NULL, 0, 1000, 0, look_for_common, &marks));
    for (int i = 0; i < 1000; i++)
        assert_int_equal(marks.seen[i], 1);
    free(marks.seen);
}
