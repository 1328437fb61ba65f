/* SPDX-License-Identifier: MIT */
/*
 * unloaded.c - a program closes the library while a pool of its is at work: the threads go on.
 *
 *     unloaded LIBRARY
 */
#include <dlfcn.h>
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 1000 };

static atomic_uint runs;

static void *count(void *arg)
{
    usleep(100); /* so that most run after the library was closed */
    atomic_fetch_add(&runs, 1);
    return arg;
}

/* ISO C has no conversion from an object's address to a function's. */
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    if (address == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    memcpy(function, &address, sizeof address);
}

int main(int count_of, char **arguments)
{
    int (*fixed_pool)(unsigned, rota_executor **);
    int (*execute)(rota_executor *, rota_fn *, void *);
    rota_executor *pool;
    unsigned before;

    void *library = count_of == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL)
        return 2;
    find(library, "rota_fixed_pool", &fixed_pool);
    find(library, "rota_execute", &execute);
    if (fixed_pool(2, &pool) != ROTA_OK)
        return 1;
    for (int i = 0; i < TASKS; i++) {
        if (execute(pool, count, NULL) != ROTA_OK)
            return 1;
    }
    before = atomic_load(&runs);
    if (dlclose(library) != 0)
        return 1;
    while (atomic_load(&runs) < TASKS)
        usleep(1000);
    printf("%u tasks before the library was closed, %u after that\n", before, TASKS - before);
    return before < TASKS ? 0 : 1;
}
