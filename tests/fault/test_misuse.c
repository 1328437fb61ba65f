/* SPDX-License-Identifier: MIT */
/*
 * Mistakes of a program that no status can tell: checked builds say what was wrong, and end it.
 */
#include "executors.h"
#include "pools.h"

#include <rota/rota.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The sanitizer is the first to notice what happens to freed memory, and moves frames around. */
#if defined(ROTA_CHECKED) && !defined(__SANITIZE_ADDRESS__)
enum { MISTAKES_ARE_NOTICED = true };
#else
enum { MISTAKES_ARE_NOTICED = false };
#endif

struct mistake {
    void (*make)(void);
    int output; /* where it is told */
};

static void make_mistake(void *arg)
{
    const struct mistake *mistake = arg;

    test_check(dup2(mistake->output, STDERR_FILENO) >= 0);
    mistake->make();
}

/* In a child: it ends by abort, and one line tells why. */
static void is_noticed(void (*make)(void), const char *message)
{
    struct mistake mistake = {.make = make};
    char told[200] = "";
    int ends[2];

    if (!MISTAKES_ARE_NOTICED)
        skip();
    assert_int_equal(pipe(ends), 0);
    mistake.output = ends[1];
    assert_int_equal(test_in_child(make_mistake, &mistake), -SIGABRT);
    close(ends[1]);
    assert_true(read(ends[0], told, sizeof told - 1) > 0);
    close(ends[0]);
    assert_non_null(strstr(told, message));
}

/* -- Letting go once too often ------------------------------------------------------------ */

static rota_future *done_future(void)
{
    rota_future *promise;

    test_check(rota_promise_new(&promise) == ROTA_OK);
    test_check(rota_promise_complete(promise, NULL));
    return promise;
}

static void unref_twice(void)
{
    rota_future *future = done_future();

    rota_future_unref(future);
    rota_future_unref(future);
}

static void unref_pending_twice(void)
{
    rota_future *promise;

    test_check(rota_promise_new(&promise) == ROTA_OK);
    rota_future_unref(promise);
    rota_future_unref(promise);
}

static void unref_what_an_executor_has(void)
{
    rota_executor *executor;
    rota_future *future;

    test_executor_manual(&executor);
    test_check(rota_submit(executor, test_count, NULL, &future) == ROTA_OK);
    rota_future_unref(future);
    rota_future_unref(future); /* the task is there still */
}

static void ref_what_is_gone(void)
{
    rota_future *future = done_future();

    rota_future_unref(future);
    rota_future_ref(future);
}

/* FAULT-10 */
TEST(letting_go_once_too_often_is_noticed)
{
    is_noticed(unref_twice, "rota_future_unref of a future that nobody holds");
    is_noticed(unref_pending_twice, "rota_future_unref of a future that nobody holds");
    is_noticed(unref_what_an_executor_has, "rota_future_unref of a future that nobody holds");
    is_noticed(ref_what_is_gone, "rota_future_ref of a future that is gone");
}

/* -- Jumping out of a task ---------------------------------------------------------------- */

static jmp_buf place;
static rota_executor *executor;

static void *jump(void *arg)
{
    longjmp(place, 1);
    return arg;
}

static void submit_and_be_jumped_to(void)
{
    if (setjmp(place) == 0)
        rota_execute(executor, jump, NULL);
}

/* Out of a task that its submitter runs, and then once more. */
static void jump_to_the_submitter(void)
{
    test_check(test_executor_direct(&executor) == ROTA_OK);
    submit_and_be_jumped_to();
    submit_and_be_jumped_to();
}

static void *wait_for_one_that_jumps(void *arg)
{
    rota_future *future;

    test_check(rota_submit(executor, jump, NULL, &future) == ROTA_OK);
    if (setjmp(place) == 0)
        rota_future_get(future, NULL);
    return arg;
}

/* Out of a task that a worker runs while it waits, into the one that waits. */
static void jump_to_the_outer_task(void)
{
    rota_future *future;

    executor = test_pool((rota_pool_options){.core_threads = 1});
    test_check(rota_submit(executor, wait_for_one_that_jumps, NULL, &future) == ROTA_OK);
    rota_future_get(future, NULL);
}

/* FAULT-36 */
TEST(jumping_out_of_a_task_is_noticed)
{
    is_noticed(jump_to_the_submitter, "a task was left by longjmp");
    is_noticed(jump_to_the_outer_task, "a task was left by longjmp");
}

static void *jump_inside(void *runs)
{
    if (setjmp(place) == 0)
        jump(NULL);
    return test_count(runs);
}

/* FAULT-36: what does not leave the task is nobody's concern. */
TEST(jumping_inside_of_a_task_is_allowed)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;

    for (int i = 0; i < 3; i++)
        assert_ok(rota_execute(pool, jump_inside, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 3);
}

/* -- Functions that must return ----------------------------------------------------------- */

static void end_before(rota_executor *ex, rota_task *task, void *ctx)
{
    pthread_exit(NULL);
}

static void end_after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    pthread_exit(NULL);
}

static void end_at_failure(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    pthread_exit(NULL);
}

static void end_when_terminated(rota_executor *ex, void *ctx)
{
    pthread_exit(NULL);
}

static void end_thread(void *arg)
{
    pthread_exit(NULL);
}

static void *fail_with_7(void *arg)
{
    return rota_fail(7);
}

static void use_pool(rota_pool_options options)
{
    options.core_threads = 1;
    executor = test_pool(options);
    test_check(rota_execute(executor, fail_with_7, NULL) == ROTA_OK);
    rota_close(executor);
}

static void use_before_execute(void)
{
    use_pool((rota_pool_options){.hooks = {.before_execute = end_before}});
}

static void use_after_execute(void)
{
    use_pool((rota_pool_options){.hooks = {.after_execute = end_after}});
}

static void use_unobserved_failure(void)
{
    use_pool((rota_pool_options){.hooks = {.unobserved_failure = end_at_failure}});
}

static void use_terminated(void)
{
    use_pool((rota_pool_options){.hooks = {.terminated = end_when_terminated}});
}

static void use_on_start(void)
{
    use_pool((rota_pool_options){.threads = {.on_start = end_thread}});
}

static void use_on_exit(void)
{
    use_pool((rota_pool_options){.threads = {.on_exit = end_thread}});
}

static bool end_visit(rota_executor *ex, void *ctx)
{
    pthread_exit(NULL);
}

static void use_visitor(void)
{
    executor = test_pool((rota_pool_options){.core_threads = 1});
    rota_executors_visit(end_visit, NULL);
}

static void use_discard(void)
{
    const rota_call call = {.fn = fail_with_7, .discard = end_thread};

    test_executor_manual(&executor);
    rota_future *future;
    test_check(rota_submit_call(executor, &call, &future) == ROTA_OK);
    rota_future_cancel(future);
}

static void *end_step(void *value, void *arg)
{
    pthread_exit(NULL);
}

static void use_step(void)
{
    rota_future *source, *out;

    test_check(rota_promise_new(&source) == ROTA_OK);
    test_check(rota_then(source, NULL, end_step, NULL, &out) == ROTA_OK);
    rota_promise_complete(source, NULL);
}

static void *end_task(void *arg)
{
    pthread_exit(NULL);
}

static void use_forkjoin_pool(void)
{
    const rota_forkjoin_options options = {.parallelism = 1};

    test_check(rota_forkjoin_new(&options, &executor) == ROTA_OK);
    test_check(rota_execute(executor, end_task, NULL) == ROTA_OK);
    rota_close(executor);
}

static void end_fork(rota_fj *task)
{
    pthread_exit(NULL);
}

static void use_fork(void)
{
    const rota_forkjoin_options options = {.parallelism = 1};
    rota_fj task = ROTA_FJ(end_fork);

    test_check(rota_forkjoin_new(&options, &executor) == ROTA_OK);
    rota_invoke(executor, &task);
}

/* GEN-14: only the body of a task may end its thread, and not in a fork/join pool. */
TEST(a_function_that_ends_its_thread_is_reported_by_name)
{
    is_noticed(use_before_execute, "before_execute has ended its thread");
    is_noticed(use_after_execute, "after_execute has ended its thread");
    is_noticed(use_unobserved_failure, "unobserved_failure has ended its thread");
    is_noticed(use_terminated, "terminated has ended its thread");
    is_noticed(use_on_start, "on_start has ended its thread");
    is_noticed(use_on_exit, "on_exit has ended its thread");
    is_noticed(use_visitor, "a visitor has ended its thread");
    is_noticed(use_discard, "discard has ended its thread");
    is_noticed(use_step, "the step of a composed future has ended its thread");
    is_noticed(use_forkjoin_pool, "a task of a fork/join pool has ended its thread");
    is_noticed(use_fork, "a fork/join task has ended its thread");
}
