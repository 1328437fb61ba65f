/* SPDX-License-Identifier: MIT */
/*
 * Threads: their names, stacks, CPUs and signals, being refused, and their end.
 */
#define _GNU_SOURCE
#include "rota_test_internal.h"

#include "os/fault.h"
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* What a thread saw of itself. */
struct seen {
    int runs;
    char name[32];
    size_t stack_size;
    sigset_t blocked;
    cpu_set_t cpus;
};

static void look(void *arg)
{
    struct seen *seen = arg;
    pthread_attr_t attributes;
    void *stack;

    seen->runs++;
    test_check(pthread_getname_np(pthread_self(), seen->name, sizeof seen->name) == 0);
    test_check(pthread_sigmask(SIG_BLOCK, NULL, &seen->blocked) == 0);
    test_check(sched_getaffinity(0, sizeof seen->cpus, &seen->cpus) == 0);
    test_check(pthread_getattr_np(pthread_self(), &attributes) == 0);
    test_check(pthread_attr_getstack(&attributes, &stack, &seen->stack_size) == 0);
    pthread_attr_destroy(&attributes);
}

static struct seen look_on_thread(rota__os_thread_options options)
{
    struct seen seen = {0};
    rota__os_thread thread;

    assert_ok(rota__os_thread_start(&thread, &options, look, &seen));
    rota__os_thread_join(&thread);
    assert_int_equal(seen.runs, 1);
    return seen;
}

static const rota__os_thread_options plain = {.cpu = ROTA__OS_ANY_CPU};

/* -- Names -------------------------------------------------------------------------------- */

static struct seen look_named(const char *name)
{
    rota__os_thread_options options = plain;

    options.name = name;
    return look_on_thread(options);
}

/* FACT-08, FAULT-17: a name is cut to 15 bytes, and is no format. */
TEST(a_name_is_cut_to_what_fits)
{
    char longest[4000];

    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(look_named("rota-7").name, "rota-7");
    assert_string_equal(look_named("123456789012345").name, "123456789012345");
    assert_string_equal(look_named("1234567890123456").name, "123456789012345");
    assert_string_equal(look_named(longest).name, "xxxxxxxxxxxxxxx");
    assert_string_equal(look_named("%s%n%d").name, "%s%n%d");
}

/* Without a name it has that of the thread that started it. */
TEST(without_a_name_it_is_called_as_its_maker)
{
    char mine[32];

    assert_int_equal(pthread_getname_np(pthread_self(), mine, sizeof mine), 0);
    assert_string_equal(look_named(NULL).name, mine);
    assert_string_equal(look_named("").name, mine);
}

/* -- Stacks ------------------------------------------------------------------------------- */

static size_t stack_size_of(size_t wanted)
{
    rota__os_thread_options options = plain;

    options.stack_size = wanted;
    return look_on_thread(options).stack_size;
}

/* It gets what was asked for; the C library may hand out a used stack of up to four times that. */
TEST(a_stack_is_as_large_as_asked)
{
    const size_t sizes[] = {1 << 20, (1 << 20) + 1, 3 << 20};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t got = stack_size_of(sizes[i]);
        assert_true(got >= sizes[i]);
        assert_true(got <= 4 * (sizes[i] + (1 << 16)));
    }
}

/* FAULT-26: less than the least there is becomes that. */
TEST(too_small_a_stack_is_the_smallest_possible)
{
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    size_t usual = stack_size_of(0);

    assert_true(stack_size_of(1) >= least && stack_size_of(1) < usual);
    assert_true(stack_size_of(least - 1) >= least && stack_size_of(least - 1) < usual);
}

/* GEN-10, FAULT-26: one that the system cannot give is refused, and the body is not called. */
TEST(an_absurd_stack_is_refused)
{
    const size_t sizes[] = {SIZE_MAX - SIZE_MAX / 16, SIZE_MAX - 1, SIZE_MAX};
    rota__os_thread_options options = plain;
    struct seen seen = {0};
    rota__os_thread thread;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        options.stack_size = sizes[i];
        assert_status(rota__os_thread_start(&thread, &options, look, &seen), ROTA_EAGAIN);
    }
    assert_int_equal(seen.runs, 0);
}

/* -- CPUs --------------------------------------------------------------------------------- */

static struct seen look_on_cpu(uint32_t cpu)
{
    rota__os_thread_options options = plain;

    options.cpu = cpu;
    return look_on_thread(options);
}

/* On Linux a thread is pinned to its CPU, each that we may use. */
TEST(a_thread_is_pinned_to_its_cpu)
{
    cpu_set_t ours;

    if (!test_is_linux())
        skip();
    assert_int_equal(sched_getaffinity(0, sizeof ours, &ours), 0);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &ours))
            continue;
        struct seen seen = look_on_cpu(cpu);
        assert_int_equal(CPU_COUNT(&seen.cpus), 1);
        assert_true(CPU_ISSET(cpu, &seen.cpus));
    }
}

/* FAULT-30: a CPU that does not exist, or any: the thread runs where it may. */
TEST(a_cpu_that_is_not_there_is_ignored)
{
    const uint32_t cpus[] = {60000, 65535, 65536, UINT32_MAX - 1, ROTA__OS_ANY_CPU};
    cpu_set_t ours;

    assert_int_equal(sched_getaffinity(0, sizeof ours, &ours), 0);
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        struct seen seen = look_on_cpu(cpus[i]);
        assert_true(CPU_EQUAL(&seen.cpus, &ours));
    }
}

/* -- Signals ------------------------------------------------------------------------------ */

static bool is_kept_by_the_system(int number)
{
    bool of_the_c_library = number > SIGSYS && number < SIGRTMIN;

    return number == SIGKILL || number == SIGSTOP || of_the_c_library;
}

/* GEN-12, FAULT-45: all signals are blocked, and those of the maker stay as they were. */
TEST(all_signals_are_blocked)
{
    struct seen seen = look_on_thread(plain);
    sigset_t mine;

    for (int number = 1; number <= SIGRTMAX; number++)
        assert_true(is_kept_by_the_system(number) || sigismember(&seen.blocked, number));
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mine), 0);
    assert_false(sigismember(&mine, SIGUSR1));
    assert_false(sigismember(&mine, SIGTERM));
}

/* -- Starting and joining ----------------------------------------------------------------- */

/* GEN-10: a refusal is ROTA_EAGAIN, the body is not called and signals are as they were. */
TEST(a_refused_start_changes_nothing)
{
    struct seen seen = {0};
    rota__os_thread thread;
    sigset_t mine;

    rota__fault_arm(ROTA__FAULT_THREAD_START, 1, false);
    assert_status(rota__os_thread_start(&thread, &plain, look, &seen), ROTA_EAGAIN);
    assert_int_equal(seen.runs, 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mine), 0);
    assert_false(sigismember(&mine, SIGUSR1));
    assert_ok(rota__os_thread_start(&thread, &plain, look, &seen));
    rota__os_thread_join(&thread);
    assert_int_equal(seen.runs, 1);
}

static void *join_with_cancel_pending(void *arg)
{
    pthread_cancel(pthread_self());
    rota__os_thread_join(arg);
    pthread_testcancel();
    return NULL;
}

static void await_latch(void *arg)
{
    test_latch_wait(arg);
}

/* GEN-14: nobody is cancelled while it joins. The latch opens later than a cancel would act. */
TEST(a_join_is_no_cancellation_point)
{
    test_latch latch = TEST_LATCH(1);
    rota__os_thread thread;
    pthread_t joiner;

    assert_ok(rota__os_thread_start(&thread, &plain, await_latch, &latch));
    assert_int_equal(pthread_create(&joiner, NULL, join_with_cancel_pending, &thread), 0);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(pthread_tryjoin_np(joiner, NULL), EBUSY);
        sched_yield();
    }
    test_latch_open(&latch);
    assert_int_equal(pthread_join(joiner, NULL), 0);
}

/* -- The signal of an interrupt ----------------------------------------------------------- */

static void handle(int signal)
{
    (void)signal;
}

static void handle_in_full(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
}

/* The handler after rota__os_signal_prepare. */
static struct sigaction prepared(struct sigaction action)
{
    struct sigaction before, after;

    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_true(rota__os_signal_prepare(SIGUSR1));
    assert_int_equal(sigaction(SIGUSR1, &before, &after), 0);
    return after;
}

/* A program's own handler stays, of either kind. */
TEST(a_handler_of_the_program_stays)
{
    struct sigaction full = {.sa_sigaction = handle_in_full, .sa_flags = SA_SIGINFO};

    assert_true(prepared((struct sigaction){.sa_handler = handle}).sa_handler == handle);
    assert_true(prepared(full).sa_sigaction == handle_in_full);
}

/* Without one, a signal makes system calls return, and does nothing else. */
TEST(without_a_handler_there_is_one_that_does_nothing)
{
    void (*const defaults[])(int) = {SIG_DFL, SIG_IGN};

    for (size_t i = 0; i < 2; i++) {
        struct sigaction after = prepared((struct sigaction){.sa_handler = defaults[i]});
        assert_true(after.sa_handler != SIG_DFL && after.sa_handler != SIG_IGN);
        assert_false(after.sa_flags & SA_RESTART);
    }
}

/* Signals that cannot be handled, and numbers of none. */
TEST(some_signals_cannot_be_prepared)
{
    assert_false(rota__os_signal_prepare(SIGKILL));
    assert_false(rota__os_signal_prepare(SIGSTOP));
    assert_false(rota__os_signal_prepare(-1));
    assert_false(rota__os_signal_prepare(100000));
}
