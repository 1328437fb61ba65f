/* SPDX-License-Identifier: MIT */
/* mutex_list.c - a list without a bound, a mutex and a condition, as one writes it by hand */
#include "peer.h"

#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    void *element;
};

struct list {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t not_empty;
    struct node *first;
    struct node **last; /* where the next node is linked */
};

void *peer_make(const char *kind, size_t capacity)
{
    (void)kind;
    if (capacity != UNBOUNDED)
        return NULL;
    struct list *list = calloc(1, sizeof *list);
    if (list == NULL)
        return NULL;
    list->last = &list->first;
    pthread_mutex_init(&list->lock, NULL);
    pthread_cond_init(&list->not_empty, NULL);
    return list;
}

void peer_free(void *queue)
{
    struct list *list = queue;

    pthread_cond_destroy(&list->not_empty);
    pthread_mutex_destroy(&list->lock);
    free(list);
}

void peer_put(void *queue, void *element)
{
    struct list *list = queue;
    struct node *node = malloc(sizeof *node);

    if (node == NULL)
        abort();
    *node = (struct node){.element = element};
    pthread_mutex_lock(&list->lock);
    *list->last = node;
    list->last = &node->next;
    pthread_cond_signal(&list->not_empty);
    pthread_mutex_unlock(&list->lock);
}

/* Unlinks the first node, with the lock held. */
static struct node *removed(struct list *list)
{
    struct node *node = list->first;

    list->first = node->next;
    if (list->first == NULL)
        list->last = &list->first;
    return node;
}

static void *opened(struct node *node)
{
    void *element = node->element;

    free(node);
    return element;
}

void *peer_take(void *queue)
{
    struct list *list = queue;

    pthread_mutex_lock(&list->lock);
    while (list->first == NULL)
        pthread_cond_wait(&list->not_empty, &list->lock);
    struct node *node = removed(list);
    pthread_mutex_unlock(&list->lock);
    return opened(node);
}

bool peer_offer(void *queue, void *element)
{
    peer_put(queue, element);
    return true;
}

void *peer_poll(void *queue)
{
    struct list *list = queue;

    pthread_mutex_lock(&list->lock);
    struct node *node = list->first != NULL ? removed(list) : NULL;
    pthread_mutex_unlock(&list->lock);
    return node != NULL ? opened(node) : NULL;
}
