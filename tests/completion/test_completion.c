/* SPDX-License-Identifier: MIT */
/*
 * The completion service: every task comes out once, in the order in which they end.
 */
#include "executors.h"
#include "pools.h"
#include "rota_test_internal.h"

#include <poll.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/epoll.h>
#endif

/* Over an executor whose tasks the test runs by hand. */
struct service {
    rota_executor *executor;
    test_manual *manual;
    rota_completion *done;
    test_probe probe;
    rota_call call;
};

static void service_init(struct service *service)
{
    *service = (struct service){.executor = NULL};
    service->manual = test_executor_manual(&service->executor);
    service->call = test_probe_call(&service->probe);
    assert_ok(rota_completion_new(service->executor, &service->done));
}

static void service_free(struct service *service)
{
    rota_completion_free(service->done);
    assert_ok(rota_close(service->executor));
}

static rota_future *submit(struct service *service)
{
    rota_future *future = NULL;

    assert_ok(rota_completion_submit(service->done, &service->call, &future));
    return future;
}

static void takes(struct service *service, rota_future *expected)
{
    rota_future *taken = NULL;

    assert_ok(rota_completion_poll(service->done, &taken));
    assert_ptr_equal(taken, expected);
    assert_true(rota_future_is_done(taken));
    rota_future_unref(taken);
    rota_future_unref(expected);
}

static void is_empty(struct service *service)
{
    rota_future *taken = TEST_UNTOUCHED;

    assert_status(rota_completion_poll(service->done, &taken), ROTA_EEMPTY);
    assert_status(rota_completion_poll_timed(service->done, 0, &taken), ROTA_ETIMEDOUT);
    assert_ptr_equal(taken, TEST_UNTOUCHED);
}

/* -- Out comes what went in --------------------------------------------------------------- */

/* ECS-02 to ECS-04 */
TEST(tasks_come_out_in_the_order_in_which_they_end)
{
    rota_future *futures[3];
    struct service service;

    service_init(&service);
    for (int i = 0; i < 3; i++)
        futures[i] = submit(&service);
    is_empty(&service);
    test_manual_run(service.manual, 2);
    test_manual_run(service.manual, 0);
    takes(&service, futures[2]);
    takes(&service, futures[0]);
    is_empty(&service);
    test_manual_run(service.manual, 0);
    takes(&service, futures[1]);
    is_empty(&service);
    service_free(&service);
    assert_int_equal(service.probe.runs, 3);
    assert_int_equal(service.probe.frees, 3);
}

/* ECS-02 */
TEST(a_task_comes_out_once_however_it_ended)
{
    rota_future *futures[4];
    struct service service;

    service_init(&service);
    futures[0] = submit(&service);
    service.probe.error = 9;
    for (int i = 1; i < 4; i++)
        futures[i] = submit(&service);
    test_manual_run(service.manual, 1); /* fails */
    assert_true(rota_future_cancel(futures[2]));
    test_manual_discard(service.manual, 2); /* cancelled: out at once, not again */
    assert_true(rota_promise_complete(futures[0], &service.probe));
    test_manual_run(service.manual, 1); /* cancelled already */
    test_manual_run(service.manual, 0); /* completed by hand */
    assert_int_equal(rota_future_error(futures[1]), 9);
    takes(&service, futures[1]);
    takes(&service, futures[2]);
    takes(&service, futures[3]);
    takes(&service, futures[0]);
    is_empty(&service);
    service_free(&service);
}

/* ECS-02, ECS-04: two good ones and four that fail, each with its own code. */
TEST(good_and_bad_ones_come_out_as_they_ended)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    test_probe probes[6] = {{.error = 0}};
    rota_completion *done;
    rota_future *taken;
    unsigned failed = 0;

    assert_ok(rota_completion_new(pool, &done));
    for (int i = 0; i < 6; i++) {
        rota_call call = test_probe_call(&probes[i]);
        probes[i].error = i % 3 == 0 ? 0 : 100 + i;
        assert_ok(rota_completion_submit(done, &call, NULL));
    }
    for (int i = 0; i < 6; i++) {
        assert_ok(rota_completion_take(done, &taken));
        failed |= 1u << (rota_future_error(taken) == 0 ? 0 : rota_future_error(taken) - 100);
        rota_future_unref(taken);
    }
    assert_int_equal(failed, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5);
    assert_status(rota_completion_poll(done, &taken), ROTA_EEMPTY);
    rota_completion_free(done);
    assert_ok(rota_close(pool));
    assert_int_equal(probes[0].frees + probes[3].frees, 2);
}

/* ECS-07, ECS-04: the reference is the taker's. */
TEST(who_takes_a_task_that_nobody_holds_has_it_alone)
{
    rota_future *taken;
    struct service service;
    void *result;

    service_init(&service);
    assert_ok(rota_completion_submit(service.done, &service.call, NULL));
    test_manual_run(service.manual, 0);
    assert_int_equal(service.probe.frees, 0);
    assert_ok(rota_completion_take(service.done, &taken));
    assert_ok(rota_future_get(taken, &result));
    assert_ptr_equal(result, &service.probe);
    rota_future_unref(taken);
    assert_int_equal(service.probe.frees, 1);
    service_free(&service);
}

/* ECS-07 */
TEST(what_nobody_took_goes_with_the_service)
{
    struct service service;

    service_init(&service);
    for (int i = 0; i < 4; i++)
        assert_ok(rota_completion_submit(service.done, &service.call, NULL));
    test_manual_run(service.manual, 0);
    test_manual_run(service.manual, 0);
    rota_completion_free(service.done);
    assert_int_equal(service.probe.frees, 2);
    test_manual_run(service.manual, 0); /* "tasks still under way end unobserved" */
    assert_int_equal(service.probe.frees, 3);
    assert_ok(rota_close(service.executor));
    assert_int_equal(service.probe.runs, 3);
    assert_int_equal(service.probe.discards, 1);
}

/* ECS-05: "puts nothing in the queue, now or later". */
TEST(a_task_that_was_refused_never_comes_out)
{
    rota_future *future = TEST_UNTOUCHED;
    struct service service;

    service_init(&service);
    test_manual_refuse_after(service.manual, 0, ROTA_EREJECTED);
    assert_status(rota_completion_submit(service.done, &service.call, &future), ROTA_EREJECTED);
    test_manual_refuse_after(service.manual, 0, ROTA_OK);
    assert_ok(rota_shutdown(service.executor));
    assert_status(rota_completion_submit(service.done, &service.call, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    is_empty(&service);
    service_free(&service);
    assert_int_equal(service.probe.runs + service.probe.discards, 0);
}

static int cancel_and_refuse(rota_executor *ex, rota_task *task, void *ctx)
{
    test_check(rota_future_cancel(rota_task_future(task)));
    return ROTA_EREJECTED;
}

/* ECS-05: also if it was done before it was refused. */
TEST(a_task_that_was_cancelled_and_refused_never_comes_out)
{
    rota_executor *pool =
        test_pool((rota_pool_options){.core_threads = 1, .on_reject = cancel_and_refuse});
    rota_future *future = TEST_UNTOUCHED;
    test_probe probe = {.error = 0};
    struct service service = {.executor = pool, .call = test_probe_call(&probe)};

    assert_ok(rota_completion_new(pool, &service.done));
    assert_ok(rota_shutdown(pool));
    assert_status(rota_completion_submit(service.done, &service.call, &future), ROTA_EREJECTED);
    assert_status(rota_completion_submit(service.done, &service.call, NULL), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    is_empty(&service);
    service_free(&service);
}

/* REJ-08: a pool that discards has accepted it. */
TEST(a_task_that_the_policy_discards_comes_out_cancelled)
{
    rota_executor *pool =
        test_pool((rota_pool_options){.core_threads = 1, .on_reject = rota_reject_discard});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_completion *done;
    rota_future *taken;

    assert_ok(rota_completion_new(pool, &done));
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_completion_submit(done, &call, NULL));
    assert_ok(rota_completion_poll(done, &taken));
    assert_int_equal(rota_future_state_of(taken), ROTA_FUTURE_CANCELED);
    rota_future_unref(taken);
    rota_completion_free(done);
    assert_ok(rota_close(pool));
}

/* ECS-01, GEN-02, ECS-05 */
TEST(nothing_is_made_or_taken_of_null)
{
    rota_completion *none = NULL;
    rota_future *future = TEST_UNTOUCHED;
    struct service service;
    int fd;

    service_init(&service);
    assert_status(rota_completion_new(NULL, &none), ROTA_EINVAL);
    assert_status(rota_completion_new(service.executor, NULL), ROTA_EINVAL);
    assert_status(rota_completion_submit(NULL, &service.call, &future), ROTA_EINVAL);
    assert_status(rota_completion_submit(service.done, NULL, &future), ROTA_EINVAL);
    assert_status(rota_completion_submit(service.done, &(rota_call){0}, &future), ROTA_EINVAL);
    assert_status(rota_completion_take(NULL, &future), ROTA_EINVAL);
    assert_status(rota_completion_take(service.done, NULL), ROTA_EINVAL);
    assert_status(rota_completion_poll(NULL, &future), ROTA_EINVAL);
    assert_status(rota_completion_poll(service.done, NULL), ROTA_EINVAL);
    assert_status(rota_completion_poll_timed(NULL, 1, &future), ROTA_EINVAL);
    assert_status(rota_completion_fd(NULL, &fd), ROTA_EINVAL);
    assert_status(rota_completion_fd(service.done, NULL), ROTA_EINVAL);
    rota_completion_free(NULL);
    assert_null(none);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    is_empty(&service);
    service_free(&service);
}

/* -- Waiting ------------------------------------------------------------------------------ */

struct taker {
    rota_completion *done;
    rota_ns timeout;
    rota_future *taken;
    int status;
    test_thread *thread;
};

static void take(void *arg)
{
    struct taker *taker = arg;

    taker->status = rota_completion_poll_timed(taker->done, taker->timeout, &taker->taken);
}

static void taker_start(struct taker *taker, struct service *service, rota_ns timeout)
{
    *taker = (struct taker){service->done, timeout, TEST_UNTOUCHED, 1, NULL};
    taker->thread = test_thread_start(take, taker);
    test_await_parked(test_thread_handle(taker->thread));
}

static void taker_ends(struct taker *taker, int status)
{
    test_thread_join(taker->thread);
    assert_status(taker->status, status);
    if (status == ROTA_OK)
        rota_future_unref(taker->taken);
    else
        assert_ptr_equal(taker->taken, TEST_UNTOUCHED);
}

/* ECS-03 */
TEST(each_that_ends_wakes_one_who_waits)
{
    struct taker takers[3];
    struct service service;

    service_init(&service);
    for (int i = 0; i < 3; i++) {
        assert_ok(rota_completion_submit(service.done, &service.call, NULL));
        taker_start(&takers[i], &service, i == 0 ? ROTA_HOURS(1) : ROTA_FOREVER);
    }
    for (int i = 0; i < 3; i++)
        test_manual_run(service.manual, 0);
    for (int i = 0; i < 3; i++)
        taker_ends(&takers[i], ROTA_OK);
    is_empty(&service);
    service_free(&service);
}

/*
 * INT-03, INT-06: ROTA_EINTERRUPTED from rota_completion_poll_timed, and at once from the other, which
 * is the same without end.
 */
TEST(an_interrupt_ends_a_wait_and_takes_nothing)
{
    struct service service;
    struct taker taker;
    rota_future *future;

    service_init(&service);
    future = submit(&service);
    taker_start(&taker, &service, ROTA_FOREVER);
    rota_thread_interrupt(test_thread_handle(taker.thread));
    taker_ends(&taker, ROTA_EINTERRUPTED);
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_completion_take(service.done, &taker.taken), ROTA_EINTERRUPTED);
    assert_false(rota_is_interrupted());
    test_manual_run(service.manual, 0);
    takes(&service, future);
    service_free(&service);
}

/* A task that takes. */
struct collector {
    rota_executor *pool;
    rota_completion *done;
    rota_future *future; /* the task's */
    test_latch begun;
    rota_thread *thread;
    rota_future *taken;
    test_gate gate; /* at which another task of the service waits */
};

static void *collect(void *arg)
{
    struct collector *collector = arg;

    collector->thread = rota_thread_self();
    test_latch_open(&collector->begun);
    test_check(rota_completion_take(collector->done, &collector->taken) == ROTA_OK);
    return NULL;
}

/* When this returns, it waits for the one at the gate, and no thread is left. */
static void collector_start(struct collector *collector)
{
    rota_call call = {.fn = test_wait_at, .arg = &collector->gate};

    test_gate_init(&collector->gate);
    test_latch_init(&collector->begun, 1);
    collector->pool = test_pool((rota_pool_options){.core_threads = 2});
    assert_ok(rota_completion_new(collector->pool, &collector->done));
    assert_ok(rota_completion_submit(collector->done, &call, NULL));
    test_await_count(&collector->gate.begun, 1);
    assert_ok(rota_submit(collector->pool, collect, collector, &collector->future));
    test_latch_wait(&collector->begun);
    test_await_parked(collector->thread);
}

static void collector_ends(struct collector *collector)
{
    assert_ok(rota_future_get(collector->future, NULL));
    rota_future_unref(collector->future);
    rota_future_unref(collector->taken);
}

static void collector_free(struct collector *collector)
{
    rota_completion_free(collector->done);
    assert_ok(rota_close(collector->pool));
}

/* EXEC-18: there is nothing that it could do. */
TEST(a_worker_waits_for_what_another_one_runs)
{
    struct collector collector;

    collector_start(&collector);
    test_gate_open(&collector.gate);
    collector_ends(&collector);
    collector_free(&collector);
}

/* EXEC-18: else nobody would run it, as the only other thread is at the gate. */
TEST(a_worker_that_waits_runs_what_is_submitted_then)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    struct collector collector;

    collector_start(&collector);
    assert_ok(rota_completion_submit(collector.done, &call, NULL));
    collector_ends(&collector);
    assert_int_equal(probe.runs, 1);
    test_gate_open(&collector.gate);
    collector_free(&collector);
}

/* INT-04 */
TEST(an_interrupt_comes_before_a_look)
{
    rota_future *taken = TEST_UNTOUCHED;
    struct service service;

    service_init(&service);
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_completion_poll_timed(service.done, 0, &taken), ROTA_EINTERRUPTED);
    assert_ptr_equal(taken, TEST_UNTOUCHED);
    assert_false(rota_is_interrupted());
    service_free(&service);
}

/* ECS-03, GEN-04, GEN-06 */
TEST(a_timed_poll_is_not_early)
{
    static const rota_ns timeouts[] = {INT64_MIN, -1, 0, 1, ROTA_MS(2)};
    rota_future *taken = TEST_UNTOUCHED;
    struct service service;

    service_init(&service);
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        rota_ns begin = rota_now();
        assert_status(rota_completion_poll_timed(service.done, timeouts[i], &taken),
                      ROTA_ETIMEDOUT);
        assert_true(timeouts[i] <= 0 || rota_now() - begin >= timeouts[i]);
    }
    assert_ptr_equal(taken, TEST_UNTOUCHED);
    service_free(&service);
}

/* -- Solvers ------------------------------------------------------------------------------ */

struct solver {
    unsigned value; /* 0: has none */
    bool fails;
    test_gate *gate; /* sleeps until interrupted, or NULL */
};

static void *solve(void *arg)
{
    struct solver *solver = arg;

    if (solver->fails)
        return rota_fail(1);
    if (solver->gate != NULL)
        test_sleep_long(solver->gate);
    return solver->value != 0 ? &solver->value : NULL;
}

static void submit_solvers(rota_completion *done, struct solver *solvers, rota_future **futures,
                           unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_ok(rota_completion_submit(done, &(rota_call){.fn = solve, .arg = &solvers[i]},
                                         futures != NULL ? &futures[i] : NULL));
}

/* ECS-02, ECS-04 */
TEST(all_results_can_be_collected)
{
    struct solver solvers[] = {{.value = 1}, {0}, {.value = 2}, {0}, {.value = 4}};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    rota_completion *done;
    unsigned sum = 0;

    assert_ok(rota_completion_new(pool, &done));
    submit_solvers(done, solvers, NULL, 5);
    for (int i = 0; i < 5; i++) {
        rota_future *taken;
        void *result;
        assert_ok(rota_completion_take(done, &taken));
        assert_ok(rota_future_get(taken, &result));
        sum += result != NULL ? *(unsigned *)result : 0;
        rota_future_unref(taken);
    }
    assert_int_equal(sum, 7);
    rota_completion_free(done);
    assert_ok(rota_close(pool));
}

/* ECS-02, ECS-03 */
TEST(the_first_result_can_be_taken_and_the_rest_cancelled)
{
    test_gate gate;
    struct solver solvers[] = {{.fails = true}, {0}, {.gate = &gate}, {.value = 8}};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    rota_future *futures[4];
    rota_completion *done;
    void *result = NULL;

    test_gate_init(&gate);
    assert_ok(rota_completion_new(pool, &done));
    submit_solvers(done, solvers, futures, 4);
    while (result == NULL) {
        rota_future *taken;
        assert_ok(rota_completion_take(done, &taken));
        rota_future_get(taken, &result);
        rota_future_unref(taken);
    }
    assert_int_equal(*(unsigned *)result, 8);
    for (int i = 0; i < 4; i++) {
        rota_future_cancel_now(futures[i]);
        assert_true(rota_future_is_done(futures[i]));
        rota_future_unref(futures[i]);
    }
    rota_completion_free(done);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.interrupted, gate.begun);
}

enum { MANY = 3000 };

static void *do_nothing(void *arg)
{
    return arg;
}

static void submit_many(void *arg)
{
    rota_completion *done = arg;

    for (int i = 0; i < MANY; i++)
        test_check(rota_completion_submit(done, &(rota_call){.fn = do_nothing}, NULL) == ROTA_OK);
}

/* ECS-02 */
TEST(as_many_come_out_as_went_in)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 3});
    rota_completion *done;
    rota_future *taken;

    assert_ok(rota_completion_new(pool, &done));
    test_thread *producer = test_thread_start(submit_many, done);
    for (int i = 0; i < MANY; i++) {
        assert_ok(rota_completion_take(done, &taken));
        assert_true(rota_future_is_done(taken));
        rota_future_unref(taken);
    }
    test_thread_join(producer);
    assert_status(rota_completion_poll(done, &taken), ROTA_EEMPTY);
    rota_completion_free(done);
    assert_ok(rota_close(pool));
}

/* -- The descriptor ----------------------------------------------------------------------- */

static bool is_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    return poll(&one, 1, 0) == 1;
}

static void run_submitted(void *manual)
{
    test_manual_run(manual, 0);
}

/* FAULT-44: a child of fork(2) that runs its copy of the tasks does not signal the parent's descriptor. */
TEST(a_child_does_not_make_the_descriptor_of_its_parent_readable)
{
    rota_future *future;
    struct service service;
    int fd;

    service_init(&service);
    future = submit(&service);
    assert_ok(rota_completion_fd(service.done, &fd));
    assert_int_equal(test_in_child(run_submitted, service.manual), 0);
    assert_false(is_readable(fd));
    test_manual_run(service.manual, 0);
    assert_true(is_readable(fd));
    takes(&service, future);
    service_free(&service);
}

TEST(the_descriptor_is_readable_while_there_is_one_to_take)
{
    rota_future *futures[2];
    struct service service;
    int fd, same;

    service_init(&service);
    futures[0] = submit(&service);
    futures[1] = submit(&service);
    assert_ok(rota_completion_fd(service.done, &fd));
    assert_ok(rota_completion_fd(service.done, &same));
    assert_int_equal(fd, same);
    assert_false(is_readable(fd));
    test_manual_run(service.manual, 0);
    assert_true(is_readable(fd));
    assert_true(is_readable(fd));
    test_manual_run(service.manual, 0);
    takes(&service, futures[0]);
    assert_true(is_readable(fd));
    takes(&service, futures[1]);
    assert_false(is_readable(fd));
    service_free(&service);
}

TEST(a_descriptor_that_is_asked_for_late_is_readable_at_once)
{
    struct service service;
    rota_future *future;
    int fd;

    service_init(&service);
    future = submit(&service);
    test_manual_run(service.manual, 0);
    assert_ok(rota_completion_fd(service.done, &fd));
    assert_true(is_readable(fd));
    takes(&service, future);
    assert_false(is_readable(fd));
    service_free(&service);
}

#ifdef __linux__
static bool has_edge(int epoll)
{
    struct epoll_event event;

    return epoll_wait(epoll, &event, 1, 0) == 1;
}

/* Takes all, as the header says; then the next that ends is a new edge. */
TEST(an_edge_comes_each_time_it_turns_readable)
{
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLET};
    int epoll = epoll_create1(EPOLL_CLOEXEC), fd;
    struct service service;

    service_init(&service);
    assert_ok(rota_completion_fd(service.done, &fd));
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted), 0);
    assert_false(has_edge(epoll));
    for (int i = 0; i < 5; i++) {
        rota_future *futures[2] = {submit(&service), submit(&service)};
        test_manual_run(service.manual, 0);
        assert_true(has_edge(epoll));
        test_manual_run(service.manual, 0);
        takes(&service, futures[0]);
        takes(&service, futures[1]);
        is_empty(&service);
    }
    close(epoll);
    service_free(&service);
}
#endif
