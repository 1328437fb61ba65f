/* SPDX-License-Identifier: MIT */
/*
 * linux_cgroup.h - how many CPUs the control groups of this process allow.
 */
#ifndef ROTA_OS_LINUX_CGROUP_H
#define ROTA_OS_LINUX_CGROUP_H

/*
 * The least quota of the process's group and of every group above it, in whole
 * CPUs rounded up; version 2, version 1 or both. 0: no limit, or none that can
 * be read. `root` goes before "/proc" and "/sys": "" but in tests.
 */
unsigned rota__cgroup_cpus(const char *root);

#endif
