/* SPDX-License-Identifier: MIT */
/*
 * observing.h - tests of what is observed: it is on in them, and afterwards all memory is back.
 */
#ifndef ROTA_TEST_OBSERVING_H
#define ROTA_TEST_OBSERVING_H

#include "observe/observe_internal.h"
#include "pools.h"
#include "rota_test_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline int observing_before(void **state)
{
    return rota_observe(true);
}

/* What was there: modes are off, and threads have no records. */
static inline int observing_after(void **state)
{
    int status = rota_observe(false) + rota_watchdog_stop() + rota_recorder_stop();

    rota__observe_forget();
    return status;
}

/* The same with the virtual clock. */
static inline int observing_before_in_time(void **state)
{
    test_clock_install();
    return observing_before(state);
}

static inline int observing_after_in_time(void **state)
{
    int status = observing_after(state);

    test_clock_remove();
    return status;
}

static inline rota_figures observing_figures(rota_executor *ex)
{
    rota_figures figures;

    assert_ok(rota_figures_get(ex, &figures));
    return figures;
}

/* A pool of one thread, and a task in it, which has run. */
static inline rota_executor *observing_pool(void)
{
    return test_pool((rota_pool_options){.core_threads = 1});
}

static inline void observing_run(rota_executor *pool, const char *name)
{
    static atomic_uint runs;
    const rota_call call = {.fn = test_count, .arg = &runs, .name = name};
    uint64_t before = test_stats(pool).completed;

    test_check(rota_submit_call(pool, &call, NULL) == ROTA_OK);
    test_await_completed(pool, before + 1);
}

/* -- By the names of tasks ------------------------------------------------------------------- */

typedef struct observing_search {
    const char *name;
    rota_task_figures found; /* the name is NULL: none */
    unsigned visited;
} observing_search;

static inline bool observing_compare(const rota_task_figures *figures, void *arg)
{
    observing_search *search = arg;

    search->visited++;
    if (strcmp(figures->name, search->name) == 0)
        search->found = *figures;
    return true;
}

/* Those of one name, which need not be there. */
static inline rota_task_figures observing_task(rota_executor *ex, const char *name)
{
    observing_search search = {.name = name};

    assert_ok(rota_figures_by_task(ex, observing_compare, &search));
    return search.found;
}

/* -- Texts ----------------------------------------------------------------------------------- */

/* On a descriptor that is full, on a full disk, or not to be written to. */
static inline void observing_refused(int (*write_to)(int fd), int fd, int error)
{
    errno = 0;
    assert_status(write_to(fd), ROTA_EIO);
    assert_int_equal(errno, error);
}

static inline void observing_takes_nothing(int (*write_to)(int fd), int (*print)(FILE *file))
{
    FILE *full = fopen("/dev/full", "w");
    char rubbish[4096] = "";
    int ends[2];

    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], rubbish, sizeof rubbish) > 0)
        continue;
    observing_refused(write_to, ends[1], EAGAIN);
    observing_refused(write_to, ends[0], EBADF); /* which is for reading */
    close(ends[0]);
    close(ends[1]);
    if (full == NULL)
        return;
    observing_refused(write_to, fileno(full), ENOSPC);
    errno = 0;
    assert_status(print(full), ROTA_EIO);
    assert_int_equal(errno, ENOSPC);
    fclose(full);
}

/* What is printed, to be freed. */
static inline char *observing_printed(int (*print)(FILE *file))
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    assert_ok(print(file));
    assert_int_equal(fclose(file), 0);
    return text;
}

static inline unsigned observing_occurs(const char *text, const char *part)
{
    unsigned count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

#endif
