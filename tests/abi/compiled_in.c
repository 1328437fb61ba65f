/* SPDX-License-Identifier: MIT */
/* compiled_in.c - what programs have compiled in and tools that read libraries do not see: numbers, and the
   layout that the inline functions use. A line that fails here breaks programs that are not compiled again. */
#include <rota/rota.h>

#define SAME(a, b) _Static_assert((a) == (b), #a " is not what it was")

SAME(ROTA_OK, 0);
SAME(ROTA_EINVAL, -1);
SAME(ROTA_ENOMEM, -2);
SAME(ROTA_EAGAIN, -3);
SAME(ROTA_EREJECTED, -4);
SAME(ROTA_ECANCELED, -5);
SAME(ROTA_EFAILED, -6);
SAME(ROTA_ETIMEDOUT, -7);
SAME(ROTA_EINTERRUPTED, -8);
SAME(ROTA_EDEADLOCK, -9);
SAME(ROTA_EBUSY, -10);
SAME(ROTA_ENOTSUP, -11);
SAME(ROTA_EFULL, -12);
SAME(ROTA_EEMPTY, -13);
SAME(ROTA_EIO, -14);

SAME(ROTA_US(1), 1000);
SAME(ROTA_FOREVER, INT64_MAX);
SAME(ROTA_UNBOUNDED, SIZE_MAX);
SAME(ROTA_HISTOGRAM_BUCKETS, 400);
SAME(ROTA_NAME_SIZE, 32);

SAME(ROTA__FJ_FORKED, 1);
SAME(ROTA__FJ_RAN, 1);
SAME(ROTA__FJ_COUNTED, 32);
SAME(offsetof(rota__deck, top), 0);
SAME(offsetof(rota__deck, limit), sizeof(void *));
SAME(offsetof(rota__deck, floor), 2 * sizeof(void *));
