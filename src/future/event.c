/* SPDX-License-Identifier: MIT */
/*
 * event.c - the descriptor of a future, for event loops.
 *
 * It is made at the first request. Two threads may ask at once: both make
 * one, and the one that is not the first to put it into the future throws its
 * own away. The winner then adds the action that signals it, or signals it
 * itself if the future is done by then.
 */
#include "future/future_internal.h"

#include "base/alloc.h"
#include "os/os.h"

struct rota__event {
    rota__action action;
    rota__os_event os;
};

void rota__event_signal(rota__action *action, rota__action_queue *more)
{
    rota__event *event = ROTA__CONTAINER(action, rota__event, action);

    (void)more;
    rota__os_event_signal(&event->os);
}

static int event_new(rota__event **out)
{
    rota__event *event = rota__alloc(sizeof *event);

    if (event == NULL)
        return ROTA_ENOMEM;
    if (rota__os_event_open(&event->os) != ROTA_OK) {
        rota__free(event, sizeof *event);
        return ROTA_EAGAIN;
    }
    event->action.run = rota__event_signal;
    *out = event;
    return ROTA_OK;
}

void rota__event_free(rota__event *event)
{
    if (event == NULL)
        return;
    rota__os_event_close(&event->os);
    rota__free(event, sizeof *event);
}

static int event_of(rota_future *future, rota__event **out)
{
    rota__event *mine;
    int status;

    *out = rota__load_acquire(&future->event); /* pairs with the swap of who made it */
    if (*out != NULL)
        return ROTA_OK;
    if ((status = event_new(&mine)) != ROTA_OK)
        return status;
    if (!rota__cas_acq_rel(&future->event, out, mine)) {
        rota__event_free(mine);
        return ROTA_OK; /* *out is what the other thread put there */
    }
    *out = mine;
    if (!rota__future_add(future, &mine->action))
        rota__os_event_signal(&mine->os);
    return ROTA_OK;
}

int rota_future_fd(rota_future *future, int *fd)
{
    rota__event *event;

    if (future == NULL || fd == NULL)
        return ROTA_EINVAL;
    int status = event_of(future, &event);
    if (status == ROTA_OK)
        *fd = event->os.readable;
    return status;
}
