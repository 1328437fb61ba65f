/* SPDX-License-Identifier: MIT */
/*
 * player.c - threads that make random moves at random stations.
 */
#include "soak.h"

#include <sched.h>

struct player {
    test_random random;
    test_thread *thread;
};

static struct player players[PLAYERS];
static test_barrier all_ready, all_over;
static atomic_bool is_over;

/* -- Moves -------------------------------------------------------------------------------- */

static void submit_some(struct station *station, test_random *random, bool is_plain, size_t most)
{
    for (size_t left = 1 + test_random_below(random, most); left > 0; left--) {
        struct item *item = station_item(station, random);
        if (item == NULL)
            return;
        item->is_plain = is_plain && station->takes_plain;
        station_submit(station, item);
    }
}

static void end_early(struct item *item, rota_future *future, test_random *random)
{
    size_t how = test_random_below(random, 8);

    if (how == 0)
        item_complete(item, future);
    else
        item_cancel(item, future, how % 2 == 0);
}

static void end_some_early(struct station *station, test_random *random)
{
    for (size_t left = 1 + test_random_below(random, 8); left > 0; left--) {
        struct item *item = station_any(station, random);
        rota_future *future = item != NULL ? atomic_load(&item->future) : NULL;
        if (future != NULL)
            end_early(item, future, random);
    }
}

/* Each is ended at about the moment at which it begins. */
static void submit_and_end(struct station *station, test_random *random)
{
    for (size_t left = 1 + test_random_below(random, 40); left > 0; left--) {
        struct item *item = station_item(station, random);
        volatile size_t delay = test_random_below(random, 1000);
        if (item == NULL || !station_submit(station, item))
            return;
        rota_future *future = atomic_load(&item->future);
        while (delay > 0)
            delay--;
        if (future != NULL)
            end_early(item, future, random);
    }
}

static void wait_for_any(struct station *station, test_random *random)
{
    struct item *item = station_any(station, random);
    rota_future *future = item != NULL ? atomic_load(&item->future) : NULL;
    void *result = NULL;
    int descriptor;

    if (future == NULL)
        return;
    if (test_random_below(random, 100) == 0)
        test_check(rota_future_fd(future, &descriptor) != ROTA_EINVAL);
    int status =
        rota_future_get_timed(future, (rota_ns)test_random_below(random, ROTA_US(100)), &result);
    test_check(status != ROTA_OK || result == item);
}

static void look_at(struct station *station)
{
    rota_pool_stats stats;
    char line[200];

    test_check(rota_executor_describe(station->executor, line, sizeof line) > 0);
    if (rota_pool_stats_get(station->executor, &stats) != ROTA_OK)
        return;
    test_check(stats.active <= stats.threads);
    test_check(stats.completed <= stats.submitted || station->kind->repeats);
    test_check(stats.submitted <= atomic_load(&station->used) || !station->is_pure);
}

static void interrupt_any(test_random *random)
{
    struct player *player = &players[test_random_below(random, PLAYERS)];

    rota_thread_interrupt(test_thread_handle(player->thread));
}

static void make_special_move(struct station *station, test_random *random)
{
    size_t which = test_random_below(random, 8);

    if (which == 0)
        interrupt_any(random);
    else if (which == 1)
        look_at(station);
    else if (which < 4 && !station->is_pure)
        group_move(station, random);
    else if (which < 6 && !station->is_pure)
        graph_move(station, random);
    else if (station->kind->move != NULL)
        station->kind->move(station, random);
}

static void make_move(struct station *station, test_random *random)
{
    size_t which = test_random_below(random, 16);

    if (which < 6)
        submit_some(station, random, true, 200);
    else if (which < 9)
        submit_some(station, random, false, 100);
    else if (which < 11)
        submit_and_end(station, random);
    else if (which < 12)
        end_some_early(station, random);
    else if (which < 13)
        wait_for_any(station, random);
    else
        make_special_move(station, random);
}

/* -- Players ------------------------------------------------------------------------------ */

/* True: this executor has been there for long enough. */
static bool stay(struct station *station, test_random *random)
{
    for (size_t left = 1 + test_random_below(random, 16); left > 0; left--) {
        if (atomic_load(&station->is_ending))
            return false;
        make_move(station, random);
    }
    return station_used(station) == station->room || test_random_below(random, 200) == 0;
}

static void visit(struct station *station, test_random *random)
{
    if (atomic_load(&station->is_ending) || pthread_rwlock_tryrdlock(&station->lock) != 0) {
        sched_yield();
        return;
    }
    if (stay(station, random))
        station_end(station, random);
    else
        pthread_rwlock_unlock(&station->lock);
}

static void play(void *arg)
{
    struct player *player = arg;

    test_barrier_wait(&all_ready); /* all have threads to be interrupted */
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        visit(&stations[test_random_below(&player->random, STATIONS)], &player->random);
    test_barrier_wait(&all_over);
}

static void open_all(test_random *random)
{
    for (size_t i = 0; i < STATIONS; i++)
        station_open(&stations[i], i == 0 ? &common_kind : any_kind(random), random);
}

static void settle_all(test_random *random)
{
    for (size_t i = STATIONS; i-- > 0;) /* the common pool last: others pass tasks on to it */
        station_settle(&stations[i], random);
}

void players_run(uint64_t seed, rota_ns duration)
{
    test_random random;

    test_random_start(&random, seed);
    open_all(&random);
    atomic_store(&is_over, false);
    test_barrier_init(&all_ready, PLAYERS + 1);
    test_barrier_init(&all_over, PLAYERS);
    for (size_t i = 0; i < PLAYERS; i++) {
        test_random_start(&players[i].random, test_random_next(&random));
        players[i].thread = test_thread_start(play, &players[i]);
    }
    test_barrier_wait(&all_ready);
    (void)rota_sleep(duration);
    atomic_store(&is_over, true);
    for (size_t i = 0; i < PLAYERS; i++)
        test_thread_join(players[i].thread);
    settle_all(&random);
}
