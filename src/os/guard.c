/* SPDX-License-Identifier: MIT */
/*
 * guard.c - a call that may end its thread instead of returning.
 *
 * Compiled with -fexceptions: glibc's pthread_cleanup_push is then a cleanup
 * attribute that costs nothing unless the stack is unwound, and otherwise a
 * setjmp for each task.
 */
#include "os/os.h"

#include <pthread.h>

void rota__os_guarded(void (*body)(void *arg), void (*torn)(void *arg), void *arg)
{
    pthread_cleanup_push(torn, arg);
    body(arg);
    pthread_cleanup_pop(0);
}
