/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - the allocator, which can be set once and only before its first use.
 *
 *   alloc.A1  `allocator` is written by the thread that moved `phase` from OPEN to SETTING, and
 *             read only after phase is CLOSED.
 */
/* layers: memory, the default allocator */
#include "base/alloc.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"

#include <rota/base.h>
#include <stdlib.h>

static void *default_alloc(size_t size, void *ctx)
{
    (void)ctx;
    return malloc(size);
}

static void default_free(void *block, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    free(block);
}

enum { OPEN, SETTING, CLOSED };

static rota_allocator allocator = {default_alloc, default_free, NULL};
static rota__atomic(uint32_t) phase = OPEN;

int rota_set_allocator(const rota_allocator *wanted)
{
    uint32_t seen = OPEN;

    if (wanted == NULL || wanted->alloc == NULL || wanted->free == NULL)
        return ROTA_EINVAL;
    if (!rota__cas_acquire(&phase, &seen, SETTING))
        return ROTA_EBUSY;
    allocator = *wanted;                 /* alloc.A1 */
    rota__store_release(&phase, CLOSED); /* pairs with the loads in close_phase */
    return ROTA_OK;
}

/* After the first use of memory the allocator cannot be changed. */
static ROTA__NOINLINE void close_phase(void)
{
    uint32_t seen = OPEN;

    if (rota__cas_acquire(&phase, &seen, CLOSED))
        return;
    while (rota__load_acquire(&phase) != CLOSED) /* GCOVR_EXCL_LINE: a thread is at alloc.A1 */
        rota__os_yield();                        /* GCOVR_EXCL_LINE: the same */
}

void *rota__alloc(size_t size)
{
    if (ROTA__UNLIKELY(rota__load_acquire(&phase) != CLOSED))
        close_phase();
    return allocator.alloc(size, allocator.ctx);
}

void *rota__alloc_array(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return rota__alloc(bytes);
}

void rota__free(void *block, size_t size)
{
    if (block != NULL)
        allocator.free(block, size, allocator.ctx);
}
