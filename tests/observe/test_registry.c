/* SPDX-License-Identifier: MIT */
/*
 * The executors that there are, and their names: what a name may be; visits, in which an executor
 * cannot go; children of fork(2).
 */
#define _GNU_SOURCE
#include "executors.h"
#include "forkjoin.h"
#include "observing.h"

#include <sched.h>
#include <stdlib.h>

/* -- Names ----------------------------------------------------------------------------------- */

static void assert_name(const rota_executor *ex, const char *expected)
{
    char name[ROTA_NAME_SIZE];

    assert_int_equal(rota_executor_name(ex, name, sizeof name), strlen(expected));
    assert_string_equal(name, expected);
}

/* What each kind is called until it is told otherwise; no two the same. */
TEST(an_executor_has_a_name_at_first)
{
    rota_executor *executors[5];
    char names[5][ROTA_NAME_SIZE];

    executors[0] = observing_pool();
    executors[1] = observing_pool();
    executors[2] = test_sched((rota_sched_options){.core_threads = 1});
    executors[3] = test_forkjoin_of(1);
    assert_ok(test_executor_direct(&executors[4]));
    for (unsigned i = 0; i < 5; i++) {
        assert_true(rota_executor_name(executors[i], names[i], sizeof names[i]) > 0);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
    }
    assert_memory_equal(names[0], "pool-", 5);
    for (unsigned i = 0; i < 5; i++)
        assert_ok(rota_close(executors[i]));
}

TEST(a_name_is_copied)
{
    rota_executor *pool = observing_pool();
    char name[] = "resize";

    assert_ok(rota_executor_set_name(pool, name));
    memset(name, 'x', sizeof name - 1);
    assert_name(pool, "resize");
    assert_ok(rota_close(pool));
}

TEST(two_may_have_the_same_name)
{
    rota_executor *first = observing_pool(), *second = observing_pool();

    assert_ok(rota_executor_set_name(first, "twins"));
    assert_ok(rota_executor_set_name(second, "twins"));
    assert_name(first, "twins");
    assert_name(second, "twins");
    assert_ok(rota_close(first));
    assert_ok(rota_close(second));
}

TEST(a_name_is_given_as_snprintf_does)
{
    rota_executor *pool = observing_pool();
    char name[4] = "???";

    assert_ok(rota_executor_set_name(pool, "resize"));
    assert_int_equal(rota_executor_name(pool, NULL, 0), 6);
    assert_int_equal(rota_executor_name(pool, name, 1), 6);
    assert_string_equal(name, "");
    assert_int_equal(rota_executor_name(pool, name, sizeof name), 6);
    assert_string_equal(name, "res");
    assert_ok(rota_close(pool));
}

static const char *const good[] = {
    "a",
    " ",
    "0123456789012345678901234567890", /* 31 bytes */
    "\"\\{}",
    "gr\u00f6\u00dfer",
    "\xc2\xa0",         /* the first of two bytes that controls nothing */
    "\xdf\xbf",         /* the last of two */
    "\xe0\xa0\x80",     /* the first of three */
    "\xed\x9f\xbf",     /* before the surrogates */
    "\xee\x80\x80",     /* and after */
    "\xf0\x90\x80\x80", /* the first of four */
    "\xf4\x8f\xbf\xbf", /* the last there is */
};

static const char *const bad[] = {
    "",
    "01234567890123456789012345678901", /* 32 bytes */
    "a\nb",
    "\t",
    "\x01",
    "\x1f",
    "\x7f",
    "\xc2\x80", /* controls, too */
    "\xc2\x9f",
    "\x80",             /* begins with a later byte */
    "a\xbf",            /* likewise */
    "\xc0\x80",         /* longer than it need be */
    "\xc1\xbf",         /* likewise */
    "\xe0\x9f\xbf",     /* likewise */
    "\xf0\x8f\xbf\xbf", /* likewise */
    "\xed\xa0\x80",     /* a surrogate */
    "\xed\xbf\xbf",     /* likewise */
    "\xf4\x90\x80\x80", /* after the last */
    "\xf5\x80\x80\x80", /* likewise */
    "\xff",
    "\xc3",         /* ends early */
    "\xe2\x82",     /* likewise */
    "\xf0\x9f\x98", /* likewise */
    "\xc3(",        /* goes on with another */
    "\xe2(\x82",
    "\xf0\x9f(\x98",
};

TEST(a_name_is_short_text_without_controls)
{
    rota_executor *pool = observing_pool();

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ok(rota_executor_set_name(pool, good[i]));
        assert_name(pool, good[i]);
    }
    assert_ok(rota_executor_set_name(pool, "stays"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (rota_executor_set_name(pool, bad[i]) != ROTA_EINVAL)
            fail_msg("bad name %zu is taken", i);
        assert_name(pool, "stays");
    }
    assert_ok(rota_close(pool));
}

TEST(what_is_missing_is_refused)
{
    rota_executor *pool = observing_pool();
    char name[ROTA_NAME_SIZE];

    assert_status(rota_executor_set_name(NULL, "a"), ROTA_EINVAL);
    assert_status(rota_executor_set_name(pool, NULL), ROTA_EINVAL);
    assert_status(rota_executor_name(NULL, name, sizeof name), ROTA_EINVAL);
    assert_status(rota_executor_name(pool, NULL, 1), ROTA_EINVAL);
    assert_status(rota_executors_visit(NULL, NULL), ROTA_EINVAL);
    assert_status(rota_executors_print(NULL), ROTA_EINVAL);
    assert_ok(rota_close(pool));
}

/* -- Visits ---------------------------------------------------------------------------------- */

typedef struct visited {
    rota_executor *executors[8];
    unsigned count, most;
} visited;

static bool note(rota_executor *ex, void *arg)
{
    visited *all = arg;

    test_check(all->count < 8);
    all->executors[all->count++] = ex;
    return all->count < all->most;
}

TEST(all_are_visited_in_the_order_they_were_made)
{
    rota_executor *first = observing_pool();
    rota_executor *second = test_forkjoin_of(1);
    rota_executor *third = test_sched((rota_sched_options){.core_threads = 1});
    rota_executor *fourth;
    visited all = {.most = 8};

    assert_ok(test_executor_direct(&fourth));
    assert_ok(rota_close(second));
    assert_ok(rota_executors_visit(note, &all));
    assert_int_equal(all.count, 3);
    assert_ptr_equal(all.executors[0], first);
    assert_ptr_equal(all.executors[1], third);
    assert_ptr_equal(all.executors[2], fourth);

    all = (visited){.most = 2};
    assert_ok(rota_executors_visit(note, &all));
    assert_int_equal(all.count, 2);

    assert_ok(rota_close(first));
    assert_ok(rota_close(third));
    assert_ok(rota_close(fourth));
    all = (visited){.most = 8};
    assert_ok(rota_executors_visit(note, &all));
    assert_int_equal(all.count, 0);
}

/* One that has ended is there until it is freed. */
static bool close_it(rota_executor *ex, void *arg)
{
    unsigned *visits = arg;

    ++*visits;
    assert_status(rota_close(ex), ROTA_EDEADLOCK);
    assert_status(rota_close_within(ex, ROTA_SEC(10), NULL), ROTA_EDEADLOCK);
    assert_ok(rota_shutdown(ex));
    test_await_state(ex, ROTA_TERMINATED);
    assert_status(rota_executor_free(ex), ROTA_EBUSY);
    return true;
}

TEST(who_visits_cannot_close_it_or_free_it)
{
    rota_executor *pool = observing_pool();
    unsigned visits = 0;

    assert_ok(rota_executors_visit(close_it, &visits));
    assert_int_equal(visits, 1);
    assert_ok(rota_executors_visit(close_it, &visits));
    assert_int_equal(visits, 2);
    assert_ok(rota_executor_free(pool));
}

typedef struct closer {
    rota_executor *pool;
    test_thread *thread;
    atomic_bool has_closed;
    unsigned visits;
} closer;

static void close_pool(void *arg)
{
    closer *mine = arg;

    test_check(rota_close(mine->pool) == ROTA_OK);
    atomic_store(&mine->has_closed, true);
}

/* It ends while we look, and is still there: its name can be read, and the list leads on. */
static bool look_while_it_is_closed(rota_executor *ex, void *arg)
{
    closer *mine = arg;

    if (ex != mine->pool)
        return true;
    mine->visits++;
    mine->thread = test_thread_start(close_pool, mine);
    test_await_state(ex, ROTA_TERMINATED);
    for (unsigned i = 0; i < 100; i++) {
        sched_yield();
        assert_false(atomic_load(&mine->has_closed));
        assert_name(ex, "closed");
    }
    return true;
}

TEST(to_close_it_takes_until_the_visit_has_ended)
{
    closer mine = {.pool = observing_pool()};
    rota_executor *after = observing_pool();

    assert_ok(rota_executor_set_name(mine.pool, "closed"));
    assert_ok(rota_executors_visit(look_while_it_is_closed, &mine));
    test_thread_join(mine.thread);
    assert_true(atomic_load(&mine.has_closed));
    assert_int_equal(mine.visits, 1);
    assert_ok(rota_close(after));
}

static bool visit_again(rota_executor *ex, void *arg)
{
    assert_ok(rota_executors_visit(note, arg));
    return true;
}

TEST(a_visit_may_be_inside_of_another)
{
    rota_executor *first = observing_pool(), *second = observing_pool();
    visited all = {.most = 8};

    assert_ok(rota_executors_visit(visit_again, &all));
    assert_int_equal(all.count, 4);
    assert_ok(rota_close(first));
    assert_ok(rota_close(second));
}

/* One that is made meanwhile is visited, too: it was made after all others. */
static bool make_another(rota_executor *ex, void *arg)
{
    visited *all = arg;

    if (all->count == 0)
        all->executors[7] = observing_pool();
    all->executors[all->count++] = ex;
    return true;
}

TEST(one_that_is_made_meanwhile_is_the_last)
{
    rota_executor *pool = observing_pool();
    visited all = {.count = 0};

    assert_ok(rota_executors_visit(make_another, &all));
    assert_int_equal(all.count, 2);
    assert_ptr_equal(all.executors[1], all.executors[7]);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(all.executors[7]));
}

/* -- Printing -------------------------------------------------------------------------------- */

TEST(each_is_printed_on_a_line)
{
    rota_executor *first = observing_pool();
    rota_executor *second = test_sched((rota_sched_options){.core_threads = 1});
    char line[200], expected[500];
    char *text;

    assert_ok(rota_executor_set_name(first, "first"));
    assert_ok(rota_executor_set_name(second, "second"));
    text = observing_printed(rota_executors_print);
    rota_executor_describe(first, line, sizeof line);
    int length = snprintf(expected, sizeof expected, "first: %s\n", line);
    rota_executor_describe(second, line, sizeof line);
    snprintf(expected + length, sizeof expected - (size_t)length, "second: %s\n", line);
    assert_string_equal(text, expected);
    free(text);
    assert_ok(rota_close(first));
    assert_ok(rota_close(second));
}

/* At the end, when what was printed is written; or at once, where nothing is kept back. */
TEST(a_file_that_takes_nothing_is_told)
{
    static const int kinds[] = {_IOFBF, _IONBF};
    rota_executor *pool = observing_pool();

    for (int i = 0; i < 2; i++) {
        FILE *full = fopen("/dev/full", "w");
        if (full != NULL) {
            assert_int_equal(setvbuf(full, NULL, kinds[i], BUFSIZ), 0);
            assert_status(rota_executors_print(full), ROTA_EIO);
            fclose(full);
        }
    }
    assert_ok(rota_close(pool));
}

/* -- Children -------------------------------------------------------------------------------- */

static void in_the_child(void *arg)
{
    visited all = {.most = 8};
    rota_executor *own;

    test_check(rota_executors_visit(note, &all) == ROTA_OK);
    test_check(all.count == 0);
    own = observing_pool();
    test_check(rota_executors_visit(note, &all) == ROTA_OK);
    test_check(all.count == 1 && all.executors[0] == own);
    test_check(rota_close(own) == ROTA_OK);
    test_check(rota_close(*(rota_executor **)arg) == ROTA_OK); /* the parent's: a husk */
    all.count = 0;
    test_check(rota_executors_visit(note, &all) == ROTA_OK);
    test_check(all.count == 0);
}

TEST(a_child_sees_its_own_only)
{
    rota_executor *pool;
    test_gate gate;

    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    pool = observing_pool();
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_int_equal(test_in_child(in_the_child, &pool), 0);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* In the midst of a visit: the child's thread is in none, and the parent's goes on with it. */
static bool fork_in_there(rota_executor *ex, void *arg)
{
    unsigned *visits = arg;

    assert_int_equal(test_in_child(in_the_child, &ex), 0);
    ++*visits;
    assert_status(rota_close(ex), ROTA_EDEADLOCK);
    return true;
}

TEST(a_child_is_in_no_visit)
{
    rota_executor *pool;
    unsigned visits = 0;

    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    pool = observing_pool();
    assert_ok(rota_executors_visit(fork_in_there, &visits));
    assert_int_equal(visits, 1);
    assert_ok(rota_close(pool));
}
