/* SPDX-License-Identifier: MIT */
/* 05_pipeline.c - two queues between three kinds of threads, none of which runs ahead of others */
#include <pthread.h>
#include <rota/rota.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2, LINES = 1000, ROOM = 16 };

typedef struct line {
    int number;
    long checksum;
} line;

static rota_queue *read_lines; /* from the reader to the workers */
static rota_queue *done_lines; /* from the workers to main */
static line end;               /* says that no more will come */

/* A put waits while the workers are behind: memory for ROOM lines is all this ever needs. */
static void *reader(void *arg)
{
    for (int i = 0; i < LINES; i++) {
        line *next = malloc(sizeof *next);
        if (next == NULL)
            break;
        next->number = i;
        rota_queue_put(read_lines, next);
    }
    for (int i = 0; i < WORKERS; i++)
        rota_queue_put(read_lines, &end);
    return arg;
}

static void *worker(void *arg)
{
    void *element;

    while (rota_queue_take(read_lines, &element) == ROTA_OK && element != &end) {
        line *mine = element;
        mine->checksum = mine->number % 7;
        rota_queue_put(done_lines, mine);
    }
    rota_queue_put(done_lines, &end);
    return arg;
}

int main(void)
{
    pthread_t threads[WORKERS + 1];
    long sum = 0;
    int lines = 0;

    if (rota_array_queue(ROOM, &read_lines) != ROTA_OK
        || rota_array_queue(ROOM, &done_lines) != ROTA_OK)
        return 1;
    for (int i = 0; i <= WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, i == 0 ? reader : worker, NULL) != 0)
            return 1;
    }
    for (int ended = 0; ended < WORKERS;) {
        void *element;
        if (rota_queue_poll_timed(done_lines, ROTA_SEC(10), &element) != ROTA_OK)
            return 1; /* nothing for ten seconds: something is wrong */
        if (element == &end) {
            ended++;
            continue;
        }
        line *done = element;
        sum += done->checksum;
        lines++;
        free(done);
    }
    for (int i = 0; i <= WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("  %d lines through room for %d, checksum %ld\n", lines, ROOM, sum);
    return rota_queue_free(read_lines) == ROTA_OK && rota_queue_free(done_lines) == ROTA_OK
                   && lines == LINES
               ? 0
               : 1;
}
