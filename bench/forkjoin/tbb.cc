/* SPDX-License-Identifier: MIT */
/* tbb.cc - oneTBB's task_group and its parallel algorithms, in an arena */
#include "peer.h"

#include <array>
#include <cstdlib>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

static tbb::task_arena *arena;

void peer_start(const char *, unsigned workers)
{
    using control = tbb::global_control;

    new control(control::max_allowed_parallelism, workers);
    new control(control::thread_stack_size, size_t{64} << 20);
    arena = new tbb::task_arena(static_cast<int>(workers));
}

static int64_t fib(int n)
{
    if (n < 2)
        return n;
    tbb::task_group group;
    int64_t a;
    group.run([&a, n] { a = fib(n - 1); });
    int64_t b = fib(n - 2);
    group.wait();
    return a + b;
}

int64_t peer_fib(int n)
{
    return arena->execute([=] { return fib(n); });
}

/* -- Trees ------------------------------------------------------------------------------------ */

static int64_t queens(int n, int row, const board &before)
{
    std::array<board, QUEENS_MAX> next;
    std::array<int64_t, QUEENS_MAX> ways;
    int64_t all = row == n;
    int count = 0;
    tbb::task_group group;

    if (row == n)
        return 1;
    for (int column = 0; column < n; column++) {
        if (!is_safe(&before, row, column))
            continue;
        next[count] = before;
        next[count].column[row] = static_cast<signed char>(column);
        group.run([&, n, row, count] { ways[count] = queens(n, row + 1, next[count]); });
        count++;
    }
    group.wait();
    while (count-- > 0)
        all += ways[count];
    return all;
}

int64_t peer_queens(int n)
{
    return arena->execute([=] { return queens(n, 0, board{}); });
}

static int64_t visit(uint64_t parent, int number);

template <int room> static int64_t visit_all(uint64_t parent)
{
    std::array<int64_t, room> nodes;
    int64_t all = 1;
    tbb::task_group group;

    for (int i = 0; i < room; i++)
        group.run([&nodes, parent, i] { nodes[i] = visit(parent, i); });
    group.wait();
    for (int64_t count : nodes)
        all += count;
    return all;
}

static int64_t visit(uint64_t parent, int number)
{
    uint64_t id = tree_child(parent, number);

    return tree_children(id) == 0 ? 1 : visit_all<TREE_FORK>(id);
}

int64_t peer_tree()
{
    return arena->execute([] { return visit_all<TREE_ROOT>(tree_root()); });
}

/* -- Arrays ----------------------------------------------------------------------------------- */

static int64_t sum(const int64_t *from, size_t n, size_t cut)
{
    if (n < cut)
        return sum_of(from, n);
    tbb::task_group group;
    int64_t a;
    int64_t b;
    group.run([=, &a] { a = sum(from, n / 2, cut); });
    group.run([=, &b] { b = sum(from + n / 2, n - n / 2, cut); });
    group.wait();
    return a + b;
}

int64_t peer_sum(const int64_t *from, size_t n, size_t cut)
{
    return arena->execute([=] { return sum(from, n, cut); });
}

static void sort(int *base, int *spare, size_t n)
{
    size_t half = n / 2;

    if (n <= SORT_CUT) {
        sort_few(base, n);
        return;
    }
    tbb::task_group group;
    group.run([=] { sort(base, spare, half); });
    sort(base + half, spare + half, n - half);
    group.wait();
    merge_halves(base, spare, n, half);
}

void peer_sort(int *base, int *spare, size_t n)
{
    arena->execute([=] { sort(base, spare, n); });
}

void peer_library_sort(int *base, size_t n)
{
    arena->execute([=] { tbb::parallel_sort(base, base + n); });
}

static void multiply(double *c, const double *a, const double *b, size_t n, size_t stride)
{
    size_t half = n / 2;
    size_t down = half * stride;

    if (n <= MATRIX_CUT) {
        multiply_block(c, a, b, stride);
        return;
    }
    for (size_t step = 0; step < 2; step++) {
        tbb::task_group group;
        for (size_t i = 0; i < 4; i++)
            group.run([=] {
                size_t row = i >> 1;
                size_t column = i & 1;
                multiply(c + row * down + column * half, a + row * down + step * half,
                         b + step * down + column * half, half, stride);
            });
        group.wait();
    }
}

void peer_matrix(double *c, const double *a, const double *b, size_t n, size_t stride)
{
    arena->execute([=] { multiply(c, a, b, n, stride); });
}

void peer_loop(size_t n, size_t, loop_body *body, void *data)
{
    using range = tbb::blocked_range<size_t>;

    arena->execute([=] {
        tbb::parallel_for(range(0, n),
                          [=](const range &part) { body(part.begin(), part.end(), data); });
    });
}
