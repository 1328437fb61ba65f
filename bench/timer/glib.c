/* SPDX-License-Identifier: MIT */
/* glib.c - GLib's timeout sources, whose time is in ms */
#include "peer.h"

#include <bench/driver.h>
#include <glib.h>

struct timers {
    GMainContext *context;
    size_t most;
    GSource *all[]; /* NULL: not pending */
};

static struct timers *mine; /* there is one at a time */

static gboolean run(gpointer arg)
{
    size_t id = GPOINTER_TO_SIZE(arg);

    g_source_unref(mine->all[id]);
    mine->all[id] = NULL;
    timer_ran(id);
    return G_SOURCE_REMOVE;
}

static GSource *attach(GMainContext *context, GSourceFunc call, gpointer arg, uint64_t delay)
{
    GSource *source = g_timeout_source_new((guint)((delay + MS - 1) / MS)); /* never too early */

    g_source_set_callback(source, call, arg, NULL);
    g_source_attach(source, context);
    return source;
}

void *peer_make(const char *kind, unsigned workers, size_t most)
{
    (void)kind;
    (void)workers;
    mine = calloc(1, sizeof *mine + most * sizeof(GSource *));
    if (mine == NULL)
        abort();
    mine->context = g_main_context_new();
    mine->most = most;
    return mine;
}

void peer_free(void *arg)
{
    struct timers *timers = arg;

    for (size_t id = 0; id < timers->most; id++)
        if (timers->all[id] != NULL)
            peer_cancel(timers, id);
    g_main_context_unref(timers->context);
    free(timers);
}

void peer_schedule(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;

    timers->all[id] = attach(timers->context, run, GSIZE_TO_POINTER(id), delay);
}

void peer_cancel(void *arg, size_t id)
{
    struct timers *timers = arg;

    g_source_destroy(timers->all[id]);
    g_source_unref(timers->all[id]);
    timers->all[id] = NULL;
}

void peer_turn(void *arg)
{
    struct timers *timers = arg;

    g_main_context_iteration(timers->context, FALSE);
}

static gboolean stop(gpointer over)
{
    *(bool *)over = true;
    return G_SOURCE_REMOVE;
}

uint64_t peer_run(void *arg, uint64_t until)
{
    struct timers *timers = arg;
    uint64_t time = now(CLOCK_MONOTONIC);
    bool over = false;

    g_source_unref(attach(timers->context, stop, &over, until > time ? until - time : 0));
    while (!over)
        g_main_context_iteration(timers->context, TRUE);
    return 0;
}
