/* SPDX-License-Identifier: MIT */
/*
 * faults.c - an allocator that counts and refuses, threads that are refused, and the entries of a folder.
 */
#include "combine.h"

union header {
    struct {
        uint64_t unused[2]; /* free(3) writes over these */
        size_t size;
        uint64_t mark;
    } block;
    max_align_t aligned;
};

#define BLOCK_LIVES   UINT64_C(0x6c6976656c697665)
#define BLOCK_IS_FREE UINT64_C(0x6465616464656164)

static atomic_long blocks;
static atomic_bool memory_is_refused;

static void *counted_alloc(size_t size, void *ctx)
{
    (void)ctx;
    union header *header = atomic_load(&memory_is_refused) ? NULL : malloc(sizeof *header + size);

    if (header == NULL)
        return NULL;
    header->block.size = size;
    header->block.mark = BLOCK_LIVES;
    atomic_fetch_add(&blocks, 1);
    return memset(header + 1, 0xA5, size);
}

static void counted_free(void *block, size_t size, void *ctx)
{
    (void)ctx;
    union header *header = (union header *)block - 1;

    if (header->block.mark != BLOCK_LIVES || header->block.size != size) {
        fail("a block of memory is freed twice, or was written over");
        _exit(1);
    }
    header->block.mark = BLOCK_IS_FREE;
    memset(block, 0xDB, size);
    atomic_fetch_sub(&blocks, 1);
    free(header);
}

void count_memory(void)
{
    check_status("rota_set_allocator",
                 rota_set_allocator(&(rota_allocator){counted_alloc, counted_free, NULL}), ROTA_OK);
}

long memory_in_use(void)
{
    return atomic_load(&blocks);
}

void refuse_memory(bool on)
{
    atomic_store(&memory_is_refused, on);
}

/* A stack that is larger than the address space: pthread_create fails with EAGAIN. */
void refuse_threads(bool on)
{
    static size_t normal;
    pthread_attr_t attr;

    pthread_getattr_default_np(&attr);
    if (normal == 0)
        pthread_attr_getstacksize(&attr, &normal);
    if (pthread_attr_setstacksize(&attr, on ? (size_t)1 << 50 : normal) != 0
        || pthread_setattr_default_np(&attr) != 0)
        fail("the default stack size cannot be set");
    pthread_attr_destroy(&attr);
}

/* Starts a thread of the row, also while others are refused. */
pthread_t thread_new(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 20);
    if (pthread_create(&thread, &attr, fn, arg) != 0) {
        fail("a thread of the row cannot be made");
        _exit(2);
    }
    pthread_attr_destroy(&attr);
    return thread;
}

unsigned entries(const char *folder)
{
    unsigned count = 0;
    DIR *dir = opendir(folder);

    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count;
}
