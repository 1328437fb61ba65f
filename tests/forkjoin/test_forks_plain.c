/* SPDX-License-Identifier: MIT */
/*
 * test_forks.c with plain calls, as a binding to another language makes them.
 */
#define ROTA_NO_INLINE
#include "test_forks.c"
