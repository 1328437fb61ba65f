/* SPDX-License-Identifier: MIT */
/*
 * sort.c - a stable merge sort: halves are sorted and merged in parallel.
 *
 * Two arrays take turns: what is sorted into one is merged into the other, so
 * that nothing is copied only to be where it was.
 */
#include "parallel/parallel_internal.h"

#include "base/alloc.h"

#include <string.h>

enum { SMALL = 12, SERIAL_SORT = 2048, SERIAL_MERGE = 8192 };

typedef struct sorting {
    size_t size; /* of an element */
    int (*compare)(const void *a, const void *b, void *ctx);
    void *ctx;
} sorting;

/* Known sizes are moved without a call. */
static inline void move_one(char *to, const char *from, size_t size)
{
    if (size == 4)
        memcpy(to, from, 4);
    else if (size == 8)
        memcpy(to, from, 8);
    else if (size == 16)
        memcpy(to, from, 16);
    else
        memcpy(to, from, size);
}

static inline bool is_before(const sorting *how, const char *a, const char *b)
{
    return how->compare(a, b, how->ctx) < 0;
}

/* Half a sort would lose elements: once begun it goes on, also in a pool that is stopped. */
static void join_or_run(rota_fj *task)
{
    if (rota_join(task) != ROTA_ECANCELED)
        return;
    rota_fj_reset(task);
    task->run(task);
}

/* -- On one thread -------------------------------------------------------- */

/* Of equal ones, those on the left come first. */
static void merge(const sorting *how, const char *left, size_t lefts, const char *right,
                  size_t rights, char *to)
{
    size_t size = how->size;

    while (lefts > 0 && rights > 0) {
        if (is_before(how, right, left)) {
            move_one(to, right, size);
            right += size;
            rights--;
        } else {
            move_one(to, left, size);
            left += size;
            lefts--;
        }
        to += size;
    }
    memcpy(to, left, lefts * size);
    memcpy(to + lefts * size, right, rights * size);
}

/* Inserts the elements of `from` into `to`, another array, one after the other. */
static void sort_small(const sorting *how, const char *from, size_t n, char *to)
{
    size_t size = how->size;

    for (size_t i = 0; i < n; i++) {
        const char *next = from + i * size;
        size_t place = i;
        while (place > 0 && is_before(how, next, to + (place - 1) * size)) {
            move_one(to + place * size, to + (place - 1) * size, size);
            place--;
        }
        move_one(to + place * size, next, size);
    }
}

/* Sorts `base`; the result is there, or in `other` if `into_other`. */
static void sort_serial(const sorting *how, char *base, char *other, size_t n, bool into_other)
{
    size_t half = n / 2;
    size_t skip = half * how->size;

    if (n <= SMALL) {
        if (!into_other)
            memcpy(other, base, n * how->size);
        sort_small(how, into_other ? base : other, n, into_other ? other : base);
        return;
    }
    sort_serial(how, base, other, half, !into_other);
    sort_serial(how, base + skip, other + skip, n - half, !into_other);
    if (into_other)
        merge(how, base, half, base + skip, n - half, other);
    else
        merge(how, other, half, other + skip, n - half, base);
}

/* -- Merging in parallel -------------------------------------------------- */

typedef struct merging {
    rota_fj task; /* first */
    const sorting *how;
    const char *left, *right;
    size_t lefts, rights;
    char *to;
} merging;

/* How many of n sorted elements come before `key`; `and_equal` ones, too. */
static size_t count_before(const sorting *how, const char *base, size_t n, const char *key,
                           bool and_equal)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;
        const char *element = base + middle * how->size;
        bool comes_first = and_equal ? !is_before(how, key, element) : is_before(how, element, key);
        if (comes_first)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Where the longer side is cut in half, the other is cut so that all before comes before. */
static void cut(const merging *all, size_t *lefts, size_t *rights)
{
    size_t size = all->how->size;

    if (all->lefts >= all->rights) {
        *lefts = all->lefts / 2;
        *rights = count_before(all->how, all->right, all->rights, all->left + *lefts * size, false);
    } else {
        *rights = all->rights / 2;
        *lefts = count_before(all->how, all->left, all->lefts, all->right + *rights * size, true);
    }
}

static void merge_task(rota_fj *task)
{
    merging *all = (merging *)task;
    size_t size = all->how->size;
    size_t lefts, rights;

    if (all->lefts + all->rights <= SERIAL_MERGE) {
        merge(all->how, all->left, all->lefts, all->right, all->rights, all->to);
        return;
    }
    cut(all, &lefts, &rights);
    merging first = {ROTA_FJ(merge_task), all->how, all->left, all->right, lefts, rights, all->to};
    merging second = {ROTA_FJ(merge_task),
                      all->how,
                      all->left + lefts * size,
                      all->right + rights * size,
                      all->lefts - lefts,
                      all->rights - rights,
                      all->to + (lefts + rights) * size};
    rota_fork(&second.task);
    merge_task(&first.task);
    join_or_run(&second.task);
}

/* -- Sorting in parallel -------------------------------------------------- */

typedef struct part {
    rota_fj task; /* first */
    const sorting *how;
    char *base, *other;
    size_t n;
    bool into_other;
} part;

static void sort_task(rota_fj *task)
{
    part *all = (part *)task;
    size_t half = all->n / 2;
    size_t skip = half * all->how->size;

    if (all->n <= SERIAL_SORT) {
        sort_serial(all->how, all->base, all->other, all->n, all->into_other);
        return;
    }
    part left = {ROTA_FJ(sort_task), all->how, all->base, all->other, half, !all->into_other};
    part right = {ROTA_FJ(sort_task), all->how,      all->base + skip,
                  all->other + skip,  all->n - half, !all->into_other};
    rota_fork(&right.task);
    sort_task(&left.task);
    join_or_run(&right.task);
    const char *from = all->into_other ? all->base : all->other;
    merging both = {ROTA_FJ(merge_task),
                    all->how,
                    from,
                    from + skip,
                    half,
                    all->n - half,
                    all->into_other ? all->other : all->base};
    merge_task(&both.task);
}

int rota_parallel_sort(rota_executor *ex, void *base, size_t n, size_t size,
                       int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    sorting how = {size, compare, ctx};
    part all = {ROTA_FJ(sort_task), &how, base, NULL, n, false};
    int status;

    if (compare == NULL || size == 0 || n > SIZE_MAX / size || (base == NULL && n > 0))
        return ROTA_EINVAL;
    status = rota__parallel_find(&ex);
    if (status != ROTA_OK)
        return status;
    all.other = rota__alloc_array(n > 0 ? n : 1, size);
    if (all.other == NULL)
        return ROTA_ENOMEM;
    if (n == 0)
        all.base = all.other; /* memcpy wants an address, also for nothing */
    status = rota_invoke(ex, &all.task);
    rota__free(all.other, (n > 0 ? n : 1) * size);
    return status;
}
