/* SPDX-License-Identifier: MIT */
/*
 * fuzz.c - a fuzzer's bytes are a small program of calls on two futures, and its schedule.
 *
 * Three threads take their operations from the first bytes, up to four each; every further byte is
 * one choice: who goes on, what is refused, what is delayed. Whatever the program is, each task must
 * end once, nobody must wait for ever, and all memory must come back.
 *
 *     clang -fsanitize=fuzzer ...   ./fuzz -max_total_time=60 corpus
 */
#include "engine.h"
#include "exec/exec_internal.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THREADS = 3, OPERATIONS = 4, PROGRAM = THREADS * OPERATIONS };

static const uint8_t *program;
static rota_future *promise, *task;
static int ran, discarded;

static void *body(void *arg)
{
    ran++;
    rota_sleep(ROTA_MS(1));
    return arg;
}

static void discard(void *arg)
{
    (void)arg;
    discarded++;
}

static void operate(uint8_t operation)
{
    rota_future *future = operation & 16 ? task : promise;
    int fd;

    switch (operation % 10) {
    case 0:
        rota_future_get_timed(future, ROTA_MS(operation), NULL);
        break;
    case 1:
        rota_future_cancel(future);
        break;
    case 2:
        rota_future_cancel_now(future);
        break;
    case 3:
        rota_promise_complete(future, &ran);
        break;
    case 4:
        rota_promise_fail(future, 1 + operation);
        break;
    case 5:
        rota_future_fd(future, &fd);
        break;
    case 6:
        rota_future_unref(rota_future_ref(future));
        break;
    case 7:
        rota_thread_interrupt(rota_thread_self());
        break;
    case 8:
        ex_check(rota_future_state_of(future) <= ROTA_FUTURE_CANCELED);
        break;
    default:
        rota_sleep(ROTA_US(operation));
        break;
    }
}

static void thread_program(void *arg)
{
    const uint8_t *operations = arg;

    for (int i = 0; i < OPERATIONS; i++)
        operate(operations[i]);
}

static void run_task(void *arg)
{
    (void)arg;
    rota_task_run(&task->task);
}

static void run_program(void)
{
    rota_call call = {.fn = body, .discard = discard};
    ex_thread *threads[THREADS];

    ran = discarded = 0;
    if (rota_promise_new(&promise) != ROTA_OK)
        return;
    task = rota__future_new(&call, true, sizeof *task);
    if (task != NULL) {
        ex_thread *runner = ex_start(run_task, NULL);
        for (int i = 0; i < THREADS; i++)
            threads[i] = ex_start(thread_program, (void *)(uintptr_t)&program[i * OPERATIONS]);
        for (int i = 0; i < THREADS; i++)
            ex_join(threads[i]);
        ex_join(runner);
        ex_check(ran + discarded == 1);
        rota_future_unref(task);
    }
    rota_future_unref(promise);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ex_scenario scenario = {.name = "program", .run = run_program, .faults = true};
    static bool prepared;

    if (!prepared && rota_set_allocator(&heap_allocator) != ROTA_OK)
        abort();
    prepared = true;
    if (size < PROGRAM)
        return 0;
    program = data;
    ex_options options = {
        .strategy = EX_BYTES, .bytes = data + PROGRAM, .byte_count = size - PROGRAM};
    for (int i = 0; i < EX_KINDS; i++)
        options.budget[i] = 3;
    options.budget[EX_STALE] = 0; /* x86's memory model */
    choice_setup(&options, NULL);
    const char *problem = ex_run(&scenario, false);
    if (problem != NULL) {
        fprintf(stderr, "FOUND: %s\n", problem);
        abort();
    }
    return 0;
}
