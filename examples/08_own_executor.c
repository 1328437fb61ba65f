/* SPDX-License-Identifier: MIT */
/*
 * 08_own_executor.c - an executor of one's own: tasks that run in the main thread's loop
 *
 * As a window's drawing must: a pool computes, and what follows is passed to the loop.
 */
#include <pthread.h>
#include <rota/rota.h>
#include <stdio.h>

enum { PICTURES = 5 };

static pthread_t main_thread;
static int shown;

/* All that it takes to be submitted to like any executor. Another loop would be woken here. */
static int execute(void *loop, rota_task *task)
{
    return rota_queue_offer(loop, task); /* ROTA_OK: taken; else the submitter is told */
}

static void *decode(void *picture)
{
    *(int *)picture *= 100;
    return picture;
}

static void *show(void *picture, void *arg)
{
    (void)arg;
    if (pthread_equal(pthread_self(), main_thread)) {
        printf("  picture %d, shown by the main thread\n", *(int *)picture);
        shown++;
    }
    return picture;
}

int main(void)
{
    int pictures[PICTURES] = {1, 2, 3, 4, 5};
    rota_executor *pool, *screen;
    rota_future *decoded, *step;
    rota_queue *loop;
    void *task;

    main_thread = pthread_self();
    if (rota_linked_queue(ROTA_UNBOUNDED, &loop) != ROTA_OK || rota_fixed_pool(2, &pool) != ROTA_OK
        || rota_executor_new(&(rota_executor_ops){.execute = execute}, loop, &screen) != ROTA_OK)
        return 1;
    for (int i = 0; i < PICTURES; i++) {
        if (rota_submit(pool, decode, &pictures[i], &decoded) != ROTA_OK
            || rota_then(decoded, screen, show, NULL, &step) != ROTA_OK)
            return 1;
        rota_future_unref(decoded);
        rota_future_unref(step); /* it runs all the same */
    }
    while (shown < PICTURES) { /* the loop */
        if (rota_queue_take(loop, &task) != ROTA_OK)
            return 1;
        rota_task_run(task);
    }

    /* The end. Nobody puts a task into the loop once the executor has terminated. */
    if (rota_close(pool) != ROTA_OK || rota_shutdown(screen) != ROTA_OK
        || rota_await_termination(screen, ROTA_FOREVER) != ROTA_OK)
        return 1;
    while (rota_queue_poll(loop, &task) == ROTA_OK)
        rota_task_discard(task); /* every task that was taken is run or discarded, once */
    return rota_executor_free(screen) == ROTA_OK && rota_queue_free(loop) == ROTA_OK ? 0 : 1;
}
