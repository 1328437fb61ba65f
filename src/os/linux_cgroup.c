/* SPDX-License-Identifier: MIT */
/*
 * linux_cgroup.c - reads the CPU quota of this process from /proc and the control group file
 * systems.
 *
 * /proc/self/cgroup names the process's group in each hierarchy. /proc/self/mountinfo says where a
 * hierarchy is mounted, and which of its groups is the root of the mount. A quota holds for all
 * groups below it, so every directory from the group up to the mount point is read. Text that is
 * malformed, or too long, sets no limit.
 *
 * Nothing is allocated, because this may run before rota_set_allocator.
 */
#define _GNU_SOURCE
#include "os/linux_cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 4096, PATH_SIZE = 4096 };

/* -- Lines of a file ------------------------------------------------------ */

struct reader {
    int fd;
    size_t begin, end; /* the text that was read and not returned yet */
    bool skipping;     /* the rest of a line that is too long is skipped */
    char text[LINE_SIZE];
};

static bool reader_open(struct reader *reader, const char *root, const char *name)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s%s", root, name);

    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    *reader = (struct reader){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    return reader->fd >= 0;
}

static bool reader_fill(struct reader *reader)
{
    memmove(reader->text, reader->text + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    if (reader->end == sizeof reader->text) { /* a line that does not fit */
        reader->end = 0;
        reader->skipping = true;
    }

    ssize_t got = read(reader->fd, reader->text + reader->end, sizeof reader->text - reader->end);
    if (got <= 0)
        return false;
    reader->end += (size_t)got;
    return true;
}

/* Returns the next line without its newline, or NULL. A last line without a newline is ignored. */
static char *reader_line(struct reader *reader)
{
    for (;;) {
        char *line = reader->text + reader->begin;
        char *newline = memchr(line, '\n', reader->end - reader->begin);

        if (newline == NULL) {
            if (!reader_fill(reader))
                return NULL;
            continue;
        }
        *newline = '\0';
        reader->begin = (size_t)(newline + 1 - reader->text);
        if (!reader->skipping)
            return line;
        reader->skipping = false;
    }
}

static bool read_first_line(const char *directory, const char *name, char *line, size_t size)
{
    struct reader reader;
    char *first;

    if (!reader_open(&reader, directory, name))
        return false;
    first = reader_line(&reader);
    bool fits = first != NULL && strlen(first) < size;
    if (fits)
        memcpy(line, first, strlen(first) + 1);
    close(reader.fd);
    return fits;
}

/* -- Quotas --------------------------------------------------------------- */

enum version { V1, V2 };

/* Converts microseconds of CPU time in a period to whole CPUs, rounded up. 0 means no limit. */
static unsigned whole_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long cpus = quota / period + (quota % period != 0);
    return cpus < UINT_MAX ? (unsigned)cpus : UINT_MAX;
}

/* "max 100000" or "150000 100000" */
static unsigned quota_v2(const char *directory)
{
    char line[64];
    char *rest;

    if (!read_first_line(directory, "/cpu.max", line, sizeof line))
        return 0;
    long long quota = strtoll(line, &rest, 10);
    if (rest == line)
        return 0;
    return whole_cpus(quota, strtoll(rest, NULL, 10));
}

static unsigned quota_v1(const char *directory)
{
    char quota[64];
    char period[64];

    if (!read_first_line(directory, "/cpu.cfs_quota_us", quota, sizeof quota)
        || !read_first_line(directory, "/cpu.cfs_period_us", period, sizeof period))
        return 0;
    return whole_cpus(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

static unsigned least(unsigned a, unsigned b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

/* Returns the least quota from `directory` up to the mount point, which is its first `top`
   bytes. */
static unsigned least_quota(char *directory, size_t top, enum version version)
{
    unsigned cpus = 0;

    for (;;) {
        cpus = least(cpus, version == V2 ? quota_v2(directory) : quota_v1(directory));
        char *slash = strrchr(directory, '/');
        if (strlen(directory) <= top || slash == NULL)
            return cpus;
        *slash = '\0';
    }
}

/* -- Where the groups are ------------------------------------------------- */

/* Returns true if `word` is one of the comma-separated words of `list`. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Finds the group of this process, as a path from the root of the hierarchy. */
static bool find_group(const char *root, enum version version, char *group)
{
    struct reader reader;
    bool found = false;
    char *line;

    if (!reader_open(&reader, root, "/proc/self/cgroup"))
        return false;
    while (!found && (line = reader_line(&reader)) != NULL) { /* hierarchy:controllers:path */
        char *hierarchy = strsep(&line, ":");
        char *controllers = strsep(&line, ":");
        if (line == NULL || strlen(line) >= PATH_SIZE)
            continue;
        found = version == V2 ? strcmp(hierarchy, "0") == 0 && *controllers == '\0'
                              : has_word(controllers, "cpu");
        if (found)
            memcpy(group, line, strlen(line) + 1);
    }
    close(reader.fd);
    return found;
}

/* Replaces the escapes of mountinfo, such as \040, in place. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++, to++) {
        bool escaped = from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0'
                       && from[2] <= '7' && from[3] >= '0' && from[3] <= '7';
        *to =
            escaped ? (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0')) : *from;
        from += escaped ? 3 : 0;
    }
    *to = '\0';
}

struct mount {
    char *root;  /* the group at the top of the mount */
    char *point; /* the directory */
};

/* id parent device root point options [tags...] - type source options */
static bool parse_mount(char *line, enum version version, struct mount *mount)
{
    char *tail = strstr(line, " - ");

    if (tail == NULL)
        return false;
    *tail = '\0';
    tail += 3;
    char *type = strsep(&tail, " ");
    strsep(&tail, " "); /* the source is not needed */
    if (strcmp(type, version == V2 ? "cgroup2" : "cgroup") != 0)
        return false;
    if (version == V1 && (tail == NULL || !has_word(tail, "cpu")))
        return false;

    for (int i = 0; i < 3; i++)
        strsep(&line, " ");
    mount->root = strsep(&line, " ");
    mount->point = strsep(&line, " ");
    if (mount->root == NULL || mount->point == NULL)
        return false;
    unescape(mount->root);
    unescape(mount->point);
    return true;
}

/* Returns the part of `group` that is below the root of the mount. */
static const char *below(const char *group, const char *mount_root)
{
    size_t length = strlen(mount_root);

    if (strcmp(mount_root, "/") == 0)
        return strcmp(group, "/") == 0 ? "" : group;
    if (strncmp(group, mount_root, length) == 0 && (group[length] == '/' || group[length] == '\0'))
        return group + length;
    return ""; /* the group is not visible: use the top of the mount */
}

static unsigned quota_of_mount(const char *root, const struct mount *mount, const char *group,
                               enum version version)
{
    char directory[PATH_SIZE];
    size_t top = strlen(root) + strlen(mount->point);
    int length = snprintf(directory, sizeof directory, "%s%s%s", root, mount->point,
                          below(group, mount->root));

    if (length < 0 || (size_t)length >= sizeof directory)
        return 0;
    return least_quota(directory, top, version);
}

static unsigned cpus_of_version(const char *root, enum version version)
{
    char group[PATH_SIZE];
    struct reader reader;
    struct mount mount;
    unsigned cpus = 0;
    char *line;

    if (!find_group(root, version, group) || !reader_open(&reader, root, "/proc/self/mountinfo"))
        return 0;
    while ((line = reader_line(&reader)) != NULL) {
        if (parse_mount(line, version, &mount))
            cpus = least(cpus, quota_of_mount(root, &mount, group, version));
    }
    close(reader.fd);
    return cpus;
}

unsigned rota__cgroup_cpus(const char *root)
{
    return least(cpus_of_version(root, V2), cpus_of_version(root, V1));
}
