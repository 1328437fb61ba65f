/* SPDX-License-Identifier: MIT */
/*
 * What was recorded is written when a signal comes: into its file, again and again; the signal goes back
 * to who had it; what cannot be is refused, and changes nothing.
 */
#define _GNU_SOURCE
#include "observing.h"
#include "rota_test_race.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TEST_FIXTURE(.setup = observing_before, .teardown = observing_after);

static char folder[] = "/tmp/rota-signal-XXXXXX";
static char path[sizeof folder + 20], other_path[sizeof folder + 20];
static atomic_uint runs, handled;

static void handle(int number)
{
    atomic_fetch_add(&handled, 1);
}

static void set_handler(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

/* All of it; NULL: it is not there, or not complete. To be freed. */
static char *content(const char *name)
{
    FILE *file = fopen(name, "r");
    char *text = calloc(1, 1 << 20);

    test_check(text != NULL);
    if (file != NULL) {
        (void)!fread(text, 1, (1 << 20) - 1, file);
        fclose(file);
    }
    if (file != NULL && strstr(text, "\n]}\n") != NULL)
        return text;
    free(text);
    return NULL;
}

static bool file_tells(const char *name, const char *part)
{
    char *text = content(name);
    bool tells = text != NULL && strstr(text, part) != NULL;

    free(text);
    return tells;
}

struct wanted {
    const char *name, *part;
};

static bool is_written(void *arg)
{
    const struct wanted *wanted = arg;

    return file_tells(wanted->name, wanted->part);
}

static void await_file(const char *name, const char *part)
{
    test_until(is_written, &(struct wanted){name, part});
}

static void run_named(rota_executor *pool, const char *name)
{
    const rota_call call = {.fn = test_count, .arg = &runs, .name = name};
    uint64_t before = test_stats(pool).completed;

    assert_ok(rota_submit_call(pool, &call, NULL));
    test_await_completed(pool, before + 1);
}

static rota_executor *recorded_pool(void)
{
    assert_ok(rota_recorder_start(&(rota_recorder_options){.events = 100}));
    return test_pool((rota_pool_options){.core_threads = 1});
}

/* -- Signals that come ----------------------------------------------------------------------- */

TEST(a_signal_writes_the_file)
{
    rota_executor *pool = recorded_pool();
    struct stat about;

    assert_ok(rota_recorder_on_signal(SIGUSR1, path));
    run_named(pool, "first");
    assert_int_equal(raise(SIGUSR1), 0);
    await_file(path, "\"name\":\"first\"");
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 077, 0); /* it is nobody else's business */
    run_named(pool, "second");
    assert_int_equal(raise(SIGUSR1), 0);
    await_file(path, "\"name\":\"second\"");
    assert_ok(rota_recorder_on_signal(0, NULL));
    assert_ok(rota_close(pool));
}

TEST(the_signal_is_given_back)
{
    set_handler(SIGUSR1, handle);
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&handled, 0);
        assert_ok(rota_recorder_on_signal(SIGUSR1, path));
        assert_int_equal(raise(SIGUSR1), 0);
        assert_int_equal(handled, 0);
        assert_ok(rota_recorder_on_signal(0, NULL));
        assert_int_equal(raise(SIGUSR1), 0);
        assert_int_equal(handled, 1);
    }
    assert_ok(rota_recorder_on_signal(0, NULL)); /* there is none */
    set_handler(SIGUSR1, SIG_DFL);
}

/* Another file, and then another signal, in place of those before; in the end all is as it was. */
TEST(the_next_takes_the_place_of_the_last)
{
    rota_executor *pool = recorded_pool();

    set_handler(SIGUSR1, handle);
    atomic_store(&handled, 0);
    assert_ok(rota_recorder_on_signal(SIGUSR1, path));
    assert_ok(rota_recorder_on_signal(SIGUSR1, other_path));
    run_named(pool, "other file");
    assert_int_equal(raise(SIGUSR1), 0);
    await_file(other_path, "other file");
    assert_false(file_tells(path, "other file"));
    assert_int_equal(handled, 0);

    assert_ok(rota_recorder_on_signal(SIGUSR2, path));
    run_named(pool, "other signal");
    assert_int_equal(raise(SIGUSR2), 0);
    await_file(path, "other signal");
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(handled, 1);
    assert_ok(rota_recorder_on_signal(0, NULL));
    set_handler(SIGUSR1, SIG_DFL);
    assert_ok(rota_close(pool));
}

/* A path at which there can be no file: nobody can be told, and the next is written again. */
TEST(a_file_that_cannot_be_written_is_left_out)
{
    rota_executor *pool = recorded_pool();

    assert_ok(rota_recorder_on_signal(SIGUSR1, "/nowhere/at/all"));
    assert_int_equal(raise(SIGUSR1), 0);
    assert_ok(rota_recorder_on_signal(SIGUSR1, path));
    run_named(pool, "after that");
    assert_int_equal(raise(SIGUSR1), 0);
    await_file(path, "after that");
    assert_ok(rota_recorder_on_signal(0, NULL));
    assert_ok(rota_close(pool));
}

/* Of 4,000 bytes, most of which say nothing. */
TEST(the_longest_path_is_used_whole)
{
    rota_executor *pool = recorded_pool();
    const char *name = strrchr(path, '/') + 1;
    char longest[4001];

    memset(longest, '/', sizeof longest - 1);
    memcpy(longest, folder, strlen(folder));
    strcpy(longest + sizeof longest - 1 - strlen(name), name);
    assert_ok(rota_recorder_on_signal(SIGUSR1, longest));
    run_named(pool, "far away");
    assert_int_equal(raise(SIGUSR1), 0);
    await_file(path, "far away");
    assert_ok(rota_recorder_on_signal(0, NULL));
    assert_ok(rota_close(pool));
}

/* -- What cannot be -------------------------------------------------------------------------- */

TEST(what_cannot_be_is_refused_and_changes_nothing)
{
    static const int bad[] = {-1, SIGKILL, SIGSTOP, 1000};
    static char long_path[5000];
    rota_executor *pool = recorded_pool();

    memset(long_path, 'x', sizeof long_path - 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) /* as the first order, */
        assert_status(rota_recorder_on_signal(bad[i], path), ROTA_EINVAL);
    assert_ok(rota_recorder_on_signal(SIGUSR1, path)); /* and in place of another */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(rota_recorder_on_signal(bad[i], other_path), ROTA_EINVAL);
    assert_status(rota_recorder_on_signal(SIGUSR2, NULL), ROTA_EINVAL);
    assert_status(rota_recorder_on_signal(SIGUSR2, ""), ROTA_EINVAL);
    assert_status(rota_recorder_on_signal(SIGUSR2, long_path), ROTA_EINVAL);
    run_named(pool, "still");
    assert_int_equal(raise(SIGUSR1), 0);
    await_file(path, "\"name\":\"still\"");
    assert_ok(rota_recorder_on_signal(0, NULL));
    assert_ok(rota_close(pool));
}

/* -- Children -------------------------------------------------------------------------------- */

/* It has the handler, but no thread that writes; the parent's is not woken by it. */
static void in_the_child(void *arg)
{
    rota_executor *own;

    test_check(raise(SIGUSR1) == 0);
    test_check(rota_recorder_on_signal(SIGUSR2, other_path) == ROTA_OK);
    own = test_pool((rota_pool_options){.core_threads = 1});
    const rota_call call = {.fn = test_count, .arg = &runs, .name = "of the child"};
    test_check(rota_submit_call(own, &call, NULL) == ROTA_OK);
    test_await_completed(own, 1);
    test_check(raise(SIGUSR2) == 0);
    await_file(other_path, "of the child");
    test_check(rota_recorder_on_signal(0, NULL) == ROTA_OK);
    test_check(rota_close(own) == ROTA_OK);
}

TEST(a_child_has_an_arrangement_of_its_own)
{
    rota_executor *pool;

    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    pool = recorded_pool();
    assert_ok(rota_recorder_on_signal(SIGUSR1, path));
    unlink(path);
    assert_int_equal(test_in_child(in_the_child, NULL), 0);
    assert_int_equal(access(path, F_OK), -1);
    run_named(pool, "of the parent");
    assert_int_equal(raise(SIGUSR1), 0);
    await_file(path, "of the parent");
    assert_ok(rota_recorder_on_signal(0, NULL));
    assert_ok(rota_close(pool));
}

/* Nothing else was left there. */
static void remove_folder(void)
{
    unlink(path);
    unlink(other_path);
    test_check(rmdir(folder) == 0);
}

BEFORE_TESTS
{
    test_check(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    snprintf(path, sizeof path, "%s/trace", folder);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    return true;
}

/* One that is ignored by who does not ask for it. */
static void begin_and_end(void *unused)
{
    test_check(rota_recorder_on_signal(SIGWINCH, path) == ROTA_OK);
    test_check(rota_recorder_on_signal(0, NULL) == ROTA_OK);
}

static void send_some(void *unused)
{
    for (int i = 0; i < 20; i++)
        kill(getpid(), SIGWINCH);
}

static atomic_bool is_enough;

static void begin_and_end_on_and_on(void *unused)
{
    while (!atomic_load(&is_enough))
        begin_and_end(NULL);
}

static void begin_and_end_in_the_child(void *unused)
{
    alarm(30); /* should the lock be held for ever */
    begin_and_end(NULL);
}

/* Whoever held the lock of this arrangement when the child was made. */
TEST(a_child_is_not_held_up_by_who_begins_and_ends)
{
    test_thread *other;

    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    other = test_thread_start(begin_and_end_on_and_on, NULL);
    for (int i = 0; i < 25; i++)
        assert_int_equal(test_in_child(begin_and_end_in_the_child, NULL), 0);
    atomic_store(&is_enough, true);
    test_thread_join(other);
}

static void nothing(void *unused)
{
}

TEST(signals_come_while_it_begins_and_ends)
{
    static const test_race race = {
        .before = nothing, .sides = {begin_and_end, send_some}, .after = nothing};

    assert_ok(rota_recorder_start(NULL));
    test_race_run(&race, NULL);
    assert_ok(rota_recorder_stop());
}
