/* SPDX-License-Identifier: MIT */
/*
 * The timer of the process ends, as it does at exit, while a thread that nobody waits for uses it.
 */
#include "rota_test_compose.h"
#include "rota_test_race.h"

#include "compose/compose_internal.h"

struct last_use {
    rota_future *source;
    rota_future *follows; /* or NULL */
};

static void begin(void *arg)
{
    struct last_use *use = arg;

    *use = (struct last_use){.source = test_promise()};
}

/* It is set, or the timer takes no more. */
static void set_a_timer(void *arg)
{
    struct last_use *use = arg;
    int status = rota_timeout(use->source, ROTA_HOURS(1), &use->follows);

    test_check(status == ROTA_OK || status == ROTA_EREJECTED);
}

static void end_the_timer(void *arg)
{
    rota__timer_end(ROTA_FOREVER);
}

static void let_go(void *arg)
{
    struct last_use *use = arg;

    rota_future_unref(use->follows);
    rota_future_unref(use->source);
    rota__timer_end(ROTA_FOREVER);
}

/* Fault 47: "no destructor races". */
static void a_timer_that_is_in_use_is_not_freed(void **state)
{
    static const test_race race = {
        .before = begin, .sides = {set_a_timer, end_the_timer}, .after = let_go};
    struct last_use use;

    test_race_run(&race, &use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_timer(a_timer_that_is_in_use_is_not_freed),
    };

    test_memory_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
