/* SPDX-License-Identifier: MIT */
/*
 * fiber.c - a switch saves what the calling convention says a function must keep, and no more.
 */
#define _GNU_SOURCE
#include "fiber.h"

#include "asan.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__)

void fiber_swap(void **save, void *load);
__asm__(".text\n"
        ".globl fiber_swap\n"
        ".type fiber_swap, @function\n"
        "fiber_swap:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size fiber_swap, .-fiber_swap\n");

void fiber_init(fiber *fiber, void (*entry)(void))
{
    uintptr_t *top = (uintptr_t *)(((uintptr_t)fiber->stack + fiber->size) & ~(uintptr_t)15);

    EX_ALLOW(fiber->stack, fiber->size); /* of frames that nobody returned from */
    *--top = 0; /* entry has no caller; and its stack is aligned as after a call */
    *--top = (uintptr_t)entry;
    for (int i = 0; i < 6; i++)
        *--top = 0;
    fiber->context = top;
}

#elif defined(__aarch64__)

void fiber_swap(void **save, void *load);
__asm__(".text\n"
        ".globl fiber_swap\n"
        ".type fiber_swap, %function\n"
        "fiber_swap:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size fiber_swap, .-fiber_swap\n");

void fiber_init(fiber *fiber, void (*entry)(void))
{
    uintptr_t top = ((uintptr_t)fiber->stack + fiber->size) & ~(uintptr_t)15;
    uintptr_t *frame = (uintptr_t *)(top - 160);

    EX_ALLOW(fiber->stack, fiber->size);
    for (int i = 0; i < 20; i++)
        frame[i] = 0;
    frame[11] = (uintptr_t)entry; /* x30 */
    fiber->context = frame;
}

#else /* any other machine, more slowly */

#include <ucontext.h>

void fiber_init(fiber *fiber, void (*entry)(void))
{
    ucontext_t *context = fiber->context != NULL ? fiber->context : malloc(sizeof *context);

    if (context == NULL)
        abort();
    EX_ALLOW(fiber->stack, fiber->size);
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack;
    context->uc_stack.ss_size = fiber->size;
    context->uc_link = NULL;
    makecontext(context, entry, 0);
    fiber->context = context;
}

void fiber_switch(fiber *from, fiber *to)
{
    if (from->context == NULL && (from->context = malloc(sizeof(ucontext_t))) == NULL)
        abort();
    swapcontext(from->context, to->context);
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)
void fiber_switch(fiber *from, fiber *to)
{
    fiber_swap(&from->context, to->context);
}
#endif
