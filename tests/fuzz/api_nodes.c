/* SPDX-License-Identifier: MIT */
/*
 * api_nodes.c - futures, what they were made of, and how they must have ended.
 *
 * A future ends once. If a call from outside says that it was the one that has ended it, it must have
 * ended like that; else as its body did, or, if that has never run, as cancelled.
 */
#include "api.h"

enum { FAILURE = 9000 };

const outcome cancelled = {ROTA_FUTURE_CANCELED, NULL, 0};

static node nodes[NODES];
static unsigned node_count;

outcome succeeded_with(void *value)
{
    return (outcome){ROTA_FUTURE_SUCCEEDED, value, 0};
}

outcome failed_with(int error)
{
    return (outcome){ROTA_FUTURE_FAILED, NULL, error};
}

bool is_same(outcome a, outcome b)
{
    return a.state == b.state && a.value == b.value && a.error == b.error;
}

void nodes_begin(void)
{
    node_count = 0;
}

node *node_new(node_kind kind, executor *executor)
{
    if (node_count == NODES)
        return NULL;
    node *self = &nodes[node_count++];
    *self = (node){.kind = kind, .executor = executor};
    return self;
}

bool node_is_there(const node *self)
{
    return self->future != NULL && !self->is_let_go;
}

/* The which-th of those that are there and were made before `than`. */
node *node_before(const node *than, uint8_t which)
{
    unsigned end = than != NULL ? (unsigned)(than - nodes) : node_count;
    unsigned first = end > 0 ? which % end : 0;

    for (unsigned i = first; i < end; i++) {
        if (node_is_there(&nodes[i]))
            return &nodes[i];
    }
    return NULL;
}

node *node_any(void)
{
    return node_before(NULL, next_byte());
}

/* -- What has become of it ------------------------------------------------------------------- */

outcome node_outcome(const node *self)
{
    outcome actual = {rota_future_state_of(self->future), NULL, rota_future_error(self->future)};
    int status = rota_future_get_timed(self->future, 0, &actual.value);

    ex_check(rota_future_is_done(self->future));
    check_status(status, (actual.state == ROTA_FUTURE_SUCCEEDED) == (status == ROTA_OK));
    check_status(status, (actual.state == ROTA_FUTURE_FAILED) == (status == ROTA_EFAILED));
    check_status(status, (actual.state == ROTA_FUTURE_CANCELED) == (status == ROTA_ECANCELED));
    check_status(status, (actual.error != 0) == (status == ROTA_EFAILED));
    return actual;
}

/* What the body has to say. */
static void check_task(const node *self, outcome actual)
{
    const job *job = self->job;

    if (job->kind == PERIODIC) /* success ends it only when it was handed out, and run by hand */
        ex_check(is_same(actual, cancelled) || is_same(actual, job->last)
                 || (job->begun > job->ended && is_same(actual, failed_with(ROTA_ECANCELED))));
    else if (job->begun == 0)
        ex_check(is_same(actual, cancelled)
                 && (self->is_removed || executor_may_drop(self->executor)));
    else if (job->ended == 0) /* its thread has ended in it */
        ex_check(is_same(actual, failed_with(ROTA_ECANCELED)));
    else
        ex_check(is_same(actual, job->last));
}

static void check_again(const node *self, outcome actual)
{
    if (actual.state == ROTA_FUTURE_SUCCEEDED)
        ex_check(actual.value == self->job && self->job->succeeded > 0);
    else if (self->job->begun == 0)
        ex_check(executor_may_refuse(self->executor));
}

static void check_node(const node *self)
{
    outcome actual = node_outcome(self);

    ex_check(self->wins <= 1);
    ex_check(!self->is_removed || self->job->kind != ONCE || self->job->begun == 0);
    if (self->wins == 1)
        ex_check(is_same(actual, self->won));
    else if (self->is_owned && is_same(actual, cancelled))
        return;
    else if (self->kind == TASK)
        check_task(self, actual);
    else if (self->kind == AGAIN)
        check_again(self, actual);
    else if (self->kind == PROMISE)
        ex_check(self->is_let_go);
    else
        step_check(self, actual);
}

void nodes_check(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        if (node_is_there(&nodes[i]))
            check_node(&nodes[i]);
    }
}

/* -- Calls ----------------------------------------------------------------------------------- */

static void win(node *self, outcome like)
{
    self->wins++;
    self->won = like;
    ex_check(self->wins == 1);
}

/* Where the future owns its results it is to be given one that it can free. */
static void complete(node *self, rota_future *future)
{
    void *value = self->job != NULL ? (void *)self->job : self;

    if (!rota_promise_complete(future, value))
        return;
    win(self, succeeded_with(value));
    if (self->kind == TASK)
        self->job->by_hand++;
}

/* Nobody lets go of it meanwhile. */
static rota_future *hold(node *self)
{
    self->users++;
    return rota_future_ref(self->future);
}

static void release(node *self, rota_future *future)
{
    rota_future_unref(future);
    self->users--;
}

static void remove_from_queue(node *self, rota_future *future)
{
    if (self->kind != TASK || self->executor->is_gone)
        return;
    self->executor->users++;
    if (rota_pool_remove(self->executor->handle, future))
        self->is_removed = true; /* it may have been cancelled before, and stayed there */
    self->executor->users--;
}

void node_end_by_hand(node *self, unsigned how)
{
    rota_future *future = hold(self);

    self->enders++;
    switch (how % 5) {
    case 0:
        if (rota_future_cancel(future))
            win(self, cancelled);
        break;
    case 1:
        if (rota_future_cancel_now(future))
            win(self, cancelled);
        break;
    case 2:
        complete(self, future);
        break;
    case 4:
        remove_from_queue(self, future);
        break;
    default:
        ex_check(!rota_promise_fail(future, 0));
        if (rota_promise_fail(future, FAILURE))
            win(self, failed_with(FAILURE));
        break;
    }
    self->enders--;
    ex_check(how % 5 == 4 || rota_future_is_done(future));
    release(self, future);
}

void node_get(node *self, rota_ns timeout)
{
    rota_future *future = hold(self);
    void *value = &value;
    int status = rota_future_get_timed(future, timeout, &value);

    switch (status) {
    case ROTA_OK:
    case ROTA_EFAILED:
    case ROTA_ECANCELED:
        ex_check(rota_future_is_done(future));
        check_status(status, (value == &value) == (status != ROTA_OK));
        check_status(status, (rota_future_error(future) != 0) == (status == ROTA_EFAILED));
        break;
    case ROTA_EDEADLOCK:
        ex_check(timeout > 0);
        break;
    default:
        check_status(status,
                     status == ROTA_ETIMEDOUT || status == ROTA_EINTERRUPTED || is_lack(status));
        break;
    }
    release(self, future);
}

static void look_at_fd(rota_future *future)
{
    int fd = -1;
    int again = -1;
    int status = rota_future_fd(future, &fd);

    check_status(status, status == ROTA_OK || is_lack(status));
    if (status != ROTA_OK)
        return;
    ex_check(rota_future_fd(future, &again) == ROTA_OK && fd == again);
    bool is_readable = ex_is_readable(fd);
    ex_check(!is_readable || rota_future_is_done(future));
}

/* A step is a task of its executor, too. */
static bool may_be_scheduled(const node *self)
{
    const executor *last = self->kind != AGAIN ? self->executor : NULL;

    while (last != NULL && last->kind == DELAYED)
        last = last->base;
    return last != NULL && last->kind == SCHED;
}

void node_look(node *self)
{
    rota_future *future = hold(self);

    look_at_fd(future);
    if (!may_be_scheduled(self))
        ex_check(rota_future_delay(future) == ROTA_FOREVER);
    ex_check(rota_future_is_periodic(future)
             == (self->kind == TASK && self->job->kind == PERIODIC));
    rota_future_dependents(future);
    rota_future_get_now(future, self);
    release(self, future);
}

void node_do(node *self, void (*what)(rota_future *future))
{
    rota_future *future = hold(self);

    what(future);
    release(self, future);
}

/* Its body is still accounted for. Not one that others are made of, nor one whose step goes to an
   executor: nobody would know when it has. */
void node_let_go(node *self)
{
    if (self->kind != TASK || self->is_used || self->job->kind != ONCE || self->is_endless
        || self->users > 0)
        return;
    self->is_let_go = true;
    self->job->node = NULL;
    rota_future_unref(self->future);
}

/* -- The end --------------------------------------------------------------------------------- */

/* And whoever has ended one knows it. */
static bool are_all_done(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        if (node_is_there(&nodes[i])
            && (nodes[i].enders > 0 || !rota_future_is_done(nodes[i].future)))
            return false;
    }
    return true;
}

static void end_endless(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        node *self = &nodes[i];
        if (node_is_there(self) && (self->is_endless || self->kind == PROMISE))
            node_end_by_hand(self, i % 4);
    }
}

/* As long as a schedule has bytes it may let the hours pass while others stand still. */
void nodes_finish(void)
{
    enum { ROUNDS = 40 + 1024 };

    end_endless();
    for (int round = 0; round < ROUNDS; round++) {
        while (executors_pump())
            ;
        if (are_all_done())
            return;
        for (unsigned i = 0; i < node_count; i++) {
            if (node_is_there(&nodes[i]))
                node_get(&nodes[i], ROTA_HOURS(2));
        }
        rota_sleep(1);
    }
    ex_fail(__FILE__, __LINE__, "a future never ends");
}

void nodes_release(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        if (node_is_there(&nodes[i]))
            rota_future_unref(nodes[i].future);
    }
}
