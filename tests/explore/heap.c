/* SPDX-License-Identifier: MIT */
/*
 * heap.c - memory for one schedule: a block is never given out twice, so any use of a freed one is
 * seen for what it is. The address sanitizer sees plain accesses, too.
 */
#include "engine.h"

#include "asan.h"

#include <string.h>

enum { HEAP_BYTES = EX_SCALE << 18, UNIT = 16, UNITS = HEAP_BYTES / UNIT };

enum { NEVER, LIVE, FREED };

static _Alignas(64) char memory[HEAP_BYTES];
static uint8_t unit_state[UNITS];
static size_t used; /* units */
static size_t live; /* blocks */

void heap_begin(void)
{
    memset(unit_state, NEVER, used);
    EX_FORBID(memory, HEAP_BYTES);
    used = 0;
    live = 0;
}

size_t heap_live(void)
{
    return live;
}

bool heap_is_freed(const void *address)
{
    size_t offset = (size_t)((const char *)address - memory);

    return offset < HEAP_BYTES && unit_state[offset / UNIT] == FREED;
}

static void *heap_alloc(size_t size, void *ctx)
{
    size_t units = (size + UNIT - 1) / UNIT;
    char *block = memory + used * UNIT;

    (void)ctx;
    if (size > HEAP_BYTES || choice_make(EX_FAULT, 2) == 1)
        return NULL;
    if (units + 1 > UNITS - used)
        ex_fail("heap", 0, "the scenario needs more memory than there is");
    memset(unit_state + used, LIVE, units);
    EX_ALLOW(block, size);
    memset(block, 0xA5, size);
    used += units + 1; /* a gap, so that a step beyond the end is seen */
    live++;
    return block;
}

static void heap_free(void *block, size_t size, void *ctx)
{
    size_t unit = (size_t)((char *)block - memory) / UNIT;

    (void)ctx;
    memory_drain(ex_running);
    if (unit >= used || unit_state[unit] != LIVE)
        ex_fail("heap", 0,
                unit < used && unit_state[unit] == FREED ? "double free" : "not a block");
    memory_freed(block, size);
    EX_FORBID(block, size);
    memset(unit_state + unit, FREED, (size + UNIT - 1) / UNIT);
    live--;
}

const rota_allocator heap_allocator = {heap_alloc, heap_free, NULL};
