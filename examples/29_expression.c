/* SPDX-License-Identifier: MIT */
/* 29_expression.c - a tree of quotients by fork/join, and a failure that comes up through it */
#include <rota/rota.h>
#include <stdio.h>

enum { DEPTH = 12, DIVISION_BY_ZERO = 99 };

/* Of two branches, one level below, or a number. */
typedef struct term {
    rota_fj task;
    int level;
    long number; /* of the leaves: from here on */
    long value;
} term;

static void evaluate(rota_fj *task)
{
    term *self = (term *)task;

    if (self->level == 0) {
        if (self->number == 0)
            rota_fj_fail(task, DIVISION_BY_ZERO); /* whoever joins this is told */
        else
            self->value = 1000000 / self->number;
        return;
    }
    term left = {ROTA_FJ(evaluate), self->level - 1, self->number, 0};
    term right = {ROTA_FJ(evaluate), self->level - 1, self->number + (1L << (self->level - 1)), 0};
    if (rota_invoke_both(&left.task, &right.task) != ROTA_OK) {
        int code = rota_fj_error(&left.task);
        rota_fj_fail(task, code != 0 ? code : rota_fj_error(&right.task));
        return;
    }
    self->value = left.value + right.value;
}

/* The same as a task like any other, with a future: from outside it is an executor. */
static void *as_task(void *arg)
{
    term *root = arg;

    return rota_join(&root->task) == ROTA_OK ? root : rota_fail(rota_fj_error(&root->task));
}

int main(void)
{
    term good = {ROTA_FJ(evaluate), DEPTH, 1, 0}, bad = {ROTA_FJ(evaluate), DEPTH, -100, 0};
    term later = good;
    rota_executor *pool;
    rota_future *future;

    if (rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 3}, &pool) != ROTA_OK
        || rota_submit(pool, as_task, &later, &future) != ROTA_OK
        || rota_invoke(pool, &good.task) != ROTA_OK || rota_future_get(future, NULL) != ROTA_OK)
        return 1;
    rota_future_unref(future);
    printf("  the sum of %d quotients is %ld, and %ld\n", 1 << DEPTH, good.value, later.value);
    int status = rota_invoke(pool, &bad.task);
    printf("  with a zero among them: %s (%d)\n", rota_strerror(status), rota_fj_error(&bad.task));
    bool is_right = good.value == later.value && rota_fj_error(&bad.task) == DIVISION_BY_ZERO;
    return rota_close(pool) == ROTA_OK && is_right && status == ROTA_EFAILED ? 0 : 1;
}
