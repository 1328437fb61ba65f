/* SPDX-License-Identifier: MIT */
/*
 * rota_test_internal.h - help that needs the library's internals: parked threads, virtual time and
 * failing allocations.
 */
#ifndef ROTA_TEST_INTERNAL_H
#define ROTA_TEST_INTERNAL_H

#include "base/thread.h"
#include "rota_test.h"

/* -- Parked threads (parked.c) --------------------------------------------------------------- */

/* It is inside rota__park, and nobody has unparked it yet. */
bool test_is_parked(rota_thread *thread);
void test_await_parked(rota_thread *thread);

/* -- Which build this is (parked.c) ---------------------------------------------------------- */

bool test_is_linux(void); /* src/os/linux.c, not posix.c */

/* -- Virtual time (clock.c) ------------------------------------------------------------------ */

/*
 * From install to remove the library's clock stands still but for test_clock_advance, which returns
 * when all whose deadline has come have noticed. Both only while no other thread uses the library.
 */
void test_clock_install(void);
void test_clock_remove(void);

rota_ns test_clock_now(void);
void test_clock_advance(rota_ns duration);

size_t test_clock_waiting(void);             /* threads that wait with a deadline */
void test_clock_await_waiting(size_t count); /* until there are so many */

/* -- Failing allocations (faults.c) ---------------------------------------------------------- */

/*
 * Makes the first allocation of `attempt` fail, then the second, and so on until it needs no more.
 * Each time it must return `expected`, and leave as much memory in use as there was. When nothing
 * fails it must return ROTA_OK, and `undo` must free all it made. Each attempt starts with no
 * cached blocks. NULL for `undo`: nothing to be undone.
 */
void test_every_allocation_fails(int (*attempt)(void *arg), void (*undo)(void *arg), void *arg,
                                 int expected);

#endif
