/* SPDX-License-Identifier: MIT */
/*
 * Actions: what happens when a future is done, in which order, and how it is called off.
 */
#include "rota_test_tasks.h"

#include "future/future_state.h"

#include <stdlib.h>

/* An action that writes its number down. */
struct note {
    rota__action action;
    size_t number;
    bool added; /* and neither removed nor run since: the model's view */
};

enum { FEW = 40, MANY = 200000 };

static size_t *ran; /* numbers, in the order in which they ran */
static size_t ran_count;

static void write_down(rota__action *self, rota__action_queue *more)
{
    struct note *note = ROTA__CONTAINER(self, struct note, action);

    ran[ran_count++] = note->number;
    note->added = false;
}

static int prepare(void **state)
{
    ran_count = 0;
    ran = calloc(MANY, sizeof *ran);
    return ran == NULL ? -1 : 0;
}

static int clean_up(void **state)
{
    free(ran);
    return 0;
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

static rota_future *promise_new(void)
{
    rota_future *promise = NULL;

    assert_ok(rota_promise_new(&promise));
    return promise;
}

static struct note *notes_new(size_t count)
{
    struct note *notes = calloc(count, sizeof *notes);

    assert_non_null(notes);
    for (size_t i = 0; i < count; i++)
        notes[i] = (struct note){.action = {.run = write_down}, .number = i};
    return notes;
}

static void add(rota_future *future, struct note *note)
{
    assert_true(rota__future_add(future, &note->action));
    note->added = true;
}

static void take_out(rota_future *future, struct note *note)
{
    assert_true(rota__future_remove(future, &note->action));
    note->added = false;
}

static void assert_ran(const size_t *numbers, size_t count)
{
    assert_int_equal(ran_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ran[i], numbers[i]);
}

/* -- Adding and running ------------------------------------------------------------------- */

/* FUT-16: each runs once, in the order in which they were added, whatever the end is. */
TEST(actions_run_once_and_in_order)
{
    for (int end = 0; end < 3; end++) {
        rota_future *promise = promise_new();
        struct note *notes = notes_new(3);
        ran_count = 0;
        for (int i = 0; i < 3; i++)
            add(promise, &notes[i]);
        assert_int_equal(ran_count, 0);
        assert_true(end == 0   ? rota_promise_complete(promise, NULL)
                    : end == 1 ? rota_promise_fail(promise, 1)
                               : rota_future_cancel(promise));
        assert_ran((size_t[]){0, 1, 2}, 3);
        rota_future_unref(promise);
        assert_int_equal(ran_count, 3);
        free(notes);
    }
}

/* FUT-16: a done future takes none, and lets none be taken out. */
TEST(a_done_future_takes_no_action)
{
    rota_future *promise = promise_new();
    struct note *notes = notes_new(2);

    add(promise, &notes[0]);
    rota_promise_complete(promise, NULL);
    assert_false(rota__future_add(promise, &notes[1].action));
    assert_false(rota__future_remove(promise, &notes[0].action));
    assert_ran((size_t[]){0}, 1);
    rota_future_unref(promise);
    free(notes);
}

struct done_look {
    rota__action action;
    rota_future *future;
    pthread_t thread;
    bool was_done;
    void *result;
};

static void look(rota__action *self, rota__action_queue *more)
{
    struct done_look *look = ROTA__CONTAINER(self, struct done_look, action);

    look->thread = pthread_self();
    look->was_done = rota_future_get_timed(look->future, 0, &look->result) == ROTA_OK;
}

static void note_thread(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

/* FUT-16, GEN-08: it runs on the thread that completes the future, which is done by then. */
TEST(an_action_sees_the_future_done)
{
    pthread_t runner;
    test_probe probe = {.during = note_thread, .arg = &runner};
    struct done_look seen = {.action = {.run = look}};
    rota_task *task = test_task(test_probe_call(&probe), &seen.future);

    assert_true(rota__future_add(seen.future, &seen.action));
    test_thread_join(test_run_on_thread(task));
    assert_true(seen.was_done);
    assert_ptr_equal(seen.result, &probe);
    assert_true(pthread_equal(seen.thread, runner));
    rota_future_unref(seen.future);
}

struct wake_look {
    rota__action action;
    rota__getter *getter;
    bool was_woken;
};

static void look_at_getter(rota__action *self, rota__action_queue *more)
{
    struct wake_look *look = ROTA__CONTAINER(self, struct wake_look, action);

    look->was_woken = rota__load_acquire(&look->getter->waiter.woken) != 0;
}

/* FUT-15: all who wait are woken before any action runs, however late they came. */
TEST(waiters_are_woken_before_actions_run)
{
    rota_future *promise = promise_new();
    rota__getter getter = {.action = {.run = NULL}};
    struct wake_look before = {.action = {.run = look_at_getter}, .getter = &getter};
    struct wake_look after = before;

    assert_ok(rota__waiter_begin_uninterruptible(&getter.waiter));
    assert_true(rota__future_add(promise, &before.action));
    assert_true(rota__future_add(promise, &getter.action));
    assert_true(rota__future_add(promise, &after.action));
    rota_promise_complete(promise, NULL);
    assert_true(before.was_woken);
    assert_true(after.was_woken);
    rota_future_unref(promise);
}

/* -- Taking out --------------------------------------------------------------------------- */

/* FUT-19: the oldest, the newest, one between, the only one. */
TEST(any_action_can_be_taken_out)
{
    struct note *notes = notes_new(4);
    rota_future *promise = promise_new();

    for (int i = 0; i < 4; i++)
        add(promise, &notes[i]);
    take_out(promise, &notes[0]);
    take_out(promise, &notes[3]);
    take_out(promise, &notes[2]);
    take_out(promise, &notes[1]);
    for (int i = 0; i < 4; i++)
        add(promise, &notes[i]);
    take_out(promise, &notes[2]);
    add(promise, &notes[2]);
    take_out(promise, &notes[0]);
    rota_promise_complete(promise, NULL);
    assert_ran((size_t[]){1, 3, 2}, 3);
    rota_future_unref(promise);
    free(notes);
}

/* FUT-19: adding and taking out in any order leaves the right ones, in the right order. */
TEST(any_mixture_leaves_the_right_ones)
{
    test_random random;

    test_random_init(&random);
    for (int round = 0; round < 1000; round++) {
        rota_future *promise = promise_new();
        struct note *notes = notes_new(FEW);
        size_t expected[FEW];
        size_t count = 0;
        size_t added = 0;
        ran_count = 0;
        for (size_t steps = test_random_below(&random, 3 * FEW); steps > 0; steps--) {
            struct note *note = &notes[test_random_below(&random, FEW)];
            if (added < FEW && test_random_below(&random, 2) == 0)
                add(promise, &notes[added++]);
            else if (note->added)
                take_out(promise, note);
        }
        for (size_t i = 0; i < FEW; i++) {
            if (notes[i].added)
                expected[count++] = i;
        }
        rota_future_cancel(promise);
        assert_ran(expected, count);
        rota_future_unref(promise);
        free(notes);
    }
}

static void shuffle(test_random *random, struct note **notes, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        size_t pick = test_random_below(random, left);
        struct note *last = notes[left - 1];
        notes[left - 1] = notes[pick];
        notes[pick] = last;
    }
}

/* OWN-14, COMP-24: taking out costs the same however many there are; else this takes many minutes. */
TEST(many_are_taken_out_in_any_order)
{
    rota_future *promise = promise_new();
    struct note *notes = notes_new(MANY);
    struct note **mixed = calloc(MANY, sizeof(struct note *));
    test_random random;

    assert_non_null(mixed);
    test_random_init(&random);
    for (size_t i = 0; i < MANY; i++) {
        mixed[i] = &notes[i];
        add(promise, &notes[i]);
    }
    shuffle(&random, mixed, MANY);
    for (size_t i = 0; i < MANY; i++) {
        take_out(promise, mixed[i]);
        if (i % 2 == 0)
            add(promise, mixed[i]); /* now the newest */
    }
    rota_promise_complete(promise, NULL);
    assert_int_equal(ran_count, MANY / 2);
    for (size_t i = 0; i < MANY / 2; i++)
        assert_int_equal(ran[i], mixed[2 * i]->number);
    rota_future_unref(promise);
    free(mixed);
    free(notes);
}

/* actions.N3: what an action remembers of where it was before does not count where it comes to be
   next. */
TEST(an_action_can_be_added_again)
{
    rota_future *promise = promise_new();
    struct note *notes = notes_new(3);
    rota__action *low = &notes[0].action, *mid = &notes[1].action, *top = &notes[2].action;

    assert_true(rota__future_add(promise, low));
    assert_true(rota__future_add(promise, mid));
    assert_true(rota__future_add(promise, top));
    assert_true(rota__future_remove(promise, mid));
    assert_true(rota__future_remove(promise, top));
    assert_true(rota__future_add(promise, mid));
    assert_true(rota__future_add(promise, top)); /* mid is below top, as before */
    assert_true(rota__future_remove(promise, low));
    assert_true(rota_promise_complete(promise, NULL));
    assert_int_equal(ran_count, 2);
    free(notes);
    rota_future_unref(promise);
}
