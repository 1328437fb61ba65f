/* SPDX-License-Identifier: MIT */
/* 12_order.c - an order is priced, joined with its postage, paid, and answered in time */
#include <rota/rota.h>
#include <stdio.h>

typedef struct order {
    const char *what;
    long cents, postage;
} order;

static void *find_price(void *arg)
{
    rota_sleep(ROTA_MS(10)); /* a database, say */
    ((order *)arg)->cents = 1200;
    return arg;
}

static void *find_postage(void *arg)
{
    rota_sleep(ROTA_MS(5)); /* another one, meanwhile */
    ((order *)arg)->postage = 350;
    return arg;
}

static void *add_up(void *priced, void *posted, void *arg)
{
    (void)arg;
    ((order *)priced)->cents += ((order *)posted)->postage;
    return priced;
}

/* The bank fails on the first call. */
static void *charge(void *arg)
{
    static int calls;

    return calls++ == 0 ? rota_fail(503) : arg;
}

/* A step that starts another task: tried three times. */
static rota_future *pay(void *value, void *pool)
{
    rota_retry_options options = {.attempts = 3, .first_delay = ROTA_MS(5)};
    rota_call call = {.fn = charge, .arg = value};
    rota_future *paid = NULL;

    return rota_retry(pool, &call, &options, &paid) == ROTA_OK ? paid : NULL;
}

static void *apologise(int status, void *value, int error, void *nothing)
{
    (void)value;
    printf("  not paid: %s, %d\n", rota_strerror(status), error);
    return nothing;
}

int main(void)
{
    order book = {"a book", 0, 0}, nothing = {"nothing", 0, 0}, *bought;
    rota_future *price, *postage, *sum, *paid, *in_time, *answer;
    rota_executor *pool;
    void *value;

    if (rota_fixed_pool(2, &pool) != ROTA_OK
        || rota_submit(pool, find_price, &book, &price) != ROTA_OK
        || rota_submit(pool, find_postage, &book, &postage) != ROTA_OK
        || rota_both(price, postage, NULL, add_up, NULL, &sum) != ROTA_OK
        || rota_chain(sum, NULL, pay, pool, &paid) != ROTA_OK
        || rota_timeout(paid, ROTA_SEC(10), &in_time) != ROTA_OK
        || rota_recover(in_time, NULL, apologise, &nothing, &answer) != ROTA_OK
        || rota_future_get(answer, &value) != ROTA_OK)
        return 1;
    bought = value;
    printf("  %s for %ld cents, at the second attempt\n", bought->what, bought->cents);
    rota_future *all[] = {price, postage, sum, paid, in_time, answer};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        rota_future_unref(all[i]);
    return rota_close(pool) == ROTA_OK && bought == &book && book.cents == 1550 ? 0 : 1;
}
