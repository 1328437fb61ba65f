/* SPDX-License-Identifier: MIT */
/*
 * event.c - signals, clears and closes a descriptor: an eventfd on Linux, a pipe elsewhere.
 *
 *   event.E1  A descriptor belongs to the process that opened it. A child of fork(2) shares it with
 *             its parent, so the child neither signals nor clears it. The child closes its copy.
 */
#include "os/os.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

uint32_t rota__os_process;

/* A call during which the thread cannot be cancelled, and that leaves errno alone. */
typedef struct os_call {
    int saved_errno;
    int cancel_state;
} os_call;

static os_call os_call_begin(void)
{
    os_call call = {.saved_errno = errno};

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &call.cancel_state);
    return call;
}

static void os_call_end(os_call call)
{
    pthread_setcancelstate(call.cancel_state, NULL);
    errno = call.saved_errno;
}

static bool is_own(const rota__os_event *event)
{
    return event->process == rota__os_process;
}

void rota__os_event_signal(const rota__os_event *event)
{
    const uint64_t one = 1; /* an eventfd takes 8 bytes; a full pipe is readable already */
    ssize_t written;

    if (!is_own(event)) /* event.E1 */
        return;
    os_call call = os_call_begin();
    do
        written = write(event->signal, &one, sizeof one);
    while (written < 0 && errno == EINTR);
    os_call_end(call);
}

void rota__os_event_clear(const rota__os_event *event)
{
    char signals[256];
    ssize_t got;

    if (!is_own(event)) /* event.E1 */
        return;
    os_call call = os_call_begin();
    do
        got = read(event->readable, signals, sizeof signals);
    while (got == sizeof signals || (got < 0 && errno == EINTR));
    os_call_end(call);
}

void rota__os_event_close(const rota__os_event *event)
{
    os_call call = os_call_begin();

    close(event->readable);
    if (event->signal != event->readable)
        close(event->signal);
    os_call_end(call);
}
