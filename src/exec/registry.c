/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the list of all executors, and their names.
 *
 * The list has the order of creation. A visitor holds an in-flight reference, so that the executor is
 * not freed (exec.E4), and counts as inside, so that closing the executor in the visitor returns
 * ROTA_EDEADLOCK (exec.E3).
 */
#include "exec/exec_internal.h"

#include "base/check.h"
#include "base/fork.h"
#include "base/wait.h"

#include <rota/observe.h>
#include <stdio.h>
#include <string.h>

static rota__list executors; /* rota__process_lock protects all three */
static uint32_t generation;  /* of the process that filled the list */
static bool is_ready;

/* With the lock held. Empties the list in a child of fork(2), which must not use its parent's
   executors. */
static void be_ready(void)
{
    if (is_ready && generation == rota__process_generation())
        return;
    rota__list_init(&executors);
    generation = rota__process_generation();
    is_ready = true;
}

void rota__executor_register(rota_executor *ex, const rota__executor_ops *ops, const char *what)
{
    ex->ops = ops;
    ex->observer_word = false;
    rota__store_relaxed(&ex->inflight, 0);
    rota__link_init(&ex->link);
#ifndef ROTA_EXPLORE
    static uint32_t made;

    rota__mutex_lock(&rota__process_lock);
    be_ready();
    ex->number = ++made;
    ex->generation = generation;
    snprintf(ex->name, sizeof ex->name, "%s-%u", what, (unsigned)ex->number);
    rota__list_append(&executors, &ex->link);
    rota__mutex_unlock(&rota__process_lock);
#else
    (void)what;
#endif
}

static void await_inflight(const rota_executor *ex)
{
    unsigned turns = ROTA__BACKOFF_INIT;

    while (rota__load_acquire(&ex->inflight) > 0) /* exec.E4; pairs with rota__inflight_end */
        rota__backoff(&turns);
}

void rota__executor_unregister(rota_executor *ex)
{
#ifndef ROTA_EXPLORE
    rota__mutex_lock(&rota__process_lock);
    if (ex->generation == rota__process_generation())
        rota__list_remove(&ex->link);
    rota__mutex_unlock(&rota__process_lock);
#endif
    await_inflight(ex); /* no visitor can find the executor any more */
}

/* -- Names ---------------------------------------------------------------- */

size_t rota__character(const char *at)
{
    const unsigned char *text = (const unsigned char *)at;
    unsigned first = text[0], second = first < 0x80 ? 0 : text[1];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (first > 0xf4 || (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)
        || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    if (first < ' ' || first == 0x7f || (first == 0xc2 && second < 0xa0)) /* a control character */
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

static bool is_name(const char *name)
{
    if (name == NULL || name[0] == '\0' || memchr(name, '\0', ROTA_NAME_SIZE) == NULL)
        return false;
    for (const char *at = name; *at != '\0';) {
        size_t step = rota__character(at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

int rota_executor_set_name(rota_executor *ex, const char *name)
{
    if (ex == NULL || !is_name(name))
        return ROTA_EINVAL;
    rota__mutex_lock(&rota__process_lock);
    snprintf(ex->name, sizeof ex->name, "%s", name);
    rota__mutex_unlock(&rota__process_lock);
    return ROTA_OK;
}

int rota_executor_name(const rota_executor *ex, char *name, size_t size)
{
    char copy[ROTA_NAME_SIZE];

    if (ex == NULL || (name == NULL && size != 0))
        return ROTA_EINVAL;
    rota__mutex_lock(&rota__process_lock);
    memcpy(copy, ex->name, sizeof copy);
    rota__mutex_unlock(&rota__process_lock);
    return snprintf(name, size, "%s", copy);
}

/* -- Visiting ------------------------------------------------------------- */

rota_executor *rota__executor_by_number(uint32_t number)
{
    be_ready();
    for (rota__link *link = executors.head.next; link != &executors.head; link = link->next) {
        rota_executor *ex = ROTA__CONTAINER(link, rota_executor, link);
        if (ex->number == number)
            return ex;
    }
    return NULL;
}

/* Returns the first executor after number `last` with an in-flight reference, or NULL. */
static rota_executor *next_after(uint32_t last)
{
    rota_executor *found = NULL;

    rota__mutex_lock(&rota__process_lock);
    be_ready();
    for (rota__link *link = executors.head.next; link != &executors.head && found == NULL;
         link = link->next) {
        rota_executor *ex = ROTA__CONTAINER(link, rota_executor, link);
        if (ex->number > last)
            found = ex;
    }
    if (found != NULL)
        rota__inflight_begin(found); /* exec.E4: it is still in the list, so it is not freed */
    rota__mutex_unlock(&rota__process_lock);
    return found;
}

int rota_executors_visit(rota_executor_visitor *visit, void *ctx)
{
    rota_executor *executor;
    uint32_t last = 0;
    bool goes_on = true;

    if (visit == NULL)
        return ROTA_EINVAL;
    if (!rota__self()->watched)
        return ROTA_ENOMEM;
    while (goes_on && (executor = next_after(last)) != NULL) {
        rota__inside inside;
        last = executor->number;
        rota__inside_enter(&inside, executor); /* exec.E3 */
        ROTA__MUST_RETURN("a visitor", goes_on = visit(executor, ctx));
        rota__inside_leave(&inside);
        rota__inflight_end(executor); /* exec.E4 */
    }
    return ROTA_OK;
}
