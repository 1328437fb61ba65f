/* SPDX-License-Identifier: MIT */
/*
 * rota_reject_block: who submits to a full pool waits for room.
 */
#include "reject.h"
#include "rota_test_internal.h"

#include <errno.h>

/* A thread that submits the rejected probe, and waits. */
struct submitter {
    struct full *full;
    rota_future *future;
    int status;
    test_thread *thread;
};

static void submit_and_wait(void *arg)
{
    struct submitter *submitter = arg;

    submitter->status = submit(submitter->full, &submitter->future);
}

static void submitter_start(struct submitter *submitter, struct full *full)
{
    *submitter = (struct submitter){.full = full, .future = TEST_UNTOUCHED};
    submitter->thread = test_thread_start(submit_and_wait, submitter);
    test_await_parked(test_thread_handle(submitter->thread));
}

static void submitter_ends(struct submitter *submitter, int status)
{
    test_thread_join(submitter->thread);
    assert_status(submitter->status, status);
    if (status == ROTA_OK)
        rota_future_unref(submitter->future);
    else
        assert_ptr_equal(submitter->future, TEST_UNTOUCHED);
}

/* REJ-11 */
TEST(a_blocked_submitter_goes_on_when_there_is_room)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    submitter_start(&submitter, &full);
    assert_int_equal(full.rejected.runs, 0);
    assert_true(rota_pool_remove(full.pool, full.of_queued)); /* room */
    submitter_ends(&submitter, ROTA_OK);
    assert_int_equal(test_stats(full.pool).queued, 1);
    full_close(&full);
    assert_int_equal(full.rejected.runs, 1);
}

/* REJ-11: the worker makes the room. */
TEST(a_blocked_submitter_goes_on_when_the_worker_does)
{
    struct submitter submitters[4];
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    for (int i = 0; i < 4; i++)
        submitter_start(&submitters[i], &full);
    test_gate_open(&full.gate);
    for (int i = 0; i < 4; i++)
        submitter_ends(&submitters[i], ROTA_OK);
    assert_ok(rota_close(full.pool));
    rota_future_unref(full.of_queued);
    assert_int_equal(full.rejected.runs, 4);
    assert_int_equal(full.queued.runs, 1);
}

/* REJ-11: "or a thread may be added". */
TEST(a_blocked_submitter_goes_on_when_a_thread_may_be_added)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    submitter_start(&submitter, &full);
    assert_ok(rota_pool_set_max_threads(full.pool, 2));
    submitter_ends(&submitter, ROTA_OK);
    test_await_count(&full.rejected.runs, 1); /* while the other thread is busy */
    full_close(&full);
}

static void blocked_until(void (*end)(struct full *full, struct submitter *submitter), int status)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    submitter_start(&submitter, &full);
    end(&full, &submitter);
    submitter_ends(&submitter, status);
    full_close(&full);
    assert_int_equal(full.rejected.runs + full.rejected.discards, 0); /* OWN-05 */
    assert_int_equal(full.queued.runs + full.queued.discards, 1);
}

static void shut_down(struct full *full, struct submitter *submitter)
{
    assert_ok(rota_shutdown(full->pool));
}

static void stop(struct full *full, struct submitter *submitter)
{
    assert_ok(rota_shutdown_now(full->pool, NULL));
}

static void interrupt(struct full *full, struct submitter *submitter)
{
    rota_thread_interrupt(test_thread_handle(submitter->thread));
}

/* REJ-11 */
TEST(a_blocked_submitter_is_rejected_when_the_pool_is_shut_down)
{
    blocked_until(shut_down, ROTA_EREJECTED);
    blocked_until(stop, ROTA_EREJECTED);
}

/* REJ-11, INT-03 */
TEST(an_interrupt_ends_the_wait_of_a_blocked_submitter)
{
    blocked_until(interrupt, ROTA_EINTERRUPTED);
}

/* REJ-11, INT-04, INT-05: ROTA_EINTERRUPTED from rota_submit_call, and from each of the others. */
TEST(a_submitter_that_is_interrupted_before_is_not_blocked)
{
    rota_future *future = TEST_UNTOUCHED;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block});
    rota_thread_interrupt(rota_thread_self());
    assert_status(submit(&full, &future), ROTA_EINTERRUPTED);
    assert_false(rota_is_interrupted());
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_submit(full.pool, test_count, NULL, &future), ROTA_EINTERRUPTED);
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_execute(full.pool, test_count, NULL), ROTA_EINTERRUPTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_ok(rota_shutdown(full.pool));
    assert_status(submit(&full, &future), ROTA_EREJECTED);
    full_close(&full);
    assert_int_equal(full.rejected.runs + full.rejected.discards, 0);
}

/* REJ-11: "on a hand-off queue it waits for a taker". */
TEST(on_a_hand_off_queue_a_blocked_submitter_waits_for_a_taker)
{
    struct submitter submitter;
    struct full full;

    full_init(&full, (rota_pool_options){.on_reject = rota_reject_block, .queue = test_handoff()});
    submitter_start(&submitter, &full);
    test_gate_open(&full.gate);
    submitter_ends(&submitter, ROTA_OK);
    test_await_count(&full.rejected.runs, 1);
    assert_ok(rota_close(full.pool));
    assert_int_equal(full.rejected.runs, 1);
}

/* A system that has no thread but the first. */
struct system {
    atomic_uint asked;
    atomic_bool refuses;
};

static int make_thread(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                       void *arg, void *ctx)
{
    enum { TOO_OFTEN = 1000 };
    struct system *system = ctx;

    test_check(++system->asked < TOO_OFTEN);
    return system->refuses ? EAGAIN : pthread_create(out, attr, start, arg);
}

/* REJ-11, POOL-28, GEN-15: they sleep, and try again now and then. */
TEST_WITH(test_virtual_time, submitters_that_are_refused_a_thread_wait_for_one)
{
    struct system system = {.asked = 0};
    struct submitter submitters[2];
    struct full full;

    full_init(&full, (rota_pool_options){.max_threads = 2,
                                         .on_reject = rota_reject_block,
                                         .threads = {.create = make_thread, .ctx = &system}});
    system.refuses = true;
    submitter_start(&submitters[0], &full);
    submitter_start(&submitters[1], &full);
    test_clock_await_waiting(2);
    assert_int_equal(full.queued.runs, 0);
    system.refuses = false;
    test_clock_advance(ROTA_MINUTES(1));
    submitter_ends(&submitters[0], ROTA_OK);
    submitter_ends(&submitters[1], ROTA_OK);
    test_await_count(&full.rejected.runs, 2); /* while the other thread is busy */
    full_close(&full);
}

/* A task that submits more than its pool has room for. */
struct nest {
    rota_executor *pool;
    atomic_uint runs;
    pthread_t outer;
    atomic_uint on_the_same;
};

static void *count_thread(void *arg)
{
    struct nest *nest = arg;

    atomic_fetch_add(&nest->on_the_same, pthread_equal(pthread_self(), nest->outer) != 0);
    atomic_fetch_add(&nest->runs, 1);
    return NULL;
}

static void *submit_inside(void *arg)
{
    struct nest *nest = arg;

    nest->outer = pthread_self();
    for (unsigned i = 0; i < 3; i++)
        test_check(rota_execute(nest->pool, count_thread, nest) == ROTA_OK);
    test_check(atomic_load(&nest->runs) == 2); /* one is queued */
    return NULL;
}

/* REJ-11: with hooks and counts, as a worker's task. */
TEST(a_worker_runs_the_task_itself_instead_of_waiting_for_itself)
{
    struct heard heard = {.error = 0};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1,
                                                        .queue = test_array(1),
                                                        .on_reject = rota_reject_block,
                                                        .hooks = hear(&heard)});
    struct nest nest = {.pool = pool};

    assert_ok(rota_execute(pool, submit_inside, &nest));
    test_await_completed(pool, 4);
    assert_int_equal(nest.runs, 3);
    assert_int_equal(nest.on_the_same, 3);
    assert_int_equal(heard.before, 4);
    assert_int_equal(heard.after, 4);
    assert_int_equal(test_stats(pool).submitted, 4);
    assert_int_equal(test_stats(pool).rejected, 2);
    assert_ok(rota_close(pool));
}
