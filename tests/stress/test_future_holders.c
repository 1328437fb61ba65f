/* SPDX-License-Identifier: MIT */
/*
 * Those who hold, let go of and listen to one future at the same time: nothing is freed twice, too
 * early or never.
 */
#include "rota_test_race.h"
#include "rota_test_tasks.h"

#include "future/future_internal.h"

#include <poll.h>

static struct {
    rota_future *future;
    rota_future *borrowed;
    rota_task *task;
    test_probe probe;
    int fds[2];
} shared;

static void make_task(void *arg)
{
    shared.probe = (test_probe){.error = 0};
    shared.task = test_task(test_probe_call(&shared.probe), &shared.future);
}

static void run_task(void *arg)
{
    rota_task_run(shared.task);
}

static void unref(void *arg)
{
    rota_future_unref(shared.future);
}

static void free_probe(void *result)
{
    test_probe *probe = result;

    atomic_fetch_add(&probe->frees, 1);
}

static void make_promise(void *arg)
{
    shared.probe = (test_probe){.error = 0};
    test_check(rota_promise_new(&shared.future) == ROTA_OK);
    test_check(rota_future_own_result(shared.future, free_probe) == ROTA_OK);
}

static void complete(void *arg)
{
    test_check(rota_promise_complete(shared.future, &shared.probe));
}

static void check_freed_once(void *arg)
{
    test_check(shared.probe.frees == 1);
}

/* -- Letting go --------------------------------------------------------------------------- */

/* OWN-02: the holder goes while the task runs. */
TEST(unref_against_run)
{
    const test_race race = {make_task, {run_task, unref}, check_freed_once};

    test_race_run(&race, NULL);
}

static void borrow(void *arg)
{
    shared.borrowed = rota_future_ref(shared.future);
}

static void make_lending_task(void *arg)
{
    shared.probe = (test_probe){.during = borrow};
    shared.task = test_task(test_probe_call(&shared.probe), &shared.future);
}

static void check_borrowed(void *arg)
{
    test_check(shared.probe.frees == 0);
    test_check(rota_future_get_timed(shared.borrowed, 0, NULL) == ROTA_OK);
    rota_future_unref(shared.borrowed);
    check_freed_once(NULL);
}

/* OWN-01: what a task lends is held anew while its last holder goes. */
TEST(a_lent_future_is_held_while_another_lets_go)
{
    const test_race race = {make_lending_task, {run_task, unref}, check_borrowed};

    test_race_run(&race, NULL);
}

static void make_held_promise(void *arg)
{
    make_promise(NULL);
    for (int i = 1; i < 3; i++)
        rota_future_ref(shared.future);
}

static void use_and_let_go(void *arg)
{
    rota_future *other;
    void *result = NULL;

    test_check(rota_future_get(shared.future, &result) == ROTA_OK && result == &shared.probe);
    rota_future_unref(shared.future);
    /* Writes to the memory of the other one, if that is free by now. */
    test_check(rota_promise_new(&other) == ROTA_OK);
    rota_future_unref(other);
}

static void complete_and_let_go(void *arg)
{
    complete(NULL);
    use_and_let_go(NULL);
}

/* OWN-06, GEN-08: of several who let go, the last frees it, after all others have used it. */
TEST(several_let_go_at_once)
{
    const test_race race = {
        make_held_promise, {complete_and_let_go, use_and_let_go, use_and_let_go}, check_freed_once};

    test_race_run(&race, NULL);
}

static void pin_and_let_go(void *arg)
{
    rota__future_pin(shared.future);
    complete(NULL);
    rota_future_unref(shared.future);
    for (int i = 0; i < 100; i++) {
        test_check(atomic_load(&shared.probe.frees) == 0);
        test_check(rota_future_state_of(shared.future) == ROTA_FUTURE_SUCCEEDED);
    }
    rota__future_unpin(shared.future);
}

static void make_promise_held_twice(void *arg)
{
    make_promise(NULL);
    rota_future_ref(shared.future);
}

/* OWN-10: what the library still works on stays, though all holders go. */
TEST(a_pin_outlasts_the_holders)
{
    const test_race race = {make_promise_held_twice, {pin_and_let_go, unref}, check_freed_once};

    test_race_run(&race, NULL);
}

/* -- Whose the result is ------------------------------------------------------------------ */

static void make_unowned_promise(void *arg)
{
    shared.probe = (test_probe){.error = 0};
    test_check(rota_promise_new(&shared.future) == ROTA_OK);
}

static void free_as_well(void *result)
{
    free_probe(result);
}

static void own(void *arg)
{
    test_check(rota_future_own_result(shared.future, free_probe) == ROTA_OK);
}

static void own_as_well(void *arg)
{
    test_check(rota_future_own_result(shared.future, free_as_well) == ROTA_OK);
}

static void unref_and_check_freed_once(void *arg)
{
    rota_future_unref(shared.future);
    check_freed_once(NULL);
}

/* OWN-06: of several owners there is one. */
TEST(several_own_the_result)
{
    const test_race race = {
        make_unowned_promise, {own, complete, own_as_well}, unref_and_check_freed_once};

    test_race_run(&race, NULL);
}

/* -- The descriptor ----------------------------------------------------------------------- */

static void ask_first(void *arg)
{
    test_check(rota_future_fd(shared.future, &shared.fds[0]) == ROTA_OK);
}

static void ask_second(void *arg)
{
    test_check(rota_future_fd(shared.future, &shared.fds[1]) == ROTA_OK);
}

static void check_descriptors(void *arg)
{
    struct pollfd asked = {.fd = shared.fds[0], .events = POLLIN};

    test_check(shared.fds[0] == shared.fds[1]);
    test_check(poll(&asked, 1, 0) == 1 && asked.revents == POLLIN);
    unref_and_check_freed_once(NULL);
}

/* FUT-15, GEN-11: all who ask get one descriptor, and it is readable once the future is done. */
TEST(descriptors_against_completion)
{
    const test_race race = {make_promise, {ask_first, complete, ask_second}, check_descriptors};

    test_race_run(&race, NULL);
}
