/* SPDX-License-Identifier: MIT */
/*
 * A program that sets no allocator: malloc is used, and from then on none can be set.
 */
#include "rota_test.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *no_alloc(size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    test_die(__FILE__, __LINE__, "an allocator was used that came too late");
}

static void no_free(void *block, size_t size, void *ctx)
{
    (void)block;
    no_alloc(size, ctx);
}

/* The first use settles it: too late for another, also to give the block back. */
TEST(the_first_use_settles_it)
{
    const rota_allocator allocator = {no_alloc, no_free, NULL};
    void *block = rota__alloc(10);

    assert_non_null(block);
    assert_status(rota_set_allocator(&allocator), ROTA_EBUSY);
    assert_status(rota_set_allocator(NULL), ROTA_EINVAL); /* GEN-03 */
    rota__free(block, 10);
    rota__free(rota__alloc(10), 10);
}

/* It is malloc's memory: what one gives the other can take. */
TEST(memory_is_mallocs)
{
    void *block = rota__alloc_array(10, 10);

    assert_non_null(block);
    memset(block, 1, 100);
    free(block);
    block = malloc(100);
    assert_non_null(block);
    rota__free(block, 100);
}

/* Without the counting allocator. */
int main(void)
{
    return test_run_all();
}
