/* SPDX-License-Identifier: MIT */
/*
 * Fork/join pools are made, and looked at: FJ-01, FJ-02, FJ-26.
 */
#define _GNU_SOURCE
#include "forkjoin.h"
#include "rota_test_internal.h"

#include <limits.h>
#include <string.h>

/* -- Making ------------------------------------------------------------------------------- */

/* FJ-02 */
TEST(a_new_pool_has_no_threads_and_nothing_to_do)
{
    rota_executor *pool = test_forkjoin_of(1);
    rota_forkjoin_stats stats = test_fj_stats(pool);

    assert_int_equal(stats.parallelism, 1);
    assert_int_equal(stats.threads, 0);
    assert_int_equal(stats.active, 0);
    assert_int_equal(stats.running, 0);
    assert_int_equal(stats.steals, 0);
    assert_int_equal(stats.queued, 0);
    assert_int_equal(stats.submissions, 0);
    assert_int_equal(rota_executor_state_of(pool), ROTA_RUNNING);
    assert_ok(rota_await_quiescence(pool, 0));
    assert_ok(rota_close(pool));
}

/* FJ-01, FACT-05 */
TEST(parallelism_is_as_wanted_or_that_of_the_machine)
{
    const unsigned wanted[] = {1, 2, 3, 32767, 0};

    for (int i = 0; i < 5; i++) {
        unsigned expected = wanted[i] != 0 ? wanted[i] : rota_cpu_count();
        rota_executor *pool = test_forkjoin_of(wanted[i]);
        assert_int_equal(test_fj_stats(pool).parallelism, expected);
        assert_ok(rota_close(pool));
        assert_ok(rota_work_stealing_pool(wanted[i], &pool));
        assert_int_equal(test_fj_stats(pool).parallelism, expected);
        assert_ok(rota_close(pool));
    }
}

static void refused(rota_forkjoin_options options)
{
    rota_executor *pool = TEST_UNTOUCHED;

    assert_status(rota_forkjoin_new(&options, &pool), ROTA_EINVAL);
    assert_ptr_equal(pool, TEST_UNTOUCHED);
}

/* FJ-01, FAULT-04 */
TEST(what_cannot_be_is_refused)
{
    rota_executor *pool = TEST_UNTOUCHED;

    refused((rota_forkjoin_options){.parallelism = 32768});
    refused((rota_forkjoin_options){.parallelism = UINT_MAX});
    refused((rota_forkjoin_options){.parallelism = 2, .max_threads = 1});
    refused((rota_forkjoin_options){.parallelism = 1, .max_threads = UINT_MAX});
    refused((rota_forkjoin_options){.parallelism = 1, .keep_alive = -1});
    refused((rota_forkjoin_options){.parallelism = 1, .threads = {.name = "%s"}});
    assert_status(rota_forkjoin_new(NULL, &pool), ROTA_EINVAL);
    assert_status(rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1}, NULL), ROTA_EINVAL);
    assert_status(rota_work_stealing_pool(1, NULL), ROTA_EINVAL);
    assert_status(rota_work_stealing_pool(32768, &pool), ROTA_EINVAL);
    assert_ptr_equal(pool, TEST_UNTOUCHED);
}

TEST(no_more_threads_than_parallelism_is_enough)
{
    rota_executor *pool =
        test_forkjoin((rota_forkjoin_options){.parallelism = 2, .max_threads = 2});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 2);
    assert_int_equal(test_fj_stats(pool).threads, 2);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* -- Figures ------------------------------------------------------------------------------ */

enum { QUEUED = 3 };

struct figures {
    rota_executor *pool;
    test_gate gate;
    rota_forkjoin_stats inside;
};

static void count_nothing(rota_fj *task)
{
}

static void *fork_and_look(void *arg)
{
    struct figures *figures = arg;
    rota_fj tasks[QUEUED] = {ROTA_FJ(count_nothing), ROTA_FJ(count_nothing),
                             ROTA_FJ(count_nothing)};

    for (int i = 0; i < QUEUED; i++)
        rota_fork(&tasks[i]);
    figures->inside = test_fj_stats(figures->pool);
    test_wait_at(&figures->gate);
    for (int i = QUEUED; i-- > 0;)
        test_check(rota_join(&tasks[i]) == ROTA_OK);
    return NULL;
}

/* FJ-26 */
TEST(figures_tell_what_is_there)
{
    struct figures figures = {.pool = test_forkjoin_of(1)};
    atomic_uint runs = 0;

    test_gate_init(&figures.gate);
    assert_ok(rota_execute(figures.pool, fork_and_look, &figures));
    test_await_count(&figures.gate.begun, 1);
    assert_ok(rota_execute(figures.pool, test_count, &runs));
    assert_ok(rota_execute(figures.pool, test_count, &runs));
    rota_forkjoin_stats outside = test_fj_stats(figures.pool);
    assert_int_equal(figures.inside.queued, QUEUED);
    assert_int_equal(outside.queued, QUEUED);
    assert_int_equal(outside.submissions, 2);
    assert_int_equal(outside.threads, 1);
    assert_int_equal(outside.active, 1);
    assert_int_equal(outside.running, 1);
    assert_int_equal(outside.steals, 0);
    test_gate_open(&figures.gate);
    assert_ok(rota_await_quiescence(figures.pool, ROTA_FOREVER));
    outside = test_fj_stats(figures.pool);
    assert_int_equal(outside.queued + outside.submissions + outside.active, 0);
    assert_int_equal(outside.threads, 1);
    assert_ok(rota_shutdown(figures.pool));
    assert_ok(rota_await_termination(figures.pool, ROTA_FOREVER));
    assert_int_equal(test_fj_stats(figures.pool).threads, 0);
    assert_int_equal(test_fj_stats(figures.pool).active, 0);
    assert_ok(rota_executor_free(figures.pool));
}

struct opener {
    rota_fj task; /* first */
    atomic_uint opened;
};

static void open_latch(rota_fj *task)
{
    atomic_fetch_add(&((struct opener *)task)->opened, 1);
}

static void wait_for_a_thief(void *arg)
{
    struct opener opener = {.task = ROTA_FJ(open_latch)};

    rota_fork(&opener.task);
    test_fj_until_stolen(&opener.opened);
    test_check(rota_join(&opener.task) == ROTA_OK);
}

/* FJ-11, FJ-14, FJ-26: somebody steals what its owner does not come to. */
TEST(steals_are_counted)
{
    rota_executor *pool = test_forkjoin_of(2);

    test_fj_inside(pool, wait_for_a_thief, NULL);
    uint64_t steals = test_fj_stats(pool).steals;
    assert_true(steals >= 1);
    test_fj_taking_part(pool, wait_for_a_thief, NULL);
    assert_true(test_fj_stats(pool).steals > steals);
    assert_ok(rota_close(pool));
}

/* Of several, only the first can be what a thief has asked for before. */
static void compute_for_long(void *arg)
{
    enum { COUNT = 4 };
    struct opener openers[COUNT];

    for (int i = 0; i < COUNT; i++) {
        openers[i] = (struct opener){.task = ROTA_FJ(open_latch)};
        rota_fork(&openers[i].task);
    }
    for (int i = 0; i < COUNT; i++)
        test_await_count(&openers[i].opened, 1); /* without a call that the library knows */
    for (int i = COUNT; i-- > 0;)
        test_check(rota_join(&openers[i].task) == ROTA_OK);
}

/* README.md, "by force" */
static bool can_force(void)
{
#ifdef __SANITIZE_THREAD__
    return false;
#else
    return test_is_linux();
#endif
}

/* FJ-14: where the system can do that. */
TEST(a_task_is_stolen_though_its_owner_never_answers)
{
    rota_executor *pool = test_forkjoin_of(2);

    if (can_force()) {
        for (int i = 0; i < 20; i++)
            test_fj_inside(pool, compute_for_long, NULL);
        test_fj_taking_part(pool, compute_for_long, NULL);
    }
    assert_ok(rota_close(pool));
}

enum { NOTES = 20 };

struct notes {
    test_journal journal;
    test_note notes[NOTES];
};

/* Has them in its deque, and does not come to them. */
static void leave_notes_to_thieves(void *arg)
{
    struct notes *notes = arg;

    test_notes_init(notes->notes, NOTES, &notes->journal);
    for (int i = 0; i < NOTES; i++)
        test_check(rota_execute(rota_fj_pool(), test_note_down, &notes->notes[i]) == ROTA_OK);
    test_await_count(&notes->journal.count, NOTES);
}

/* FJ-11: "stealing is always oldest first", though the owner would take the newest. By force, as
   above; of two workers one is the thief. */
TEST(a_thief_takes_the_oldest)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct notes notes = {.journal = {.count = 0}};
    unsigned expected[NOTES];

    for (unsigned i = 0; i < NOTES; i++)
        expected[i] = i;
    for (int i = 0; i < 10 && can_force(); i++) {
        test_fj_inside(pool, leave_notes_to_thieves, &notes);
        test_journal_is(&notes.journal, expected, NOTES);
    }
    assert_ok(rota_close(pool));
}

enum { PLACES = 4 };

struct meeting {
    rota_fj task;
    atomic_uint *arrived;
};

/* Ends when as many are here as there are places. */
static void *meet(void *arrived)
{
    atomic_fetch_add((atomic_uint *)arrived, 1);
    test_await_count(arrived, PLACES);
    return NULL;
}

static void meet_forked(rota_fj *task)
{
    meet(((struct meeting *)task)->arrived);
}

static void fork_and_meet(void *arg)
{
    atomic_uint arrived = 0;
    struct meeting others[PLACES - 1];

    for (int i = 0; i < PLACES - 1; i++) {
        others[i] = (struct meeting){ROTA_FJ(meet_forked), &arrived};
        rota_fork(&others[i].task);
    }
    meet(&arrived);
    for (int i = PLACES - 1; i-- > 0;)
        test_check(rota_join(&others[i].task) == ROTA_OK);
}

/* FJ-13, FJ-14: though most of them are private, and their owner never answers. By force, as above. */
TEST(what_is_forked_is_for_all_who_are_idle)
{
    rota_executor *pool = test_forkjoin_of(PLACES);

    if (can_force()) {
        test_fj_inside(pool, fork_and_meet, NULL);
        test_fj_taking_part(pool, fork_and_meet, NULL);
    }
    assert_ok(rota_close(pool));
}

static void submit_and_meet(void *pool)
{
    static atomic_uint arrived; /* the others may be the last to look */

    atomic_store(&arrived, 0);
    for (int i = 0; i < PLACES - 1; i++)
        test_check(rota_execute(pool, meet, &arrived) == ROTA_OK);
    meet(&arrived);
}

/* FJ-13, FJ-14 */
TEST(what_a_worker_submits_is_for_all_who_are_idle)
{
    rota_executor *pool = test_forkjoin_of(PLACES);

    for (int i = 0; i < 5; i++) {
        test_fj_inside(pool, submit_and_meet, pool);
        assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    }
    assert_ok(rota_close(pool));
}

TEST(who_asks_nothing_gets_no_figures)
{
    rota_executor *pool = test_forkjoin_of(1);
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    rota_forkjoin_stats stats;

    assert_status(rota_forkjoin_stats_get(NULL, &stats), ROTA_EINVAL);
    assert_status(rota_forkjoin_stats_get(pool, NULL), ROTA_EINVAL);
    assert_status(rota_forkjoin_stats_get(other, &stats), ROTA_ENOTSUP);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}

TEST(a_line_describes_it)
{
    rota_executor *pool = test_forkjoin_of(3);
    char line[200] = "";

    assert_true(rota_executor_describe(pool, line, sizeof line) > 0);
    assert_non_null(strstr(line, "fork/join pool: running, parallelism 3, 0 threads"));
    assert_int_equal(rota_executor_describe(pool, NULL, 0), strlen(line));
    assert_ok(rota_close(pool));
}

/* It is no thread pool. */
TEST(settings_of_thread_pools_are_not_supported)
{
    rota_executor *pool = test_forkjoin_of(1);
    rota_pool_stats stats;
    rota_pool_options options;

    assert_status(rota_pool_set_core_threads(pool, 1), ROTA_ENOTSUP);
    assert_status(rota_pool_set_keep_alive(pool, 1), ROTA_ENOTSUP);
    assert_status(rota_pool_stats_get(pool, &stats), ROTA_ENOTSUP);
    assert_status(rota_pool_options_get(pool, &options), ROTA_ENOTSUP);
    assert_null(rota_pool_queue(pool));
    assert_ok(rota_close(pool));
}

/* -- Who am I? ---------------------------------------------------------------------------- */

/* FJ-32 */
static void see_no_pool(rota_fj *task)
{
    test_check(rota_fj_pool() == NULL);
    test_check(rota_fj_worker() == -1);
    test_check(rota_fj_surplus() == 0);
    test_check(!rota_unfork(task));
}

TEST(outside_there_is_no_pool_and_no_worker)
{
    rota_fj task = ROTA_FJ(see_no_pool);

    see_no_pool(&task);
    assert_ok(rota_join(&task)); /* runs it here */
    assert_true(rota_fj_is_done(&task));
}

struct names {
    atomic_uint seen; /* bits: numbers of workers */
    test_gate gate;
};

static void *note_number(void *arg)
{
    struct names *names = arg;
    char name[32] = "";

    test_check(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    test_check(strcmp(name, "fj-0") == 0 || strcmp(name, "fj-1") == 0);
    atomic_fetch_or(&names->seen, 1u << rota_fj_worker());
    return test_wait_at(&names->gate);
}

/* FJ-32: each has a number of its own. */
TEST(workers_have_numbers_and_names)
{
    struct names names = {.seen = 0};
    rota_executor *pool =
        test_forkjoin((rota_forkjoin_options){.parallelism = 2, .threads = {.name = "fj-%u"}});

    test_gate_init(&names.gate);
    assert_ok(rota_execute(pool, note_number, &names));
    assert_ok(rota_execute(pool, note_number, &names));
    test_await_count(&names.gate.begun, 2);
    assert_int_equal(names.seen, 3);
    test_gate_open(&names.gate);
    assert_ok(rota_close(pool));
}
