/* SPDX-License-Identifier: MIT */
/*
 * rota/completion.h - the futures of many tasks, in the order in which they end.
 *
 *     rota_completion *pages;
 *     rota_completion_new(pool, &pages);
 *     for (i = 0; i < n; i++)
 *         rota_completion_submit(pages, &calls[i], NULL);
 *     for (i = 0; i < n; i++) {
 *         rota_completion_take(pages, &page);            // whichever is done next
 *         ...
 *         rota_future_unref(page);
 *     }
 *     rota_completion_free(pages);
 *
 * Every task that was accepted comes out once, however it ended. A pool's own worker that takes, and
 * finds nothing done, runs one of these tasks that is still in its pool's queue.
 *
 * Threads   Any number may submit and take at once; rota_completion_free must be the last.
 */
#ifndef ROTA_COMPLETION_H
#define ROTA_COMPLETION_H

#include <rota/executor.h>

ROTA_BEGIN

/* Makes a completion, whose tasks run in `ex`. */
typedef struct rota_completion rota_completion; /* yours until rota_completion_free */

int rota_completion_new(rota_executor *ex, rota_completion **out);

/* Ends a completion: futures that nobody took are let go of, and tasks still under way end
   unobserved. No thread may wait in it. The executor stays. */
void rota_completion_free(rota_completion *completion);

/* Submits a call, as rota_submit_call does. With any status but ROTA_OK nothing will come out. */
int rota_completion_submit(rota_completion *completion, const rota_call *call, rota_future **out);

/* The next that is done, with a reference that is yours: the same object that submit gave. */
int rota_completion_take(rota_completion *completion, rota_future **done); /* waits       */
int rota_completion_poll(rota_completion *completion, rota_future **done); /* or ROTA_EEMPTY */
int rota_completion_poll_timed(rota_completion *completion, rota_ns timeout, rota_future **done);

/*
 * A descriptor that is readable while there is one to take: for poll, epoll and event loops, level-
 * or edge-triggered. Do not read from it or close it. Each time it turns readable, poll until
 * ROTA_EEMPTY. ROTA_EAGAIN when the system has none left.
 */
int rota_completion_fd(rota_completion *completion, int *fd);

ROTA_END
#endif
