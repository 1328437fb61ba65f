/* SPDX-License-Identifier: MIT */
/* 16_several.c - a batch with a deadline, and a batch whose results come as they are ready */
#include <rota/rota.h>
#include <stdio.h>

enum { PAGES = 4 };

/* A page is a promise here: what the network has not brought yet. */
static void *fetch(void *page)
{
    return rota_future_get(page, NULL) == ROTA_OK ? page : rota_fail(1); /* or interrupted */
}

/* All of them, or what there is in time: those that hang do not hold up the others. */
static bool in_time(rota_executor *pool, rota_future **pages)
{
    rota_future *futures[PAGES];
    rota_call calls[PAGES];
    int there = 0;

    for (int i = 0; i < PAGES; i++)
        calls[i] = (rota_call){.fn = fetch, .arg = pages[i]};
    rota_promise_complete(pages[0], NULL); /* the first is there, the others hang */
    if (rota_invoke_all(pool, calls, PAGES, ROTA_MS(100), futures) != ROTA_ETIMEDOUT)
        return false;
    for (int i = 0; i < PAGES; i++) { /* each is done: it has a result, or is cancelled */
        int status = rota_future_get(futures[i], NULL);
        printf("  page %d: %s\n", i, rota_strerror(status));
        there += status == ROTA_OK;
        rota_future_unref(futures[i]);
    }
    return there <= 1;
}

/* Each as it comes, in whatever order that is. */
static bool as_ready(rota_executor *pool, rota_future **pages)
{
    rota_completion *done;
    rota_future *next;
    void *page;
    int right = 0;

    if (rota_completion_new(pool, &done) != ROTA_OK)
        return false;
    for (int i = 1; i < PAGES; i++) {
        rota_call call = {.fn = fetch, .arg = pages[i]};
        if (rota_completion_submit(done, &call, NULL) != ROTA_OK)
            return false;
    }
    for (int i = PAGES - 1; i > 0; i--) { /* the last is there first */
        rota_promise_complete(pages[i], NULL);
        if (rota_completion_take(done, &next) != ROTA_OK || rota_future_get(next, &page) != ROTA_OK)
            return false;
        printf("  page %d has come\n", i);
        right += page == pages[i];
        rota_future_unref(next);
    }
    rota_completion_free(done);
    return right == PAGES - 1;
}

int main(void)
{
    rota_future *pages[PAGES];
    rota_executor *pool;

    if (rota_cached_pool(&pool) != ROTA_OK)
        return 1;
    for (int i = 0; i < PAGES; i++) {
        if (rota_promise_new(&pages[i]) != ROTA_OK)
            return 1;
    }
    bool is_right = in_time(pool, pages) && as_ready(pool, pages);
    if (rota_close(pool) != ROTA_OK) /* those that were interrupted have ended now, too */
        return 1;
    for (int i = 0; i < PAGES; i++)
        rota_future_unref(pages[i]);
    return is_right ? 0 : 1;
}
