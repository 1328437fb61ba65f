/* SPDX-License-Identifier: MIT */
/*
 * api_rubbish.c - calls with arguments that cannot be: GEN-02. None has an effect.
 */
#include "api.h"

#define invalid(call) ex_check(is_invalid(call))

static bool is_invalid(int status)
{
    return status == ROTA_EINVAL || is_lack(status);
}

static void *body(void *arg)
{
    return arg;
}

static void *then(void *value, void *arg)
{
    (void)arg;
    return value;
}

static void *both(void *first, void *second, void *arg)
{
    (void)second;
    (void)arg;
    return first;
}

static void *handle(int status, void *value, int error, void *arg)
{
    (void)status;
    (void)error;
    (void)arg;
    return value;
}

static const rota_call good_call = {.fn = body};
static const rota_call no_call;

/* -- On an executor that there is ------------------------------------------------------------ */

static void submit_rubbish(rota_executor *ex)
{
    rota_future *future = NULL;
    rota_call calls[2] = {good_call, no_call};
    rota_future *futures[2];

    invalid(rota_execute(ex, NULL, NULL));
    invalid(rota_submit(ex, NULL, NULL, &future));
    invalid(rota_submit_call(ex, NULL, &future));
    invalid(rota_submit_call(ex, &no_call, &future));
    invalid(rota_execute_task(ex, NULL));
    invalid(rota_invoke_all(ex, NULL, 1, 0, futures));
    invalid(rota_invoke_all(ex, calls, 2, 0, futures));
    invalid(rota_invoke_all(ex, calls, 1, 0, NULL));
    invalid(rota_invoke_any(ex, calls, 0, 0, &future));
    invalid(rota_invoke_any(ex, calls, 2, 0, &future));
    invalid(rota_invoke_any(ex, calls, 1, 0, NULL));
    ex_check(rota_invoke_all(ex, NULL, 0, 0, NULL) == ROTA_OK);
    ex_check(future == NULL);
}

static void schedule_rubbish(rota_executor *ex)
{
    rota_future *future = NULL;

    invalid(rota_schedule(ex, NULL, NULL, 0, &future));
    invalid(rota_schedule_call(ex, NULL, 0, 0, &future));
    invalid(rota_schedule_call(ex, &no_call, 0, 0, &future));
    ex_check(rota_schedule_at_fixed_rate(ex, body, NULL, 0, 0, &future) != ROTA_OK);
    ex_check(rota_schedule_at_fixed_rate(ex, body, NULL, 0, INT64_MIN, &future) != ROTA_OK);
    ex_check(rota_schedule_with_fixed_delay(ex, body, NULL, 0, -1, &future) != ROTA_OK);
    ex_check(rota_schedule_skipping(ex, &good_call, 0, 0, &future) != ROTA_OK);
    ex_check(future == NULL);
}

static void compose_rubbish(rota_executor *ex)
{
    rota_completion *completion = NULL;
    rota_future *future = NULL;
    rota_executor *made = NULL;
    rota_retry_options none = {.attempts = 0};

    invalid(rota_retry(ex, NULL, &none, &future));
    invalid(rota_retry(ex, &good_call, NULL, &future));
    invalid(rota_retry(ex, &good_call, &none, &future));
    invalid(rota_retry(ex, &good_call, &(rota_retry_options){.attempts = 1, .jitter = 2}, &future));
    invalid(rota_hedge(ex, &no_call, 0, &future));
    invalid(rota_hedge(ex, &good_call, 0, NULL));
    invalid(rota_delayed(ex, 0, NULL));
    invalid(rota_completion_new(ex, NULL));
    ex_check(completion == NULL && made == NULL && future == NULL);
}

static void look_rubbish(rota_executor *ex)
{
    ex_check(!rota_pool_remove(ex, NULL));
    ex_check(rota_pool_stats_get(ex, NULL) != ROTA_OK);
    ex_check(rota_pool_options_get(ex, NULL) != ROTA_OK);
    ex_check(rota_sched_options_get(ex, NULL) != ROTA_OK);
    ex_check(rota_forkjoin_stats_get(ex, NULL) != ROTA_OK);
    ex_check(rota_pool_set_threads(ex, &(rota_threads){.name = "%n"}) != ROTA_OK);
    ex_check(rota_pool_set_threads(ex, &(rota_threads){.cpu_count = 1}) != ROTA_OK);
    ex_check(rota_pool_set_keep_alive(ex, INT64_MIN) != ROTA_OK);
    ex_check(rota_invoke(ex, NULL) != ROTA_OK);
    ex_check(rota_parallel_for(ex, 5, 1, 0, NULL, NULL) != ROTA_OK);
    ex_check(rota_parallel_map(ex, NULL, 1, NULL, 1, 1, NULL, NULL) != ROTA_OK);
    ex_check(rota_parallel_sort(ex, NULL, SIZE_MAX, SIZE_MAX, NULL, NULL) != ROTA_OK);
    ex_check(rota_parallel_reduce(ex, 0, SIZE_MAX, 0, NULL, NULL, NULL) != ROTA_OK);
}

/* -- Without one ----------------------------------------------------------------------------- */

static void no_executor(void)
{
    rota_future *future = NULL;
    rota_executor *made = NULL;
    rota_completion *completion = NULL;

    invalid(rota_execute(NULL, body, NULL));
    invalid(rota_submit(NULL, body, NULL, &future));
    invalid(rota_schedule(NULL, body, NULL, 0, &future));
    invalid(rota_shutdown(NULL));
    invalid(rota_shutdown_now(NULL, NULL));
    invalid(rota_await_termination(NULL, 0));
    invalid(rota_close(NULL));
    invalid(rota_close_within(NULL, 0, NULL));
    invalid(rota_completion_new(NULL, &completion));
    invalid(rota_delayed(NULL, 0, &made));
    invalid(rota_retry(NULL, &good_call, &(rota_retry_options){.attempts = 1}, &future));
    invalid(rota_pool_set_core_threads(NULL, 1));
    invalid(rota_await_quiescence(NULL, 0));
    ex_check(rota_is_terminated(NULL) && rota_executor_state_of(NULL) == ROTA_TERMINATED);
    ex_check(rota_pool_queue(NULL) == NULL && rota_pool_purge(NULL) == 0);
    rota_task_list_free(NULL);
    rota_task_run(NULL);
    rota_task_discard(NULL);
    ex_check(rota_task_call(NULL) == NULL && rota_task_future(NULL) == NULL);
}

static void no_options(void)
{
    rota_executor *made = NULL;
    rota_queue *queue = NULL;
    unsigned many_cpus[] = {UINT32_MAX};
    rota_threads pinned = {.cpus = many_cpus, .cpu_count = 1};

    invalid(rota_pool_new(NULL, &made));
    invalid(rota_pool_new(&(rota_pool_options){.core_threads = 1}, NULL));
    invalid(rota_pool_new(&(rota_pool_options){.core_threads = 2, .max_threads = 1}, &made));
    invalid(rota_pool_new(&(rota_pool_options){.core_threads = UINT32_MAX}, &made));
    invalid(rota_pool_new(&(rota_pool_options){.core_threads = 1, .threads = pinned}, &made));
    invalid(
        rota_pool_new(&(rota_pool_options){.core_threads = 1, .threads = {.name = "%u%u"}}, &made));
    invalid(rota_sched_new(NULL, &made));
    invalid(rota_sched_new(&(rota_sched_options){.keep_alive = INT64_MIN}, &made));
    invalid(rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = UINT32_MAX}, &made));
    invalid(rota_forkjoin_new(&(rota_forkjoin_options){.keep_alive = -1}, &made));
    invalid(rota_executor_new(NULL, NULL, &made));
    invalid(rota_executor_new(&(rota_executor_ops){.execute = NULL}, NULL, &made));
    invalid(rota_fixed_pool(0, &made));
    invalid(rota_array_queue(0, &queue));
    invalid(rota_priority_queue(NULL, NULL, &queue));
    ex_check(rota_array_queue(SIZE_MAX / 2, &queue) == ROTA_ENOMEM);
    ex_check(rota_array_queue(SIZE_MAX, &queue) != ROTA_OK);
    ex_check(made == NULL && queue == NULL);
}

static void no_future(void)
{
    rota_future *future = NULL;
    int fd;

    invalid(rota_promise_new(NULL));
    invalid(rota_future_get(NULL, NULL));
    invalid(rota_future_get_timed(NULL, 0, NULL));
    invalid(rota_future_fd(NULL, &fd));
    invalid(rota_future_own(NULL));
    invalid(rota_future_own_result(NULL, NULL));
    invalid(rota_then(NULL, NULL, then, NULL, &future));
    invalid(rota_both(NULL, NULL, NULL, both, NULL, &future));
    invalid(rota_handle(NULL, NULL, handle, NULL, &future));
    invalid(rota_copy(NULL, &future));
    invalid(rota_timeout(NULL, 0, &future));
    invalid(rota_all_of(NULL, 1, &future));
    invalid(rota_any_of(NULL, SIZE_MAX, &future));
    invalid(rota_all_of(NULL, 0, NULL));
    ex_check(!rota_future_cancel(NULL) && !rota_future_cancel_now(NULL));
    ex_check(!rota_promise_complete(NULL, NULL) && !rota_promise_fail(NULL, 1));
    ex_check(rota_future_state_of(NULL) == ROTA_FUTURE_CANCELED);
    ex_check(rota_future_ref(NULL) == NULL && rota_future_delay(NULL) == ROTA_FOREVER);
    rota_future_unref(NULL);
    rota_thread_interrupt(NULL);
    ex_check(rota_fail(1) == NULL && future == NULL);
}

static void future_rubbish(rota_future *future)
{
    rota_future *made = NULL;
    rota_future *const with_null[] = {future, NULL};

    invalid(rota_then(future, NULL, NULL, NULL, &made));
    invalid(rota_then(future, NULL, then, NULL, NULL));
    invalid(rota_both(future, NULL, NULL, both, NULL, &made));
    invalid(rota_recover(future, NULL, NULL, NULL, &made));
    invalid(rota_all_of(with_null, 2, &made));
    invalid(rota_copy(future, NULL));
    invalid(rota_future_fd(future, NULL));
    ex_check(made == NULL);
}

void rubbish_call(void)
{
    uint8_t which = next_byte() % 8;
    executor *any = executor_any();
    node *node = node_any();

    if (which == 0)
        no_executor();
    else if (which == 1)
        no_options();
    else if (which == 2)
        no_future();
    else if (which == 3 && node != NULL)
        node_do(node, future_rubbish);
    else if (which == 4 && any != NULL)
        submit_rubbish(any->handle);
    else if (which == 5 && any != NULL)
        schedule_rubbish(any->handle);
    else if (which == 6 && any != NULL)
        compose_rubbish(any->handle);
    else if (any != NULL)
        look_rubbish(any->handle);
}
