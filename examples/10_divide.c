/* SPDX-License-Identifier: MIT */
/* 10_divide.c - divide and conquer: all ways to place ten queens, each branch a task */
#include <rota/rota.h>
#include <stdio.h>

enum { QUEENS = 10 };

/* The task comes first; what it works on and what it finds lie beside it, on the stack. */
typedef struct branch {
    rota_fj task;
    unsigned columns, rising, falling; /* where no more queens may stand */
    long found;
} branch;

static void place(rota_fj *task)
{
    branch *here = (branch *)task;
    branch next[QUEENS];
    int count = 0;

    if (here->columns == (1u << QUEENS) - 1) {
        here->found = 1;
        return;
    }
    for (unsigned column = 1; column < 1u << QUEENS; column <<= 1) {
        if ((here->columns | here->rising | here->falling) & column)
            continue;
        next[count] = (branch){ROTA_FJ(place), here->columns | column, (here->rising | column) << 1,
                               (here->falling | column) >> 1, 0};
        rota_fork(&next[count++].task); /* a few nanoseconds, and no memory */
    }
    while (count-- > 0) {
        rota_join(&next[count].task); /* the newest first: it is most likely still here */
        here->found += next[count].found;
    }
}

int main(void)
{
    branch root = {ROTA_FJ(place), 0, 0, 0, 0};
    rota_forkjoin_stats stats;
    rota_ns start = rota_now();

    if (rota_invoke(rota_common_pool(), &root.task) != ROTA_OK)
        return 1;
    rota_forkjoin_stats_get(rota_common_pool(), &stats);
    printf("  %d queens: %ld ways, in %.1f ms, with %llu tasks stolen by other workers\n", QUEENS,
           root.found, (double)(rota_now() - start) / 1e6, (unsigned long long)stats.steals);
    return root.found == 724 ? 0 : 1;
}
