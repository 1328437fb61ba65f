/* SPDX-License-Identifier: MIT */
/*
 * signal.c - what was recorded is written to a file when a signal comes.
 *
 * The handler signals a descriptor, which a thread waits for. There is one such arrangement in a
 * process; its parts are changed by one thread at a time, which `lock` sees to. A handler may still run
 * when all is over: so the descriptor, once there, stays open.
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

typedef struct writer {
    int signal;
    struct sigaction before; /* who had the signal */
    rota__os_thread thread;
    rota__atomic(bool) is_stopped;
    uint32_t generation;
    size_t size; /* of this block */
    char path[];
} writer;

static rota__mutex lock;
static writer *the_writer; /* under the lock */
static rota__os_event event;
static uint32_t generation; /* that it was opened in */
static rota__atomic(bool) is_open;

/* A child of fork(2) has its parent's descriptor. */
static void on_signal(int signal)
{
    int before = errno;

    (void)signal;
    if (rota__load_acquire(&is_open)
        && generation == rota__generation_now()) /* pairs with open_event */
        rota__os_event_signal(&event);
    errno = before;
}

/* With the lock held. */
static int open_event(void)
{
    int status = ROTA_OK;

    if (rota__load_relaxed(&is_open) && generation == rota__generation_now())
        return ROTA_OK;
    rota__store_release(&is_open, false);
    status = rota__os_event_open(&event);
    generation = rota__generation_now();
    rota__store_release(&is_open, status == ROTA_OK); /* pairs with on_signal */
    return status;
}

/* A file that is complete takes the other's place. What goes wrong nobody can be told. */
static void write_out(const writer *self)
{
    char path[4096 + 8];
    int fd;

    if (snprintf(path, sizeof path, "%s.new", self->path) >= (int)sizeof path)
        return;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    int status = rota_recorder_write(fd);
    if (close(fd) == 0 && status == ROTA_OK)
        rename(path, self->path);
    else
        unlink(path);
}

static void write_when_told(void *arg)
{
    writer *self = arg;
    struct pollfd told = {.fd = event.readable, .events = POLLIN};

    for (;;) {
        if (poll(&told, 1, -1) <= 0)
            continue;
        rota__os_event_clear(&event);
        if (rota__load_acquire(&self->is_stopped)) /* pairs with end */
            return;
        write_out(self);
    }
}

/* -- Beginning and ending ------------------------------------------------- */

/* With the lock held. */
static void end(void)
{
    writer *self = the_writer;

    the_writer = NULL;
    if (self == NULL)
        return;
    if (self->signal != 0)
        sigaction(self->signal, &self->before, NULL);
    if (self->generation != rota__generation_now())
        return;                                   /* a parent's: its thread is not here */
    rota__store_release(&self->is_stopped, true); /* pairs with write_when_told */
    rota__os_event_signal(&event);
    rota__os_thread_join(&self->thread);
    rota__free(self, self->size);
}

static writer *make(int signal, const char *path)
{
    size_t size = sizeof(writer) + strlen(path) + 1;
    writer *self = rota__alloc(size);

    if (self == NULL)
        return NULL;
    memset(self, 0, sizeof *self);
    self->signal = signal;
    self->size = size;
    self->generation = rota__generation_now();
    strcpy(self->path, path);
    return self;
}

static int start(writer *self)
{
    static const rota__os_thread_options thread = {.name = "rota-recorder",
                                                   .cpu = ROTA__OS_ANY_CPU};
    int status = open_event();

    if (status == ROTA_OK)
        status = rota__os_thread_start(&self->thread, &thread, write_when_told, self);
    return status;
}

/* With the lock held. */
static int begin(writer *self)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    int status = start(self);

    if (status != ROTA_OK) {
        rota__free(self, self->size);
        return status;
    }
    the_writer = self;
    sigemptyset(&action.sa_mask);
    if (sigaction(self->signal, &action, &self->before) == 0)
        return ROTA_OK;
    self->signal = 0; /* there is nothing to give back */
    end();
    return ROTA_EINVAL;
}

int rota_recorder_on_signal(int signal, const char *path)
{
    writer *self = NULL;
    int status = ROTA_OK;

    if (signal < 0 || (signal > 0 && (path == NULL || path[0] == '\0' || strlen(path) > 4000)))
        return ROTA_EINVAL;
    if (!rota__self()->watched)
        return ROTA_ENOMEM;
    if (signal > 0 && (self = make(signal, path)) == NULL)
        return ROTA_ENOMEM;
    rota__mutex_lock(&lock);
    end();
    if (self != NULL)
        status = begin(self);
    rota__mutex_unlock(&lock);
    return status;
}
