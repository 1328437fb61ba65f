/* SPDX-License-Identifier: MIT */
/* counted.h - an allocator for rota that counts its bytes */
#ifndef BENCH_COUNTED_H
#define BENCH_COUNTED_H

#include <rota/base.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_size_t counted_bytes;

static void *counted_alloc(size_t size, void *ctx)
{
    void *block = malloc(size);

    (void)ctx;
    if (block != NULL)
        atomic_fetch_add_explicit(&counted_bytes, size, memory_order_relaxed);
    return block;
}

static void counted_free(void *block, size_t size, void *ctx)
{
    (void)ctx;
    atomic_fetch_sub_explicit(&counted_bytes, size, memory_order_relaxed);
    free(block);
}

static void count_bytes(void)
{
    static const rota_allocator counted = {.alloc = counted_alloc, .free = counted_free};
    static bool set;

    if (!set && rota_set_allocator(&counted) != ROTA_OK)
        abort();
    set = true;
}

#endif
