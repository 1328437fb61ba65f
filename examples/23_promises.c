/* SPDX-License-Identifier: MIT */
/* 23_promises.c - futures completed by hand: an interface of callbacks becomes one of futures */
#include <pthread.h>
#include <rota/rota.h>
#include <stdio.h>

enum { CITIES = 3 };

/* A question to somebody else's library: it calls back from a thread of its own. */
typedef struct question {
    int degrees;
    void (*call_back)(void *ctx, int error, int *degrees);
    void *ctx;
    pthread_t thread;
} question;

static void *look_up(void *arg)
{
    question *mine = arg;

    mine->call_back(mine->ctx, mine->degrees < -273 ? 404 : 0, &mine->degrees);
    return NULL;
}

/* Its answers as futures. */
static void complete(void *promise, int error, int *degrees)
{
    if (error != 0)
        rota_promise_fail(promise, error);
    else
        rota_promise_complete(promise, degrees);
    rota_future_unref(promise); /* who completes it holds a reference of its own */
}

static int ask(question *mine, rota_future **out)
{
    if (rota_promise_new(out) != ROTA_OK)
        return ROTA_ENOMEM;
    mine->call_back = complete;
    mine->ctx = rota_future_ref(*out);
    if (pthread_create(&mine->thread, NULL, look_up, mine) == 0)
        return ROTA_OK;
    rota_future_unref(mine->ctx); /* nobody will complete it */
    rota_future_unref(*out);
    return ROTA_EAGAIN;
}

static void *to_fahrenheit(void *degrees, void *arg)
{
    (void)arg;
    *(int *)degrees = *(int *)degrees * 9 / 5 + 32;
    return degrees;
}

int main(void)
{
    question cities[CITIES] = {{.degrees = 20}, {.degrees = 20}, {.degrees = -999}};
    rota_future *answers[CITIES], *steps[CITIES], *first, *all;
    void *degrees;

    for (int i = 0; i < CITIES; i++) {
        if (ask(&cities[i], &answers[i]) != ROTA_OK
            || rota_then(answers[i], NULL, to_fahrenheit, NULL, &steps[i]) != ROTA_OK)
            return 1;
    }
    if (rota_any_of(steps, CITIES - 1, &first) != ROTA_OK
        || rota_all_of(steps, CITIES, &all) != ROTA_OK
        || rota_future_get(first, &degrees) != ROTA_OK
        || rota_future_get(all, NULL) != ROTA_EFAILED)
        return 1;
    int error = rota_future_error(all);
    printf("  the first is %d F; one of them fails with %d\n", *(int *)degrees, error);
    rota_future *futures[] = {answers[0], answers[1], answers[2], steps[0],
                              steps[1],   steps[2],   first,      all};
    for (size_t i = 0; i < sizeof futures / sizeof *futures; i++)
        rota_future_unref(futures[i]);
    for (int i = 0; i < CITIES; i++)
        pthread_join(cities[i].thread, NULL);
    return *(int *)degrees == 68 && error == 404 ? 0 : 1;
}
