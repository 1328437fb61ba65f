/* SPDX-License-Identifier: MIT */
/*
 * peer.h - what timers must bring to be measured by driver.c: four functions in one file. The
 * others are those of defaults.c, unless the timers have better ones.
 *
 * Timers have numbers, from 0 on; each is pending at most once at a time. Those of an event loop
 * run on the thread that calls peer_turn and peer_run, those of a pool on its workers. What cannot
 * fail here, but does, aborts.
 */
#ifndef BENCH_TIMER_PEER_H
#define BENCH_TIMER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver's: to be called when the timer's time has come. */
void timer_ran(size_t id);

/* Room for so many timers. The kind is a word for programs with several, else "". */
void *peer_make(const char *kind, unsigned workers, size_t most);

/* Also with timers pending; none is running. */
void peer_free(void *timers);

void peer_schedule(void *timers, size_t id, uint64_t delay); /* ns */
void peer_cancel(void *timers, size_t id);                   /* one that is pending */

/* Starts a timer at a fixed rate. False: it runs only once; the driver calls peer_again from
   timer_ran. Default: peer_schedule, and false. */
bool peer_repeat(void *timers, size_t id, uint64_t delay, uint64_t period);

/* peer_schedule from timer_ran, on time also where the loop's clock stands still meanwhile.
   Default: peer_schedule. */
void peer_again(void *timers, size_t id, uint64_t delay);

/* Keeps the only worker from running anything, until it is released. Default: does nothing, as
   a loop does. */
void peer_hold(void *timers);
void peer_release(void *timers);

/* Runs what is due. Default: waits a little, as there are workers. */
void peer_turn(void *timers);

/* Runs what is due until then, on CLOCK_MONOTONIC. Returns what this took of the calling thread's
   processor time that is not the timers': none on a loop. Default: waits; all. */
uint64_t peer_run(void *timers, uint64_t until);

/* What the library has asked of its allocator, and not given back. Default: 0, unknown. */
size_t peer_bytes(void);

#endif
