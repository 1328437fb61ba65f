/* SPDX-License-Identifier: MIT */
/* 06_own_queue.c - a queue of one's own: a plain container becomes one that waits and times out */
#include <pthread.h>
#include <rota/rota.h>
#include <stdio.h>

/* -- The container: each client has its turn, however many requests another has sent --------- */

enum { CLIENTS = 3, ROOM = 8 };

typedef struct request {
    int client;
    int number;
} request;

typedef struct turns {
    request *waiting[CLIENTS][ROOM];
    size_t count[CLIENTS];
    size_t room; /* for all of them */
    int next;    /* client */
} turns;

static int insert(void *self, void *element)
{
    turns *mine = self;
    request *new = element;

    if (mine->room == 0)
        return ROTA_EFULL; /* a put waits, until one is taken or removed */
    mine->waiting[new->client][mine->count[new->client]++] = new;
    mine->room--;
    return ROTA_OK;
}

static void *first_of(turns *mine, int client, bool takes)
{
    request *first = mine->waiting[client][0];

    if (takes) {
        for (size_t i = 1; i < mine->count[client]; i++)
            mine->waiting[client][i - 1] = mine->waiting[client][i];
        mine->count[client]--;
        mine->room++;
        mine->next = (client + 1) % CLIENTS;
    }
    return first;
}

static void *whose_turn(turns *mine, bool takes)
{
    for (int i = 0; i < CLIENTS; i++) {
        int client = (mine->next + i) % CLIENTS;
        if (mine->count[client] > 0)
            return first_of(mine, client, takes);
    }
    return NULL;
}

static void *take(void *self)
{
    return whose_turn(self, true);
}

static void *peek(void *self)
{
    return whose_turn(self, false);
}

static void filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    turns *mine = self;

    for (int client = 0; client < CLIENTS; client++) {
        size_t kept = 0;
        for (size_t i = 0; i < mine->count[client]; i++) {
            request *one = mine->waiting[client][i];
            if (!drop(one, ctx))
                mine->waiting[client][kept++] = one;
        }
        mine->room += mine->count[client] - kept;
        mine->count[client] = kept;
    }
}

static size_t room(void *self)
{
    turns *mine = self;

    return mine->room;
}

/* -- The queue ------------------------------------------------------------------------------- */

static void *serve(void *queue)
{
    void *element;

    while (rota_queue_poll_timed(queue, ROTA_MS(50), &element) == ROTA_OK) {
        request *one = element;
        printf("  client %d, request %d\n", one->client, one->number);
    }
    return NULL; /* nobody has asked for a while */
}

int main(void)
{
    static turns container = {.room = ROOM};
    static request requests[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 1}, {2, 1}, {2, 2}};
    rota_queue_ops ops = {
        .insert = insert, .take = take, .peek = peek, .filter = filter, .room = room};
    rota_queue *queue;
    pthread_t server;

    if (rota_custom_queue(&ops, &container, &queue) != ROTA_OK)
        return 1;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        rota_queue_put(queue, &requests[i]);
    if (pthread_create(&server, NULL, serve, queue) != 0)
        return 1;
    pthread_join(server, NULL);
    return rota_queue_size(queue) == 0 && rota_queue_free(queue) == ROTA_OK ? 0 : 1;
}
