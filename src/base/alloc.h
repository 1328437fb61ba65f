/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - all memory of the library comes from here, and goes back with its
 * size, as the user's allocator may want to know it.
 */
#ifndef ROTA_BASE_ALLOC_H
#define ROTA_BASE_ALLOC_H

#include <stddef.h>

void *rota__alloc(size_t size); /* NULL: none left */
void rota__free(void *block, size_t size);

/* NULL also when the product does not fit a size_t. */
void *rota__alloc_array(size_t count, size_t size);

#endif
