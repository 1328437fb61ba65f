/* SPDX-License-Identifier: MIT */
/*
 * cleanup.h - scopes that are cleaned up even if the thread ends inside them.
 *
 * The body of a task may end its thread by pthread_exit, or be cancelled by pthread_cancel, unless
 * it runs in a fork/join pool (GEN-14). No other function of the user's may do so. A scope names a
 * handler that runs in that case, too:
 *
 *     run_scope scope = {.task = task};
 *
 *     ROTA__CLEANUP_BEGIN(run_scope_end, &scope);
 *     scope.result = task->call.fn(task->call.arg);
 *     scope.has_returned = true;
 *     ROTA__CLEANUP_END;                             // calls run_scope_end(&scope)
 *
 * ROTA__CLEANUP     the handler runs when control reaches the end, and when the thread ends inside
 * ROTA__ON_UNWIND   the handler runs only when the thread ends inside
 *
 * Each is pthread_cleanup_push, the only mechanism that every C library honours. With glibc and
 * -fexceptions it is a cleanup attribute: a scope costs nothing unless the stack is unwound. The C
 * library musl keeps a list of handlers and does not unwind the stack. A cleanup attribute of our own would be
 * ignored there. Without -fexceptions glibc's version is a setjmp, and calls the same handler for
 * ever if the handler ends the thread again. Therefore the whole library is compiled with
 * -fexceptions.
 *
 *   cleanup.U1  A scope is left through its END only: no return, break, continue or goto inside
 *               (tools/check_layers.py looks for them).
 *   cleanup.U2  A handler uses what `arg` points to, and no other variable of the scope.
 *   cleanup.U3  When a handler runs because the thread ends, the frames called from its scope may
 *               be gone. Records in them that the thread points to (its current execution, the
 *               executors it is inside) must be reset before anything reads them.
 *   cleanup.U4  A handler calls hooks and continuations, which must return. It starts no task, with
 *               one exception: if no thread can be started for tasks that a pool has accepted, the
 *               thread that ends runs them. If such a task ends the thread once more, the outer
 *               scopes are still cleaned up with gcc, and on musl; code made by clang aborts. POSIX
 *               leaves this case undefined.
 */
/* layers: open, the scopes are macros */
#ifndef ROTA_OS_CLEANUP_H
#define ROTA_OS_CLEANUP_H

#ifdef ROTA_EXPLORE

/* The explorer ends a thread without unwinding, and keeps a list of scopes of its own. */
typedef struct ex_scope {
    void (*handler)(void *arg);
    void *arg;
    struct ex_scope *outer;
} ex_scope;

void ex_scope_begin(ex_scope *scope, void (*handler)(void *arg), void *arg);
void ex_scope_end(ex_scope *scope, int calls_handler); /* fails if a scope was left (cleanup.U1) */

#define ROTA__SCOPE_BEGIN(handler, arg) \
    do {                                \
        ex_scope ex_this_scope;         \
    ex_scope_begin(&ex_this_scope, handler, arg)
#define ROTA__SCOPE_END(calls_handler)           \
    ex_scope_end(&ex_this_scope, calls_handler); \
    }                                            \
    while (0)

#else

#include <pthread.h>

#if defined(__GLIBC__) && !defined(__EXCEPTIONS)
#error "compile rota with -fexceptions: glibc's cleanup handlers need it"
#endif

#define ROTA__SCOPE_BEGIN(handler, arg) pthread_cleanup_push(handler, arg)
#define ROTA__SCOPE_END(calls_handler)  pthread_cleanup_pop(calls_handler)

#endif

#define ROTA__CLEANUP_BEGIN(handler, arg) ROTA__SCOPE_BEGIN(handler, arg)
#define ROTA__CLEANUP_END                 ROTA__SCOPE_END(1)

#define ROTA__ON_UNWIND_BEGIN(handler, arg) ROTA__SCOPE_BEGIN(handler, arg)
#define ROTA__ON_UNWIND_END                 ROTA__SCOPE_END(0)

#endif
