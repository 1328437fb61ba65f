/* SPDX-License-Identifier: MIT */
/* 01_results.c - tasks run side by side, and their futures bring the results */
#include <rota/rota.h>
#include <stdio.h>

struct range {
    long begin, end, primes;
};

static void *count_primes(void *arg)
{
    struct range *range = arg;

    for (long n = range->begin; n < range->end; n++) {
        long divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0)
            divisor++;
        range->primes += n > 1 && divisor * divisor > n;
    }
    return range; /* the result */
}

static void *divide(void *arg)
{
    int *numbers = arg;

    if (numbers[1] == 0)
        return rota_fail(33); /* a code of one's own */
    numbers[0] /= numbers[1];
    return numbers;
}

int main(void)
{
    enum { PARTS = 4, UPTO = 400000 };
    struct range ranges[PARTS];
    rota_call calls[PARTS];
    rota_future *futures[PARTS];
    rota_executor *executor;
    long primes = 0;

    if (rota_fixed_pool(4, &executor) != ROTA_OK)
        return 1;
    for (int i = 0; i < PARTS; i++) {
        ranges[i] = (struct range){UPTO / PARTS * i, UPTO / PARTS * (i + 1), 0};
        calls[i] = (rota_call){.fn = count_primes, .arg = &ranges[i]};
    }
    int status = rota_invoke_all(executor, calls, PARTS, ROTA_FOREVER, futures);
    if (status != ROTA_OK) {
        fprintf(stderr, "invoke_all: %s\n", rota_strerror(status));
        return 1;
    }
    for (int i = 0; i < PARTS; i++) {
        void *result;
        rota_future_get(futures[i], &result); /* done: answers at once */
        struct range *range = result;
        printf("  %7ld .. %7ld  %6ld primes\n", range->begin, range->end - 1, range->primes);
        primes += range->primes;
        rota_future_unref(futures[i]);
    }
    printf("  in all             %6ld primes\n", primes);

    int numbers[] = {7, 0};
    rota_future *future;
    if (rota_submit(executor, divide, numbers, &future) != ROTA_OK)
        return 1;
    status = rota_future_get(future, NULL);
    printf("  7 / 0: %s (its code: %d)\n", rota_strerror(status), rota_future_error(future));
    rota_future_unref(future);
    return rota_close(executor) == ROTA_OK && primes == 33860 ? 0 : 1;
}
