/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "rota_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ROTA_COVERAGE
#include <gcov.h>
#include <signal.h>
#include <sys/syscall.h>

/* In place of the C library's: what a process has reached counts, however it ends. */
void _exit(int status)
{
    __gcov_dump();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

void abort(void)
{
    sigset_t set;

    __gcov_dump();
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* workers block all */
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    _exit(1);
}

/* A child begins with nothing, as its parent's other threads were in the midst of something. */
static pid_t fork_process(void)
{
    __gcov_dump();
    __gcov_reset();
    return fork();
}
#else
static pid_t fork_process(void)
{
    return fork();
}
#endif

static _Noreturn void child_main(void (*body)(void *arg), void *arg)
{
    const struct rlimit no_core = {0, 0};
    int nowhere = open("/dev/null", O_WRONLY);

    setrlimit(RLIMIT_CORE, &no_core);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* else a failed assertion jumps into the parent's tests */
    body(arg);
    _exit(0);
}

int test_in_child(void (*body)(void *arg), void *arg)
{
    pid_t child = fork_process();
    int status = 0;

    if (child == 0)
        child_main(body, arg);
    if (child < 0)
        test_die(__FILE__, __LINE__, "a process could not be started");
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            test_die(__FILE__, __LINE__, "a process was lost");
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void test_fork_and_return(int *status)
{
    pid_t child;

    fflush(NULL); /* else both write what was printed before */
    child = fork_process();
    if (child < 0)
        test_die(__FILE__, __LINE__, "a process could not be started");
    if (child > 0 && waitpid(child, status, 0) != child)
        test_die(__FILE__, __LINE__, "a process was lost");
}
