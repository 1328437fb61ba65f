/* SPDX-License-Identifier: MIT */
/*
 * rota_test.h - what every test includes: cmocka, the public headers, and help with memory,
 * threads, processes and random numbers. rota_test_internal.h has what needs the internals.
 *
 *     TEST(the_first_is_the_least)
 *     {
 *         assert_int_equal(first(), least());
 *     }
 *
 * cmocka's assertions end a test with a longjmp, so they are for the main thread alone; all other
 * threads, and forked processes, use test_check.
 */
#ifndef ROTA_TEST_H
#define ROTA_TEST_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* -- Tests (run.c) --------------------------------------------------------------------------- */

/*
 * TEST(name) defines a test and registers it. The tests of a program run in the order of their files'
 * names and lines. A test program needs no main function: that of main.c installs the counting
 * allocator and runs all tests.
 *
 * When a test has returned or failed, the runner wakes all threads that wait at a latch or a gate, ends
 * the library's timer, and closes the pools that the test has left open. A pool that does not end
 * within 10 seconds is a failure. Then the teardown runs. If the test has not failed, as many blocks of
 * memory must be in use as before the setup.
 */
#define TEST(name) TEST_CASE(name, .fixture = &test_file_fixture)

/* In another fixture than that of the file. */
#define TEST_WITH(its_fixture, name) TEST_CASE(name, .fixture = &(its_fixture))

/* One of several kinds of a thing, on which tests run. */
typedef struct test_kind {
    const char *name;  /* NULL: there is no such kind */
    unsigned able;     /* the test must need no other bits */
    bool keeps_memory; /* as that of the fixture */
    const void *value;
} test_kind;

/* What surrounds a test. Each member may be NULL. */
typedef struct test_fixture {
    int (*setup)(void **state); /* returns 0, or the test has failed */
    int (*teardown)(void **state);
    test_kind (*kind)(size_t i); /* the test runs on each; *state is the kind's value at first */
    void (*call)(void (*test)(void **state), void **state); /* calls the test, on some thread */
    bool keeps_memory;                                      /* a test may leave memory in use */
} test_fixture;

/* For a test that uses the common pool, or another thing that lives as long as the process. */
extern const test_fixture test_keeping_memory;

/* Gives a fixture to each TEST of the file: TEST_FIXTURE(.setup = make, .teardown = unmake); */
#define TEST_FIXTURE(...) static const test_fixture test_file_fixture = {__VA_ARGS__}

__attribute__((unused)) static const test_fixture test_file_fixture;

/* BEFORE_TESTS { ... } runs before the first test. If it returns false, no test runs. */
#define BEFORE_TESTS                                                        \
    static bool test_before_all(void);                                      \
    __attribute__((constructor)) static void test_register_before_all(void) \
    {                                                                       \
        test_register_before(test_before_all);                              \
    }                                                                       \
    static bool test_before_all(void)

typedef struct test_case {
    const char *name;
    void (*run)(void **state);
    const char *file;
    int line;
    const test_fixture *fixture;
    unsigned needs; /* abilities of the kind, as bits */
    struct test_case *next;
} test_case;

#define TEST_CASE(title, ...)                                                               \
    static void title(void **state);                                                        \
    __attribute__((constructor)) static void test_register_##title(void)                    \
    {                                                                                       \
        static test_case test = {                                                           \
            .name = #title, .run = title, .file = __FILE__, .line = __LINE__, __VA_ARGS__}; \
        test_register(&test);                                                               \
    }                                                                                       \
    static void title(void **state)

void test_register(test_case *test);
void test_register_before(bool (*before)(void));
int test_run_all(void); /* how many failed */
int test_run_list(test_case *list);

/* Around the body of a test (leftovers.c). Both are called by the runner; false: a pool does not end. */
extern time_t test_seconds_to_free; /* for memory that threads which are ending still have */
void test_leftovers_begin(void);
bool test_leftovers_end(bool has_failed);

/* -- Assertions ------------------------------------------------------------------------------ */

#define assert_status(call, expected) \
    test_assert_status((call), (expected), #call, __FILE__, __LINE__)
#define assert_ok(call) assert_status(call, ROTA_OK)

/* On any thread: says where, and ends the process. */
#define test_check(condition) \
    ((condition) ? (void)0 : test_die(__FILE__, __LINE__, "not so: " #condition))

void test_assert_status(int status, int expected, const char *call, const char *file, int line);
_Noreturn void test_die(const char *file, int line, const char *message);

/* -- Memory (memory.c) ----------------------------------------------------------------------- */

/*
 * Makes the library use an allocator that counts. It ends the process when a block comes back with
 * another size than was asked for, or twice, and fills memory with rubbish before and after its
 * use. main.c calls it first; a program with a main function of its own may do without it.
 */
void test_memory_install(void);

size_t test_memory_live(void);  /* blocks that are in use */
size_t test_memory_bytes(void); /* what was asked for in them */

/* From now on the n-th allocation (from 1) fails, and with `onwards` all after it; 0: none. */
void test_memory_fail_at(unsigned n, bool onwards);
void test_memory_fail_at_too(unsigned n); /* beside those */
unsigned test_memory_asked(void);         /* allocations since then */

/* Only allocations of which it says so, on the thread that makes them, count; NULL: all do. */
void test_memory_fail_only(bool (*counts)(void));

/* -- Threads (threads.c) --------------------------------------------------------------------- */

typedef struct test_thread test_thread;

/* The library knows the thread before `body` begins. */
test_thread *test_thread_start(void (*body)(void *arg), void *arg);
void test_thread_join(test_thread *thread);

/* What rota_thread_self is on that thread; good until it ends. */
rota_thread *test_thread_handle(test_thread *thread);

/* Yields until it is so. */
void test_until(bool (*condition)(void *arg), void *arg);

/* Opens when test_latch_open was called as often as it was said at first; whoever waits sleeps. */
typedef struct test_latch {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    unsigned closed; /* calls of test_latch_open still to come */
} test_latch;

#define TEST_LATCH(count)                                            \
    {                                                                \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, (count) \
    }

void test_latch_init(test_latch *latch, unsigned count);
void test_latch_open(test_latch *latch);
void test_latch_wait(test_latch *latch);

/* With false, no thread waits at any latch from now on, nor at a gate. The end of each test does so. */
void test_latches_hold(bool do_hold);

/* Lets `count` threads go on at one moment, again and again; whoever waits yields. */
typedef struct test_barrier {
    unsigned count;
    atomic_uint arrived;
    atomic_uint rounds;
} test_barrier;

void test_barrier_init(test_barrier *barrier, unsigned count);
void test_barrier_wait(test_barrier *barrier);

/* -- Processes (process.c) ------------------------------------------------------------------- */

/*
 * Runs `body` in a forked process without error output: 0 if it returned, else its exit status, or
 * the negative number of the signal that ended it, which is SIGABRT when an assertion fails.
 */
int test_in_child(void (*body)(void *arg), void *arg);

/* Returns in both; in the parent after the child has ended, with its status as waitpid gives it. */
void test_fork_and_return(int *status);

/* Under valgrind or qemu, which have descriptors of their own. */
#ifdef ROTA_EMULATED
enum { TEST_IS_EMULATED = true };
#else
enum { TEST_IS_EMULATED = false };
#endif

/* Threads that meet take many times as long then. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { TEST_IS_SLOW = true };
#else
enum { TEST_IS_SLOW = false };
#endif

/* The sanitizers do not follow a fork of several threads: locks of their own stay held in it. To
   valgrind the memory that a child leaves alone has leaked, and under qemu it does not live. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_MEMORY__) \
    || defined(ROTA_EMULATED)
enum { TEST_FORKS_ARE_FOLLOWED = false };
#else
enum { TEST_FORKS_ARE_FOLLOWED = true };
#endif

/* clang's code aborts when a thread is ended that is being ended. */
#ifdef __clang__
enum { TEST_CAN_END_TWICE = false };
#else
enum { TEST_CAN_END_TWICE = true };
#endif

/* -- Random numbers (random.c) --------------------------------------------------------------- */

/* The same in each run, unless the environment's ROTA_SEED says otherwise. Prints its seed. */
typedef struct test_random {
    uint64_t state;
} test_random;

void test_random_init(test_random *random);
void test_randoms_init(test_random *randoms, size_t count); /* each thread its own */
uint64_t test_random_next(test_random *random);
size_t test_random_below(test_random *random, size_t limit); /* 0 to limit - 1 */

/* The seed itself, for a test that prints it at its own time. */
uint64_t test_seed(void);
void test_random_start(test_random *random, uint64_t seed);

#endif
