/* SPDX-License-Identifier: MIT */
/*
 * fault.h - refusals of the system, made on demand in test builds.
 *
 * Where the system may refuse something, the code asks rota__fault() first. A
 * test arms a kind so that its n-th request, or all from the n-th on, are
 * refused. Memory is not here: tests make it fail through rota_set_allocator.
 * In the library that users link, this is the constant false.
 */
#ifndef ROTA_OS_FAULT_H
#define ROTA_OS_FAULT_H

#include <stdbool.h>

typedef enum rota__fault_kind {
    ROTA__FAULT_THREAD_START, /* as pthread_create with EAGAIN */
    ROTA__FAULT_THREAD_EXIT,  /* as pthread_setspecific with ENOMEM */
    ROTA__FAULT_EVENT,        /* as eventfd with EMFILE */
    ROTA__FAULT_KINDS
} rota__fault_kind;

#ifdef ROTA_TESTING

bool rota__fault(rota__fault_kind kind);

/* From now on the n-th request (from 1) is refused, and with `onwards` all after it; 0: none. */
void rota__fault_arm(rota__fault_kind kind, unsigned n, bool onwards);
unsigned rota__fault_asked(rota__fault_kind kind); /* requests since then */

#else

static inline bool rota__fault(rota__fault_kind kind)
{
    (void)kind;
    return false;
}

#endif
#endif
