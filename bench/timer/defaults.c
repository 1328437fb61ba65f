/* SPDX-License-Identifier: MIT */
/* defaults.c - what timers need not bring */
#include "peer.h"

#include <bench/driver.h>

#define DEFAULT __attribute__((weak))

DEFAULT bool peer_repeat(void *timers, size_t id, uint64_t delay, uint64_t period)
{
    (void)period;
    peer_schedule(timers, id, delay);
    return false;
}

DEFAULT void peer_again(void *timers, size_t id, uint64_t delay)
{
    peer_schedule(timers, id, delay);
}

DEFAULT void peer_hold(void *timers)
{
    (void)timers;
}

DEFAULT void peer_release(void *timers)
{
    (void)timers;
}

DEFAULT void peer_turn(void *timers)
{
    (void)timers;
    sleep_for(MS);
}

DEFAULT uint64_t peer_run(void *timers, uint64_t until)
{
    uint64_t before = now(CLOCK_THREAD_CPUTIME_ID);

    (void)timers;
    sleep_until(until);
    return now(CLOCK_THREAD_CPUTIME_ID) - before;
}

DEFAULT size_t peer_bytes(void)
{
    return 0;
}
