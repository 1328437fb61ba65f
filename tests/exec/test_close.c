/* SPDX-License-Identifier: MIT */
/*
 * What close, close_within and shutdown_now make of the answers of a kind, with a kind that
 * answers as the test says.
 */
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include "base/alloc.h"
#include "exec/exec_internal.h"

enum { QUEUED = 3, MOST_WAITS = 4 };

struct kind_of_ours {
    rota_executor executor;
    int shutdown_status;
    int stop_status;             /* of shutdown_now */
    int wait_status[MOST_WAITS]; /* of one wait after the other */
    rota_ns wait_lasts;          /* each, on the virtual clock */
    bool ended;

    unsigned shutdowns;
    unsigned stops;
    unsigned waits;
    unsigned frees;
    rota_ns timeouts[MOST_WAITS];
    test_probe probes[QUEUED]; /* handed over by the first shutdown_now */
};

static struct kind_of_ours *of(const rota_executor *executor)
{
    return (struct kind_of_ours *)(uintptr_t)executor;
}

static int fake_shutdown(rota_executor *executor, size_t *dropped)
{
    *dropped = 0;
    of(executor)->shutdowns++;
    return of(executor)->shutdown_status;
}

static int fake_shutdown_now(rota_executor *executor, rota_task_list *drained, size_t *count)
{
    struct kind_of_ours *self = of(executor);
    rota__task_slist chain = {0};

    self->stops++;
    if (self->stop_status != ROTA_OK)
        return self->stop_status;
    for (size_t i = self->stops > 1 ? QUEUED : 0; i < QUEUED; i++)
        rota__task_slist_append(&chain, test_task(test_probe_call(&self->probes[i]), NULL));
    return rota__export_tasks(&chain, drained, count);
}

static int fake_await(rota_executor *executor, rota_ns timeout)
{
    struct kind_of_ours *self = of(executor);

    test_check(self->waits < MOST_WAITS);
    self->timeouts[self->waits] = timeout;
    if (self->wait_lasts > 0)
        test_clock_advance(self->wait_lasts);
    int status = self->wait_status[self->waits++];
    self->ended = status == ROTA_OK;
    return status;
}

static rota_executor_state fake_state_of(const rota_executor *executor)
{
    return of(executor)->ended ? ROTA_TERMINATED : ROTA_STOP;
}

static void fake_free(rota_executor *executor)
{
    of(executor)->frees++;
}

static const rota__executor_ops fake_ops = {
    .shutdown = fake_shutdown,
    .shutdown_now = fake_shutdown_now,
    .await_termination = fake_await,
    .state_of = fake_state_of,
    .free = fake_free,
};

#define ANSWERING(...) \
    ((struct kind_of_ours){.executor = {.ops = &fake_ops}, .wait_status = {__VA_ARGS__}})

static void assert_discarded(const struct kind_of_ours *self, unsigned times)
{
    for (size_t i = 0; i < QUEUED; i++) {
        assert_int_equal(self->probes[i].discards, times);
        assert_int_equal(self->probes[i].runs, 0);
    }
}

/* -- close -------------------------------------------------------------------------------- */

/* It waits without limit, through any number of interrupts, which the caller sees afterwards. */
TEST(close_waits_through_interrupts)
{
    struct kind_of_ours self =
        ANSWERING(ROTA_EINTERRUPTED, ROTA_EINTERRUPTED, ROTA_EINTERRUPTED, ROTA_OK);

    assert_ok(rota_close(&self.executor));
    assert_true(rota_interrupted());
    assert_int_equal(self.waits, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(self.timeouts[i], ROTA_FOREVER);
    assert_int_equal(self.shutdowns, 1);
    assert_int_equal(self.stops, 0);
    assert_int_equal(self.frees, 1);
}

/* INT-05: without an interrupt none is invented. */
TEST(close_invents_no_interrupt)
{
    struct kind_of_ours self = ANSWERING(ROTA_OK);

    assert_ok(rota_close(&self.executor));
    assert_false(rota_interrupted());
    assert_int_equal(self.frees, 1);
}

/* What cannot be waited for is not freed. */
TEST(close_frees_only_what_has_ended)
{
    struct kind_of_ours self = ANSWERING(ROTA_EINTERRUPTED, ROTA_ENOMEM);

    assert_status(rota_close(&self.executor), ROTA_ENOMEM);
    assert_true(rota_interrupted());
    assert_int_equal(self.frees, 0);
    self = ANSWERING(ROTA_OK);
    self.shutdown_status = ROTA_ENOTSUP;
    assert_status(rota_close(&self.executor), ROTA_ENOTSUP);
    assert_int_equal(self.waits, 0);
    assert_int_equal(self.frees, 0);
}

/* -- close_within ------------------------------------------------------------------------- */

/* POOL-60: in time nothing is stopped and nothing dropped. */
TEST(close_within_is_patient)
{
    struct kind_of_ours self = ANSWERING(ROTA_OK);
    size_t dropped = 99;

    assert_ok(rota_close_within(&self.executor, ROTA_SEC(5), &dropped));
    assert_int_equal(dropped, 0);
    assert_int_equal(self.timeouts[0], ROTA_SEC(5));
    assert_int_equal(self.waits, 1);
    assert_int_equal(self.stops, 0);
    assert_int_equal(self.frees, 1);
}

/* POOL-60: then it drops what is queued and waits as long again. */
TEST(close_within_drops_what_is_queued)
{
    struct kind_of_ours self = ANSWERING(ROTA_ETIMEDOUT, ROTA_OK);
    size_t dropped = 99;

    test_clock_install();
    self.wait_lasts = ROTA_SEC(5);
    assert_ok(rota_close_within(&self.executor, ROTA_SEC(5), &dropped));
    assert_int_equal(dropped, QUEUED);
    assert_discarded(&self, 1);
    assert_int_equal(self.timeouts[1], ROTA_SEC(5));
    assert_int_equal(self.stops, 1);
    assert_int_equal(self.frees, 1);
    assert_false(rota_interrupted());
    test_clock_remove();
}

/* POOL-60: it gives up, tells what it dropped, and can be repeated, dropping nothing then. */
TEST(close_within_gives_up)
{
    struct kind_of_ours self =
        ANSWERING(ROTA_ETIMEDOUT, ROTA_ETIMEDOUT, ROTA_ETIMEDOUT, ROTA_ETIMEDOUT);

    for (size_t round = 0; round < 2; round++) {
        size_t dropped = 99;

        assert_status(rota_close_within(&self.executor, ROTA_MS(1), &dropped), ROTA_ETIMEDOUT);
        assert_int_equal(dropped, round == 0 ? QUEUED : 0);
    }
    assert_discarded(&self, 1);
    assert_int_equal(self.stops, 2);
    assert_int_equal(self.waits, 4);
    assert_int_equal(self.frees, 0);
}

/* POOL-60: an interrupt ends the first wait; the second lasts its time whatever comes. */
TEST(close_within_skips_the_first_wait_if_interrupted)
{
    struct kind_of_ours self =
        ANSWERING(ROTA_EINTERRUPTED, ROTA_EINTERRUPTED, ROTA_EINTERRUPTED, ROTA_ETIMEDOUT);
    size_t dropped = 99;

    test_clock_install();
    self.wait_lasts = ROTA_SEC(2);
    assert_status(rota_close_within(&self.executor, ROTA_SEC(5), &dropped), ROTA_ETIMEDOUT);
    assert_true(rota_interrupted());
    assert_int_equal(dropped, QUEUED);
    assert_int_equal(self.timeouts[0], ROTA_SEC(5));
    assert_int_equal(self.timeouts[1], ROTA_SEC(5));
    assert_int_equal(self.timeouts[2], ROTA_SEC(3));
    assert_int_equal(self.timeouts[3], ROTA_SEC(1));
    test_clock_remove();
}

/* A kind that cannot be shut down or stopped says so, and nothing is freed. */
TEST(close_within_tells_what_cannot_be_done)
{
    struct kind_of_ours self = ANSWERING(ROTA_ETIMEDOUT);
    size_t dropped = 99;

    self.stop_status = ROTA_ENOTSUP;
    assert_status(rota_close_within(&self.executor, 0, &dropped), ROTA_ENOTSUP);
    assert_int_equal(dropped, 0);
    assert_int_equal(self.waits, 1);
    self = ANSWERING(ROTA_EDEADLOCK);
    assert_status(rota_close_within(&self.executor, 0, NULL), ROTA_EDEADLOCK);
    assert_int_equal(self.stops, 0);
    assert_int_equal(self.frees, 0);
}

/* Whatever shutdown answers is no time-out and no interrupt of a wait. */
TEST(close_within_does_not_wait_after_a_failed_shutdown)
{
    const int statuses[] = {ROTA_ENOTSUP, ROTA_EINVAL, ROTA_ETIMEDOUT, ROTA_EINTERRUPTED};

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct kind_of_ours self = ANSWERING(ROTA_OK);

        self.shutdown_status = statuses[i];
        assert_status(rota_close_within(&self.executor, ROTA_SEC(5), NULL), statuses[i]);
        assert_int_equal(self.waits + self.stops + self.frees, 0);
        assert_false(rota_interrupted());
    }
}

/* -- shutdown_now ------------------------------------------------------------------------- */

/* OWN-08: with NULL all are discarded, else they are the caller's. */
TEST(shutdown_now_discards_what_nobody_takes)
{
    struct kind_of_ours self = ANSWERING(ROTA_OK);
    rota_task_list list = {NULL, 99};

    assert_ok(rota_shutdown_now(&self.executor, NULL));
    assert_discarded(&self, 1);
    self = ANSWERING(ROTA_OK);
    assert_ok(rota_shutdown_now(&self.executor, &list));
    assert_discarded(&self, 0);
    assert_int_equal(list.count, QUEUED);
    for (size_t i = 0; i < QUEUED; i++) {
        assert_ptr_equal(rota_task_call(list.tasks[i])->arg, &self.probes[i]);
        rota_task_discard(list.tasks[i]);
    }
    rota_task_list_free(&list);
    assert_discarded(&self, 1);
}
