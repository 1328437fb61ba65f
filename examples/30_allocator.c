/* SPDX-License-Identifier: MIT */
/* 30_allocator.c - all memory from an arena of one's own, to which what is freed comes back */
#include <pthread.h>
#include <rota/rota.h>
#include <stdio.h>

enum { ARENA = 1 << 20, KINDS = 21, ROUNDS = 20, TASKS = 1000 };

static _Alignas(max_align_t) char arena[ARENA];
static void *came_back[KINDS]; /* lists of free blocks: of 16 bytes, 32, 64, ... */
static size_t taken, in_use;   /* taken: of the arena, once: as much as was ever needed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int kind_of(size_t size)
{
    int kind = 4;

    while (kind < KINDS && size > (size_t)1 << kind)
        kind++;
    return kind;
}

/* From any thread. NULL: the call that needs it says ROTA_ENOMEM, and has changed nothing. */
static void *give(size_t size, void *ctx)
{
    int kind = kind_of(size);
    void *block = NULL;

    (void)ctx;
    pthread_mutex_lock(&lock);
    if (kind < KINDS && came_back[kind] != NULL) {
        block = came_back[kind];
        came_back[kind] = *(void **)block;
    } else if (kind < KINDS && ARENA - taken >= (size_t)1 << kind) {
        block = arena + taken;
        taken += (size_t)1 << kind;
    }
    in_use += block != NULL ? size : 0;
    pthread_mutex_unlock(&lock);
    return block;
}

static void take_back(void *block, size_t size, void *ctx) /* told the size: no heads needed */
{
    int kind = kind_of(size);

    (void)ctx;
    pthread_mutex_lock(&lock);
    *(void **)block = came_back[kind];
    came_back[kind] = block;
    in_use -= size;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    return arg;
}

int main(void)
{
    rota_executor *pool;
    rota_queue *queue;

    if (rota_set_allocator(&(rota_allocator){give, take_back, NULL}) != ROTA_OK) /* first of all */
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        int refused = 0;
        if (rota_fixed_pool(2, &pool) != ROTA_OK)
            return 1;
        for (int j = 0; j < TASKS; j++)
            refused += rota_submit(pool, work, NULL, NULL) != ROTA_OK;
        if (rota_close(pool) != ROTA_OK || refused > 0)
            return 1;
    }
    printf("  %d tasks, %zu bytes, %zu of them kept for more\n", ROUNDS * TASKS, taken, in_use);
    int status = rota_array_queue(ARENA, &queue);
    printf("  a queue for %d: %s\n", ARENA, rota_strerror(status));
    return status == ROTA_ENOMEM ? 0 : 1;
}
