/* SPDX-License-Identifier: MIT */
/*
 * A system that refuses what it usually gives: calls that a sandbox forbids, and keys that have run
 * out. Each test has a process of its own.
 */
#include "rota_test.h"

#include "os/os.h"

#include <limits.h>

static void no_key_is_left(void *arg)
{
    rota__os_exit_hook exit = {.run = NULL};
    pthread_key_t key;

    while (pthread_key_create(&key, NULL) == 0)
        continue;
    test_check(rota__os_on_thread_exit(&exit) == ROTA_ENOMEM);
    test_check(rota__os_on_thread_exit(&exit) == ROTA_ENOMEM);
}

static int status_without_keys;

/* The library takes its key when the first thread is watched, which is before the first test. */
BEFORE_TESTS
{
    status_without_keys = test_in_child(no_key_is_left, NULL);
    return true;
}

/* GEN-10 */
TEST(without_a_key_a_thread_is_not_watched)
{
    assert_int_equal(status_without_keys, 0);
}

#ifdef __linux__
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* From now on this process is told that there are no such calls. False: that cannot be done here. */
static bool forbid(uint32_t first, uint32_t second)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0
           && prctl(PR_SET_SECCOMP, (unsigned long)SECCOMP_MODE_FILTER, &program) == 0;
}

enum { NOT_HERE = 77 };

static void look_from_a_sandbox(void *arg)
{
    if (!forbid(SYS_sched_getaffinity, SYS_membarrier))
        exit(NOT_HERE);
    errno = E2BIG;
    test_check(rota__os_cpu_count() >= 1);
    test_check(!rota__os_membarrier());
    test_check(errno == E2BIG);
}

/* What it does not say is found out in another way, or done without. */
TEST(a_sandbox_may_forbid_to_ask_for_cpus_and_barriers)
{
    int status = test_in_child(look_from_a_sandbox, NULL);

    if (status == NOT_HERE)
        skip();
    assert_int_equal(status, 0);
}
#endif
