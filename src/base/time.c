/* SPDX-License-Identifier: MIT */
#include "base/time.h"

const rota__clock rota__system_clock = {rota__os_now, rota__os_wait};

const rota__clock *rota__clock_used = &rota__system_clock;

#ifdef ROTA_TESTING
void rota__clock_replace(const rota__clock *clock)
{
    rota__clock_used = clock != NULL ? clock : &rota__system_clock;
}
#endif

rota_ns rota_now(void)
{
    return rota__now();
}

unsigned rota_cpu_count(void)
{
    return rota__os_cpu_count();
}
