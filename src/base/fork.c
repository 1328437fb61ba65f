/* SPDX-License-Identifier: MIT */
#include "base/fork.h"

#include "base/block.h"
#include "base/mutex.h"
#include "base/thread.h"

#include <rota/base.h>

rota__atomic(uint32_t) rota__generation;

rota__mutex rota__process_lock;
rota__mutex rota__singleton_lock;

static rota__mutex lock; /* protects is_watching */
static bool is_watching;

static void before(void)
{
    rota__mutex_lock(&rota__singleton_lock);
    rota__mutex_lock(&lock);
    rota__mutex_lock(&rota__process_lock);
    rota__blocks_lock();
}

static void in_parent(void)
{
    rota__blocks_unlock();
    rota__mutex_unlock(&rota__process_lock);
    rota__mutex_unlock(&lock);
    rota__mutex_unlock(&rota__singleton_lock);
}

static void in_child(void)
{
    rota_thread *self = &rota__this_thread; /* not rota__self(), which would take `lock` */

    rota__os_reset_after_fork();
    rota__store_relaxed(&rota__generation, rota__process_generation() + 1);
    rota__thread_reset_after_fork(self);
    in_parent();
}

int rota__fork_register(void)
{
    int status = ROTA_OK;

    rota__mutex_lock(&lock);
    if (!is_watching) {
        status = rota__os_at_fork(before, in_parent, in_child);
        is_watching = status == ROTA_OK;
    }
    rota__mutex_unlock(&lock);
    return status;
}
