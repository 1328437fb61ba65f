/* SPDX-License-Identifier: MIT */
/*
 * check.h - assertions, which are tested in checked builds.
 *
 * ROTA__ASSERT finds mistakes in the library. Bad input gets a status instead. ROTA__DEMAND finds
 * mistakes of the program that no status can report, because the memory may be gone. Without
 * ROTA_CHECKED nothing is tested or evaluated.
 *
 * Only the body of a task may end its thread, and not in a fork/join pool (<rota/task.h>). Every
 * other function of the user's is called as ROTA__MUST_RETURN("its name", call). A checked build
 * reports such a function if it ends its thread, and aborts.
 */
#ifndef ROTA_BASE_CHECK_H
#define ROTA_BASE_CHECK_H

#ifdef ROTA_CHECKED
#include "os/cleanup.h"

#include <stdint.h>

#define ROTA__ASSERT(condition)          ((condition) ? (void)0 : rota__bug(__FILE__, __LINE__, #condition))
#define ROTA__DEMAND(condition, mistake) ((condition) ? (void)0 : rota__misuse(mistake))
#define ROTA__MUST_RETURN(name, call)                                           \
    do {                                                                        \
        ROTA__ON_UNWIND_BEGIN(rota__did_not_return, (void *)(uintptr_t)(name)); \
        call;                                                                   \
        ROTA__ON_UNWIND_END;                                                    \
    } while (0)
#else
#define ROTA__ASSERT(condition)          ((void)sizeof((condition) ? 1 : 0))
#define ROTA__DEMAND(condition, mistake) ((void)sizeof((condition) ? 1 : 0))
#define ROTA__MUST_RETURN(name, call)    ((void)(name), call)
#endif

/* Prints the place and aborts. */
_Noreturn void rota__bug(const char *file, int line, const char *condition);

/* Prints the mistake of the program and aborts. */
_Noreturn void rota__misuse(const char *mistake);

/* The same for a function of the user's that has ended its thread; `name` is a string. */
void rota__did_not_return(void *name);

/*
 * A deliberate bug, to test the tests: the expression `good`. In the copy of the source that
 * tools/bugs.py writes for the explorer it is `bad` while `explore --bug place` runs, and the
 * explorer must find that. `place` names the invariant that `bad` breaks. Most deliberate bugs need
 * no macro: a row of tests/explore/bugs.txt names the place and an operator, such as `drop`.
 */
#define ROTA__BUG(place, good, bad) (good)

#endif
