/* SPDX-License-Identifier: MIT */
/*
 * Actions that are added to one future, taken out and run at the same time.
 */
#include "rota_test_race.h"
#include "rota_test_tasks.h"

#include "future/future_internal.h"

static rota_future *promise;

enum { NOTES = 8, NOTING = 3 };

static struct note {
    rota__action action;
    bool listed; /* not an atomic, nor is the next: GEN-08 */
    unsigned runs;
} notes[NOTING][NOTES];

static void count_run(rota__action *self, rota__action_queue *more)
{
    ROTA__CONTAINER(self, struct note, action)->runs++;
}

static void add(struct note *note)
{
    note->listed = rota__future_add(promise, &note->action);
}

static void take_out(struct note *note)
{
    if (note->listed)
        note->listed = !rota__future_remove(promise, &note->action);
}

static void make_noted_promise(void *arg)
{
    test_check(rota_promise_new(&promise) == ROTA_OK);
    for (int i = 0; i < NOTING * NOTES; i++) {
        struct note *note = &notes[i % NOTING][i / NOTING];
        *note = (struct note){.action = {.run = count_run}};
        if (i < NOTING * NOTES / 2)
            add(note);
    }
}

/* The first half is there; the second comes; every third goes. */
static void note_as(int side)
{
    for (int i = 0; i < NOTES / 2; i++) {
        add(&notes[side][NOTES / 2 + i]);
        take_out(&notes[side][i * 3 % NOTES]);
    }
}

static void note_first(void *arg)
{
    note_as(0);
}

static void note_second(void *arg)
{
    note_as(1);
}

static void note_third(void *arg)
{
    note_as(2);
}

static void complete(void *arg)
{
    test_check(rota_promise_complete(promise, NULL));
}

static void check_notes(void *arg)
{
    if (!rota_future_is_done(promise))
        complete(NULL);
    for (int i = 0; i < NOTING * NOTES; i++)
        test_check(notes[i % NOTING][i / NOTING].runs == notes[i % NOTING][i / NOTING].listed);
    rota_future_unref(promise);
}

/* FUT-16, FUT-19: an action runs once, or was taken out and never runs. */
TEST(actions_come_and_go_at_once)
{
    const test_race race = {make_noted_promise, {note_first, note_second, note_third}, check_notes};

    test_race_run(&race, NULL);
}

/* FUT-16, FUT-19: also while the future is completed. */
TEST(actions_against_completion)
{
    const test_race race = {make_noted_promise, {note_first, complete, note_second}, check_notes};

    test_race_run(&race, NULL);
}
