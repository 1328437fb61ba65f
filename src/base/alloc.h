/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - the source of all memory. Memory is freed with its size, because the user's allocator
 * gets it.
 */
#ifndef ROTA_BASE_ALLOC_H
#define ROTA_BASE_ALLOC_H

#include <stddef.h>

void *rota__alloc(size_t size); /* returns NULL if there is no memory */
void rota__free(void *block, size_t size);

/* Returns NULL also if the product does not fit into a size_t. */
void *rota__alloc_array(size_t count, size_t size);

#endif
