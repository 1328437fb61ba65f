/* SPDX-License-Identifier: MIT */
#include "rota_test_internal.h"

#include "os/linux_cgroup.h"

enum { PARKED = 1 }; /* as in base/wait.c */

bool test_is_parked(rota_thread *thread)
{
    return rota__load_acquire(&thread->permit) == PARKED;
}

static bool is_parked(void *arg)
{
    return test_is_parked(arg);
}

void test_await_parked(rota_thread *thread)
{
    test_until(is_parked, thread);
}

/* Only linux.c brings this along. */
extern __typeof__(rota__cgroup_cpus) rota__cgroup_cpus __attribute__((weak));

bool test_is_linux(void)
{
    return rota__cgroup_cpus != NULL;
}
