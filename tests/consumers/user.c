/* SPDX-License-Identifier: MIT */
/* user.c - a program of a user: the same in each of the projects beside it. */
#include <rota/rota.h>
#include <stdio.h>
#include <string.h>

static void *square(void *arg)
{
    int *number = arg;

    *number *= *number;
    return number;
}

int main(void)
{
    int number = 12;
    void *result = NULL;
    rota_future *future;
    rota_executor *pool;

    if (rota_fixed_pool(2, &pool) != ROTA_OK)
        return 1;
    if (rota_submit(pool, square, &number, &future) != ROTA_OK)
        return 2;
    if (rota_future_get(future, &result) != ROTA_OK || result != &number)
        return 3;
    rota_future_unref(future);
    if (rota_close(pool) != ROTA_OK)
        return 4;
    printf("rota %s: %d\n", rota_version(), number);
    return strcmp(rota_version(), VERSION) == 0 && number == 144 ? 0 : 5;
}
