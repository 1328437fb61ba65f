/* SPDX-License-Identifier: MIT */
/*
 * libuv.c - libuv's uv_queue_work: a pool without a bound, one for the process, as large as
 * UV_THREADPOOL_SIZE in the environment says. One thread submits, and runs the loop that tells it
 * what is done.
 */
#include "peer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <uv.h>

struct work {
    uv_work_t request;
    task *run;
    void *arg;
    void *result;
    bool kept; /* it has a future: this */
    bool done;
};

static void run_work(uv_work_t *request)
{
    struct work *work = (struct work *)request;

    work->result = work->run(work->arg);
}

static void after_work(uv_work_t *request, int status)
{
    struct work *work = (struct work *)request;

    (void)status;
    work->done = true;
    if (!work->kept)
        free(work);
}

void *peer_make(const char *kind, unsigned threads, size_t capacity)
{
    const char *size = getenv("UV_THREADPOOL_SIZE");
    uv_loop_t *loop = malloc(sizeof *loop);

    (void)kind;
    if (capacity != UNBOUNDED || size == NULL || strtoul(size, NULL, 10) != threads) {
        free(loop);
        return NULL;
    }
    if (loop == NULL || uv_loop_init(loop) != 0)
        abort();
    return loop;
}

void peer_free(void *pool)
{
    peer_finish(pool);
    if (uv_loop_close(pool) != 0)
        abort();
    free(pool);
}

static struct work *queue(void *pool, task *run, void *arg, bool kept)
{
    struct work *work = malloc(sizeof *work);

    if (work == NULL)
        abort();
    work->run = run;
    work->arg = arg;
    work->kept = kept;
    work->done = false;
    if (uv_queue_work(pool, &work->request, run_work, after_work) != 0)
        abort();
    return work;
}

void peer_execute(void *pool, task *run, void *arg)
{
    queue(pool, run, arg, false);
}

void *peer_submit(void *pool, task *run, void *arg)
{
    return queue(pool, run, arg, true);
}

void *peer_get(void *pool, void *future)
{
    struct work *work = future;

    while (!work->done)
        uv_run(pool, UV_RUN_ONCE);
    void *result = work->result;
    free(work);
    return result;
}

void peer_finish(void *pool)
{
    uv_run(pool, UV_RUN_DEFAULT);
}
