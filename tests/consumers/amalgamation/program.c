/* SPDX-License-Identifier: MIT */
/*
 * program.c - a program with rota.c and rota.h beside it, and nothing else:
 *
 *     cc -O2 -fexceptions program.c rota.c -o program -pthread
 */
#include "rota.h"

#include <stdio.h>

/* -- Fork/join: how many primes are below a number? --------------------------------------------- */

struct count {
    rota_fj task;
    int from, to;
    int primes;
};

static bool is_prime(int number)
{
    for (int divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return number >= 2;
}

static void count(rota_fj *task)
{
    struct count *self = (struct count *)task;

    if (self->to - self->from <= 100) {
        for (int number = self->from; number < self->to; number++)
            self->primes += is_prime(number);
        return;
    }
    int middle = self->from + (self->to - self->from) / 2;
    struct count left = {ROTA_FJ(count), self->from, middle, 0};
    struct count right = {ROTA_FJ(count), middle, self->to, 0};
    rota_fork(&left.task);
    count(&right.task);
    rota_join(&left.task);
    self->primes = left.primes + right.primes;
}

static void *primes_below(void *arg)
{
    int *number = arg;
    struct count all = {ROTA_FJ(count), 0, *number, 0};

    if (rota_invoke(rota_common_pool(), &all.task) != ROTA_OK)
        rota_fail(1);
    *number = all.primes;
    return number;
}

/* -- A queue: a task puts, main takes ----------------------------------------------------------- */

static void *produce(void *queue)
{
    static int numbers[] = {1, 2, 3, 4, 0};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (rota_queue_put(queue, &numbers[i]) != ROTA_OK)
            rota_fail(1);
    return NULL;
}

static int sum_of(rota_queue *queue)
{
    int sum = 0;
    void *number = NULL;

    while (rota_queue_take(queue, &number) == ROTA_OK && *(int *)number != 0)
        sum += *(int *)number;
    return sum;
}

/* -- A pool, and futures ------------------------------------------------------------------------ */

int main(void)
{
    int number = 10000;
    rota_executor *pool;
    rota_queue *queue;
    rota_future *primes, *produced;

    if (rota_fixed_pool(2, &pool) != ROTA_OK || rota_array_queue(2, &queue) != ROTA_OK)
        return 1;
    if (rota_submit(pool, primes_below, &number, &primes) != ROTA_OK
        || rota_submit(pool, produce, queue, &produced) != ROTA_OK)
        return 2;

    int sum = sum_of(queue);
    if (rota_future_get(primes, NULL) != ROTA_OK || rota_future_get(produced, NULL) != ROTA_OK)
        return 3;
    rota_future_unref(primes);
    rota_future_unref(produced);
    if (rota_queue_free(queue) != ROTA_OK || rota_close(pool) != ROTA_OK)
        return 4;
    printf("rota %s: %d primes, a sum of %d\n", rota_version(), number, sum);
    return number == 1229 && sum == 10 ? 0 : 5;
}
