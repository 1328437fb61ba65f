/* SPDX-License-Identifier: MIT */
/*
 * Computations of every shape: wide, deep, uneven, and those of textbooks. FJ-09, FJ-12, FJ-20.
 */
#include "forkjoin.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MILLION = 100000, DEPTH = 1500, QUEENS = 8 };
#else
enum { MILLION = 1000000, DEPTH = 10000, QUEENS = 9 };
#endif

/* -- Wide --------------------------------------------------------------------------------- */

struct leaf {
    rota_fj task; /* first */
    atomic_uchar runs;
};

static struct leaf leaves[MILLION];

static void be_leaf(rota_fj *task)
{
    atomic_fetch_add(&((struct leaf *)task)->runs, 1);
}

static void fork_all(void)
{
    for (int i = 0; i < MILLION; i++) {
        rota_fj_reset(&leaves[i].task);
        leaves[i].task.run = be_leaf;
        atomic_store(&leaves[i].runs, 0);
        rota_fork(&leaves[i].task);
    }
}

static void each_ran_once(void)
{
    for (int i = 0; i < MILLION; i++) {
        test_check(rota_fj_is_done(&leaves[i].task));
        test_check(atomic_load(&leaves[i].runs) == 1);
    }
}

/* FJ-09, FJ-12, FAULT-41 */
WORKER_TEST(a_million_forks_of_one_body_are_joined)
{
    fork_all();
    for (int i = MILLION; i-- > 0;)
        test_check(rota_join(&leaves[i].task) == ROTA_OK);
    each_ran_once();
}

WORKER_TEST(a_million_forks_are_joined_oldest_first)
{
    fork_all();
    for (int i = 0; i < MILLION; i++)
        test_check(rota_join(&leaves[i].task) == ROTA_OK);
    each_ran_once();
}

/* FJT-17 */
WORKER_TEST(a_million_forks_are_run_by_who_waits_for_quiet)
{
    fork_all();
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
    each_ran_once();
}

/* -- Deep --------------------------------------------------------------------------------- */

struct chain {
    rota_fj task; /* first */
    int depth;
    bool forks_all; /* what goes deep is forked, else what does not */
    long nodes;
};

static void descend(rota_fj *task)
{
    struct chain *chain = (struct chain *)task;

    chain->nodes = 1;
    if (chain->depth == 0)
        return;
    struct chain deep = {ROTA_FJ(descend), chain->depth - 1, chain->forks_all, 0};
    struct chain flat = {ROTA_FJ(descend), 0, chain->forks_all, 0};
    struct chain *forked = chain->forks_all ? &deep : &flat;
    struct chain *called = chain->forks_all ? &flat : &deep;
    rota_fork(&forked->task);
    descend(&called->task);
    test_check(rota_join(&forked->task) == ROTA_OK);
    chain->nodes += deep.nodes + flat.nodes;
}

/* FJ-20: a tree with one long branch, left or right. */
WORKER_TEST(one_long_branch_is_no_hindrance)
{
    for (int forks_all = 0; forks_all < 2; forks_all++) {
        struct chain root = {ROTA_FJ(descend), DEPTH, forks_all == 1, 0};
        rota_fork(&root.task);
        test_check(rota_join(&root.task) == ROTA_OK);
        test_check(root.nodes == 2 * DEPTH + 1);
    }
}

/* -- Numerical integration ---------------------------------------------------------------- */

enum ways { FORK_ALWAYS, FORK_ON_DEMAND, SERIAL };

struct area {
    rota_fj task; /* first */
    double left, right, estimate, value;
    enum ways way;
};

static double curve(double x)
{
    return (x * x + 1) * x;
}

static double trapeze(double left, double right)
{
    return (curve(left) + curve(right)) * (right - left) / 2;
}

static void integrate(rota_fj *task);

static void integrate_halves(struct area *a, struct area *b, enum ways way)
{
    bool forks = way == FORK_ALWAYS || (way == FORK_ON_DEMAND && rota_fj_surplus() <= 3);

    if (!forks) {
        integrate(&a->task);
        integrate(&b->task);
        return;
    }
    rota_fork(&b->task);
    integrate(&a->task);
    if (rota_unfork(&b->task))
        integrate(&b->task);
    else
        test_check(rota_join(&b->task) == ROTA_OK);
}

static void integrate(rota_fj *task)
{
    struct area *area = (struct area *)task;
    double middle = (area->left + area->right) / 2;
    double left = trapeze(area->left, middle), right = trapeze(middle, area->right);
    double off = left + right - area->estimate;

    if (off < 1e-4 && off > -1e-4) {
        area->value = left + right;
        return;
    }
    struct area a = {ROTA_FJ(integrate), area->left, middle, left, 0, area->way};
    struct area b = {ROTA_FJ(integrate), middle, area->right, right, 0, area->way};
    integrate_halves(&a, &b, area->way);
    area->value = a.value + b.value;
}

/* USE-06, FJT-14, FJT-16 */
WORKER_TEST(an_area_is_the_same_in_every_way)
{
    double values[3];

    for (int way = FORK_ALWAYS; way <= SERIAL; way++) {
        struct area all = {ROTA_FJ(integrate), 0, 32, trapeze(0, 32), 0, (enum ways)way};
        test_check(rota_invoke(rota_fj_pool(), &all.task) == ROTA_OK);
        values[way] = all.value;
        test_check(values[way] > 262655.9 && values[way] < 262657);
    }
    test_check(values[FORK_ALWAYS] == values[SERIAL]); /* the same sums in the same order */
    test_check(values[FORK_ON_DEMAND] == values[SERIAL]);
}

/* -- Queens on a board -------------------------------------------------------------------- */

struct board {
    rota_fj task; /* first */
    int size, row;
    unsigned columns, up, down; /* threatened */
    long solutions;
};

static void place_queens(rota_fj *task);

static long take(struct board *child)
{
    if (rota_unfork(&child->task))
        place_queens(&child->task);
    else
        test_check(rota_join(&child->task) == ROTA_OK);
    return child->solutions;
}

static void place_queens(rota_fj *task)
{
    struct board *board = (struct board *)task;
    struct board children[16];
    int count = 0;

    board->solutions = board->row == board->size;
    for (int column = 0; column < board->size && board->row < board->size; column++) {
        unsigned bit = 1u << column;
        if ((board->columns | board->up | board->down) & bit)
            continue;
        children[count] = (struct board){ROTA_FJ(place_queens),
                                         board->size,
                                         board->row + 1,
                                         board->columns | bit,
                                         (board->up | bit) << 1,
                                         (board->down | bit) >> 1,
                                         0};
        rota_fork(&children[count++].task);
    }
    while (count > 0)
        board->solutions += take(&children[--count]);
}

/* USE-06, FJT-14 */
WORKER_TEST(queens_are_placed_in_all_ways)
{
    const long known[] = {92, 352};

    for (int size = 8; size <= QUEENS; size++) {
        struct board board = {ROTA_FJ(place_queens), size, 0, 0, 0, 0, 0};
        rota_fork(&board.task);
        test_check(rota_join(&board.task) == ROTA_OK);
        test_check(board.solutions == known[size - 8]);
    }
}

/* -- Sorting ------------------------------------------------------------------------------ */

enum { NUMBERS = 1007, THRESHOLD = 100 };

struct sorting {
    rota_fj task; /* first */
    int64_t *numbers;
    size_t n;
};

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void merge(int64_t *numbers, size_t half, size_t n)
{
    int64_t copy[NUMBERS];
    size_t left = 0, right = half;

    memcpy(copy, numbers, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        bool from_left = right == n || (left < half && copy[left] <= copy[right]);
        numbers[i] = from_left ? copy[left++] : copy[right++];
    }
}

static void sort(rota_fj *task)
{
    struct sorting *all = (struct sorting *)task;
    size_t half = all->n / 2;

    if (all->n < THRESHOLD) {
        qsort(all->numbers, all->n, sizeof *all->numbers, by_size);
        return;
    }
    struct sorting left = {ROTA_FJ(sort), all->numbers, half};
    struct sorting right = {ROTA_FJ(sort), all->numbers + half, all->n - half};
    test_check(rota_invoke_both(&left.task, &right.task) == ROTA_OK);
    merge(all->numbers, half, all->n);
}

/* USE-06 */
WORKER_TEST(numbers_are_sorted)
{
    int64_t numbers[NUMBERS], expected[NUMBERS];
    struct sorting all = {ROTA_FJ(sort), numbers, NUMBERS};
    test_random random;

    test_random_init(&random);
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = expected[i] = (int64_t)test_random_next(&random);
    qsort(expected, NUMBERS, sizeof *expected, by_size);
    test_check(rota_invoke(rota_fj_pool(), &all.task) == ROTA_OK);
    test_check(memcmp(numbers, expected, sizeof numbers) == 0);
}
