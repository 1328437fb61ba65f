/* SPDX-License-Identifier: MIT */
/* 18_rejection.c - a pool that is full: five answers to one task too many */
#include <pthread.h>
#include <rota/rota.h>
#include <stdio.h>
#include <string.h>

typedef struct job {
    char fate[20];
    rota_future *opens; /* what it waits for, if anything */
} job;

static pthread_t main_thread;
static rota_executor *other;

static void *run(void *arg)
{
    job *mine = arg;
    bool here = pthread_equal(pthread_self(), main_thread);

    if (mine->opens != NULL)
        rota_future_get(mine->opens, NULL);
    strcpy(mine->fate, here ? "run by main" : "run");
    return mine;
}

static void drop(void *arg)
{
    strcpy(((job *)arg)->fate, "dropped");
}

static void *open_later(void *gate)
{
    rota_promise_complete(gate, NULL);
    rota_future_unref(gate); /* who completes it holds a reference of its own */
    return NULL;
}

/* One thread, which is busy, room for one, which is taken, and a third task. */
static bool fill(const char *name, rota_reject *policy, const char *second, const char *third)
{
    rota_pool_options options = {.core_threads = 1, .on_reject = policy};
    rota_executor *pool;
    job jobs[3] = {{"waits", NULL}, {"waits", NULL}, {"refused", NULL}};
    rota_future *gate;

    if (rota_promise_new(&gate) != ROTA_OK || rota_array_queue(1, &options.queue) != ROTA_OK
        || rota_pool_new(&options, &pool) != ROTA_OK)
        return false;
    jobs[0].opens = gate;
    for (int i = 0; i < 3; i++) {
        if (i == 2 && policy == rota_reject_block)
            rota_execute(other, open_later, rota_future_ref(gate)); /* main waits for room */
        rota_submit_call(pool, &(rota_call){.fn = run, .arg = &jobs[i], .discard = drop}, NULL);
    }
    rota_promise_complete(gate, NULL);
    if (rota_close(pool) != ROTA_OK)
        return false;
    rota_future_unref(gate);
    printf("  %-15s the second is %s, the third %s\n", name, jobs[1].fate, jobs[2].fate);
    return strcmp(jobs[1].fate, second) == 0 && strcmp(jobs[2].fate, third) == 0;
}

int main(void)
{
    main_thread = pthread_self();
    if (rota_fixed_pool(1, &other) != ROTA_OK)
        return 1;
    bool is_right = fill("abort", rota_reject_abort, "run", "refused") /* the default */
                    && fill("caller runs", rota_reject_caller_runs, "run", "run by main")
                    && fill("discard", rota_reject_discard, "run", "dropped")
                    && fill("discard oldest", rota_reject_discard_oldest, "dropped", "run")
                    && fill("block", rota_reject_block, "run", "run");
    return rota_close(other) == ROTA_OK && is_right ? 0 : 1;
}
