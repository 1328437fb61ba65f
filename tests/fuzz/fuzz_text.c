/* SPDX-License-Identifier: MIT */
/*
 * fuzz_text.c - a fuzzer's bytes are text that the library reads: names of threads, an environment
 * variable, and files about control groups, as rubbish and as a tree of which the answer is known.
 */
#define _GNU_SOURCE
#include "forkjoin/forkjoin_internal.h"
#include "os/linux_cgroup.h"
#include "workers/workers_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <rota/rota.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define check(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *what)
{
    fprintf(stderr, "FOUND: fuzz_text.c:%d: not so: %s\n", line, what);
    abort();
}

/* `size` bytes as a string, `times` over. */
static char *string_of(const uint8_t *data, size_t size, size_t times)
{
    char *text = malloc(size * times + 1);

    if (text == NULL)
        abort();
    for (size_t i = 0; i < times; i++)
        memcpy(text + i * size, data, size);
    text[size * times] = '\0';
    return text;
}

/* -- Files ----------------------------------------------------------------------------------- */

/* The linker puts __wrap_open in the place of open, and so on: while the control groups are read, from these files. */
enum { FILES = 40, PATH = 128, FIRST_FD = 1 << 20 };

typedef struct file {
    char path[PATH]; /* or how it ends, if it begins with '*' */
    const char *text;
    size_t size;
    size_t offset;
    bool is_open;
} file;

static file files[FILES];
static unsigned file_count;
static size_t most_at_once; /* that a read gives */
static bool is_reading;

int __real_open(const char *path, int flags, mode_t mode);
ssize_t __real_read(int fd, void *to, size_t size);
int __real_close(int fd);
int __wrap_open(const char *path, int flags, mode_t mode);
ssize_t __wrap_read(int fd, void *to, size_t size);
int __wrap_close(int fd);

static void add_file(const char *path, const char *text, size_t size)
{
    if (file_count == FILES)
        return;
    file *file = &files[file_count++];
    snprintf(file->path, sizeof file->path, "%s", path);
    file->text = text;
    file->size = size;
    file->is_open = false;
}

static bool is_at(const file *file, const char *path)
{
    size_t length = strlen(path);
    size_t end = strlen(file->path) - 1;

    if (file->path[0] != '*')
        return strcmp(file->path, path) == 0;
    return length >= end && strcmp(path + length - end, file->path + 1) == 0;
}

int __wrap_open(const char *path, int flags, mode_t mode)
{
    if (!is_reading)
        return __real_open(path, flags, mode);
    for (unsigned i = 0; i < file_count; i++) {
        if (is_at(&files[i], path)) {
            check(!files[i].is_open);
            files[i].is_open = true;
            files[i].offset = 0;
            return FIRST_FD + (int)i;
        }
    }
    return -1;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    if (fd < FIRST_FD)
        return __real_read(fd, to, size);
    file *file = &files[fd - FIRST_FD];
    size_t left = file->size - file->offset;

    check(file->is_open);
    if (size > most_at_once)
        size = most_at_once;
    if (size > left)
        size = left;
    memcpy(to, file->text + file->offset, size);
    file->offset += size;
    return (ssize_t)size;
}

int __wrap_close(int fd)
{
    if (fd < FIRST_FD)
        return __real_close(fd);
    check(files[fd - FIRST_FD].is_open);
    files[fd - FIRST_FD].is_open = false;
    return 0;
}

/* The answer does not depend on how the files are read. */
static unsigned cpus(void)
{
    is_reading = true;
    most_at_once = SIZE_MAX;
    unsigned answer = rota__cgroup_cpus("");

    for (most_at_once = 1; most_at_once < 5000; most_at_once = most_at_once * 7 + 3)
        check(rota__cgroup_cpus("") == answer);
    is_reading = false;
    for (unsigned i = 0; i < file_count; i++)
        check(!files[i].is_open);
    file_count = 0;
    return answer;
}

/* -- Control groups: rubbish ----------------------------------------------------------------- */

/* Up to the next 0xff, which is skipped. */
static size_t part(const uint8_t **data, size_t *size, const char **text)
{
    const uint8_t *end = *size > 0 ? memchr(*data, 0xff, *size) : NULL;
    size_t length = end != NULL ? (size_t)(end - *data) : *size;
    size_t used = length + (end != NULL);

    *text = (const char *)*data;
    *data += used;
    *size -= used;
    return length;
}

static void read_rubbish(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"/proc/self/cgroup", "/proc/self/mountinfo", "*/cpu.max",
                                        "*/cpu.cfs_quota_us", "*/cpu.cfs_period_us"};

    for (int i = 0; i < 5; i++) {
        const char *text;
        size_t length = part(&data, &size, &text);
        add_file(paths[i], text, length);
    }
    cpus();
}

/* The same in a tree that is as it should be. */
static void read_quota(const uint8_t *data, size_t size)
{
    static const char group[] = "0::/a/b\n";
    static const char mount[] = "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n";

    add_file("/proc/self/cgroup", group, strlen(group));
    add_file("/proc/self/mountinfo", mount, strlen(mount));
    add_file("/cg/a/cpu.max", (const char *)data, size);
    cpus();
}

/* -- Control groups: trees ------------------------------------------------------------------- */

enum { LEVELS = 6 };

static unsigned least(unsigned a, unsigned b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* A quota for the group at `path`; how many CPUs that is, 0: all. */
static unsigned add_quota(const char *path, bool is_v1, uint8_t byte, char *text, size_t size)
{
    unsigned quota = byte % 32 * 50000; /* 0: none */
    const unsigned period = 100000;
    char name[PATH + 20];

    if (byte >= 224)
        return 0; /* the file is not there */
    if (is_v1) {
        snprintf(text, size, "%d\n", quota > 0 ? (int)quota : -1);
        snprintf(name, sizeof name, "%s/cpu.cfs_quota_us", path);
    } else {
        snprintf(text, size, quota > 0 ? "%u %u\n" : "max %u\n", quota > 0 ? quota : period,
                 period);
        snprintf(name, sizeof name, "%s/cpu.max", path);
    }
    add_file(name, text, strlen(text));
    return (quota + period - 1) / period;
}

/*
 * byte 0   version, and whether the mount shows a part of the hierarchy only
 * byte 1   how deep the process is
 * then     the quota of each level
 */
static void read_tree(const uint8_t *data, size_t size)
{
    static char texts[LEVELS][32];
    bool is_v1 = size > 0 && data[0] % 2;
    bool is_part = size > 0 && data[0] & 2;
    unsigned depth = size > 1 ? data[1] % LEVELS : 0;
    char path[PATH] = "/m t";
    char group[PATH] = "";
    char lines[2][2 * PATH];
    unsigned expected = 0;

    for (unsigned i = 0; i <= depth && i < LEVELS; i++) {
        if (i > 0) {
            snprintf(path + strlen(path), sizeof path - strlen(path), "/g%u", i);
            snprintf(group + strlen(group), sizeof group - strlen(group), "/g%u", i);
        }
        uint8_t byte = i + 2 < size ? data[i + 2] : 255;
        expected = least(expected, add_quota(path, is_v1, byte, texts[i], sizeof texts[i]));
    }
    snprintf(lines[0], sizeof lines[0], "5:memory:/no\n%s:%s%s\n",
             is_v1 ? "3:cpuacct,cpu" : "0:", is_part ? "/up" : "",
             group[0] != '\0' || is_part ? group : "/");
    snprintf(lines[1], sizeof lines[1], "1 2 3:4 %s /m\\040t rw - %s rw\n", is_part ? "/up" : "/",
             is_v1 ? "cgroup cgroup x,cpu," : "cgroup2 none");
    add_file("/proc/self/cgroup", lines[0], strlen(lines[0]));
    add_file("/proc/self/mountinfo", lines[1], strlen(lines[1]));
    add_file("*/cpu.cfs_period_us", "100000\n", 7);
    check(cpus() == expected);
}

/* -- The environment ------------------------------------------------------------------------- */

static void read_environment(const uint8_t *data, size_t size)
{
    char *text = string_of(data, size, 1);
    size_t digits = strspn(text, "0123456789");
    const unsigned usual = 40000;
    unsigned value = 0;

    for (size_t i = 0; i < digits && value <= 32767; i++)
        value = value * 10 + (unsigned)(text[i] - '0');
    bool is_good = digits > 0 && text[digits] == '\0' && value <= 32767;
    check(rota__parse_parallelism(text, usual) == (is_good ? value : usual));
    free(text);
}

/* -- Names of threads ------------------------------------------------------------------------ */

static void check_name(const char *pattern, uint64_t number)
{
    const char *where = strstr(pattern, "%u");
    size_t before = where != NULL ? (size_t)(where - pattern) : strlen(pattern);
    char digits[24] = "";
    char name[16];
    size_t size = strlen(pattern) + sizeof digits;
    char *expected = malloc(size);

    if (expected == NULL)
        abort();
    if (where != NULL)
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    memcpy(expected, pattern, before);
    snprintf(expected + before, size - before, "%s%s", digits, where != NULL ? where + 2 : "");
    rota__format_thread_name(name, sizeof name, pattern, number);
    check(strlen(name) == (strlen(expected) < 15 ? strlen(expected) : 15));
    check(strncmp(name, expected, strlen(name)) == 0);
    free(expected);
}

static void check_description(rota_executor *pool, size_t size)
{
    char whole[512];
    char some[512];
    int length = rota_executor_describe(pool, whole, sizeof whole);

    size %= sizeof some;
    check(length > 0 && strlen(whole) == (size_t)length);
    check(rota_executor_describe(pool, some, size) == length);
    if (size > 0)
        check(strlen(some) < size && strncmp(some, whole, strlen(some)) == 0);
}

/* As long as a megabyte, if the first byte says so. */
static void read_name(const uint8_t *data, size_t size)
{
    size_t times = size > 1 && data[0] == 'M' ? (1 << 20) / size : 1;
    char *name = string_of(data, size, times);
    const char *percent = strchr(name, '%');
    bool is_good = percent == NULL || (percent[1] == 'u' && strchr(percent + 1, '%') == NULL);
    rota_pool_options options = {.core_threads = 1, .threads = {.name = name}};
    rota_executor *pool = NULL;

    check(rota_pool_new(&options, &pool) == (is_good ? ROTA_OK : ROTA_EINVAL));
    if (is_good) {
        check_name(name, size);
        check_name(name, UINT64_MAX);
        check(rota_pool_options_get(pool, &options) == ROTA_OK);
        check(options.threads.name != name && strcmp(options.threads.name, name) == 0);
        check_description(pool, size > 0 ? data[0] * 2U : 0);
        check(rota_close(pool) == ROTA_OK);
    }
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *data, size_t size) = {
        read_rubbish, read_quota, read_tree, read_environment, read_name};

    if (size == 0)
        return 0;
    readers[data[0] % 5](data + 1, size - 1);
    return 0;
}
