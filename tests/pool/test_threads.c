/* SPDX-License-Identifier: MIT */
/*
 * How a pool's threads are made: name, stack, CPUs, a factory of the user's own, and the signal that
 * comes with an interrupt.
 */
#define _GNU_SOURCE
#include "pools.h"
#include "rota_test_internal.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Threads, each of which runs one task at a time until the gate opens. */
static rota_executor *pool_of(rota_threads threads, unsigned count)
{
    return test_pool((rota_pool_options){.core_threads = count, .threads = threads});
}

/* -- What a thread is like ---------------------------------------------------------------- */

enum { MOST = 4 };

struct self {
    char name[32];
    size_t stack_size;
    cpu_set_t cpus;
    sigset_t blocked;
};

struct selves {
    test_barrier all; /* so that each thread runs one */
    atomic_uint count;
    struct self of[MOST];
};

static void *look_at_self(void *arg)
{
    struct selves *selves = arg;
    struct self *self = &selves->of[atomic_fetch_add(&selves->count, 1)];
    pthread_attr_t attributes;

    test_check(pthread_getname_np(pthread_self(), self->name, sizeof self->name) == 0);
    test_check(pthread_getattr_np(pthread_self(), &attributes) == 0);
    test_check(pthread_attr_getstacksize(&attributes, &self->stack_size) == 0);
    pthread_attr_destroy(&attributes);
    test_check(sched_getaffinity(0, sizeof self->cpus, &self->cpus) == 0);
    test_check(pthread_sigmask(SIG_SETMASK, NULL, &self->blocked) == 0);
    test_barrier_wait(&selves->all);
    return NULL;
}

static void look_at_threads(struct selves *selves, rota_threads threads, unsigned count)
{
    rota_executor *pool = pool_of(threads, count);

    atomic_store(&selves->count, 0);
    test_barrier_init(&selves->all, count);
    for (unsigned i = 0; i < count; i++)
        assert_ok(rota_execute(pool, look_at_self, selves));
    assert_ok(rota_close(pool));
    assert_int_equal(selves->count, count);
}

static bool has_name(const struct selves *selves, const char *name)
{
    for (unsigned i = 0; i < selves->count; i++) {
        if (strcmp(selves->of[i].name, name) == 0)
            return true;
    }
    return false;
}

/* FACT-08 */
TEST(threads_have_the_name_and_their_number)
{
    struct selves selves;

    if (!test_is_linux())
        skip();
    look_at_threads(&selves, (rota_threads){0}, 2);
    assert_true(has_name(&selves, "rota-0") && has_name(&selves, "rota-1"));
    look_at_threads(&selves, (rota_threads){.name = "a%uz"}, 3);
    assert_true(has_name(&selves, "a0z") && has_name(&selves, "a1z") && has_name(&selves, "a2z"));
    look_at_threads(&selves, (rota_threads){.name = "same"}, 2);
    assert_string_equal(selves.of[0].name, "same");
    assert_string_equal(selves.of[1].name, "same");
}

static void *look_and_end_thread(void *arg)
{
    look_at_self(arg);
    pthread_exit(NULL);
}

/* FACT-08: who comes for one that has ended has a number of its own. */
TEST(no_number_is_used_twice)
{
    struct selves selves = {.count = 0};

    if (!test_is_linux())
        skip();
    rota_executor *pool = pool_of((rota_threads){0}, 1);
    test_barrier_init(&selves.all, 1);
    for (unsigned i = 0; i < 3; i++)
        assert_ok(rota_execute(pool, look_and_end_thread, &selves));
    assert_ok(rota_close(pool));
    assert_true(has_name(&selves, "rota-0") && has_name(&selves, "rota-1")
                && has_name(&selves, "rota-2"));
}

/* FACT-08: "are cut, not an error". */
TEST(names_that_are_too_long_are_cut)
{
    struct selves selves;

    if (!test_is_linux())
        skip();
    look_at_threads(&selves, (rota_threads){.name = "a-name-that-is-too-long-%u"}, 1);
    assert_string_equal(selves.of[0].name, "a-name-that-is-");
    look_at_threads(&selves, (rota_threads){.name = "thirteen-char%u-and-more"}, 1);
    assert_string_equal(selves.of[0].name, "thirteen-char0-");
}

TEST(threads_have_the_stack_that_was_asked_for)
{
    const size_t size = (size_t)24 << 20;
    struct selves selves;

    look_at_threads(&selves, (rota_threads){.stack_size = size}, 1);
    assert_true(selves.of[0].stack_size >= size);
    look_at_threads(&selves, (rota_threads){.stack_size = size + 1}, 1);
    assert_true(selves.of[0].stack_size > size);
}

/* Two that this process may use, or twice the same. */
static void allowed_cpus(unsigned cpus[2])
{
    cpu_set_t allowed;
    unsigned found = 0;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (unsigned i = 0; i < CPU_SETSIZE && found < 2; i++) {
        if (CPU_ISSET(i, &allowed))
            cpus[found++] = i;
    }
    if (found == 1)
        cpus[1] = cpus[0];
}

TEST(threads_are_pinned_to_their_cpus_in_turn)
{
    struct selves selves;
    unsigned cpus[2], on_first = 0;

    if (!test_is_linux())
        skip();
    allowed_cpus(cpus);
    look_at_threads(&selves, (rota_threads){.cpus = cpus, .cpu_count = 2}, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(CPU_COUNT(&selves.of[i].cpus), 1);
        on_first += CPU_ISSET(cpus[0], &selves.of[i].cpus) != 0;
    }
    assert_int_equal(on_first, cpus[0] == cpus[1] ? 4 : 2);
}

/* GEN-12 */
TEST(signals_are_blocked_but_for_the_one_that_interrupts)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
    struct selves selves;
    sigset_t own;

    for (int with = 0; with < 2; with++) {
        look_at_threads(&selves, (rota_threads){.interrupt_signal = with ? SIGUSR1 : 0}, 1);
        for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
            assert_int_equal(sigismember(&selves.of[0].blocked, signals[i]),
                             !(with && signals[i] == SIGUSR1));
    }
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &own), 0);
    assert_int_equal(sigismember(&own, SIGINT), 0); /* of the thread that submits */
}

/* -- First and last ----------------------------------------------------------------------- */

struct life {
    atomic_uint starts, exits, tasks;
    atomic_uint wrong; /* a task, or an end, before the beginning */
};

static _Thread_local bool has_started;

static void note_start(void *ctx)
{
    has_started = true;
    atomic_fetch_add(&((struct life *)ctx)->starts, 1);
}

static void note_exit(void *ctx)
{
    struct life *life = ctx;

    atomic_fetch_add(&life->wrong, !has_started);
    has_started = false;
    atomic_fetch_add(&life->exits, 1);
}

static void *note_task(void *arg)
{
    struct life *life = arg;

    atomic_fetch_add(&life->wrong, !has_started);
    atomic_fetch_add(&life->tasks, 1);
    return NULL;
}

static void *end_thread(void *arg)
{
    note_task(arg);
    pthread_exit(NULL);
}

TEST(on_start_is_first_and_on_exit_last_on_each_thread)
{
    struct life life = {.starts = 0};
    rota_executor *pool =
        pool_of((rota_threads){.on_start = note_start, .on_exit = note_exit, .ctx = &life}, 3);

    for (int i = 0; i < 30; i++)
        assert_ok(rota_execute(pool, note_task, &life));
    assert_ok(rota_close(pool));
    assert_int_equal(life.starts, 3);
    assert_int_equal(life.exits, 3);
    assert_int_equal(life.tasks, 30);
    assert_int_equal(life.wrong, 0);
}

/* GEN-14 */
TEST(on_exit_is_called_also_when_a_task_ends_the_thread)
{
    struct life life = {.starts = 0};
    rota_executor *pool =
        pool_of((rota_threads){.on_start = note_start, .on_exit = note_exit, .ctx = &life}, 1);

    for (int i = 0; i < 5; i++)
        assert_ok(rota_execute(pool, end_thread, &life));
    assert_ok(rota_close(pool));
    assert_int_equal(life.tasks, 5);
    assert_in_range(life.starts, 5, 6); /* the last need not be replaced */
    assert_int_equal(life.exits, life.starts);
    assert_int_equal(life.wrong, 0);
}

static void note_interrupt(void *interrupted)
{
    *(bool *)interrupted = rota_is_interrupted();
}

/* An exit hook begins without an interrupt, also when the pool is stopped. */
TEST(on_exit_is_not_interrupted)
{
    bool interrupted = true;
    test_gate gate;
    rota_executor *pool =
        pool_of((rota_threads){.on_exit = note_interrupt, .ctx = &interrupted}, 1);

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_shutdown_now(pool, NULL));
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_false(interrupted);
}

struct leaver {
    rota_executor *pool;
    int awaited, closed;
};

static void await_own_pool(void *ctx)
{
    struct leaver *leaver = ctx;

    leaver->awaited = rota_await_termination(leaver->pool, ROTA_FOREVER);
    leaver->closed = rota_close(leaver->pool);
}

static void *just_end(void *arg)
{
    if (arg != NULL)
        pthread_exit(NULL);
    return NULL;
}

/* OWN-11, GEN-14: a thread that leaves is the pool's still, also if its task has ended it. */
TEST(on_exit_cannot_wait_for_the_end_of_its_pool)
{
    for (int ends = 0; ends < 2; ends++) {
        struct leaver leaver = {.awaited = ROTA_OK};
        leaver.pool = pool_of((rota_threads){.on_exit = await_own_pool, .ctx = &leaver}, 1);
        assert_ok(rota_execute(leaver.pool, just_end, ends ? &leaver : NULL));
        assert_ok(rota_close(leaver.pool));
        assert_status(leaver.awaited, ROTA_EDEADLOCK);
        assert_status(leaver.closed, ROTA_EDEADLOCK);
    }
}

/* POOL-45 */
TEST(new_thread_settings_are_for_threads_made_later)
{
    struct life first = {.starts = 0}, second = {.starts = 0};
    rota_executor *pool =
        pool_of((rota_threads){.on_start = note_start, .on_exit = note_exit, .ctx = &first}, 2);
    unsigned started;

    assert_ok(rota_pool_prestart_one(pool, &started));
    assert_ok(rota_pool_set_threads(
        pool, &(rota_threads){.on_start = note_start, .on_exit = note_exit, .ctx = &second}));
    assert_ok(rota_pool_prestart_one(pool, &started));
    assert_ok(rota_close(pool));
    assert_int_equal(first.starts, 1);
    assert_int_equal(first.exits, 1);
    assert_int_equal(second.starts, 1);
    assert_int_equal(second.exits, 1);
}

/* -- A factory of one's own --------------------------------------------------------------- */

struct factory {
    unsigned calls;
    unsigned good; /* that succeed; then it fails */
    rota_executor *pool;
    atomic_uint ran;
};

static int create(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *arg,
                  void *ctx)
{
    struct factory *factory = ctx;

    test_check(out != NULL && attr != NULL && start != NULL);
    if (factory->calls++ >= factory->good)
        return EAGAIN;
    return pthread_create(out, attr, start, arg);
}

/* FACT-09 */
TEST(threads_come_from_the_factory)
{
    struct factory factory = {.good = 99};
    rota_executor *pool = pool_of((rota_threads){.create = create, .ctx = &factory}, 3);
    atomic_uint runs = 0;

    for (int i = 0; i < 10; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(factory.calls, 3);
    assert_int_equal(runs, 10);
}

/* POOL-28, FAULT-23 */
TEST(when_the_factory_fails_the_threads_that_there_are_do_it_all)
{
    struct factory factory = {.good = 1};
    rota_executor *pool = pool_of((rota_threads){.create = create, .ctx = &factory}, 100);
    atomic_uint runs = 0;

    for (int i = 0; i < 100; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 100);
    assert_int_equal(test_stats(pool).largest, 1);
    assert_int_equal(factory.calls, 100);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 100);
}

/* POOL-27, POOL-28, FAULT-23 */
TEST(a_factory_that_gives_no_thread_at_all_refuses_the_task)
{
    struct factory factory = {.good = 0};
    rota_executor *pool = pool_of((rota_threads){.create = create, .ctx = &factory}, 2);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    assert_status(rota_submit_call(pool, &call, &future), ROTA_EAGAIN);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_int_equal(test_stats(pool).threads + test_stats(pool).queued, 0);
    factory.good = 99;
    assert_ok(rota_submit_call(pool, &call, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
}

struct detour {
    rota_executor *pool;
    test_gate gate; /* that the thread is held at as it starts */
    unsigned calls;
};

/* Gives no thread, but meanwhile the pool has come to another, from here as well. */
static int fail_after_another(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                              void *arg, void *ctx)
{
    struct detour *detour = ctx;

    if (detour->calls++ > 0)
        return pthread_create(out, attr, start, arg);
    test_check(rota_pool_set_core_threads(detour->pool, 2) == ROTA_OK);
    return EAGAIN;
}

static void start_at_gate(void *ctx)
{
    test_wait_at(&((struct detour *)ctx)->gate);
}

/* POOL-28: who gets no thread leaves the task to one that has come meanwhile, though only just. */
TEST(a_thread_that_has_just_come_is_enough)
{
    struct detour detour = {.calls = 0};
    const rota_threads threads = {
        .create = fail_after_another, .on_start = start_at_gate, .ctx = &detour};
    atomic_uint runs = 0;

    test_gate_init(&detour.gate);
    detour.pool =
        test_pool((rota_pool_options){.core_threads = 0, .max_threads = 2, .threads = threads});
    assert_ok(rota_execute(detour.pool, test_count, &runs));
    assert_int_equal(detour.calls, 2);
    test_gate_open(&detour.gate);
    assert_ok(rota_close(detour.pool));
    assert_int_equal(runs, 1);
}

/* POOL-27, POOL-28, FAULT-23 */
TEST(a_pool_with_a_flaky_factory_can_be_shut_down)
{
    for (unsigned good = 0; good < 5; good++) {
        struct factory factory = {.good = good};
        rota_executor *pool = pool_of((rota_threads){.create = create, .ctx = &factory}, 10);
        atomic_uint runs = 0;
        unsigned accepted = 0;

        for (int i = 0; i < 8; i++)
            accepted += rota_execute(pool, test_count, &runs) == ROTA_OK;
        assert_int_equal(accepted, good == 0 ? 0 : 8);
        assert_ok(rota_shutdown(pool));
        assert_ok(rota_await_termination(pool, ROTA_FOREVER));
        assert_int_equal(runs, accepted);
        assert_ok(rota_executor_free(pool));
    }
}

/* Returns only when the thread has left the pool. */
static int create_slowly(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                         void *arg, void *ctx)
{
    struct factory *factory = ctx;
    pthread_t made;

    factory->calls++;
    int error = pthread_create(&made, attr, start, arg);
    if (error != 0)
        return error;
    test_await_completed(factory->pool, factory->calls);
    test_await_threads(factory->pool, 0);
    *out = made;
    return 0;
}

TEST(a_thread_may_end_before_its_maker_goes_on)
{
    struct factory factory = {.calls = 0};
    rota_executor *pool =
        test_pool((rota_pool_options){.max_threads = 2,
                                      .keep_alive = 1,
                                      .queue = test_handoff(),
                                      .threads = {.create = create_slowly, .ctx = &factory}});
    atomic_uint runs = 0;

    factory.pool = pool;
    for (unsigned i = 1; i <= 20; i++) {
        assert_ok(rota_execute(pool, test_count, &runs));
        assert_int_equal(factory.calls, i);
        assert_int_equal(runs, i);
    }
    assert_ok(rota_close(pool));
}

static void open_begun(void *ctx)
{
    struct factory *factory = ctx;

    atomic_fetch_add(&factory->ran, 1);
}

/* Once on the new thread, then here and on a third. */
static int create_thrice(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                         void *arg, void *ctx)
{
    struct factory *factory = ctx;
    pthread_t other;

    test_check(pthread_create(out, attr, start, arg) == 0);
    test_await_count(&factory->ran, ++factory->calls);
    start(arg);
    test_check(pthread_create(&other, NULL, start, arg) == 0);
    test_check(pthread_join(other, NULL) == 0);
    return 0;
}

/* FACT-09, FAULT-23 */
TEST(to_call_start_again_has_no_effect)
{
    struct factory factory = {.calls = 0};
    rota_executor *pool = pool_of(
        (rota_threads){.create = create_thrice, .on_start = open_begun, .ctx = &factory}, 2);
    unsigned started;
    atomic_uint runs = 0;

    assert_ok(rota_pool_prestart(pool, &started));
    assert_int_equal(started, 2);
    for (int i = 0; i < 10; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(factory.ran, 2);
    assert_int_equal(runs, 10);
}

/* GEN-09: no lock is held. */
static int create_and_submit(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                             void *arg, void *ctx)
{
    struct factory *factory = ctx;

    if (factory->calls++ == 0) {
        test_check(rota_execute(factory->pool, test_count, &factory->ran) == ROTA_OK);
        test_check(rota_pool_set_keep_alive(factory->pool, ROTA_SEC(1)) == ROTA_OK);
    }
    return pthread_create(out, attr, start, arg);
}

/* FAULT-14, FAULT-23 */
TEST(a_factory_may_call_the_pool)
{
    struct factory factory = {.calls = 0};
    rota_executor *pool = pool_of((rota_threads){.create = create_and_submit, .ctx = &factory}, 2);

    factory.pool = pool;
    assert_ok(rota_execute(pool, test_count, &factory.ran));
    assert_ok(rota_close(pool));
    assert_int_equal(factory.ran, 2);
}

/* -- The signal that comes with an interrupt ---------------------------------------------- */

struct reader {
    int pipe[2];
    atomic_int thread_id; /* 0: has not begun */
    ssize_t got;
    int error;
};

static void *read_pipe(void *arg)
{
    struct reader *reader = arg;
    char byte;

    atomic_store(&reader->thread_id, (int)syscall(SYS_gettid));
    reader->got = read(reader->pipe[0], &byte, 1);
    reader->error = errno;
    return NULL;
}

/* It has begun, and sleeps: in read. */
static bool is_reading(void *arg)
{
    struct reader *reader = arg;
    char path[64], state = '?';
    int id = atomic_load(&reader->thread_id);

    if (id == 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", id);
    FILE *file = fopen(path, "r");
    test_check(file != NULL);
    test_check(fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    fclose(file);
    return state == 'S';
}

static rota_executor *reading_pool(struct reader *reader, int signal, rota_future **future)
{
    rota_executor *pool = pool_of((rota_threads){.interrupt_signal = signal}, 1);

    *reader = (struct reader){.got = 0};
    assert_int_equal(pipe(reader->pipe), 0);
    assert_ok(rota_submit(pool, read_pipe, reader, future));
    test_until(is_reading, reader);
    return pool;
}

static void reader_was_broken(struct reader *reader, rota_executor *pool)
{
    assert_ok(rota_close(pool));
    assert_int_equal(reader->got, -1);
    assert_int_equal(reader->error, EINTR);
    close(reader->pipe[0]);
    close(reader->pipe[1]);
}

/* INT-10 */
TEST(an_interrupt_breaks_a_blocking_system_call)
{
    struct reader reader;
    rota_future *future;
    rota_executor *pool;

    if (!test_is_linux())
        skip();
    pool = reading_pool(&reader, SIGUSR1, &future);
    assert_true(rota_future_cancel_now(future));
    rota_future_unref(future);
    reader_was_broken(&reader, pool);
}

/* INT-10, POOL-53 */
TEST(shutdown_now_breaks_a_blocking_system_call)
{
    struct reader reader;
    rota_future *future;
    rota_executor *pool;

    if (!test_is_linux())
        skip();
    pool = reading_pool(&reader, SIGUSR1, &future);
    assert_ok(rota_shutdown_now(pool, NULL));
    rota_future_unref(future);
    reader_was_broken(&reader, pool);
}

static atomic_uint signals;

static void count_signal(int signal)
{
    atomic_fetch_add(&signals, 1);
}

/* INT-10: a program that has a handler keeps it. */
TEST(the_programs_own_handler_stays)
{
    struct sigaction own = {.sa_handler = count_signal}, before;
    struct reader reader;
    rota_future *future;
    rota_executor *pool;

    if (!test_is_linux())
        skip();
    sigemptyset(&own.sa_mask);
    assert_int_equal(sigaction(SIGUSR2, &own, &before), 0);
    pool = reading_pool(&reader, SIGUSR2, &future);
    assert_true(rota_future_cancel_now(future));
    rota_future_unref(future);
    reader_was_broken(&reader, pool);
    assert_int_equal(signals, 1);
    assert_int_equal(sigaction(SIGUSR2, &before, NULL), 0);
}
