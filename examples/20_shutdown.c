/* SPDX-License-Identifier: MIT */
/* 20_shutdown.c - a service that is told to end: SIGTERM, some patience, exact accounts */
#include <rota/rota.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 2, QUICK = 10, LATE = 20, ALL = QUICK + THREADS + LATE };

static atomic_size_t served, interrupted, dropped;

static void *serve(void *client)
{
    if (client != NULL && rota_future_get(client, NULL) == ROTA_EINTERRUPTED)
        atomic_fetch_add(&interrupted, 1); /* its client did not answer, and we must go */
    else
        atomic_fetch_add(&served, 1);
    return NULL;
}

static void drop(void *client)
{
    (void)client;
    atomic_fetch_add(&dropped, 1);
}

/* What an administrator would do. The library's threads take no signals: main gets it. */
static void *send_sigterm(void *arg)
{
    kill(getpid(), SIGTERM);
    return arg;
}

int main(void)
{
    rota_executor *pool, *admin;
    rota_future *hangs;
    sigset_t end;
    size_t lost = 0;
    int got, status;

    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &end, NULL) != 0 || rota_promise_new(&hangs) != ROTA_OK
        || rota_fixed_pool(THREADS, &pool) != ROTA_OK || rota_single_thread(&admin) != ROTA_OK)
        return 1;
    for (int i = 0; i < ALL; i++) {
        bool is_stuck = i >= QUICK && i < QUICK + THREADS;
        rota_call call = {.fn = serve, .arg = is_stuck ? hangs : NULL, .discard = drop};
        if (rota_submit_call(pool, &call, NULL) != ROTA_OK)
            return 1;
    }
    if (rota_execute(admin, send_sigterm, NULL) != ROTA_OK || sigwait(&end, &got) != 0)
        return 1;

    /* Nothing new from here on. What is queued has 100 ms, then it is dropped, and what runs is
       interrupted; if that does not help for another 100 ms, it says so: call it again. */
    do {
        size_t count;
        status = rota_close_within(pool, ROTA_MS(100), &count);
        lost += count;
    } while (status == ROTA_ETIMEDOUT);

    size_t done = atomic_load(&served), cut = atomic_load(&interrupted);
    printf("  %d requests = %zu served + %zu interrupted + %zu dropped\n", ALL, done, cut, lost);
    rota_future_unref(hangs);
    return rota_close(admin) == ROTA_OK && status == ROTA_OK && done + cut + lost == ALL
                   && lost == atomic_load(&dropped)
               ? 0
               : 1;
}
