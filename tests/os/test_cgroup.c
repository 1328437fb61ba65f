/* SPDX-License-Identifier: MIT */
/*
 * The CPU quotas of control groups, read from file trees made up here.
 */
#include "cgroup_tree.h"

TEST_FIXTURE(.setup = make_root, .teardown = remove_root);

/* -- Version 2 ---------------------------------------------------------------------------- */

/* The quota and its period stand in one file, cpu.max. */
TEST(a_quota_of_version_2_is_read)
{
    put_v2("/app");
    put("/sys/fs/cgroup/app/cpu.max", "300000 100000\n");
    assert_cpus(3);
}

static void read_without_input(void *arg)
{
    (void)arg;
    test_check(close(STDIN_FILENO) == 0);
    test_check(rota__cgroup_cpus(root) == 3);
    test_check(fcntl(STDIN_FILENO, F_GETFD) < 0); /* nor is it left open */
}

/* Also where the first descriptor that is free is 0. */
TEST(a_quota_is_read_also_without_standard_input)
{
    put_v2("/app");
    put("/sys/fs/cgroup/app/cpu.max", "300000 100000\n");
    assert_int_equal(test_in_child(read_without_input, NULL), 0);
}

/* What was read before does not count. */
TEST(a_quota_that_is_gone_is_none)
{
    char path[128];

    a_quota_of_version_2_is_read(state);
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/app/cpu.max", root);
    assert_int_equal(unlink(path), 0);
    assert_cpus(0);
}

/* However many there are: lines are cut where what is read at once ends. */
TEST(the_mount_may_come_after_many_others)
{
    enum { MOST = 150 };
    char *mounts = calloc(MOST + 1, sizeof OTHERS + sizeof MOUNT_V2);

    assert_non_null(mounts);
    put_v2("/app");
    put("/sys/fs/cgroup/app/cpu.max", "300000 100000\n");
    for (size_t others = 0; others < MOST; others++) {
        strcat(strcpy(mounts + others * strlen(OTHERS), OTHERS), MOUNT_V2);
        put("/proc/self/mountinfo", mounts);
        assert_cpus(3);
    }
    free(mounts);
}

/* Rounded up, and never less than one; "max" is no limit. */
TEST(quotas_are_whole_cpus)
{
    static const struct {
        const char *text;
        unsigned cpus;
    } quotas[] = {
        {"max 100000\n", 0},      {"100000 100000\n", 1}, {"100001 100000\n", 2},
        {"150000 100000\n", 2},   {"50000 100000\n", 1},  {"1 100000\n", 1},
        {"1000000 1000000\n", 1}, {"250000 50000\n", 5},
    };

    put_v2("/app");
    for (size_t i = 0; i < sizeof quotas / sizeof quotas[0]; i++) {
        put("/sys/fs/cgroup/app/cpu.max", quotas[i].text);
        assert_cpus(quotas[i].cpus);
    }
}

/* A group cannot use more than any group above it. */
TEST(the_least_on_the_way_up_counts)
{
    put_v2("/a/b/c");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
    assert_cpus(8);
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_cpus(8);
    put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    assert_cpus(2);
    put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    assert_cpus(1);
    put("/sys/fs/cpu.max", "1 100000\n"); /* above the mount point: not a group */
    put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    assert_cpus(2);
}

/* The group itself may have no file, as the root has none. */
TEST(a_group_without_the_file_has_its_ancestors_quota)
{
    put_v2("/a/b");
    put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    assert_cpus(2);
    put_v2("/");
    assert_cpus(0);
    put("/sys/fs/cgroup/cpu.max", "500000 100000\n");
    assert_cpus(5);
}

/* -- Version 1 ---------------------------------------------------------------------------- */

/* They stand in two files; -1 is no limit. */
TEST(a_quota_of_version_1_is_read)
{
    put_v1("/app");
    put("/sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "250000\n");
    assert_cpus(0); /* a quota of what? */
    put("/sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
    assert_cpus(3);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_cpus(3);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    assert_cpus(1);
}

/* A controller's name counts as a whole: cpuset and cpuacct are not cpu. */
TEST(other_controllers_are_not_taken_for_cpu)
{
    put("/proc/self/cgroup", "4:cpuset:/app\n5:xcpu,cpuacct:/app\n");
    put("/proc/self/mountinfo",
        MOUNT_V1 "36 30 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
    put("/sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/app/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/app/cpu.cfs_period_us", "100000\n");
    assert_cpus(0);
    put("/proc/self/cgroup", "5:cpuacct,cpu:/app\n");
    put("/proc/self/mountinfo",
        "36 30 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
    assert_cpus(0);
    put("/proc/self/mountinfo", MOUNT_V1);
    assert_cpus(1);
}

/* Both may be mounted, with a quota in either. */
TEST(the_least_of_both_versions_counts)
{
    put("/proc/self/cgroup", "3:cpu,cpuacct:/old\n0::/new\n");
    put("/proc/self/mountinfo", OTHERS MOUNT_V1 MOUNT_V2);
    put("/sys/fs/cgroup/new/cpu.max", "400000 100000\n");
    assert_cpus(4);
    put("/sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "200000\n");
    put("/sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "100000\n");
    assert_cpus(2);
    put("/sys/fs/cgroup/new/cpu.max", "100000 100000\n");
    assert_cpus(1);
}

/* -- Mounts ------------------------------------------------------------------------------- */

/* A container sees its own group as the top of the mount. */
TEST(a_mount_may_show_a_part_of_the_groups)
{
    put("/proc/self/cgroup", "0::/docker/c1/app\n");
    put("/proc/self/mountinfo", "30 23 0:26 /docker/c1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/app/cpu.max", "400000 100000\n");
    assert_cpus(4);
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_cpus(2);
    put("/proc/self/cgroup", "0::/docker/c1\n");
    assert_cpus(2);
    put("/proc/self/cgroup", "0::/docker/c10\n"); /* not below: the top is the nearest */
    put("/sys/fs/cgroup/0/cpu.max", "100000 100000\n");
    assert_cpus(2);
    put("/proc/self/cgroup", "0::/../other\n");
    assert_cpus(2);
}

/* /proc writes them, and backslashes, as octal numbers. */
TEST(a_mount_point_may_have_spaces)
{
    put("/proc/self/cgroup", "0::/my app\n");
    put("/proc/self/mountinfo", "30 23 0:26 / /my\\040groups\\134x rw - cgroup2 cgroup2 rw\n");
    put("/my groups\\x/my app/cpu.max", "300000 100000\n");
    assert_cpus(3);
}

BEFORE_TESTS
{
    return test_is_linux();
}
