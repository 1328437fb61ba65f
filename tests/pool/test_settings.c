/* SPDX-License-Identifier: MIT */
/*
 * Options and settings: what is refused, what is kept, and that what a pool says can be given back.
 */
#include "executors.h"
#include "pools.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

enum { MOST_THREADS = (1 << 29) - 1 };

/* -- Making a pool ------------------------------------------------------------------------ */

static void refused(rota_pool_options options)
{
    rota_executor *pool = NULL;
    rota_queue *queue = test_array(1);

    options.queue = queue;
    assert_status(rota_pool_new(&options, &pool), ROTA_EINVAL);
    assert_null(pool);
    assert_ok(rota_queue_free(queue)); /* OWN-12 */
}

/* POOL-06, POOL-05, FAULT-03, FAULT-04 */
TEST(sizes_and_times_that_cannot_be_are_refused)
{
    rota_executor *pool = NULL;

    refused((rota_pool_options){.core_threads = 0, .max_threads = 0});
    refused((rota_pool_options){.core_threads = 2, .max_threads = 1});
    refused((rota_pool_options){.core_threads = (unsigned)-1});
    refused((rota_pool_options){.core_threads = MOST_THREADS + 1, .max_threads = (unsigned)-1});
    refused((rota_pool_options){.core_threads = 1, .keep_alive = -1});
    refused((rota_pool_options){.core_threads = 1, .keep_alive = INT64_MIN});
    assert_status(rota_pool_new(NULL, &pool), ROTA_EINVAL);
    assert_status(rota_pool_new(&(rota_pool_options){.core_threads = 1}, NULL), ROTA_EINVAL);
    assert_null(pool);
}

static const unsigned no_such_cpu = 1000000;

static const rota_threads bad_threads[] = {
    {.name = "%u-%u"},
    {.name = "%s"},
    {.name = "a%n"},
    {.name = "%d"},
    {.name = "50%"},
    {.name = "%lu"},
    {.name = "%u%"},
    {.stack_size = 1},
    {.interrupt_signal = SIGKILL},
    {.interrupt_signal = SIGSTOP},
    {.interrupt_signal = -1},
    {.interrupt_signal = 100000},
    {.cpus = &no_such_cpu, .cpu_count = 1},
    {.cpu_count = 1},
};

/* POOL-63, FAULT-17 */
TEST(threads_that_cannot_be_are_refused)
{
    for (size_t i = 0; i < sizeof bad_threads / sizeof bad_threads[0]; i++)
        refused((rota_pool_options){.core_threads = 1, .threads = bad_threads[i]});
}

/* POOL-07, POOL-08 */
TEST(a_pool_says_what_its_defaults_are)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 3});
    rota_pool_options now = test_options(pool);

    assert_int_equal(now.core_threads, 3);
    assert_int_equal(now.max_threads, 3);
    assert_int_equal(now.keep_alive, ROTA_SEC(60));
    assert_false(now.core_may_time_out);
    assert_null(now.queue);
    assert_ptr_equal(now.on_reject, rota_reject_abort);
    assert_string_equal(now.threads.name, "rota-%u");
    assert_false(now.strict_wait);
    assert_ok(rota_close(pool));
}

/* FAULT-04 */
TEST(the_largest_sizes_are_taken)
{
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = MOST_THREADS, .max_threads = MOST_THREADS, .keep_alive = ROTA_FOREVER});

    assert_int_equal(test_options(pool).core_threads, MOST_THREADS);
    assert_ok(rota_close(pool));
}

/* FAULT-04 */
TEST(a_maximum_that_is_too_large_stands_for_the_limit)
{
    static const unsigned numbers[] = {MOST_THREADS + 1, INT_MAX, (unsigned)-1};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        rota_executor *pool =
            test_pool((rota_pool_options){.core_threads = 1, .max_threads = numbers[i]});
        assert_int_equal(test_options(pool).max_threads, MOST_THREADS);
        assert_ok(rota_pool_set_max_threads(pool, 1));
        assert_ok(rota_pool_set_max_threads(pool, numbers[i]));
        assert_int_equal(test_options(pool).max_threads, MOST_THREADS);
        assert_ok(rota_pool_resize(pool, 0, 2));
        assert_ok(rota_pool_resize(pool, 1, numbers[i]));
        assert_int_equal(test_options(pool).max_threads, MOST_THREADS);
        assert_ok(rota_close(pool));
    }
}

/* -- There and back ----------------------------------------------------------------------- */

static int handle(rota_executor *ex, rota_task *task, void *ctx)
{
    return ROTA_EREJECTED;
}

static int create(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *arg,
                  void *ctx)
{
    return pthread_create(out, attr, start, arg);
}

static void in_thread(void *ctx)
{
}

static void before(rota_executor *ex, rota_task *task, void *ctx)
{
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
}

static void unobserved(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
}

static void terminated(rota_executor *ex, void *ctx)
{
}

static void assert_same_threads(const rota_threads *a, const rota_threads *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->stack_size, b->stack_size);
    assert_int_equal(a->interrupt_signal, b->interrupt_signal);
    assert_int_equal(a->cpu_count, b->cpu_count);
    for (size_t i = 0; i < a->cpu_count; i++)
        assert_int_equal(a->cpus[i], b->cpus[i]);
    assert_true(a->create == b->create && a->on_start == b->on_start && a->on_exit == b->on_exit);
    assert_ptr_equal(a->ctx, b->ctx);
}

static void assert_same(const rota_pool_options *a, const rota_pool_options *b)
{
    assert_int_equal(a->core_threads, b->core_threads);
    assert_int_equal(a->max_threads, b->max_threads);
    assert_int_equal(a->keep_alive, b->keep_alive);
    assert_int_equal(a->core_may_time_out, b->core_may_time_out);
    assert_ptr_equal(a->on_reject, b->on_reject);
    assert_ptr_equal(a->reject_ctx, b->reject_ctx);
    assert_same_threads(&a->threads, &b->threads);
    assert_memory_equal(&a->hooks, &b->hooks, sizeof a->hooks);
    assert_int_equal(a->strict_wait, b->strict_wait);
}

/* What is copied may go: name and cpus. */
static rota_executor *elaborate_pool(rota_pool_options *given)
{
    static char name[] = "ants-%u";
    static const unsigned first_twice[] = {0, 0};
    static unsigned cpus[] = {0, 0};
    static int ctx;

    strcpy(name, "bees-%u");
    cpus[0] = 0;
    *given = (rota_pool_options){
        .core_threads = 2,
        .max_threads = 5,
        .keep_alive = ROTA_MS(1000),
        .core_may_time_out = true,
        .on_reject = handle,
        .reject_ctx = &ctx,
        .threads = {name, 1 << 17, SIGUSR2, cpus, 2, create, in_thread, in_thread, &ctx},
        .hooks = {before, after, unobserved, terminated, &ctx},
        .strict_wait = true,
    };
    rota_executor *pool = test_pool(*given);
    strcpy(name, "gone");
    cpus[0] = no_such_cpu;
    given->threads.name = "bees-%u";
    given->threads.cpus = first_twice;
    return pool;
}

/* POOL-08 */
TEST(what_a_pool_was_made_of_can_be_read_and_given_back)
{
    rota_pool_options given, now, again;
    rota_executor *pool = elaborate_pool(&given);

    now = test_options(pool);
    assert_null(now.queue);
    assert_same(&now, &given);
    rota_executor *other = test_pool(now);
    again = test_options(other);
    assert_same(&again, &given);
    assert_ok(rota_close(other));
    assert_ok(rota_close(pool));
}

/* POOL-65 */
TEST(a_keep_alive_of_at_once_can_be_given_back)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .keep_alive = 1});

    assert_int_equal(test_options(pool).keep_alive, 1);
    assert_ok(rota_pool_set_keep_alive(pool, ROTA_SEC(1)));
    assert_int_equal(test_options(pool).keep_alive, ROTA_SEC(1));
    assert_ok(rota_pool_set_keep_alive(pool, 0));
    assert_int_equal(test_options(pool).keep_alive, 1);
    assert_ok(rota_close(pool));
}

/* POOL-65 */
TEST(at_once_goes_together_with_core_may_time_out)
{
    rota_executor *pool = test_pool(
        (rota_pool_options){.core_threads = 1, .keep_alive = 1, .core_may_time_out = true});

    assert_true(test_options(pool).core_may_time_out);
    assert_ok(rota_pool_set_keep_alive(pool, 5));
    assert_ok(rota_pool_set_keep_alive(pool, 0));
    assert_int_equal(test_options(pool).keep_alive, 1);
    assert_ok(rota_pool_set_core_may_time_out(pool, false));
    assert_ok(rota_pool_set_core_may_time_out(pool, true));
    assert_true(test_options(pool).core_may_time_out);
    assert_ok(rota_close(pool));
}

/* -- Setters ------------------------------------------------------------------------------ */

/* POOL-45 */
TEST(setters_change_what_is_read)
{
    const rota_threads threads = {.name = "x-%u", .stack_size = 1 << 18};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2, .max_threads = 3});

    assert_ok(rota_pool_set_max_threads(pool, 5));
    assert_ok(rota_pool_set_core_threads(pool, 4));
    assert_ok(rota_pool_set_keep_alive(pool, 77));
    assert_ok(rota_pool_set_core_may_time_out(pool, true));
    assert_ok(rota_pool_set_reject(pool, handle, pool));
    assert_ok(rota_pool_set_threads(pool, &threads));
    rota_pool_options now = test_options(pool);
    assert_int_equal(now.core_threads, 4);
    assert_int_equal(now.max_threads, 5);
    assert_int_equal(now.keep_alive, 77);
    assert_true(now.core_may_time_out);
    assert_ptr_equal(now.on_reject, handle);
    assert_ptr_equal(now.reject_ctx, pool);
    assert_same_threads(&now.threads, &threads);
    assert_ok(rota_close(pool));
}

/* POOL-40 to POOL-43, POOL-45, POOL-66, FAULT-03 */
TEST(values_that_cannot_be_are_refused_and_change_nothing)
{
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 2, .max_threads = 4, .keep_alive = 99, .core_may_time_out = true});
    rota_pool_options before_all = test_options(pool);

    assert_status(rota_pool_set_core_threads(pool, 5), ROTA_EINVAL);
    assert_status(rota_pool_set_core_threads(pool, (unsigned)-1), ROTA_EINVAL);
    assert_status(rota_pool_set_max_threads(pool, 1), ROTA_EINVAL);
    assert_status(rota_pool_set_max_threads(pool, 0), ROTA_EINVAL);
    assert_status(rota_pool_resize(pool, 2, 1), ROTA_EINVAL);
    assert_status(rota_pool_resize(pool, 0, 0), ROTA_EINVAL);
    assert_status(rota_pool_resize(pool, MOST_THREADS + 1, (unsigned)-1), ROTA_EINVAL);
    assert_status(rota_pool_set_keep_alive(pool, -1), ROTA_EINVAL);
    assert_status(rota_pool_set_keep_alive(pool, INT64_MIN), ROTA_EINVAL);
    assert_status(rota_pool_set_reject(pool, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_pool_set_threads(pool, NULL), ROTA_EINVAL);
    for (size_t i = 0; i < sizeof bad_threads / sizeof bad_threads[0]; i++)
        assert_status(rota_pool_set_threads(pool, &bad_threads[i]), ROTA_EINVAL);
    rota_pool_options after_all = test_options(pool);
    assert_same(&after_all, &before_all);
    assert_ok(rota_close(pool));
}

/* POOL-40, POOL-41, POOL-66 */
TEST(both_sizes_are_changed_at_once_in_either_direction)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2, .max_threads = 3});

    assert_ok(rota_pool_resize(pool, 8, 9));
    assert_int_equal(test_options(pool).core_threads, 8);
    assert_int_equal(test_options(pool).max_threads, 9);
    assert_ok(rota_pool_resize(pool, 0, 1));
    assert_int_equal(test_options(pool).core_threads, 0);
    assert_int_equal(test_options(pool).max_threads, 1);
    assert_status(rota_pool_set_max_threads(pool, 0), ROTA_EINVAL);
    assert_ok(rota_close(pool));
}

static void set_all(rota_executor *pool)
{
    const rota_threads threads = {.name = "y"};

    assert_ok(rota_pool_set_max_threads(pool, 8));
    assert_ok(rota_pool_set_core_threads(pool, 7));
    assert_ok(rota_pool_set_core_threads(pool, 2));
    assert_ok(rota_pool_set_max_threads(pool, 4));
    assert_ok(rota_pool_set_keep_alive(pool, ROTA_SEC(5)));
    assert_ok(rota_pool_set_core_may_time_out(pool, true));
    assert_ok(rota_pool_set_core_may_time_out(pool, false));
    assert_ok(rota_pool_set_reject(pool, handle, NULL));
    assert_ok(rota_pool_set_threads(pool, &threads));
}

/* POOL-61 */
TEST(setters_work_in_every_state)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_gate gate;

    test_gate_init(&gate);
    set_all(pool);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_shutdown(pool));
    set_all(pool);
    assert_ok(rota_shutdown_now(pool, NULL));
    set_all(pool);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    set_all(pool);
    assert_int_equal(test_options(pool).keep_alive, ROTA_SEC(5));
    assert_int_equal(test_stats(pool).largest, 1);
    assert_ok(rota_executor_free(pool));
}

/* -- What is no pool, or fixed ------------------------------------------------------------ */

static void every_setter_says(rota_executor *ex, int status)
{
    const rota_threads threads = {.name = "z"};

    assert_status(rota_pool_set_core_threads(ex, 1), status);
    assert_status(rota_pool_set_max_threads(ex, 2), status);
    assert_status(rota_pool_set_keep_alive(ex, 1), status);
    assert_status(rota_pool_resize(ex, 1, 2), status);
    assert_status(rota_pool_set_core_may_time_out(ex, true), status);
    assert_status(rota_pool_set_reject(ex, handle, NULL), status);
    assert_status(rota_pool_set_threads(ex, &threads), status);
}

/* FACT-03, FACT-04, GEN-18 */
TEST(what_cannot_be_set_is_not_supported)
{
    rota_executor *direct, *single, *scheduled;
    rota_pool_options now;
    unsigned started = 99;

    assert_ok(test_executor_direct(&direct));
    assert_ok(rota_single_thread(&single));
    assert_ok(rota_single_scheduled(&scheduled));
    every_setter_says(direct, ROTA_ENOTSUP);
    every_setter_says(single, ROTA_ENOTSUP);
    every_setter_says(scheduled, ROTA_ENOTSUP);
    every_setter_says(NULL, ROTA_EINVAL);
    assert_status(rota_pool_resize(direct, 1, 1), ROTA_ENOTSUP);
    assert_status(rota_pool_options_get(direct, &now), ROTA_ENOTSUP);
    assert_status(rota_pool_prestart(direct, &started), ROTA_ENOTSUP);
    assert_status(rota_pool_prestart_one(direct, &started), ROTA_ENOTSUP);
    assert_int_equal(started, 99);
    assert_int_equal(test_options(single).max_threads, 1);
    assert_ok(rota_close(direct));
    assert_ok(rota_close(single));
    assert_ok(rota_close(scheduled));
}

/* GEN-02, FAULT-01 */
TEST(nothing_is_written_through_null)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_pool_options now;
    unsigned started = 99;

    assert_status(rota_pool_options_get(pool, NULL), ROTA_EINVAL);
    assert_status(rota_pool_options_get(NULL, &now), ROTA_EINVAL);
    assert_status(rota_pool_prestart(pool, NULL), ROTA_EINVAL);
    assert_status(rota_pool_prestart_one(pool, NULL), ROTA_EINVAL);
    assert_status(rota_pool_prestart(NULL, &started), ROTA_EINVAL);
    assert_status(rota_pool_prestart_one(NULL, &started), ROTA_EINVAL);
    assert_status(rota_pool_resize(NULL, 1, 1), ROTA_EINVAL);
    assert_status(rota_pool_set_core_may_time_out(NULL, true), ROTA_EINVAL);
    assert_int_equal(started, 99);
    assert_int_equal(test_stats(pool).threads, 0);
    assert_ok(rota_close(pool));
}
