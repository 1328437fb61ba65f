/* SPDX-License-Identifier: MIT */
/*
 * A scheduled pool whose tasks are decorated is a pool like any other, and shows what decorate saw.
 */
#include "pools.h"
#include "rota_test_internal.h"

enum { MOST = 32, WAYS = 10 };

struct decorator {
    unsigned calls;
    rota_task *tasks[MOST];
};

static struct decorator seen;

static int note_task(rota_task *task, void *ctx)
{
    test_check(seen.calls < MOST);
    seen.tasks[seen.calls++] = task;
    return ROTA_OK;
}

static rota_executor *decorated(unsigned core)
{
    seen.calls = 0;
    return test_sched((rota_sched_options){.core_threads = core, .decorate = note_task});
}

/* -- Refused ------------------------------------------------------------------------------ */

/* Every way in says so. */
static void all_say(rota_executor *sched, rota_fn *fn, void *arg, int status)
{
    rota_call call = {.fn = fn, .arg = arg};
    rota_future *out = TEST_UNTOUCHED;

    assert_status(rota_execute(sched, fn, arg), status);
    assert_status(rota_submit(sched, fn, arg, &out), status);
    assert_status(rota_submit_call(sched, &call, &out), status);
    assert_status(rota_schedule(sched, fn, arg, 1, &out), status);
    assert_status(rota_schedule_call(sched, &call, 1, 0, &out), status);
    assert_status(rota_schedule_at_fixed_rate(sched, fn, arg, 1, 1, &out), status);
    assert_status(rota_schedule_with_fixed_delay(sched, fn, arg, 1, 1, &out), status);
    assert_status(rota_schedule_skipping(sched, &call, 1, 1, &out), status);
    assert_status(rota_invoke_all(sched, &call, 1, ROTA_FOREVER, &out), status);
    assert_status(rota_invoke_any(sched, &call, 1, ROTA_FOREVER, &out), status);
    assert_ptr_equal(out, TEST_UNTOUCHED);
}

/* FUT-03, SCHED-30 */
TEST(what_is_no_task_is_not_decorated)
{
    rota_executor *sched = decorated(1);

    all_say(sched, NULL, NULL, ROTA_EINVAL);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(test_stats(sched).submitted, 0);
    assert_ok(rota_close(sched));
}

/* REJ-10, SCHED-17 */
TEST(a_decorated_pool_that_is_shut_down_rejects_everything)
{
    for (int now = 0; now < 2; now++) {
        rota_executor *sched = decorated(2);
        atomic_uint runs = 0;
        test_gate gate;

        test_gate_init(&gate);
        test_occupy(sched, &gate, 2);
        assert_ok(now ? rota_shutdown_now(sched, NULL) : rota_shutdown(sched));
        all_say(sched, test_count, &runs, ROTA_EREJECTED);
        test_gate_open(&gate);
        assert_ok(rota_await_termination(sched, ROTA_FOREVER));
        all_say(sched, test_count, &runs, ROTA_EREJECTED);
        assert_int_equal(test_stats(sched).completed, 2);
        assert_int_equal(test_stats(sched).rejected, 2 * WAYS);
        assert_int_equal(seen.calls, 2);
        assert_int_equal(runs, 0);
        assert_ok(rota_close(sched));
    }
}

/* -- Figures and settings ----------------------------------------------------------------- */

struct inside {
    rota_executor *sched;
    rota_pool_stats stats;
};

static void *look_inside(void *arg)
{
    struct inside *inside = arg;

    inside->stats = test_stats(inside->sched);
    return NULL;
}

/* POOL-46, POOL-48 */
TEST(a_decorated_task_is_active_while_it_runs_and_completed_then)
{
    struct inside inside = {.sched = decorated(2)};
    rota_pool_stats before = test_stats(inside.sched);

    assert_int_equal(before.active + before.threads + before.completed, 0);
    assert_ok(rota_execute(inside.sched, look_inside, &inside));
    test_await_completed(inside.sched, 1);
    test_await_active(inside.sched, 0);
    assert_int_equal(inside.stats.active, 1);
    assert_int_equal(inside.stats.threads, 1);
    assert_int_equal(inside.stats.completed, 0);
    assert_int_equal(test_stats(inside.sched).completed, 1);
    assert_ok(rota_close(inside.sched));
}

static void nothing(void *ctx)
{
}

/* POOL-08, POOL-45 */
TEST(a_decorated_pool_says_what_it_was_made_of)
{
    rota_executor *sched = test_sched((rota_sched_options){
        .core_threads = 1, .decorate = note_task, .threads = {.name = "a", .on_start = nothing}});

    assert_int_equal(test_sched_options(sched).core_threads, 1);
    assert_string_equal(test_sched_options(sched).threads.name, "a");
    assert_true(test_sched_options(sched).threads.on_start == nothing);
    assert_ok(rota_pool_set_threads(sched, &(rota_threads){.name = "b", .on_exit = nothing}));
    assert_status(rota_pool_set_threads(sched, NULL), ROTA_EINVAL);
    assert_string_equal(test_sched_options(sched).threads.name, "b");
    assert_true(test_sched_options(sched).threads.on_exit == nothing);
    assert_true(test_sched_options(sched).decorate == note_task);
    assert_ok(rota_close(sched));
}

/* POOL-49 */
TEST(the_state_of_a_decorated_pool_follows_its_end)
{
    rota_executor *sched = decorated(1);
    test_gate gate;

    test_gate_init(&gate);
    assert_false(rota_is_shutdown(sched));
    test_occupy(sched, &gate, 1);
    assert_ok(rota_shutdown(sched));
    assert_true(rota_is_shutdown(sched));
    assert_false(rota_is_terminated(sched));
    test_gate_open(&gate);
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_true(rota_is_terminated(sched));
    assert_ok(rota_executor_free(sched));
}

/* -- What decorate saw -------------------------------------------------------------------- */

enum { FIVE = 5 };

/* The first runs, the others are due later. */
static rota_executor *five_tasks(test_gate *gate, rota_future **futures)
{
    rota_executor *sched = decorated(1);

    test_gate_init(gate);
    assert_ok(rota_schedule(sched, test_wait_at, gate, 0, &futures[0]));
    test_await_count(&gate->begun, 1);
    for (int i = 1; i < FIVE; i++)
        assert_ok(rota_schedule(sched, test_wait_at, gate, ROTA_MS(1), &futures[i]));
    return sched;
}

static void end_five(rota_executor *sched, test_gate *gate, rota_future **futures)
{
    test_gate_open(gate);
    test_stop(sched);
    for (int i = 0; i < FIVE; i++)
        rota_future_unref(futures[i]);
}

/* POOL-50, SCHED-30 */
TEST_WITH(test_virtual_time, the_queue_has_decorated_tasks_but_not_the_one_that_runs)
{
    rota_future *futures[FIVE];
    test_gate gate;
    rota_executor *sched = five_tasks(&gate, futures);

    assert_int_equal(rota_queue_size(rota_pool_queue(sched)), FIVE - 1);
    assert_false(rota_queue_contains(rota_pool_queue(sched), seen.tasks[0]));
    assert_true(rota_queue_contains(rota_pool_queue(sched), seen.tasks[FIVE - 1]));
    end_five(sched, &gate, futures);
}

/* POOL-51, SCHED-30 */
TEST_WITH(test_virtual_time, a_decorated_task_can_be_removed_once_unless_it_runs)
{
    rota_future *futures[FIVE];
    test_gate gate;
    rota_executor *sched = five_tasks(&gate, futures);

    assert_false(rota_pool_remove(sched, futures[0]));
    assert_true(rota_pool_remove(sched, futures[4]));
    assert_false(rota_pool_remove(sched, futures[4]));
    assert_true(rota_pool_remove(sched, futures[3]));
    assert_false(rota_queue_contains(rota_pool_queue(sched), seen.tasks[3]));
    assert_true(rota_queue_contains(rota_pool_queue(sched), seen.tasks[2]));
    end_five(sched, &gate, futures);
}

/* SCHED-27, SCHED-30 */
TEST(shutdown_now_hands_over_the_decorated_tasks)
{
    rota_executor *sched = decorated(2);
    rota_task_list list;
    test_gate gate;

    test_gate_init(&gate);
    for (int i = 0; i < FIVE; i++)
        assert_ok(rota_execute(sched, test_sleep_long, &gate));
    test_await_count(&gate.begun, 2);
    assert_ok(rota_shutdown_now(sched, &list));
    assert_int_equal(rota_queue_size(rota_pool_queue(sched)), 0);
    assert_int_equal(list.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(list.tasks[i], seen.tasks[2 + i]);
        rota_task_discard(list.tasks[i]);
    }
    rota_task_list_free(&list);
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_int_equal(gate.interrupted, 2);
    assert_int_equal(test_stats(sched).completed, 2);
    assert_ok(rota_executor_free(sched));
}

/* SCHED-30 */
TEST(ten_tasks_are_decorated_ten_times_on_ten_threads)
{
    rota_executor *sched = decorated(10);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 10);
    assert_int_equal(test_stats(sched).threads, 10);
    test_gate_open(&gate);
    assert_ok(rota_shutdown(sched));
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_int_equal(seen.calls, 10);
    assert_int_equal(test_stats(sched).largest, 10);
    assert_int_equal(test_stats(sched).threads, 0);
    assert_ok(rota_executor_free(sched));
}
