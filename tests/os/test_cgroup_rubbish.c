/* SPDX-License-Identifier: MIT */
/*
 * Control groups as nobody should write them: what is not understood, or does not fit, sets no
 * limit, and nothing in such a file may crash.
 */
#include "cgroup_tree.h"

TEST_FIXTURE(.setup = make_root, .teardown = remove_root);

/* None of the files has to be there. */
TEST(missing_files_set_no_limit)
{
    assert_cpus(0);
    put("/proc/self/cgroup", "0::/app\n");
    assert_cpus(0);
    put("/proc/self/mountinfo", OTHERS);
    assert_cpus(0);
    put_v2("/app");
    assert_cpus(0);
}

/* FAULT-08: a quota is two positive numbers, or no limit. */
TEST(rubbish_as_a_quota_sets_no_limit)
{
    static const char *const texts[] = {
        "",
        "\n",
        " \n",
        "max\n",
        "maximum 5\n",
        "100000\n",
        "100000 max\n",
        "100000 0\n",
        "0 100000\n",
        "-1 100000\n",
        "100000 -100000\n",
        "one two\n",
        "\xff\xfe 1\n",
        "- -\n",
        "1e5x\n",
    };

    put_v2("/app");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        put("/sys/fs/cgroup/app/cpu.max", texts[i]);
        assert_cpus(0);
    }
    put_bytes("/sys/fs/cgroup/app/cpu.max", "\0\0\0 100000\n", 11);
    assert_cpus(0);
}

/* FAULT-08: more CPUs than an unsigned can count are as many as it can. */
TEST(huge_numbers_do_not_wrap)
{
    put_v2("/app");
    put("/sys/fs/cgroup/app/cpu.max", "9223372036854775807 1\n");
    assert_cpus(UINT32_MAX);
    put("/sys/fs/cgroup/app/cpu.max", "99999999999999999999999999 1\n");
    assert_cpus(UINT32_MAX);
    put("/sys/fs/cgroup/app/cpu.max", "4294967296 1\n");
    assert_cpus(UINT32_MAX);
    put("/sys/fs/cgroup/app/cpu.max", "100000 99999999999999999999999999\n");
    assert_cpus(1);
}

/* FAULT-08: without a group or a mount that can be understood there is nothing to look for. */
TEST(rubbish_in_proc_sets_no_limit)
{
    static const char *const groups[] = {"",         "\n",        ":\n",       "::\n", ":::\n",
                                         "0\n",      "0:\n",      "0:/a\n",    "x",    "0::\n",
                                         "0::app\n", "1::/app\n", "cpu:/app\n"};
    static const char *const mounts[] = {
        "",
        "\n",
        " - \n",
        " - cgroup2\n",
        "- cgroup2 a b\n",
        "a b - cgroup2 cgroup2 rw\n",
        "30 23 0:26 / - cgroup2 cgroup2 rw\n",
        "30 23 0:26 - cgroup cgroup\n",
        "    - cgroup2 cgroup2 rw\n",
        "1 2 3 /  rw - cgroup2 a b\n",
        "1 2 3 a b rw - cgroup2 a b\n",
        "1 2 3 \\04 \\777\\ rw - cgroup2 a b\n",
    };

    put("/sys/fs/cgroup/app/cpu.max", "100000 100000\n");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        put_v2("/app");
        assert_cpus(1);
        put("/proc/self/cgroup", groups[i]);
        assert_cpus(0);
    }
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        put_v2("/app");
        assert_cpus(1);
        put("/proc/self/mountinfo", mounts[i]);
        assert_cpus(0);
    }
}

/* Paths without a slash, below a root without one: there is no way up. */
TEST(paths_that_are_not_absolute_set_no_limit)
{
    int here = open(".", O_RDONLY | O_DIRECTORY);

    put("/r/proc/self/cgroup", "0::app\n");
    put("/r/proc/self/mountinfo", "30 23 0:26 / x rw - cgroup2 cgroup2 rw\n");
    assert_int_equal(chdir(root), 0);
    unsigned cpus = rota__cgroup_cpus("r");
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_int_equal(cpus, 0);
}

/* FAULT-08: a line that does not fit is skipped, and the next one is read as ever. */
TEST(overlong_lines_are_skipped)
{
    static const size_t lengths[] = {4000, 4095, 4096, 4097, 8191, 8192, 8193, 20000};
    static char lines[32000];

    put_v2("/app");
    put("/sys/fs/cgroup/app/cpu.max", "200000 100000\n");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memset(lines, 'x', lengths[i]);
        lines[lengths[i]] = '\0';
        strcat(lines, "\n" MOUNT_V2);
        put("/proc/self/mountinfo", lines);
        assert_cpus(2);
        lines[lengths[i] + 1] = '\0'; /* nothing after it */
        put("/proc/self/mountinfo", lines);
        assert_cpus(0);
    }
}

/* FAULT-08: a group, a mount point or a root whose path is too long to be opened. */
TEST(overlong_paths_set_no_limit)
{
    char group[4090];
    char mount[5000];

    memset(group, 'g', sizeof group);
    group[0] = '/';
    group[sizeof group - 1] = '\0';
    put_v2(group);
    assert_cpus(0);
    put_v2("/app");
    snprintf(mount, sizeof mount, "30 23 0:26 / %.4050s rw - cgroup2 c rw\n", group);
    put("/proc/self/mountinfo", mount);
    assert_cpus(0);
    memset(mount, '/', sizeof mount);
    mount[sizeof mount - 1] = '\0';
    assert_int_equal(rota__cgroup_cpus(mount), 0);
}

BEFORE_TESTS
{
    return test_is_linux();
}
