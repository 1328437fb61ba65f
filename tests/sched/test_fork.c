/* SPDX-License-Identifier: MIT */
/*
 * In a child of fork(2) a scheduled pool of the parent is as if terminated, and its futures can be
 * cancelled and let go of. The parent notices nothing. (FAULT-44)
 */
#include "pools.h"

struct scene {
    rota_executor *sched;
    rota_future *once, *periodic;
    test_probe probe;
};

/* -- What a child may do ------------------------------------------------------------------ */

static void scheduling_is_rejected(rota_executor *sched)
{
    atomic_uint runs = 0;
    rota_call call = {.fn = test_count, .arg = &runs};
    rota_future *out = TEST_UNTOUCHED;

    test_check(rota_execute(sched, test_count, &runs) == ROTA_EREJECTED);
    test_check(rota_submit(sched, test_count, &runs, &out) == ROTA_EREJECTED);
    test_check(rota_schedule(sched, test_count, &runs, 1, &out) == ROTA_EREJECTED);
    test_check(rota_schedule_call(sched, &call, 1, -1, &out) == ROTA_EREJECTED);
    test_check(rota_schedule_skipping(sched, &call, 1, 1, &out) == ROTA_EREJECTED);
    test_check(rota_schedule_at_fixed_rate(sched, test_count, &runs, 1, 1, &out) == ROTA_EREJECTED);
    test_check(rota_schedule_with_fixed_delay(sched, test_count, &runs, 1, 1, &out)
               == ROTA_EREJECTED);
    test_check(out == TEST_UNTOUCHED);
}

static void settings_are_out_of_reach(rota_executor *sched)
{
    rota_sched_options options;

    test_check(rota_sched_set_drop_delayed_on_shutdown(sched, true) == ROTA_ENOTSUP);
    test_check(rota_sched_set_keep_periodic_after_shutdown(sched, true) == ROTA_ENOTSUP);
    test_check(rota_sched_set_keep_cancelled(sched, true) == ROTA_ENOTSUP);
    test_check(rota_sched_options_get(sched, &options) == ROTA_ENOTSUP);
    test_check(rota_pool_set_core_threads(sched, 1) == ROTA_ENOTSUP);
    test_check(rota_pool_queue(sched) == NULL);
    test_check(rota_pool_purge(sched) == 0);
}

static void its_futures_can_be_ended(const struct scene *scene)
{
    test_check(rota_future_is_periodic(scene->periodic));
    test_check(rota_future_delay(scene->once) > 0);
    test_check(!rota_pool_remove(scene->sched, scene->once));
    test_check(rota_future_cancel(scene->once));
    test_check(rota_future_cancel(scene->periodic));
    test_check(rota_future_get(scene->once, NULL) == ROTA_ECANCELED);
    rota_future_unref(scene->once);
    rota_future_unref(scene->periodic);
}

static void it_has_ended(rota_executor *sched)
{
    test_check(rota_executor_state_of(sched) == ROTA_TERMINATED);
    test_check(rota_shutdown(sched) == ROTA_OK);
    test_check(rota_shutdown_now(sched, NULL) == ROTA_OK);
    test_check(rota_await_termination(sched, ROTA_FOREVER) == ROTA_OK);
}

static void new_ones_work(void)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 2});
    atomic_uint runs = 0;
    rota_future *periodic;

    test_check(rota_schedule_at_fixed_rate(sched, test_count, &runs, 0, 1000, &periodic)
               == ROTA_OK);
    test_await_count(&runs, 20);
    test_check(rota_future_cancel(periodic));
    rota_future_unref(periodic);
    test_check(rota_schedule(sched, test_count, &runs, 1000, NULL) == ROTA_OK);
    test_check(rota_close(sched) == ROTA_OK);
}

static void look(void *arg)
{
    const struct scene *scene = arg;

    scheduling_is_rejected(scene->sched);
    settings_are_out_of_reach(scene->sched);
    it_has_ended(scene->sched);
    its_futures_can_be_ended(scene);
    new_ones_work();
    test_check(rota_close(scene->sched) == ROTA_OK);
}

/* -- Forks -------------------------------------------------------------------------------- */

static rota_future *far_probe(struct scene *scene, rota_ns period)
{
    rota_call call = test_probe_call(&scene->probe);
    rota_future *future = NULL;

    assert_ok(rota_schedule_call(scene->sched, &call, ROTA_HOURS(1), period, &future));
    return future;
}

static void begin(struct scene *scene, bool keep_cancelled)
{
    *scene = (struct scene){.sched = test_sched((rota_sched_options){
                                .core_threads = 2, .keep_cancelled = keep_cancelled})};
    scene->once = far_probe(scene, 0);
    scene->periodic = far_probe(scene, 1);
}

/* All that the child has cancelled is still there. */
static void end(struct scene *scene)
{
    assert_int_equal(test_stats(scene->sched).queued, 2);
    assert_int_equal(scene->probe.discards, 0);
    assert_true(rota_future_cancel(scene->once));
    assert_true(rota_future_cancel(scene->periodic));
    rota_future_unref(scene->once);
    rota_future_unref(scene->periodic);
    assert_ok(rota_close(scene->sched));
    assert_int_equal(scene->probe.discards, 2);
}

/* FAULT-44 */
TEST(a_child_finds_it_ended_and_the_parent_goes_on)
{
    struct scene scene;

    for (int keep = 0; keep < 2; keep++) {
        begin(&scene, keep);
        test_await_waiting(scene.sched, 2);
        assert_int_equal(test_in_child(look, &scene), 0);
        end(&scene);
    }
}

/* Whatever lock is held at that moment. */
TEST(a_child_is_not_held_up_by_what_beats_in_the_parent)
{
    struct scene scene;
    atomic_uint runs = 0;
    rota_future *beats[3];

    begin(&scene, false);
    for (unsigned i = 0; i < 3; i++)
        assert_ok(rota_schedule_with_fixed_delay(scene.sched, test_count, &runs, 0, 1, &beats[i]));
    for (unsigned i = 0; i < 25; i++) {
        test_await_count(&runs, i * 10);
        assert_int_equal(test_in_child(look, &scene), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_true(rota_future_cancel(beats[i]));
        rota_future_unref(beats[i]);
    }
    end(&scene);
}

struct inside {
    struct scene scene;
    int status;
    atomic_uint forks;
};

static void *fork_inside(void *arg)
{
    struct inside *inside = arg;

    if (atomic_fetch_add(&inside->forks, 1) == 0)
        inside->status = test_in_child(look, &inside->scene);
    return NULL;
}

TEST(a_child_of_a_run_finds_it_ended)
{
    struct inside inside = {.status = 77};
    rota_future *periodic;

    begin(&inside.scene, false);
    assert_ok(
        rota_schedule_at_fixed_rate(inside.scene.sched, fork_inside, &inside, 0, 1000, &periodic));
    test_await_count(&inside.forks, 2); /* and the periodic task goes on */
    assert_true(rota_future_cancel(periodic));
    rota_future_unref(periodic);
    assert_int_equal(inside.status, 0);
    end(&inside.scene);
}

BEFORE_TESTS
{
    return TEST_FORKS_ARE_FOLLOWED;
}
