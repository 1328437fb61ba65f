/* SPDX-License-Identifier: MIT */
/*
 * The lobby: who waits goes when it is opened, also if its time is up just then.
 */
#include "pools.h"
#include "rota_test_internal.h"

#include "base/lobby.h"
#include "base/time.h"

struct visit {
    rota__mutex lock;
    rota__lobby lobby;
    rota_ns deadline;
    int status;
};

static void wait_inside(void *arg)
{
    struct visit *visit = arg;

    rota__mutex_lock(&visit->lock);
    visit->status = rota__lobby_wait(&visit->lobby, &visit->lock, visit->deadline);
}

static test_thread *begin(struct visit *visit, rota_ns deadline)
{
    *visit = (struct visit){.deadline = deadline, .status = ROTA_EBUSY};
    rota__lobby_init(&visit->lobby);
    return test_thread_start(wait_inside, visit);
}

static void open_it(struct visit *visit)
{
    rota__mutex_lock(&visit->lock);
    rota__lobby_open(&visit->lobby);
    rota__mutex_unlock(&visit->lock);
}

TEST(who_waits_goes_when_it_is_opened)
{
    struct visit visit;
    test_thread *guest = begin(&visit, ROTA_FOREVER);

    test_await_parked(test_thread_handle(guest));
    open_it(&visit);
    test_thread_join(guest);
    assert_ok(visit.status);
}

/* Nothing of it is left behind: this would touch a stack that is gone. */
TEST_WITH(test_virtual_time, who_waits_goes_when_its_time_is_up)
{
    struct visit visit;
    test_thread *guest = begin(&visit, test_clock_now() + ROTA_SEC(1));

    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(1));
    test_thread_join(guest);
    assert_status(visit.status, ROTA_ETIMEDOUT);
    open_it(&visit);
}

static bool is_contended(void *lock)
{
    return rota__load_acquire(&((rota__mutex *)lock)->word) == ROTA__CONTENDED;
}

/* Its time is up while somebody has the lock, and opens the lobby before it can step out. */
TEST_WITH(test_virtual_time, who_is_let_go_when_its_time_is_up_was_let_go)
{
    struct visit visit;
    test_thread *guest = begin(&visit, test_clock_now() + ROTA_SEC(1));

    test_clock_await_waiting(1);
    rota__mutex_lock(&visit.lock);
    test_clock_advance(ROTA_SEC(1));
    test_until(is_contended, &visit.lock);
    rota__lobby_open(&visit.lobby);
    rota__mutex_unlock(&visit.lock);
    test_thread_join(guest);
    assert_ok(visit.status);
}
