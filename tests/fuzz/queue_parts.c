/* SPDX-License-Identifier: MIT */
/*
 * queue_parts.c - elements, and a stack as a user would write it.
 */
#include "queue_parts.h"

#include <string.h>

/* -- Elements -------------------------------------------------------------------------------- */

item items[ITEMS];
static unsigned whim; /* of a comparator that contradicts itself */

void items_begin(unsigned seed)
{
    static const rota_ns times[] = {INT64_MIN,     -1,           0, 1, 1000, INT64_MAX,
                                    INT64_MAX - 1, INT64_MAX / 2};

    whim = seed;
    for (int i = 0; i < ITEMS; i++)
        items[i] = (item){.rank = i / 3 % 5, .time = times[i % 8]};
}

int item_compare(const void *a, const void *b, void *ctx)
{
    const item *left = a;
    const item *right = b;

    if (*(const bool *)ctx)
        return (left->rank > right->rank) - (left->rank < right->rank);
    whim = whim * 1103515245 + 12345;
    return (int)(whim >> 16) % 3 - 1;
}

rota_ns item_due(const void *element, void *ctx)
{
    (void)ctx;
    return ((const item *)element)->time;
}

/* -- A container of our own: a stack --------------------------------------------------------- */

static struct {
    void *elements[MOST];
    size_t count, room;
} stack;

static int push(void *self, void *element)
{
    (void)self;
    if (stack.count == stack.room)
        return ROTA_EFULL;
    stack.elements[stack.count++] = element;
    return ROTA_OK;
}

static void *top(void *self)
{
    (void)self;
    return stack.count > 0 ? stack.elements[stack.count - 1] : NULL;
}

static void *pop(void *self)
{
    void *element = top(self);

    stack.count -= stack.count > 0;
    return element;
}

static void filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    size_t kept = stack.count;

    (void)self;
    for (size_t i = stack.count; i-- > 0;) {
        void *element = stack.elements[i];
        if (!drop(element, ctx))
            stack.elements[--kept] = element;
    }
    memmove(stack.elements, stack.elements + kept, (stack.count - kept) * sizeof stack.elements[0]);
    stack.count -= kept;
}

static size_t stack_room(void *self)
{
    (void)self;
    return stack.room - stack.count;
}

int stack_queue(size_t room, rota_queue **out)
{
    const rota_queue_ops ops = {
        .insert = push, .take = pop, .peek = top, .filter = filter, .room = stack_room};

    stack.count = 0;
    stack.room = room;
    return rota_custom_queue(&ops, &stack, out);
}
