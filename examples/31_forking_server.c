/* SPDX-License-Identifier: MIT */
/* 31_forking_server.c - a server with a child for each client: they leave their parent's pool alone */
#include <arpa/inet.h>
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS = 4 };

static struct sockaddr_in me = {.sin_family = AF_INET};
static atomic_long total;

static void *square(void *number)
{
    *(long *)number *= *(long *)number;
    return number;
}

/* A child has one thread, and none of its parent's: their pool is as if terminated here. */
static int serve(int client, rota_executor *parents)
{
    long numbers[2], sum;
    rota_executor *pool;

    if (rota_execute(parents, square, numbers) != ROTA_EREJECTED || rota_close(parents) != ROTA_OK)
        return 1;
    if (read(client, numbers, sizeof numbers) != sizeof numbers
        || rota_fixed_pool(2, &pool) != ROTA_OK
        || rota_execute(pool, square, &numbers[0]) != ROTA_OK
        || rota_execute(pool, square, &numbers[1]) != ROTA_OK || rota_close(pool) != ROTA_OK)
        return 2;
    sum = numbers[0] + numbers[1];
    return write(client, &sum, sizeof sum) == sizeof sum ? 0 : 3;
}

/* A client, on a thread of the parent's pool, also while it forks. */
static void *ask(void *numbers)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    long sum = 0;
    bool answered = connect(fd, (struct sockaddr *)&me, sizeof me) == 0
                    && write(fd, numbers, sizeof(long[2])) == sizeof(long[2])
                    && read(fd, &sum, sizeof sum) == sizeof sum;

    close(fd);
    atomic_fetch_add(&total, sum);
    return answered ? numbers : rota_fail(1);
}

int main(void)
{
    long numbers[CLIENTS][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
    int door = socket(AF_INET, SOCK_STREAM, 0), well = 0;
    rota_executor *pool;

    me.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, (struct sockaddr *)&me, sizeof me) != 0 || listen(door, CLIENTS) != 0
        || getsockname(door, (struct sockaddr *)&me, &(socklen_t){sizeof me}) != 0
        || rota_fixed_pool(CLIENTS, &pool) != ROTA_OK)
        return 1;
    for (int i = 0; i < CLIENTS; i++) {
        if (rota_execute(pool, ask, numbers[i]) != ROTA_OK)
            return 1;
        int client = accept(door, NULL, NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(serve(client, pool)); /* not exit: what is buffered is the parent's to write */
        close(client);                  /* if the child dies the client is not answered */
        if (child < 0)
            return 1;
    }
    if (rota_close(pool) != ROTA_OK)
        return 1;
    for (int status; wait(&status) > 0;)
        well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("  %d children, and the sum of what they said is %ld\n", well, atomic_load(&total));
    return close(door) == 0 && well == CLIENTS && atomic_load(&total) == 44 ? 0 : 1;
}
