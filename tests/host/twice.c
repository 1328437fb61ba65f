/* SPDX-License-Identifier: MIT */
/*
 * twice.c - a program that has the library inside of it, and shows its names to all, loads another
 * copy: each goes its own way.
 *
 *     twice LIBRARY
 */
#include <dlfcn.h>
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 10000, FIB_OF = 16, FIB = 987 };

/* What is tried of a copy. */
struct copy {
    int (*fixed_pool)(unsigned, rota_executor **);
    int (*execute)(rota_executor *, rota_fn *, void *);
    int (*submit)(rota_executor *, rota_fn *, void *, rota_future **);
    int (*get)(rota_future *, void **);
    bool (*cancel_now)(rota_future *);
    void (*unref)(rota_future *);
    int (*sleep)(rota_ns);
    int (*close)(rota_executor *);
    rota_executor *(*common_pool)(void);
    int (*invoke)(rota_executor *, rota_fj *);
    void (*fork)(rota_fj *);
    int (*join)(rota_fj *);
};

#define check(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static _Noreturn void fail(const char *what, int line)
{
    fprintf(stderr, "twice.c:%d: %s is not so\n", line, what);
    exit(1);
}

static void *count(void *runs)
{
    atomic_fetch_add((atomic_uint *)runs, 1);
    return runs;
}

static void *sleep_long(void *arg)
{
    const struct copy *copy = arg;

    check(copy->sleep(ROTA_HOURS(1)) == ROTA_EINTERRUPTED);
    return NULL;
}

static const struct copy *current;

struct fib {
    rota_fj task; /* first */
    int n, value;
};

static void fib(rota_fj *task)
{
    struct fib *self = (struct fib *)task;

    self->value = self->n;
    if (self->n < 2)
        return;
    struct fib a = {ROTA_FJ(fib), self->n - 1, 0}, b = {ROTA_FJ(fib), self->n - 2, 0};
    current->fork(&a.task);
    fib(&b.task);
    check(current->join(&a.task) == ROTA_OK);
    self->value = a.value + b.value;
}

static void run_tasks(const struct copy *copy)
{
    atomic_uint runs = 0;
    rota_executor *pool;
    rota_future *future;

    check(copy->fixed_pool(2, &pool) == ROTA_OK);
    for (int i = 0; i < TASKS; i++)
        check(copy->execute(pool, count, &runs) == ROTA_OK);
    check(copy->submit(pool, count, &runs, &future) == ROTA_OK);
    check(copy->get(future, NULL) == ROTA_OK);
    copy->unref(future);
    check(copy->submit(pool, sleep_long, (void *)(uintptr_t)copy, &future) == ROTA_OK);
    copy->cancel_now(future);
    copy->unref(future);
    check(copy->close(pool) == ROTA_OK);
    check(atomic_load(&runs) == TASKS + 1);
}

static void divide(const struct copy *copy)
{
    struct fib root = {ROTA_FJ(fib), FIB_OF, 0};

    current = copy;
    check(copy->invoke(copy->common_pool(), &root.task) == ROTA_OK);
    check(root.value == FIB);
}

/* ISO C has no conversion from an object's address to a function's. */
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    check(address != NULL);
    memcpy(function, &address, sizeof address);
}

static void rota_fork_inside(rota_fj *task)
{
    rota_fork(task);
}

static int rota_join_inside(rota_fj *task)
{
    return rota_join(task);
}

int main(int count_of, char **arguments)
{
    struct copy inside = {
        rota_fixed_pool,        rota_execute,      rota_submit,      rota_future_get,
        rota_future_cancel_now, rota_future_unref, rota_sleep,       rota_close,
        rota_common_pool,       rota_invoke,       rota_fork_inside, rota_join_inside};
    struct copy loaded;

    check(count_of == 2);
    run_tasks(&inside); /* the one inside is at work before the other comes, */
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    check(library != NULL);
    find(library, "rota_fixed_pool", &loaded.fixed_pool);
    find(library, "rota_execute", &loaded.execute);
    find(library, "rota_submit", &loaded.submit);
    find(library, "rota_future_get", &loaded.get);
    find(library, "rota_future_cancel_now", &loaded.cancel_now);
    find(library, "rota_future_unref", &loaded.unref);
    find(library, "rota_sleep", &loaded.sleep);
    find(library, "rota_close", &loaded.close);
    find(library, "rota_common_pool", &loaded.common_pool);
    find(library, "rota_invoke", &loaded.invoke);
    find(library, "rota_fork", &loaded.fork);
    find(library, "rota_join", &loaded.join);
    check(loaded.execute != inside.execute);
    for (int i = 0; i < 3; i++) { /* and both after that */
        run_tasks(&loaded);
        divide(&loaded);
        run_tasks(&inside);
        divide(&inside);
    }
    check(loaded.common_pool() != inside.common_pool());
    printf("%d tasks in two copies\n", 7 * TASKS);
    return 0;
}
