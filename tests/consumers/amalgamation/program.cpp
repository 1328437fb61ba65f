/* SPDX-License-Identifier: MIT */
/* program.cpp - C++ with rota.h and an object of rota.c, which is C. */
#include "rota.h"

#include <cstdio>
#include <memory>

struct square {
    rota_fj task;
    int number;
};

static void run(rota_fj *task)
{
    auto *self = reinterpret_cast<square *>(task);
    self->number *= self->number;
}

static void *sum_of_squares(void *arg)
{
    auto *sum = static_cast<int *>(arg);
    square three = {ROTA_FJ(run), 3}, four = {ROTA_FJ(run), 4};

    rota_fork(&three.task);
    run(&four.task);
    rota_join(&three.task);
    *sum = three.number + four.number;
    return sum;
}

int main()
{
    int sum = 0;
    rota_future *raw = nullptr;

    if (rota_submit(rota_common_pool(), sum_of_squares, &sum, &raw) != ROTA_OK)
        return 1;
    std::unique_ptr<rota_future, decltype(&rota_future_unref)> future(raw, rota_future_unref);
    if (rota_future_get_timed(future.get(), ROTA_SEC(60), nullptr) != ROTA_OK)
        return 2;
    std::printf("rota %s: a sum of %d\n", rota_version(), sum);
    return sum == 25 ? 0 : 3;
}
