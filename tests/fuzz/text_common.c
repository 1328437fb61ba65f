/* SPDX-License-Identifier: MIT */
/* text_common.c - src/forkjoin/common.c, and a way to what it reads from the environment. */
#include "forkjoin/common.c"
#include "text.h"

unsigned text_parallelism(void)
{
    return parallelism();
}
