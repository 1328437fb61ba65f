/* SPDX-License-Identifier: MIT */
/*
 * list.h - a doubly linked list whose links lie in the elements.
 *
 * The list is a ring that contains the head. A link that is in no list points to itself, so that
 * removing it again does nothing.
 */
#ifndef ROTA_BASE_LIST_H
#define ROTA_BASE_LIST_H

#include "base/check.h"
#include "base/compiler.h"

#include <stdbool.h>

typedef struct rota__link {
    struct rota__link *previous;
    struct rota__link *next;
} rota__link;

typedef struct rota__list {
    rota__link head;
} rota__list;

/* An empty list, for static storage. */
#define ROTA__LIST_INITIALIZER(list)   \
    {                                  \
        {                              \
            &(list).head, &(list).head \
        }                              \
    }

static inline void rota__link_init(rota__link *link)
{
    link->previous = link;
    link->next = link;
}

static inline bool rota__link_is_in_list(const rota__link *link)
{
    return link->next != link;
}

static inline void rota__list_init(rota__list *list)
{
    rota__link_init(&list->head);
}

static inline bool rota__list_is_empty(const rota__list *list)
{
    return !rota__link_is_in_list(&list->head);
}

static inline void rota__list_insert_after(rota__link *place, rota__link *link)
{
    ROTA__ASSERT(place->next != NULL && !rota__link_is_in_list(link));
    link->previous = place;
    link->next = place->next;
    link->previous->next = link;
    link->next->previous = link;
}

static inline void rota__list_append(rota__list *list, rota__link *link)
{
    rota__list_insert_after(list->head.previous, link);
}

static inline void rota__list_prepend(rota__list *list, rota__link *link)
{
    rota__list_insert_after(&list->head, link);
}

static inline void rota__list_remove(rota__link *link)
{
    ROTA__ASSERT(link->previous->next == link && link->next->previous == link);
    link->previous->next = link->next;
    link->next->previous = link->previous;
    rota__link_init(link);
}

/* Returns NULL if the list is empty. */
static inline rota__link *rota__list_first(const rota__list *list)
{
    return rota__list_is_empty(list) ? NULL : list->head.next;
}

static inline rota__link *rota__list_last(const rota__list *list)
{
    return rota__list_is_empty(list) ? NULL : list->head.previous;
}

static inline rota__link *rota__list_take_first(rota__list *list)
{
    rota__link *first = rota__list_first(list);

    if (first != NULL)
        rota__list_remove(first);
    return first;
}

static inline void rota__list_check(const rota__list *list)
{
    const rota__link *link = &list->head;

    do {
        ROTA__ASSERT(link->next->previous == link && link->previous->next == link);
        link = link->next;
    } while (link != &list->head);
}

#endif
