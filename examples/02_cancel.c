/* SPDX-License-Identifier: MIT */
/* 02_cancel.c - a deadline, a cancelled task, and who cleans up after it */
#include <rota/rota.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *download(void *url)
{
    int parts = 0;

    while (parts < 1000 && rota_sleep(ROTA_MS(10)) == ROTA_OK) /* an interrupt ends the sleep */
        parts++;
    printf("  %s: stopped with %s of 1000 parts\n", (char *)url, parts < 1000 ? "some" : "all");
    free(url);
    return NULL;
}

static void forget(void *url)
{
    printf("  %s: never began, its memory is freed\n", (char *)url);
    free(url);
}

/* Keeps the first task it is given and never runs it. */
static int keep(void *self, rota_task *task)
{
    *(rota_task **)self = task;
    return ROTA_OK;
}

int main(void)
{
    rota_executor *threads, *busy;
    rota_future *slow, *queued;
    rota_task *kept;

    if (rota_fixed_pool(2, &threads) != ROTA_OK
        || rota_executor_new(&(rota_executor_ops){.execute = keep}, &kept, &busy) != ROTA_OK)
        return 1;

    rota_call call = {.fn = download, .discard = forget, .arg = strdup("slow.example")};
    if (call.arg == NULL || rota_submit_call(threads, &call, &slow) != ROTA_OK)
        return 1;
    call.arg = strdup("queued.example");
    if (call.arg == NULL || rota_submit_call(busy, &call, &queued) != ROTA_OK)
        return 1;

    int status = rota_future_get_timed(slow, ROTA_MS(45), NULL);
    printf("  after 45 ms: %s\n", rota_strerror(status));
    bool first = rota_future_cancel_now(slow); /* it runs: interrupted, and cleans up itself */
    bool second = rota_future_cancel(queued);  /* it waits: discarded, here and now */
    printf("  and now: %s\n", rota_strerror(rota_future_get(slow, NULL)));

    rota_task_discard(kept); /* what an executor does with a task it will not run */
    rota_future_unref(slow);
    rota_future_unref(queued);
    status = rota_close(threads);
    return status == ROTA_OK && rota_close(busy) == ROTA_OK && first && second ? 0 : 1;
}
