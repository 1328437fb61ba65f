/* SPDX-License-Identifier: MIT */
/*
 * linux_cgroup.h - how many CPUs the control groups of this process allow.
 */
#ifndef ROTA_OS_LINUX_CGROUP_H
#define ROTA_OS_LINUX_CGROUP_H

/*
 * Returns the least quota of the process's group and of every group above it, in whole CPUs,
 * rounded up. It reads version 2 and version 1 of control groups. 0 means that there is no limit,
 * or none that can be read. `root` is a prefix for "/proc" and "/sys", and is "" outside of tests.
 */
unsigned rota__cgroup_cpus(const char *root);

#endif
