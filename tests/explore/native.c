/* SPDX-License-Identifier: MIT */
/*
 * native.c - explore.h on pthreads: runs each scenario many times on real threads.
 *
 * This adds the platform layer, the task cache, real memory orders and the sanitizers, which the
 * explorer leaves out. The seed decides how long threads are delayed, what ex_choose returns and
 * which requests are refused. It does not decide the schedule, so a second run may pass.
 *
 * Each scenario runs in its own process: if it fails or hangs, the others still run. Each round runs
 * on its own thread, because a thread keeps its interrupt and its cache of blocks.
 */
#define _GNU_SOURCE
#include "explore.h"

#include "rota_test_internal.h"

#include "os/fault.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REQUESTS = 32,   /* of each kind, one of the first 31 in a round is refused, or none */
    LONGEST = 15,    /* a delay takes fewer than 2^15 turns of a loop */
    FREED_IN = 10,   /* seconds: workers that are ending must have freed their memory */
    HANGS_AFTER = 60 /* seconds, in addition to the planned time */
};

static ex_scenario *scenarios;

void ex_register(ex_scenario *scenario)
{
    scenario->next = scenarios;
    scenarios = scenario;
}

/* -- Random numbers -------------------------------------------------------------------------- */

static test_random *random_of_this_thread(void)
{
    static _Thread_local test_random random;
    static atomic_uint workers;

    if (random.state == 0) /* a worker of the library */
        test_random_start(&random, test_seed() + atomic_fetch_add(&workers, 1));
    return &random;
}

static unsigned random_below(unsigned limit)
{
    return (unsigned)test_random_below(random_of_this_thread(), limit);
}

unsigned ex_choose(unsigned n)
{
    return random_below(n);
}

/* Short delays are as likely as long ones: threads meet at different points of their work. */
static void delay(void)
{
    for (unsigned turns = random_below(1u << random_below(LONGEST + 1)); turns > 0; turns--)
        atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps the loop */
    if (random_below(4) == 0)
        sched_yield();
}

/* -- Inside a scenario ----------------------------------------------------------------------- */

struct ex_thread {
    pthread_t id;
    void (*body)(void *arg);
    void *arg;
    test_random random;
};

static void *thread_main(void *arg)
{
    ex_thread *thread = arg;

    *random_of_this_thread() = thread->random;
    delay();
    thread->body(thread->arg);
    return NULL;
}

ex_thread *ex_start(void (*body)(void *arg), void *arg)
{
    ex_thread *thread = malloc(sizeof *thread);

    test_check(thread != NULL);
    *thread = (ex_thread){.body = body, .arg = arg};
    test_random_start(&thread->random, test_random_next(random_of_this_thread()));
    test_check(pthread_create(&thread->id, NULL, thread_main, thread) == 0);
    delay();
    return thread;
}

void ex_join(ex_thread *thread)
{
    test_check(pthread_join(thread->id, NULL) == 0);
    free(thread);
}

void ex_exit(void)
{
    pthread_exit(NULL);
}

bool ex_is_readable(int fd)
{
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};

    return poll(&descriptor, 1, 0) == 1;
}

void ex_fail(const char *file, int line, const char *what)
{
    test_die(file, line, what);
}

/* -- Rounds ---------------------------------------------------------------------------------- */

static void run_once(void *arg)
{
    const ex_scenario *scenario = arg;

    scenario->run();
}

static void refuse(bool some)
{
    test_memory_fail_at(some ? random_below(REQUESTS) : 0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_START, some ? random_below(REQUESTS) : 0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, some ? random_below(REQUESTS) : 0, false);
    rota__fault_arm(ROTA__FAULT_EVENT, some ? random_below(REQUESTS) : 0, false);
}

/* A worker may still be ending when its pool has been closed. */
static void check_memory(void)
{
    rota_ns until = rota_now() + ROTA_SEC(FREED_IN);

    rota__blocks_flush();
    while (test_memory_live() > 0) {
        test_check(rota_now() < until && "all memory was freed");
        sched_yield();
        rota__blocks_flush();
    }
}

static void run_for(ex_scenario *scenario, rota_ns planned)
{
    rota_ns until = rota_now() + planned;
    unsigned long rounds = 0;

    test_random_start(random_of_this_thread(), test_seed());
    do {
        if (scenario->faults)
            refuse(true);
        ex_join(ex_start(run_once, scenario));
        if (scenario->faults)
            refuse(false);
        check_memory();
        rounds++;
    } while (rota_now() < until);
    printf("ok   %-70s %7lu rounds\n", scenario->name, rounds);
}

/* -- Processes ------------------------------------------------------------------------------- */

static volatile sig_atomic_t hangs;
static volatile pid_t child;

static void end_child(int signal)
{
    (void)signal;
    hangs = 1;
    kill(child, SIGKILL);
}

static bool passes(ex_scenario *scenario, rota_ns planned)
{
    int status;

    fflush(stdout);
    child = fork();
    test_check(child >= 0);
    if (child == 0) {
        run_for(scenario, planned);
        exit(0);
    }
    alarm(HANGS_AFTER + (unsigned)(planned / ROTA_SEC(1)));
    while (waitpid(child, &status, 0) != child)
        test_check(errno == EINTR);
    alarm(0);
    if (hangs)
        printf("BAD  %s hung\n", scenario->name);
    else if (WIFSIGNALED(status))
        printf("BAD  %s ended by signal %d\n", scenario->name, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        printf("BAD  %s ended with status %d\n", scenario->name, WEXITSTATUS(status));
    hangs = 0;
    return status == 0;
}

/* native [SECONDS [NAME...]]: runs the scenarios whose names contain a NAME, or all. */
int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : TEST_IS_SLOW ? 0.2 : 0.07;
    unsigned count = 0, failed = 0;

    signal(SIGALRM, end_child);
    test_memory_install();
    printf("ROTA_SEED=%llu\n", (unsigned long long)test_seed());
    for (ex_scenario *scenario = scenarios; scenario != NULL; scenario = scenario->next) {
        bool is_wanted = argc <= 2;
        for (int i = 2; i < argc; i++)
            is_wanted |= strstr(scenario->name, argv[i]) != NULL;
        if (!is_wanted)
            continue;
        count++;
        failed += !passes(scenario, (rota_ns)(seconds * 1e9));
    }
    printf("%u scenarios, %u failed\n", count, failed);
    return failed > 0 || count == 0;
}
