/* SPDX-License-Identifier: MIT */
/*
 * signal.c - what was recorded is written to a file when a signal comes.
 *
 * The handler signals a descriptor, which a thread waits for. There is one such arrangement in a
 * process; its parts are changed by one thread at a time, with the lock for making. A handler may still
 * run when all is over: so the descriptor, once there, stays open. Another signal or path is taken over
 * by the thread that is there, so that what can fail does so before anything has changed.
 */
#define _GNU_SOURCE
#include "observe/observe_internal.h"

#include "base/alloc.h"
#include "base/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_PATH = 4000 };

typedef struct order {
    int signal;
    struct sigaction before; /* who had the signal */
    uint32_t generation;
    size_t size; /* of this block */
    char path[];
} order;

static order *the_order; /* changed under both locks, that for making and the process's */
static rota__os_thread writer;
static rota__atomic(bool) is_stopped; /* the writer */
static rota__os_event event;
static uint32_t generation; /* that it was opened in */
static rota__atomic(bool) is_open;

/* A child of fork(2) has its parent's descriptor. */
static void on_signal(int signal)
{
    int before = errno;

    (void)signal;
    if (rota__load_acquire(&is_open)
        && generation == rota__process_generation()) /* pairs with open_event */
        rota__os_event_signal(&event);
    errno = before;
}

/* With the lock held. */
static int open_event(void)
{
    int status = ROTA_OK;

    if (rota__load_relaxed(&is_open) && generation == rota__process_generation())
        return ROTA_OK;
    rota__store_release(&is_open, false);
    status = rota__os_event_open(&event);
    generation = rota__process_generation();
    rota__store_release(&is_open, status == ROTA_OK); /* pairs with on_signal */
    return status;
}

/* "": the signal came before the order was complete, as good as before it was taken. */
static void copy_path(char *path, size_t size)
{
    rota__mutex_lock(&rota__process_lock);
    snprintf(path, size, "%s", the_order != NULL ? the_order->path : "");
    rota__mutex_unlock(&rota__process_lock);
}

/* A file that is complete takes the other's place. What goes wrong nobody can be told. */
static void write_out(void)
{
    char path[LONGEST_PATH + 1], draft[sizeof path + 4];
    int fd;

    copy_path(path, sizeof path);
    if (path[0] == '\0')
        return; /* GCOVR_EXCL_LINE: the order ended after its signal */
    snprintf(draft, sizeof draft, "%s.new", path);
    fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    int status = rota_recorder_write(fd);
    if (close(fd) == 0 && status == ROTA_OK)
        rename(draft, path);
    else
        unlink(draft); /* GCOVR_EXCL_LINE: the disk is full */
}

static void write_when_told(void *arg)
{
    struct pollfd told = {.fd = event.readable, .events = POLLIN};

    (void)arg;
    for (;;) {
        if (poll(&told, 1, -1) <= 0)
            continue; /* GCOVR_EXCL_LINE: this thread gets no signals */
        rota__os_event_clear(&event);
        if (rota__load_acquire(&is_stopped)) /* pairs with stop_writer */
            return;
        write_out();
    }
}

/* -- Beginning and ending: with the lock held ----------------------------- */

static int start_writer(void)
{
    static const rota__os_thread_options options = {.name = "rota-recorder",
                                                    .cpu = ROTA__OS_ANY_CPU};
    int status = open_event();

    if (status != ROTA_OK)
        return status;
    rota__os_event_clear(&event); /* of a signal that came too late for the last */
    rota__store_relaxed(&is_stopped, false);
    return rota__os_thread_start(&writer, &options, write_when_told, NULL);
}

static void stop_writer(void)
{
    rota__store_release(&is_stopped, true); /* pairs with write_when_told */
    rota__os_event_signal(&event);
    rota__os_thread_join(&writer);
}

/* The order from now on, or NULL; the one before is over. */
static void set_order(order *next)
{
    order *last = the_order;

    rota__mutex_lock(&rota__process_lock);
    the_order = next;
    rota__mutex_unlock(&rota__process_lock);
    if (last != NULL)
        rota__free(last, last->size);
}

/* Who had the signal gets it back. A parent's writer is not here. */
static void end(void)
{
    if (the_order == NULL)
        return;
    sigaction(the_order->signal, &the_order->before, NULL);
    if (the_order->generation == rota__process_generation())
        stop_writer();
    set_order(NULL);
}

static bool take_signal(order *next)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    return sigaction(next->signal, &action, &next->before) == 0;
}

static int begin(order *next)
{
    int status = start_writer();

    if (status != ROTA_OK)
        return status;
    if (!take_signal(next)) {
        stop_writer();
        return ROTA_EINVAL;
    }
    set_order(next);
    return ROTA_OK;
}

/* What the writer has been told until now it is told no more. */
static int change(order *next)
{
    if (next->signal == the_order->signal) {
        next->before = the_order->before;
    } else {
        if (!take_signal(next))
            return ROTA_EINVAL;
        sigaction(the_order->signal, &the_order->before, NULL);
    }
    set_order(next);
    return ROTA_OK;
}

/* -- Orders --------------------------------------------------------------- */

static order *make(int signal, const char *path)
{
    size_t length = strlen(path) + 1, size = sizeof(order) + length;
    order *self = rota__alloc(size);

    if (self == NULL)
        return NULL;
    memset(self, 0, sizeof *self);
    self->signal = signal;
    self->size = size;
    self->generation = rota__process_generation();
    memcpy(self->path, path, length);
    return self;
}

static int obey(order *next)
{
    int status;

    rota__mutex_lock(&rota__singleton_lock);
    if (the_order != NULL && the_order->generation != rota__process_generation())
        end();
    status = the_order != NULL ? change(next) : begin(next);
    rota__mutex_unlock(&rota__singleton_lock);
    if (status != ROTA_OK)
        rota__free(next, next->size);
    return status;
}

int rota_recorder_on_signal(int signal, const char *path)
{
    order *next;

    if (signal < 0
        || (signal > 0 && (path == NULL || path[0] == '\0' || strlen(path) > LONGEST_PATH)))
        return ROTA_EINVAL;
    if (signal == 0) {
        rota__self();
        rota__mutex_lock(&rota__singleton_lock);
        end();
        rota__mutex_unlock(&rota__singleton_lock);
        return ROTA_OK;
    }
    next = rota__self()->watched ? make(signal, path) : NULL;
    return next != NULL ? obey(next) : ROTA_ENOMEM;
}
