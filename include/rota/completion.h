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
 * Every task that was accepted comes out once, however it ended. A worker that takes, and finds nothing
 * done, runs one of these tasks if it is still in its own pool's queue.
 *
 * Threads   Any number may submit and take at once; rota_completion_free must be the last call.
 */
#ifndef ROTA_COMPLETION_H
#define ROTA_COMPLETION_H

#include <rota/executor.h>

ROTA_BEGIN

/* Makes a completion service, whose tasks run in `ex`. Close `ex` only after the last submit. */
typedef struct rota_completion rota_completion; /* yours until rota_completion_free */

int rota_completion_new(rota_executor *ex, rota_completion **out);

/* Frees a completion service. It lets go of futures that nobody took; tasks that have not ended run on
   in the executor, which is left alone. No thread may wait in it. */
void rota_completion_free(rota_completion *completion);

/* Submits a call, as rota_submit_call does, with the same statuses. With any but ROTA_OK nothing was
   accepted, and nothing will come out. `out` may be NULL. ROTA_EREJECTED from an executor that is shut
   down or has no room, ROTA_EAGAIN if it has no thread and none can be made. */
int rota_completion_submit(rota_completion *completion, const rota_call *call, rota_future **out);

/* Takes the next future that is done, the same that the submit gave, with a reference for you.
   ROTA_EEMPTY if there is none and the call does not wait, ROTA_ETIMEDOUT if there was none in time,
   ROTA_EINTERRUPTED if the calling thread was interrupted while it waited. The last of these waits for
   at most `timeout`. */
int rota_completion_take(rota_completion *completion, rota_future **done); /* waits         */
int rota_completion_poll(rota_completion *completion, rota_future **done); /* does not wait */
int rota_completion_poll_timed(rota_completion *completion, rota_ns timeout, rota_future **done);

/*
 * A descriptor that is readable while there is a future to take: for poll, epoll and event loops,
 * level- or edge-triggered. It belongs to the completion service: do not read from it or close it.
 * Each time it turns readable, call rota_completion_poll until ROTA_EEMPTY. ROTA_EAGAIN when the
 * system has no descriptor left.
 */
int rota_completion_fd(rota_completion *completion, int *fd);

ROTA_END
#endif
