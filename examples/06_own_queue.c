/* SPDX-License-Identifier: MIT */
/* 06_own_queue.c - a queue of one's own: a plain container becomes one that waits and times out */
#include <rota/rota.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 5 };

/* The container: the newest first. When there is too much to do, the oldest have given up. */
typedef struct stack {
    char *requests[ROOM];
    size_t count;
} stack;

static int insert(void *self, void *element)
{
    stack *mine = self;

    if (mine->count == ROOM)
        return ROTA_EFULL; /* a put waits, until one is taken or removed */
    mine->requests[mine->count++] = element;
    return ROTA_OK;
}

static void *take(void *self)
{
    stack *mine = self;

    return mine->count > 0 ? mine->requests[--mine->count] : NULL;
}

static void *peek(void *self)
{
    stack *mine = self;

    return mine->count > 0 ? mine->requests[mine->count - 1] : NULL;
}

/* The newest is asked about first; what stays keeps its order. */
static void filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    stack *mine = self;

    for (size_t i = mine->count; i-- > 0;) {
        char **here = &mine->requests[i];
        if (drop(*here, ctx))
            memmove(here, here + 1, (--mine->count - i) * sizeof *here);
    }
}

static size_t room(void *self)
{
    return ROOM - ((stack *)self)->count;
}

int main(void)
{
    rota_queue_ops ops = {
        .insert = insert, .take = take, .peek = peek, .filter = filter, .room = room};
    char requests[] = "abcdef", order[ROOM + 1] = "";
    stack container = {.count = 0};
    rota_queue *queue;
    void *element;

    if (rota_custom_queue(&ops, &container, &queue) != ROTA_OK)
        return 1;
    for (int i = 0; i < ROOM; i++) {
        if (rota_queue_put(queue, &requests[i]) != ROTA_OK)
            return 1;
    }
    int status = rota_queue_offer_timed(queue, &requests[ROOM], ROTA_MS(5));
    printf("  one more than there is room for: %s\n", rota_strerror(status));
    bool removed = rota_queue_remove(queue, &requests[2]); /* its client has gone */
    for (int i = 0; rota_queue_poll_timed(queue, ROTA_MS(5), &element) == ROTA_OK; i++)
        order[i] = *(char *)element;
    printf("  %.5s came, c went, %s were served\n", requests, order);
    bool is_right = status == ROTA_ETIMEDOUT && removed && strcmp(order, "edba") == 0;
    return is_right && rota_queue_free(queue) == ROTA_OK ? 0 : 1;
}
