/* SPDX-License-Identifier: MIT */
/* 03_first_answer.c - ask three mirrors, take the first that answers, call off the others */
#include <rota/rota.h>
#include <stdio.h>

struct mirror {
    const char *name;
    rota_ns latency;
    bool broken;
};

static void *ask(void *arg)
{
    struct mirror *mirror = arg;

    if (rota_sleep(mirror->latency) == ROTA_EINTERRUPTED)
        return rota_fail(1);
    return mirror->broken ? rota_fail(2) : mirror;
}

int main(void)
{
    static struct mirror mirrors[] = {
        {"near, but broken", ROTA_MS(5), true},
        {"far", ROTA_SEC(30), false},
        {"not so far", ROTA_MS(20), false},
    };
    rota_call calls[3];
    rota_executor *executor;
    rota_future *first;
    void *answer = NULL;

    if (rota_cached_pool(&executor) != ROTA_OK)
        return 1;
    for (int i = 0; i < 3; i++)
        calls[i] = (rota_call){.fn = ask, .arg = &mirrors[i]};

    rota_ns begin = rota_now();
    int status = rota_invoke_any(executor, calls, 3, ROTA_SEC(10), &first);
    if (status != ROTA_OK) {
        fprintf(stderr, "invoke_any: %s\n", rota_strerror(status));
        return 1;
    }
    rota_future_get(first, &answer);
    printf("  \"%s\" answered after %.0f ms; the one that takes 30 s was interrupted\n",
           ((struct mirror *)answer)->name, (double)(rota_now() - begin) / 1e6);
    rota_future_unref(first);
    return rota_close(executor) == ROTA_OK && answer == &mirrors[2] ? 0 : 1;
}
