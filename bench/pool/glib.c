/* SPDX-License-Identifier: MIT */
/* glib.c - GLib's GThreadPool, with threads of its own; it has no bound */
#include "peer.h"

#include <glib.h>
#include <stdlib.h>

/* The pool has one function for all tasks, and each task one pointer. */
struct entry {
    task *run;
    void *arg;
};

static void run_entry(gpointer data, gpointer unused)
{
    struct entry entry = *(struct entry *)data;

    (void)unused;
    g_free(data);
    entry.run(entry.arg);
}

void *peer_make(const char *kind, unsigned threads, size_t capacity)
{
    (void)kind;
    if (capacity != UNBOUNDED)
        return NULL;
    return g_thread_pool_new(run_entry, NULL, (gint)threads, TRUE, NULL);
}

void peer_free(void *pool)
{
    g_thread_pool_free(pool, FALSE, TRUE);
}

void peer_execute(void *pool, task *run, void *arg)
{
    struct entry *entry = g_new(struct entry, 1);

    *entry = (struct entry){run, arg};
    if (!g_thread_pool_push(pool, entry, NULL))
        abort();
}
