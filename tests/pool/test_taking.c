/* SPDX-License-Identifier: MIT */
/*
 * How a pool takes a task: core, queue, max, reject, in this order; and which queues it can have.
 */
#include "pools.h"
#include "queues.h"
#include "rota_test_internal.h"

/* -- The order of the steps --------------------------------------------------------------- */

/* POOL-07 */
TEST(a_new_pool_has_no_threads_and_all_its_figures_are_zero)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2, .max_threads = 4});
    rota_pool_stats stats = test_stats(pool);

    assert_int_equal(stats.threads + stats.active + stats.largest, 0);
    assert_int_equal(stats.submitted + stats.completed + stats.rejected + stats.queued, 0);
    assert_int_equal(rota_executor_state_of(pool), ROTA_RUNNING);
    assert_ok(rota_close(pool));
}

/* POOL-09, POOL-17 */
TEST(a_task_that_was_taken_runs)
{
    rota_executor *pool = test_small_pool(1, 1, 10);
    atomic_uint runs = 0;

    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_count(&runs, 1);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 1);
}

/* POOL-09: step 1. */
TEST(below_core_each_task_brings_a_thread_although_others_are_idle)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 3, .max_threads = 5});
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 5; i++) {
        assert_ok(rota_execute(pool, test_count, &runs));
        test_await_completed(pool, i);
        test_await_waiting(pool, i < 3 ? i : 3);
        assert_int_equal(test_stats(pool).threads, i < 3 ? i : 3);
    }
    assert_ok(rota_close(pool));
}

/* POOL-10: step 2. */
TEST(at_core_the_queue_takes_it)
{
    rota_executor *pool = test_small_pool(2, 4, 3);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 2);
    for (unsigned i = 1; i <= 3; i++) {
        assert_ok(rota_execute(pool, test_wait_at, &gate));
        assert_int_equal(test_stats(pool).queued, i);
        assert_int_equal(test_stats(pool).threads, 2);
    }
    assert_int_equal(gate.begun, 2);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.ended, 5);
}

/* POOL-11, POOL-20: step 3; the new thread runs the new task before those in the queue. */
TEST(a_full_queue_brings_threads_up_to_max_for_the_new_tasks)
{
    rota_executor *pool = test_small_pool(1, 3, 1);
    test_gate gate, queued;

    test_gate_init(&gate);
    test_gate_init(&queued);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_wait_at, &queued));
    for (unsigned i = 2; i <= 3; i++) {
        test_occupy(pool, &gate, 1);
        assert_int_equal(test_stats(pool).threads, i);
    }
    assert_int_equal(queued.begun, 0);
    assert_int_equal(test_stats(pool).queued, 1);
    test_gate_open(&gate);
    test_gate_open(&queued);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.ended + queued.ended, 4);
}

/* POOL-12: step 4, OWN-05. */
TEST(at_max_with_a_full_queue_it_is_rejected_and_nothing_happens)
{
    rota_executor *pool = test_small_pool(1, 2, 1);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_wait_at, &gate)); /* is queued */
    assert_ok(rota_execute(pool, test_wait_at, &gate)); /* brings the second */
    assert_status(rota_execute(pool, call.fn, &probe), ROTA_EREJECTED);
    assert_status(rota_submit_call(pool, &call, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(test_stats(pool).rejected, 2);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs + probe.discards + probe.frees, 0);
    assert_int_equal(gate.ended, 3);
}

/* POOL-18 */
TEST(what_was_rejected_is_taken_later_when_there_is_room)
{
    rota_executor *pool = test_small_pool(1, 1, 1);
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_count, &runs));
    assert_status(rota_execute(pool, test_count, &runs), ROTA_EREJECTED);
    test_gate_open(&gate);
    test_await_completed(pool, 2);
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 3);
    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 3);
}

/* POOL-13 */
TEST(with_a_queue_without_a_bound_there_are_never_more_than_core)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .max_threads = 9});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (unsigned i = 0; i < 300; i++)
        assert_ok(rota_execute(pool, test_wait_at, &gate));
    assert_int_equal(test_stats(pool).threads, 1);
    assert_int_equal(test_stats(pool).queued, 300);
    test_gate_open(&gate);
    test_await_completed(pool, 301);
    assert_int_equal(test_stats(pool).largest, 1);
    assert_ok(rota_close(pool));
}

/* GEN-02, GEN-03, FAULT-02 */
TEST(a_task_without_a_function_is_no_task_also_after_shutdown)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_future *future = TEST_UNTOUCHED;

    for (int i = 0; i < 2; i++) {
        assert_status(rota_execute(pool, NULL, NULL), ROTA_EINVAL);
        assert_status(rota_submit(pool, NULL, NULL, &future), ROTA_EINVAL);
        assert_status(rota_submit_call(pool, NULL, &future), ROTA_EINVAL);
        assert_status(rota_submit_call(pool, &(rota_call){.arg = pool}, &future), ROTA_EINVAL);
        assert_status(rota_execute_task(pool, NULL), ROTA_EINVAL);
        assert_ok(rota_shutdown(pool));
    }
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(test_stats(pool).rejected + test_stats(pool).threads, 0);
    assert_ok(rota_close(pool));
}

/* -- Core 0 ------------------------------------------------------------------------------- */

/* POOL-15 */
TEST(with_core_zero_one_thread_comes_for_what_is_queued)
{
    rota_executor *pool = test_pool((rota_pool_options){.max_threads = 4});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (unsigned i = 0; i < 10; i++)
        assert_ok(rota_execute(pool, test_wait_at, &gate));
    assert_int_equal(test_stats(pool).threads, 1);
    assert_int_equal(test_stats(pool).queued, 10);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.ended, 11);
}

/* POOL-15, POOL-11 */
TEST(with_core_zero_and_a_full_queue_more_come)
{
    rota_executor *pool = test_small_pool(0, 2, 1);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_wait_at, &gate)); /* queued */
    test_occupy(pool, &gate, 1);
    assert_int_equal(test_stats(pool).threads, 2);
    assert_status(rota_execute(pool, test_wait_at, &gate), ROTA_EREJECTED);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.ended, 3);
}

/* POOL-15: "at once" is keep_alive 1. */
TEST(with_core_zero_the_pool_is_without_threads_again_and_again)
{
    rota_executor *pool = test_pool((rota_pool_options){.max_threads = 1, .keep_alive = 1});
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 20; i++) {
        assert_ok(rota_execute(pool, test_count, &runs));
        test_await_completed(pool, i);
        test_await_threads(pool, 0);
    }
    assert_int_equal(runs, 20);
    assert_int_equal(test_stats(pool).largest, 1);
    assert_ok(rota_close(pool));
}

/* -- Hand-off ----------------------------------------------------------------------------- */

static void hand_off(int (*make)(rota_queue **out))
{
    rota_pool_options options = {.core_threads = 1, .max_threads = 3};
    test_gate gate;

    assert_ok(make(&options.queue));
    rota_executor *pool = test_pool(options);
    test_gate_init(&gate);
    for (unsigned i = 1; i <= 3; i++) {
        test_occupy(pool, &gate, 1);
        assert_int_equal(test_stats(pool).threads, i);
        assert_int_equal(test_stats(pool).queued, 0);
    }
    assert_status(rota_execute(pool, test_wait_at, &gate), ROTA_EREJECTED);
    test_gate_open(&gate);
    test_await_waiting(pool, 3);
    assert_ok(rota_execute(pool, test_wait_at, &gate)); /* one that waits has it */
    test_await_completed(pool, 4);
    assert_int_equal(test_stats(pool).largest, 3);
    assert_ok(rota_close(pool));
}

/* POOL-16 */
TEST(with_a_hand_off_queue_a_task_goes_to_a_thread_that_waits_or_to_a_new_one)
{
    hand_off(rota_handoff_queue);
    hand_off(rota_fair_handoff_queue);
}

/* -- Every queue -------------------------------------------------------------------------- */

enum { TASKS = 12 };

static unsigned number_of(const void *task)
{
    const test_note *note = rota_task_call(task)->arg;

    return note->number;
}

/* The highest number first. */
static int compare_tasks(const void *a, const void *b, void *ctx)
{
    return (number_of(a) < number_of(b)) - (number_of(a) > number_of(b));
}

/* All are due; the highest number was so first. */
static rota_ns due_before(const void *task, void *ctx)
{
    return -(rota_ns)number_of(task);
}

static int make_array(rota_queue **out)
{
    return rota_array_queue(TASKS, out);
}

static int make_linked(rota_queue **out)
{
    return rota_linked_queue(TASKS, out);
}

static int make_deque(rota_queue **out)
{
    return rota_deque(TASKS, out);
}

static int make_priority(rota_queue **out)
{
    return rota_priority_queue(compare_tasks, NULL, out);
}

static int make_delay(rota_queue **out)
{
    return rota_delay_queue(due_before, NULL, out);
}

static int make_ring(rota_queue **out)
{
    return test_ring_queue(TASKS, out);
}

/* A stack of the test's own. */
struct stack {
    size_t count;
    void *elements[TASKS];
};

static int push(void *self, void *element)
{
    struct stack *stack = self;

    if (stack->count == TASKS)
        return ROTA_EFULL;
    stack->elements[stack->count++] = element;
    return ROTA_OK;
}

static void *top(void *self)
{
    const struct stack *stack = self;

    return stack->count > 0 ? stack->elements[stack->count - 1] : NULL;
}

static void *pop(void *self)
{
    struct stack *stack = self;
    void *element = top(self);

    stack->count -= element != NULL;
    return element;
}

static void filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    struct stack *stack = self;
    size_t kept = 0;

    for (size_t i = 0; i < stack->count; i++) {
        if (!drop(stack->elements[i], ctx))
            stack->elements[kept++] = stack->elements[i];
    }
    stack->count = kept;
}

static int make_stack(rota_queue **out)
{
    static const rota_queue_ops ops = {.insert = push, .take = pop, .peek = top, .filter = filter};
    static struct stack stack;

    stack.count = 0;
    return rota_custom_queue(&ops, &stack, out);
}

static const struct kind {
    int (*make)(rota_queue **out);
    bool last_first; /* else first in, first out */
} kinds[] = {
    {make_array, false}, {make_linked, false}, {make_deque, false}, {rota_transfer_queue, false},
    {make_ring, false},  {make_delay, true},   {make_stack, true},  {make_priority, true},
};

static void runs_in_order(const struct kind *kind)
{
    rota_pool_options options = {.core_threads = 1};
    test_journal journal;
    test_note notes[TASKS];
    unsigned expected[TASKS];
    test_gate gate;

    assert_ok(kind->make(&options.queue));
    rota_executor *pool = test_pool(options);
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    test_notes_init(notes, TASKS, &journal);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_ok(rota_execute(pool, test_note_down, &notes[i]));
        expected[i] = kind->last_first ? TASKS - 1 - i : i;
    }
    assert_ptr_equal(rota_pool_queue(pool), options.queue);
    assert_int_equal(rota_queue_size(options.queue), TASKS);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    test_journal_is(&journal, expected, TASKS);
}

TEST(tasks_leave_every_kind_of_queue_in_the_order_of_that_kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        runs_in_order(&kinds[i]);
}

static void all_run(int (*make)(rota_queue **out))
{
    rota_pool_options options = {
        .core_threads = 2, .max_threads = 4, .on_reject = rota_reject_block};
    rota_executor *pool;
    test_journal journal;
    test_note notes[TEST_NOTES];
    bool ran[TEST_NOTES] = {false};

    assert_ok(make(&options.queue));
    pool = test_pool(options);
    test_notes_init(notes, TEST_NOTES, &journal);
    for (unsigned i = 0; i < TEST_NOTES; i++)
        assert_ok(rota_execute(pool, test_note_down, &notes[i]));
    assert_ok(rota_close(pool));
    assert_int_equal(journal.count, TEST_NOTES);
    for (unsigned i = 0; i < TEST_NOTES; i++)
        ran[journal.numbers[i]] = true;
    for (unsigned i = 0; i < TEST_NOTES; i++)
        assert_true(ran[i]);
}

/* POOL-17, QUEUE-17 */
TEST(on_every_kind_of_queue_each_task_runs_once)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        all_run(kinds[i].make);
    all_run(rota_handoff_queue);
    all_run(rota_fair_handoff_queue);
}

static rota_ns due_in_an_hour(const void *task, void *ctx)
{
    return test_clock_now() + ROTA_HOURS(1);
}

TEST(from_a_delay_queue_nothing_runs_before_it_is_due)
{
    rota_pool_options options = {.core_threads = 1};
    atomic_uint runs = 0;
    unsigned started;

    test_clock_install();
    assert_ok(rota_delay_queue(due_in_an_hour, NULL, &options.queue));
    rota_executor *pool = test_pool(options);
    assert_ok(rota_pool_prestart(pool, &started));
    assert_ok(rota_execute(pool, test_count, &runs));
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_HOURS(1) - 1);
    test_clock_await_waiting(1);
    assert_int_equal(runs, 0);
    test_clock_advance(1);
    test_await_count(&runs, 1);
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* OWN-12 */
TEST(a_queue_stays_the_callers_if_there_is_no_pool)
{
    rota_pool_options options = {.core_threads = 2, .max_threads = 1, .queue = test_array(1)};
    rota_executor *pool = NULL;
    void *element;

    assert_status(rota_pool_new(&options, &pool), ROTA_EINVAL);
    assert_null(pool);
    assert_ok(rota_queue_put(options.queue, &options));
    assert_ok(rota_queue_take(options.queue, &element));
    assert_ok(rota_queue_free(options.queue));
}
