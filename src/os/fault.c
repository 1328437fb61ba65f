/* SPDX-License-Identifier: MIT */
#include "os/fault.h"

#ifdef ROTA_TESTING

#include <stdatomic.h>

static struct {
    atomic_uint asked;
    atomic_uint refuse;
    atomic_bool onwards;
} faults[ROTA__FAULT_KINDS];

bool rota__fault(rota__fault_kind kind)
{
    unsigned n = atomic_fetch_add(&faults[kind].asked, 1) + 1;
    unsigned refuse = atomic_load(&faults[kind].refuse);

    if (refuse == 0 || n < refuse)
        return false;
    return n == refuse || atomic_load(&faults[kind].onwards);
}

void rota__fault_arm(rota__fault_kind kind, unsigned n, bool onwards)
{
    atomic_store(&faults[kind].refuse, n);
    atomic_store(&faults[kind].onwards, onwards);
    atomic_store(&faults[kind].asked, 0);
}

unsigned rota__fault_asked(rota__fault_kind kind)
{
    return atomic_load(&faults[kind].asked);
}

#else

/* ISO C wants a file to declare something. */
typedef int rota__no_faults;

#endif
