/* SPDX-License-Identifier: MIT */
/* rota.c - rota's fork/join pool; unfork: fib without a struct where nobody has stolen it */
#include "peer.h"

#include <rota/parallel.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static rota_executor *pool;
static bool unforks;

void peer_start(const char *kind, unsigned workers)
{
    rota_forkjoin_options options = {.parallelism = workers};

    unforks = strcmp(kind, "unfork") == 0;
    if (rota_forkjoin_new(&options, &pool) != ROTA_OK)
        abort();
}

static void invoke(rota_fj *task)
{
    if (rota_invoke(pool, task) != ROTA_OK)
        abort();
}

/* -- Fib -------------------------------------------------------------------------------------- */

struct fib {
    rota_fj task;
    int n;
    int64_t value;
};

static void fib(rota_fj *task)
{
    struct fib *self = (struct fib *)task;

    if (self->n < 2) {
        self->value = self->n;
        return;
    }
    struct fib a = {ROTA_FJ(fib), self->n - 1, 0};
    struct fib b = {ROTA_FJ(fib), self->n - 2, 0};
    rota_fork(&a.task);
    fib(&b.task);
    rota_join(&a.task);
    self->value = a.value + b.value;
}

static void stolen_fib(rota_fj *task);

static int64_t unfork_fib(int n)
{
    if (n < 2)
        return n;
    struct fib a = {ROTA_FJ(stolen_fib), n - 1, 0};
    rota_fork(&a.task);
    int64_t value = unfork_fib(n - 2);
    if (rota_unfork(&a.task))
        return value + unfork_fib(n - 1);
    rota_join(&a.task);
    return value + a.value;
}

static void stolen_fib(rota_fj *task)
{
    struct fib *self = (struct fib *)task;

    self->value = unfork_fib(self->n);
}

int64_t peer_fib(int n)
{
    struct fib root = {ROTA_FJ(unforks ? stolen_fib : fib), n, 0};

    invoke(&root.task);
    return root.value;
}

/* -- Trees ------------------------------------------------------------------------------------ */

struct queens {
    rota_fj task;
    int n, row;
    struct board board;
    int64_t ways;
};

static void queens(rota_fj *task)
{
    struct queens *self = (struct queens *)task;
    struct queens next[QUEENS_MAX];
    int count = 0;

    self->ways = self->row == self->n;
    for (int column = 0; self->row < self->n && column < self->n; column++) {
        if (!is_safe(&self->board, self->row, column))
            continue;
        struct queens *child = &next[count++];
        *child = (struct queens){ROTA_FJ(queens), self->n, self->row + 1, self->board, 0};
        child->board.column[self->row] = (signed char)column;
        rota_fork(&child->task);
    }
    while (count-- > 0) {
        rota_join(&next[count].task);
        self->ways += next[count].ways;
    }
}

int64_t peer_queens(int n)
{
    struct queens root = {ROTA_FJ(queens), n, 0, {{0}}, 0};

    invoke(&root.task);
    return root.ways;
}

struct node {
    rota_fj task;
    uint64_t parent;
    int number;
    int64_t nodes;
};

static void visit(rota_fj *task);

static int64_t visit_all(uint64_t parent, struct node *children, int count)
{
    int64_t nodes = 1;

    for (int i = 0; i < count; i++) {
        children[i] = (struct node){ROTA_FJ(visit), parent, i, 0};
        rota_fork(&children[i].task);
    }
    while (count-- > 0) {
        rota_join(&children[count].task);
        nodes += children[count].nodes;
    }
    return nodes;
}

static void visit(rota_fj *task)
{
    struct node *self = (struct node *)task;
    struct node children[TREE_FORK];
    uint64_t id = tree_child(self->parent, self->number);

    self->nodes = visit_all(id, children, tree_children(id));
}

static void visit_root(rota_fj *task)
{
    struct node children[TREE_ROOT];

    ((struct node *)task)->nodes = visit_all(tree_root(), children, TREE_ROOT);
}

int64_t peer_tree(void)
{
    struct node root = {.task = ROTA_FJ(visit_root)};

    invoke(&root.task);
    return root.nodes;
}

/* -- Arrays ----------------------------------------------------------------------------------- */

struct sum {
    rota_fj task;
    const int64_t *from;
    size_t n, cut;
    int64_t value;
};

static void sum(rota_fj *task)
{
    struct sum *self = (struct sum *)task;
    size_t half = self->n / 2;

    if (self->n < self->cut) {
        self->value = sum_of(self->from, self->n);
        return;
    }
    struct sum a = {ROTA_FJ(sum), self->from, half, self->cut, 0};
    struct sum b = {ROTA_FJ(sum), self->from + half, self->n - half, self->cut, 0};
    rota_fork(&a.task);
    rota_fork(&b.task);
    rota_join(&b.task);
    rota_join(&a.task);
    self->value = a.value + b.value;
}

int64_t peer_sum(const int64_t *from, size_t n, size_t cut)
{
    struct sum root = {ROTA_FJ(sum), from, n, cut, 0};

    invoke(&root.task);
    return root.value;
}

struct sort {
    rota_fj task;
    int *base, *spare;
    size_t n;
};

static void sort(rota_fj *task)
{
    struct sort *self = (struct sort *)task;
    size_t half = self->n / 2;

    if (self->n <= SORT_CUT) {
        sort_few(self->base, self->n);
        return;
    }
    struct sort a = {ROTA_FJ(sort), self->base, self->spare, half};
    struct sort b = {ROTA_FJ(sort), self->base + half, self->spare + half, self->n - half};
    rota_fork(&a.task);
    sort(&b.task);
    rota_join(&a.task);
    merge_halves(self->base, self->spare, self->n, half);
}

void peer_sort(int *base, int *spare, size_t n)
{
    struct sort root = {ROTA_FJ(sort), base, spare, n};

    invoke(&root.task);
}

static int compare(const void *a, const void *b, void *ctx)
{
    int x = *(const int *)a;
    int y = *(const int *)b;

    (void)ctx;
    return (x > y) - (x < y);
}

void peer_library_sort(int *base, size_t n)
{
    if (rota_parallel_sort(pool, base, n, sizeof *base, compare, NULL) != ROTA_OK)
        abort();
}

struct product {
    rota_fj task;
    double *c;
    const double *a, *b;
    size_t n, stride;
};

static void multiply(rota_fj *task);

/* Four of the eight products of quarters: those that go to different places. */
static void multiply_quarters(const struct product *all, size_t step)
{
    size_t half = all->n / 2;
    size_t down = half * all->stride;
    struct product quarters[4];

    for (size_t i = 0; i < 4; i++) {
        size_t row = i >> 1;
        size_t column = i & 1;
        quarters[i] = (struct product){ROTA_FJ(multiply),
                                       all->c + row * down + column * half,
                                       all->a + row * down + step * half,
                                       all->b + step * down + column * half,
                                       half,
                                       all->stride};
        rota_fork(&quarters[i].task);
    }
    for (size_t i = 4; i-- > 0;)
        rota_join(&quarters[i].task);
}

static void multiply(rota_fj *task)
{
    const struct product *self = (struct product *)task;

    if (self->n <= MATRIX_CUT) {
        multiply_block(self->c, self->a, self->b, self->stride);
        return;
    }
    multiply_quarters(self, 0);
    multiply_quarters(self, 1);
}

void peer_matrix(double *c, const double *a, const double *b, size_t n, size_t stride)
{
    struct product root = {ROTA_FJ(multiply), c, a, b, n, stride};

    invoke(&root.task);
}

void peer_loop(size_t n, size_t grain, loop_body *body, void *data)
{
    if (rota_parallel_for(pool, 0, n, grain, body, data) != ROTA_OK)
        abort();
}
