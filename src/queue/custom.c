/* SPDX-License-Identifier: MIT */
/*
 * custom.c - a user's container as a queue.
 */
#include "queue/locked.h"

#include "base/alloc.h"

typedef struct custom {
    rota__locked locked;
    rota_queue_ops ops;
    void *self;
} custom;

static custom *custom_of(rota__locked *locked)
{
    return ROTA__CONTAINER(locked, custom, locked);
}

static int insert(rota__locked *locked, void *element, rota__end end)
{
    custom *mine = custom_of(locked);

    (void)end;
    return mine->ops.insert(mine->self, element);
}

static void *take(rota__locked *locked, rota__end end)
{
    custom *mine = custom_of(locked);

    (void)end;
    return mine->ops.take(mine->self);
}

static void *peek(rota__locked *locked, rota__end end)
{
    custom *mine = custom_of(locked);

    (void)end;
    return mine->ops.peek(mine->self);
}

static size_t room(rota__locked *locked)
{
    custom *mine = custom_of(locked);

    return mine->ops.room != NULL ? mine->ops.room(mine->self) : ROTA_UNBOUNDED;
}

static void filter(rota__locked *locked, rota__predicate *drop, void *ctx)
{
    custom *mine = custom_of(locked);

    mine->ops.filter(mine->self, drop, ctx);
}

/* -- What is made of filter ----------------------------------------------- */

typedef struct search {
    const void *element;
    bool removes;
    bool found;
} search;

static bool is_first(void *element, void *ctx)
{
    search *wanted = ctx;

    if (wanted->found || element != wanted->element)
        return false;
    wanted->found = true;
    return wanted->removes;
}

static bool remove_element(rota__locked *locked, const void *element, rota__end from)
{
    search wanted = {element, true, false};

    (void)from;
    filter(locked, is_first, &wanted);
    return wanted.found;
}

static bool contains(rota__locked *locked, const void *element)
{
    search wanted = {element, false, false};

    filter(locked, is_first, &wanted);
    return wanted.found;
}

/* The lock is held all the time, because only the container knows its order. */
static void visit_all(rota_queue *queue, rota__queue_visit *visit, rota__end from)
{
    rota__locked *locked = rota__locked_of(queue);

    (void)from;
    rota__mutex_lock(&locked->lock);
    filter(locked, rota__queue_visit_ask, visit);
    rota__mutex_unlock(&locked->lock);
}

static void custom_free(rota__locked *locked)
{
    custom *mine = custom_of(locked);

    if (mine->ops.free != NULL)
        mine->ops.free(mine->self);
    rota__free(mine, sizeof *mine);
}

static const rota__queue_kind custom_kind = {ROTA__LOCKED_KIND, .visit = visit_all};
static const rota__container custom_container = {
    .insert = insert,
    .take = take,
    .peek = peek,
    .room = room,
    .remove_element = remove_element,
    .contains = contains,
    .filter = filter,
    .free = custom_free,
};

int rota_custom_queue(const rota_queue_ops *ops, void *self, rota_queue **out)
{
    custom *mine;

    if (ops == NULL || out == NULL)
        return ROTA_EINVAL;
    if (ops->insert == NULL || ops->take == NULL || ops->peek == NULL || ops->filter == NULL)
        return ROTA_EINVAL;
    mine = rota__alloc(sizeof *mine);
    if (mine == NULL)
        return ROTA_ENOMEM;
    mine->ops = *ops;
    mine->self = self;
    rota__locked_init(&mine->locked, &custom_kind, &custom_container, 0);
    rota__store_relaxed(&mine->locked.room, room(&mine->locked));
    *out = &mine->locked.queue;
    return ROTA_OK;
}
