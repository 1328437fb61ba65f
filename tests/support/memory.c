/* SPDX-License-Identifier: MIT */
/*
 * memory.c - an allocator that counts, checks what comes back and fails on demand.
 */
#include "rota_test.h"

#include <stdlib.h>
#include <string.h>

/* Before each block. */
union header {
    struct {
        uint64_t unused[2]; /* which free writes over */
        size_t size;
        uint64_t mark;
    } block;
    max_align_t aligned;
};

#define LIVE UINT64_C(0x6c6976656c697665)
#define DEAD UINT64_C(0x6465616464656164)

enum { NEW_BYTE = 0xA5, FREED_BYTE = 0xDB };

static atomic_size_t live;
static atomic_size_t bytes;
static atomic_uint asked;
static atomic_uint fail_at, fail_at_too;
static atomic_bool fail_onwards;
static _Atomic(bool (*)(void)) only;

static bool must_fail(void)
{
    bool (*counts)(void) = atomic_load(&only);

    if (counts != NULL && !counts())
        return false;
    unsigned n = atomic_fetch_add(&asked, 1) + 1;
    unsigned from = atomic_load(&fail_at);

    if (n == atomic_load(&fail_at_too))
        return true;
    if (from == 0 || n < from)
        return false;
    return n == from || atomic_load(&fail_onwards);
}

static void *counted_alloc(size_t size, void *ctx)
{
    union header *header;

    test_check(ctx == &live);
    if (must_fail() || size > SIZE_MAX - sizeof *header)
        return NULL;
    header = malloc(sizeof *header + size);
    if (header == NULL)
        return NULL;
    header->block.size = size;
    header->block.mark = LIVE;
    atomic_fetch_add(&live, 1);
    atomic_fetch_add(&bytes, size);
    return memset(header + 1, NEW_BYTE, size);
}

static void counted_free(void *block, size_t size, void *ctx)
{
    test_check(ctx == &live);
    test_check(block != NULL);

    union header *header = (union header *)block - 1;
    if (header->block.mark == DEAD)
        test_die(__FILE__, __LINE__, "a block was freed twice");
    if (header->block.mark != LIVE)
        test_die(__FILE__, __LINE__, "what was freed is no block, or was written over");
    if (header->block.size != size)
        test_die(__FILE__, __LINE__, "a block came back with another size");
    header->block.mark = DEAD;
    memset(block, FREED_BYTE, size);
    atomic_fetch_sub(&live, 1);
    atomic_fetch_sub(&bytes, size);
    free(header);
}

void test_memory_install(void)
{
    const rota_allocator allocator = {counted_alloc, counted_free, &live};

    if (rota_set_allocator(&allocator) != ROTA_OK)
        test_die(__FILE__, __LINE__, "the library has used memory before test_memory_install");
}

size_t test_memory_live(void)
{
    return atomic_load(&live);
}

size_t test_memory_bytes(void)
{
    return atomic_load(&bytes);
}

void test_memory_fail_at(unsigned n, bool onwards)
{
    atomic_store(&fail_at, 0);
    atomic_store(&fail_at_too, 0);
    atomic_store(&fail_onwards, onwards);
    atomic_store(&asked, 0);
    atomic_store(&fail_at, n);
}

void test_memory_fail_at_too(unsigned n)
{
    atomic_store(&fail_at_too, n);
}

void test_memory_fail_only(bool (*counts)(void))
{
    atomic_store(&only, counts);
}

unsigned test_memory_asked(void)
{
    return atomic_load(&asked);
}
