/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - between two rounds: memory, descriptors and threads are as they were at first (S6).
 */
#include "base/block.h"
#include "compose/compose_internal.h"
#include "forkjoin/forkjoin_internal.h" /* before the public header, which it adapts */

#include "soak.h"

#include <dirent.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <unistd.h>

static struct quiet first;

/* -- The common pool ---------------------------------------------------------------------- */

/* It keeps its workers, and their deques: blocks that it has beyond those at first. */
static size_t common_blocks(void)
{
    const rota__fj_pool *pool = rota__fj_common();
    size_t blocks = 0;

    for (uint32_t i = 0; i < rota__load_relaxed(&pool->made); i++) {
        rota__fj_worker *worker = rota__load_relaxed(&pool->workers[i]);
        blocks++;
        for (size_t chunk = 0; chunk < FJ_CHUNKS; chunk++)
            blocks += rota__load_relaxed(&worker->deque.chunks[chunk]) != NULL;
    }
    return blocks;
}

/* -- The process -------------------------------------------------------------------------- */

static size_t entries_in(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;
    const struct dirent *entry;

    test_check(folder != NULL);
    while ((entry = readdir(folder)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long size, resident = 0;

    test_check(file != NULL);
    test_check(fscanf(file, "%lu %lu", &size, &resident) == 2);
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* What malloc keeps for later is not in use. */
static void trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static struct quiet look(void)
{
    rota__blocks_flush();
    trim();
    return (struct quiet){
        .blocks = test_memory_live() - common_blocks(),
        .rss = resident_bytes(),
        .descriptors = entries_in("/proc/self/fd") - 1, /* less the folder itself */
        .threads = entries_in("/proc/self/task"),
    };
}

/* Threads that were joined are in the list for a moment longer, and those of the common pool until
   they have been idle for a while. */
static bool have_threads_left(void *arg)
{
    return entries_in("/proc/self/task") == first.threads;
}

static void do_nothing(void *arg)
{
}

void quiet_begin(void)
{
    test_thread_join(test_thread_start(do_nothing, NULL)); /* the thread sanitizer adds its own */
    rota__fj_common()->keep_alive = ROTA_MS(2);
    first = look();
}

struct quiet quiet_check(void)
{
    rota__timer_end(ROTA_FOREVER);
    test_until(have_threads_left, NULL);
    struct quiet now = look();
    if (now.blocks != first.blocks)
        fprintf(stderr, "%zu blocks in use at first, now %zu\n", first.blocks, now.blocks);
    test_check(now.blocks == first.blocks);
    test_check(now.descriptors == first.descriptors);
    return now;
}
