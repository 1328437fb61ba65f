/* SPDX-License-Identifier: MIT */
/* 31_forking_server.c - a server that forks: children leave their parent's pool alone */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS = 4 };

static int pipes[CLIENTS][2]; /* what a child has to say: read here, written there */
static atomic_long total;

static void *square(void *arg)
{
    long *number = arg;

    *number *= *number;
    return number;
}

/* A child has one thread, and none of its parent's: their pool is as if terminated here. */
static int serve(rota_executor *parents, int client)
{
    long numbers[2] = {client, client + 1}, sum;
    rota_executor *pool;

    if (rota_execute(parents, square, &numbers[0]) != ROTA_EREJECTED
        || rota_close(parents) != ROTA_OK)
        return 1;
    if (rota_fixed_pool(2, &pool) != ROTA_OK)
        return 2;
    for (int i = 0; i < 2; i++) {
        if (rota_execute(pool, square, &numbers[i]) != ROTA_OK)
            return 3;
    }
    if (rota_close(pool) != ROTA_OK)
        return 4;
    sum = numbers[0] + numbers[1];
    return write(pipes[client][1], &sum, sizeof sum) == sizeof sum ? 0 : 5;
}

/* On a thread of the parent's pool, also while it forks. */
static void *listen_to(void *fd)
{
    long sum;

    if (read(*(int *)fd, &sum, sizeof sum) != sizeof sum)
        return rota_fail(1);
    atomic_fetch_add(&total, sum);
    return fd;
}

int main(void)
{
    rota_executor *pool;
    int well = 0;

    if (rota_fixed_pool(CLIENTS, &pool) != ROTA_OK)
        return 1;
    for (int i = 0; i < CLIENTS; i++) {
        if (pipe(pipes[i]) != 0 || rota_execute(pool, listen_to, &pipes[i][0]) != ROTA_OK)
            return 1;
        pid_t child = fork();
        if (child == 0)
            _exit(serve(pool, i)); /* not exit: what is buffered is the parent's to write */
        close(pipes[i][1]);        /* if the child dies the read ends, with nothing */
        if (child < 0)
            return 1;
    }
    if (rota_close(pool) != ROTA_OK)
        return 1;
    for (int status; wait(&status) > 0;)
        well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("  %d children, and the sum of what they said is %ld\n", well, atomic_load(&total));
    return well == CLIENTS && atomic_load(&total) == 44 ? 0 : 1;
}
