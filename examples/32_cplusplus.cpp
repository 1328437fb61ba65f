// SPDX-License-Identifier: MIT
// 32_cplusplus.cpp - C++17: lambdas as tasks, results of any type, and what frees itself
#include <cstdio>
#include <memory>
#include <rota/rota.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

template <auto free> struct freed_by {
    template <class T> void operator()(T *object) const
    {
        free(object);
    }
};
using pool_ptr = std::unique_ptr<rota_executor, freed_by<rota_close>>; // when all is done
using future_ptr = std::unique_ptr<rota_future, freed_by<rota_future_unref>>;

static void check(int status)
{
    if (status != ROTA_OK)
        throw std::runtime_error(rota_strerror(status));
}

template <class T> struct future {
    future_ptr handle;

    T get() // once: the result moves out
    {
        void *result;
        check(rota_future_get(handle.get(), &result));
        return std::move(*static_cast<T *>(result));
    }
};

template <class F> auto async(const pool_ptr &pool, F work)
{
    using T = decltype(work());
    auto mine = std::make_unique<F>(std::move(work));
    rota_future *given;
    rota_call call = {};
    call.arg = mine.get();
    call.fn = [](void *arg) -> void * { // an exception must not leave a task: it becomes a failure
        std::unique_ptr<F> task(static_cast<F *>(arg));
        try {
            return new T((*task)());
        } catch (...) {
            return rota_fail(1);
        }
    };
    call.discard = [](void *arg) { delete static_cast<F *>(arg); }; // if it never runs
    call.free_result = [](void *result) { delete static_cast<T *>(result); };
    check(rota_submit_call(pool.get(), &call, &given));
    mine.release(); // the task's, now that it is accepted
    return future<T>{future_ptr(given)};
}

int main()
{
    rota_executor *made;
    check(rota_fixed_pool(2, &made));
    pool_ptr pool(made);

    std::string name = "world";
    auto greeting = async(pool, [name] { return "hello, " + name; });
    auto numbers = async(pool, [] { return std::vector<int>{1, 2, 3}; });
    auto broken = async(pool, [&name] { return name.at(99); });
    bool failed = false;
    try {
        broken.get();
    } catch (const std::exception &problem) {
        failed = true;
        std::printf("  %s\n", problem.what());
    }
    std::string said = greeting.get();
    std::printf("  %s; %zu numbers\n", said.c_str(), numbers.get().size());
    return failed && said == "hello, world" ? 0 : 1;
}
