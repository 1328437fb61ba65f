/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - stacks that take turns on one thread.
 */
#ifndef ROTA_TESTS_FIBER_H
#define ROTA_TESTS_FIBER_H

#include <stddef.h>

typedef struct fiber {
    void *context; /* where it stopped */
    char *stack;
    size_t size;
} fiber;

/* Puts the fiber at the start of `entry`, which must never return. */
void fiber_init(fiber *fiber, void (*entry)(void));

/* Stops `from` here, and goes on where `to` has stopped. */
void fiber_switch(fiber *from, fiber *to);

#endif
