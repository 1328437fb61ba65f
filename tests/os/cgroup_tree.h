/* SPDX-License-Identifier: MIT */
/*
 * cgroup_tree.h - a directory that stands for the root, with /proc and control groups in it.
 */
#ifndef ROTA_TEST_CGROUP_TREE_H
#define ROTA_TEST_CGROUP_TREE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rota_test_internal.h"

#include "os/linux_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not there where posix.c is the platform. */
extern __typeof__(rota__cgroup_cpus) rota__cgroup_cpus __attribute__((weak));

static char root[64];

static inline int make_root(void **state)
{
    strcpy(root, "/tmp/rota-cgroup-XXXXXX");
    return mkdtemp(root) != NULL ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline int remove_root(void **state)
{
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, with the directories above it. */
static inline void put_bytes(const char *name, const char *text, size_t length)
{
    char path[8192];

    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
}

static inline void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

#define MOUNT_V2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_V1 "35 30 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
#define OTHERS                                                         \
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"                   \
    "23 22 0:22 / /sys rw,nosuid shared:7 master:2 - sysfs sysfs rw\n" \
    "36 30 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"

static inline void put_v2(const char *group)
{
    char line[6000];

    snprintf(line, sizeof line, "0::%s\n", group);
    put("/proc/self/cgroup", line);
    put("/proc/self/mountinfo", OTHERS MOUNT_V2);
}

static inline void put_v1(const char *group)
{
    char lines[6000];

    snprintf(lines, sizeof lines, "9:memory:/elsewhere\n4:cpuset:/no\n3:cpu,cpuacct:%s\n", group);
    put("/proc/self/cgroup", lines);
    put("/proc/self/mountinfo", OTHERS MOUNT_V1);
}

#define assert_cpus(expected) assert_int_equal(rota__cgroup_cpus(root), expected)

#endif
