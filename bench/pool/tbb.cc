/* SPDX-License-Identifier: MIT */
/* tbb.cc - oneTBB's task_arena, whose enqueue has no bound and keeps the order only roughly */
#include "peer.h"

#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

struct pool {
    tbb::task_scheduler_handle scheduler{tbb::attach{}};
    tbb::global_control limit; /* counts a thread for the program itself, too */
    tbb::task_arena *arena;

    explicit pool(unsigned threads)
        : limit(tbb::global_control::max_allowed_parallelism, threads + 1),
          arena(new tbb::task_arena(static_cast<int>(threads), 0))
    {
        arena->initialize();
    }
};

void *peer_make(const char *, unsigned threads, size_t capacity)
{
    return capacity == UNBOUNDED ? new pool(threads) : nullptr;
}

void peer_free(void *arg)
{
    auto *the = static_cast<pool *>(arg);

    delete the->arena;
    if (!tbb::finalize(the->scheduler, std::nothrow)) /* waits for the threads to end */
        std::abort();
    delete the;
}

void peer_execute(void *arg, task *run, void *its_arg)
{
    static_cast<pool *>(arg)->arena->enqueue([=] { run(its_arg); });
}

void *peer_submit(void *arg, task *run, void *its_arg)
{
    auto work = std::make_shared<std::packaged_task<void *()>>([=] { return run(its_arg); });
    auto *future = new std::future<void *>(work->get_future());

    static_cast<pool *>(arg)->arena->enqueue([work] { (*work)(); });
    return future;
}

void *peer_get(void *, void *arg)
{
    auto *future = static_cast<std::future<void *> *>(arg);
    void *result = future->get();

    delete future;
    return result;
}
