/* SPDX-License-Identifier: MIT */
#include "os/cleanup.h"
#include "os/os.h"

void rota__os_guarded(void (*body)(void *arg), void (*unwound)(void *arg), void *arg)
{
    ROTA__ON_UNWIND_BEGIN(unwound, arg);
    body(arg);
    ROTA__ON_UNWIND_END;
}
