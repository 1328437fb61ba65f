/* SPDX-License-Identifier: MIT */
/*
 * Who keeps a future's task hears that it has ended, unless the future was taken back: keeper.K1 to
 * keeper.K4.
 */
#include "rota_test_tasks.h"

#include "future/future_internal.h"

typedef struct listener {
    rota__keeper keeper; /* first */
    unsigned told;
} listener;

static void ended(rota__keeper *keeper, rota_future *future)
{
    (void)future;
    ((listener *)keeper)->told++;
}

static rota_task *make(rota_future **out)
{
    static test_probe probe;

    return test_task(test_probe_call(&probe), out);
}

static void finish(rota_task *task, rota_future *future)
{
    rota_task_discard(task);
    rota_future_unref(future);
}

TEST(a_keeper_is_told_once)
{
    listener mine = {.keeper.ended = ended};
    rota_future *future;
    rota_task *task = make(&future);

    rota__future_keep(future, &mine.keeper);
    assert_true(rota_future_cancel(future));
    assert_int_equal(mine.told, 1);
    assert_false(rota__future_unkeep(future));
    rota__future_tell_keeper(future);
    assert_int_equal(mine.told, 1);
    rota__keeper_close(&mine.keeper);
    finish(task, future);
}

TEST(what_is_taken_back_is_taken_once_and_nobody_is_told)
{
    listener mine = {.keeper.ended = ended};
    rota_future *future;
    rota_task *task = make(&future);

    assert_false(rota__future_unkeep(future));
    rota__future_keep(future, &mine.keeper);
    assert_true(rota__future_unkeep(future));
    assert_false(rota__future_unkeep(future));
    assert_true(rota_future_cancel(future));
    assert_int_equal(mine.told, 0);
    finish(task, future);
}

TEST(a_keeper_takes_back_only_its_own)
{
    listener mine = {.keeper.ended = ended}, other = {.keeper.ended = ended};
    rota_future *future;
    rota_task *task = make(&future);

    rota__future_keep(future, &mine.keeper);
    assert_false(rota__future_unkeep_from(future, &other.keeper));
    assert_true(rota__future_unkeep_from(future, &mine.keeper));
    assert_false(rota__future_unkeep_from(future, &mine.keeper));
    finish(task, future);
}
