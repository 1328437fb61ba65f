/* SPDX-License-Identifier: MIT */
/* 22_queues.c - between a producer and a consumer: seven kinds of queues, and who waits for whom */
#include <rota/rota.h>
#include <stdio.h>
#include <string.h>

enum { LETTERS = 5 };

static char letters[LETTERS + 1] = "dbeac";

static void *produce(void *queue)
{
    for (int i = 0; i < LETTERS; i++) {
        /* Into a transfer queue: waits until somebody has it. Into any other: waits for room. */
        int status = rota_queue_transfer(queue, &letters[i], ROTA_FOREVER);
        if (status == ROTA_ENOTSUP)
            status = rota_queue_put(queue, &letters[i]);
        if (status != ROTA_OK)
            return rota_fail(status);
    }
    return queue;
}

static int by_letter(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return *(const char *)a - *(const char *)b;
}

/* When it may be taken: the later in the alphabet, the later. */
static rota_ns due(const void *letter, void *start)
{
    return *(rota_ns *)start + ROTA_MS(5) * (*(const char *)letter - 'a');
}

/* All letters go through the queue; those that sort have all of them before the first is taken. */
static bool pass(rota_executor *pool, const char *name, rota_queue *queue, const char *expected)
{
    char order[LETTERS + 1] = "";
    rota_future *produced;
    bool sorts = strcmp(expected, letters) != 0;

    if (rota_submit(pool, produce, queue, &produced) != ROTA_OK
        || (sorts && rota_future_get(produced, NULL) != ROTA_OK))
        return false;
    for (int i = 0; i < LETTERS; i++) {
        void *letter;
        if (rota_queue_take(queue, &letter) != ROTA_OK) /* waits where there is none, or none due */
            return false;
        order[i] = *(char *)letter;
    }
    printf("  %-15s %s\n", name, order);
    int status = rota_future_get(produced, NULL);
    rota_future_unref(produced);
    return status == ROTA_OK && rota_queue_free(queue) == ROTA_OK && strcmp(order, expected) == 0;
}

int main(void)
{
    rota_ns start = rota_now();
    rota_executor *pool;
    rota_queue *array, *linked, *deque, *priority, *delay, *handoff, *transfer;

    if (rota_single_thread(&pool) != ROTA_OK || rota_array_queue(2, &array) != ROTA_OK
        || rota_linked_queue(ROTA_UNBOUNDED, &linked) != ROTA_OK || rota_deque(3, &deque) != ROTA_OK
        || rota_priority_queue(by_letter, NULL, &priority) != ROTA_OK
        || rota_delay_queue(due, &start, &delay) != ROTA_OK
        || rota_handoff_queue(&handoff) != ROTA_OK || rota_transfer_queue(&transfer) != ROTA_OK)
        return 1;
    bool is_right =
        pass(pool, "array, 2", array, "dbeac") && pass(pool, "linked", linked, "dbeac")
        && pass(pool, "deque, 3", deque, "dbeac") && pass(pool, "priority", priority, "abcde")
        && pass(pool, "delay", delay, "abcde") && pass(pool, "hand-off", handoff, "dbeac")
        && pass(pool, "transfer", transfer, "dbeac");
    return rota_close(pool) == ROTA_OK && is_right ? 0 : 1;
}
