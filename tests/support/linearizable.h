/* SPDX-License-Identifier: MIT */
/*
 * linearizable.h - can what threads saw have happened one after the other?
 *
 * A history is a list of operations with the times of their calls and returns. It is linearizable
 * if some order of them, in which an operation that returned before another was called comes first,
 * gives the same results on a sequential model. (Wing and Gong, "Testing and verifying concurrent
 * objects", 1993: a search, with what was tried remembered.)
 *
 *     lin_history history = {0};
 *     size_t i = lin_call(&history, PUT, 7);          // each thread: before,
 *     lin_return(&history, i, queue_put(queue, 7));   // and after its operation
 *     ...
 *     ex_check(lin_check(&history, &fifo));
 */
#ifndef ROTA_TESTS_LINEARIZABLE_H
#define ROTA_TESTS_LINEARIZABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LIN_OPERATIONS = 16, LIN_STATE = 64 };

typedef struct lin_operation {
    int kind;
    long argument;
    long result;
    uint32_t called;
    uint32_t returned; /* 0: it never did, and may or may not have happened */
} lin_operation;

typedef struct lin_history {
    lin_operation operations[LIN_OPERATIONS];
    atomic_size_t count;
    _Atomic(uint32_t) time;
} lin_history;

/* A sequential object. Its state is plain bytes, all zero at first. */
typedef struct lin_model {
    /* Does it, and says whether `operation->result` is what comes of it. */
    bool (*apply)(void *state, const lin_operation *operation);
} lin_model;

void lin_clear(lin_history *history);
size_t lin_call(lin_history *history, int kind, long argument);
void lin_return(lin_history *history, size_t operation, long result);
bool lin_check(const lin_history *history, const lin_model *model);

#endif
