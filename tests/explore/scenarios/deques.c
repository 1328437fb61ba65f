/* SPDX-License-Identifier: MIT */
/*
 * deques.c - the owner of a fork/join worker's deque, and thieves: each entry is taken once.
 */
#include "forkjoin/forkjoin_internal.h"

#include "explore.h"

enum { ENTRIES = 9 };

static rota__deque deque;
static rota_fj entries[ENTRIES];
static rota__atomic(uint32_t) taken[ENTRIES]; /* how often */

static void is_not_run(rota_fj *task)
{
    (void)task;
    ex_check(false);
}

static void begin_entries(void)
{
    for (int i = 0; i < ENTRIES; i++) {
        entries[i] = (rota_fj)ROTA_FJ(is_not_run);
        rota__store_relaxed(&taken[i], 0);
    }
}

static void begin_deque(void)
{
    ex_check(rota__deque_init(&deque) == ROTA_OK);
    begin_entries();
}

static void push(int first, int n)
{
    for (int i = first; i < first + n; i++) {
        entries[i] = (rota_fj)ROTA_FJ(is_not_run);
        ex_check(rota__deque_push(&deque, &entries[i]));
    }
}

static bool count(const rota_fj *entry)
{
    if (entry == NULL)
        return false;
    ex_check(entry >= entries && entry < entries + ENTRIES);
    ex_check(entry->run != NULL); /* who takes it sees what was written before it was pushed */
    ex_check(rota__add_relaxed(&taken[entry - entries], 1) == 0);
    return true;
}

/* deck.Q5: the short ways, if they are not shut, end where the chunk of the top does. */
static void check_short_ways(void)
{
    uint32_t chunk = rota__load_relaxed(&deque.chunk);
    rota_fj **start = rota__load_relaxed(&deque.chunks[chunk]);
    rota_fj **end = start + (FJ_FIRST_CHUNK << (chunk == 0 ? 0 : chunk - 1));
    rota_fj **top = rota__load_relaxed(&deque.deck.top);
    rota_fj **limit = rota__load_relaxed(&deque.deck.limit);
    rota_fj **floor = rota__load_relaxed(&deque.deck.floor);

    ex_check(top >= start && top <= end);
    ex_check(limit == NULL || limit == end);
    ex_check(floor == (rota_fj **)UINTPTR_MAX || (floor >= start && floor <= end));
}

static bool pop(void)
{
    bool is_there = count(rota__deque_pop(&deque));

    check_short_ways();
    return is_there;
}

static void steal(void *times)
{
    for (uintptr_t i = 0; i < (uintptr_t)times; i++)
        count(rota__deque_steal(&deque));
}

static void end_deque(int n)
{
    while (pop())
        continue;
    ex_check(rota__deque_size(&deque) == 0 && !rota__deque_has_public(&deque));
    for (int i = 0; i < ENTRIES; i++)
        ex_check(rota__load_relaxed(&taken[i]) == (i < n));
    rota__deque_free(&deque);
}

#define TIMES(n) ((void *)(uintptr_t)(n))

/* FJ-12 */
EXPLORE(an_owner_and_a_thief_want_the_last_entry)
{
    begin_deque();
    push(0, 1);
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(1));
    pop();
    ex_join(thief);
    end_deque(1);
}

EXPLORE(an_owner_and_a_thief_take_from_both_ends)
{
    begin_deque();
    push(0, 3);
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(2));
    pop();
    pop();
    ex_join(thief);
    end_deque(3);
}

/* FJ-12 */
EXPLORE(an_owner_and_two_thieves_want_two_entries)
{
    begin_deque();
    push(0, 2);
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(1));
    ex_thread *other = ex_start(steal, TIMES(1));
    pop();
    ex_join(thief);
    ex_join(other);
    end_deque(2);
}

/* deck.Q2: what is published while a thief looks is whole when it is seen. */
EXPLORE(entries_are_published_one_after_another)
{
    begin_deque();
    ex_thread *thief = ex_start(steal, TIMES(2));
    for (int i = 0; i < 3; i++) {
        push(i, 1);
        rota__deque_open(&deque);
    }
    ex_join(thief);
    end_deque(3);
}

/* deck.Q4: the slot is used again when, and only when, the thief has done with it. */
EXPLORE(a_stolen_slot_is_used_again)
{
    begin_deque();
    push(0, 1);
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(2));
    for (int i = 1; i < 3; i++) {
        pop();
        push(i, 1);
        rota__deque_open(&deque);
    }
    ex_join(thief);
    end_deque(3);
}

/* The same with a thief that is slow, and one that comes when the owner has begun again. */
EXPLORE(stolen_slots_are_used_again_while_two_thieves_look)
{
    begin_deque();
    push(0, 2);
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(1));
    ex_thread *other = ex_start(steal, TIMES(2));
    while (pop())
        continue;
    push(2, 1);
    rota__deque_open(&deque);
    ex_join(thief);
    ex_join(other);
    end_deque(3);
}

/* FJ-12: chunks never move: a thief that looks into the first does not mind the second. */
EXPLORE(a_deque_grows_while_a_thief_steals)
{
    begin_deque();
    push(0, 2);
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(3));
    push(2, 3);
    rota__deque_open(&deque);
    ex_join(thief);
    end_deque(5);
}

/* deck.Q5, at the border of a chunk: the owner closes, as it does after each push and pop. */
EXPLORE(an_owner_moves_between_chunks_while_a_thief_steals)
{
    begin_deque();
    push(0, 3);
    rota__deque_close(&deque);
    check_short_ways();
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(2));
    rota__deque_close(&deque);
    pop();
    rota__deque_close(&deque);
    check_short_ways();
    pop();
    ex_join(thief);
    end_deque(3);
}

#ifdef ROTA_EXPLORE /* a deque elsewhere has room for millions */
/* FAULT-41 */
EXPLORE(a_full_deque_takes_no_more)
{
    begin_deque();
    push(0, 8);
    ex_check(!rota__deque_push(&deque, &entries[8]));
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(1));
    ex_check(!rota__deque_push(&deque, &entries[8]));
    pop();
    ex_join(thief);
    end_deque(8);
}
#endif

static void ask(void *unused)
{
    (void)unused;
    ex_check(!count(rota__deque_steal(&deque))); /* deck.Q3 */
    rota__deque_request(&deque);
}

/* deck.Q3, deck.Q5: nobody steals what is private; a request that comes after the close stays. */
EXPLORE(a_private_entry_is_asked_for)
{
    begin_deque();
    rota__deque_close(&deque);
    push(0, 1);
    ex_thread *thief = ex_start(ask, NULL);
    push(1, 1);
    ex_join(thief);
    ex_check(rota__load_relaxed(&deque.deck.limit) == NULL);
    end_deque(2);
}

static void force(void *unused)
{
    (void)unused;
    rota__deque_force(&deque);
    count(rota__deque_steal(&deque));
}

/* deck.Q6: the owner is on the long way, or just about to be. */
EXPLORE(an_owner_pops_as_it_is_forced)
{
    begin_deque();
    push(0, 2);
    ex_thread *thief = ex_start(force, NULL);
    pop();
    pop();
    push(2, 1);
    ex_join(thief);
    end_deque(3);
}

static void look(void *unused)
{
    (void)unused;
    ex_check(rota__deque_size(&deque) <= 4);
    (void)rota__deque_has_public(&deque);
}

/* The figures are about right for who looks while the owner moves. */
EXPLORE(somebody_looks_at_the_size_of_a_deque)
{
    begin_deque();
    push(0, 2);
    ex_thread *other = ex_start(look, NULL);
    push(2, 1);
    rota__deque_open(&deque);
    pop();
    pop();
    ex_join(other);
    end_deque(3);
}

EXPLORE_WITH_FAULTS(a_deque_without_memory_for_its_next_chunk)
{
    int n = 2;

    if (rota__deque_init(&deque) != ROTA_OK)
        return;
    begin_entries();
    push(0, 2);
    rota__deque_open(&deque);
    ex_thread *thief = ex_start(steal, TIMES(2));
    n += rota__deque_push(&deque, &entries[2]);
    rota__deque_open(&deque);
    pop();
    ex_join(thief);
    end_deque(n);
}

/* -- The deque of a worker: it answers, and is forced --------------------------------------------- */

static rota_executor *pool;

/* The main thread takes part; nobody else does. */
static rota__fj_worker *begin_owner(void)
{
    ex_check(rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1}, &pool) == ROTA_OK);
    rota__fj_pool *mine = rota__fj_pool_of(pool);
    rota__mutex_lock(&mine->lock);
    rota__fj_worker *worker = rota__crew_enter(mine);
    rota__mutex_unlock(&mine->lock);
    ex_check(worker != NULL);
    return worker;
}

static void end_owner(rota__fj_worker *worker)
{
    rota__crew_exit(worker);
    ex_check(rota_close(pool) == ROTA_OK);
}

static void search_once(void *arg)
{
    rota__fj_worker *victim = arg;

    rota__add_acq_rel(&victim->pool->crowd, FJ_SEARCHING);
    if (!count(rota__deque_steal(&victim->deque)))
        rota__deque_request(&victim->deque);
}

/* A request is not lost to an owner that closes its deque just then (rota__fj_answer). */
EXPLORE(a_request_comes_as_the_owner_closes)
{
    rota__fj_worker *worker = begin_owner();
    begin_entries();
    ex_check(rota__deque_push(&worker->deque, &entries[0]));
    ex_thread *thief = ex_start(search_once, worker);
    rota__fj_answer(worker);
    ex_join(thief);
    ex_check(rota__load_relaxed(&taken[0]) == 1 || rota__deque_has_public(&worker->deque)
             || rota__load_relaxed(&worker->deque.deck.limit) == NULL);
    count(rota__deque_pop(&worker->deque));
    rota__sub_acq_rel(&worker->pool->crowd, FJ_SEARCHING);
    end_owner(worker);
}

static void stop_pool(void *arg)
{
    (void)arg;
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
}

/* FJ-24: nor is that of who stops the pool: what is forked from then on goes the long way. */
EXPLORE(a_pool_stops_as_the_owner_closes)
{
    rota__fj_worker *worker = begin_owner();
    ex_thread *stopper = ex_start(stop_pool, NULL);
    rota__fj_answer(worker);
    ex_join(stopper);
    ex_check(rota__load_relaxed(&worker->deque.deck.limit) == NULL);
    end_owner(worker);
}

/* Three workers, and a place for no more: an owner, and two who search. */
static rota__fj_worker *crew[3];

static void begin_crew(void)
{
    rota_forkjoin_options options = {
        .parallelism = 3, .max_threads = 3, .keep_alive = ROTA_FOREVER};

    ex_check(rota_forkjoin_new(&options, &pool) == ROTA_OK);
    rota__fj_pool *mine = rota__fj_pool_of(pool);
    rota__mutex_lock(&mine->lock);
    for (int i = 0; i < 3; i++)
        crew[i] = rota__crew_enter(mine);
    rota__mutex_unlock(&mine->lock);
    begin_entries();
}

static void end_crew(void)
{
    count(rota__deque_pop(&crew[0]->deque));
    for (int i = 0; i < 3; i++)
        rota__crew_exit(crew[i]);
    ex_check(rota_close(pool) == ROTA_OK);
}

/* What it finds it is busy with. */
static bool search_as(rota__fj_worker *worker)
{
    rota__crew_search(worker);
    if (count(rota__crew_steal(worker->pool, &crew[0]->deque)))
        return true;
    rota__deque_request(&crew[0]->deque);
    return false;
}

static void search_as_the_second(void *arg)
{
    (void)arg;
    search_as(crew[1]);
    rota__sub_acq_rel(&crew[1]->pool->crowd, FJ_SEARCHING);
}

static rota__atomic(uint32_t) is_over; /* the third has found something, or was called */

static void search_or_sleep_as_the_third(void *arg)
{
    (void)arg;
    if (!search_as(crew[2]))
        ex_check(rota__crew_sleep(crew[2]));
    rota__sub_acq_rel(&crew[2]->pool->crowd, FJ_SEARCHING);
    rota__store_release(&is_over, 1);
}

static bool is_asleep(rota__fj_worker *worker)
{
    rota__mutex_lock(&worker->pool->lock);
    bool is_so = rota__link_is_in_list(&worker->link)
                 && rota__load_relaxed(&worker->waiter.thread->permit) == 1; /* wait.c: PARKED */
    rota__mutex_unlock(&worker->pool->lock);
    return is_so;
}

/* crew.W5: what is forked next is for the one that has fallen asleep. */
static void check_request(void)
{
    uint64_t crowd = rota__load_relaxed(&crew[0]->pool->crowd);

    ex_check(rota__crowd_get(crowd, FJ_ACTIVE) == 3 || rota__deque_has_public(&crew[0]->deque)
             || rota__load_relaxed(&crew[0]->deque.deck.limit) == NULL);
}

/* Two search, one finds what was forked, and the other falls asleep. The check reads words that other
   threads write, without an order: in C11's model the check itself may read old values. */
EXPLORE_ON_X86(a_worker_falls_asleep_as_another_takes_the_answer)
{
    unsigned turns = 0;

    begin_crew();
    rota__store_relaxed(&is_over, 0);
    ex_check(rota__deque_push(&crew[0]->deque, &entries[0]));
    ex_thread *second = ex_start(search_as_the_second, NULL);
    ex_thread *third = ex_start(search_or_sleep_as_the_third, NULL);
    rota__fj_answer(crew[0]);
    ex_join(second);
    while (!rota__load_acquire(&is_over) && !is_asleep(crew[2]))
        rota__backoff(&turns);
    check_request();
    rota__mutex_lock(&crew[0]->pool->lock);
    rota__crew_wake_all(crew[0]->pool);
    rota__mutex_unlock(&crew[0]->pool->lock);
    ex_join(third);
    end_crew();
}

/* One finds it at once; there is a place for another. */
EXPLORE(a_task_is_taken_as_its_owner_answers)
{
    begin_crew();
    rota__sub_acq_rel(&crew[0]->pool->crowd, FJ_ACTIVE); /* the third is blocked */
    ex_check(rota__deque_push(&crew[0]->deque, &entries[0]));
    ex_thread *second = ex_start(search_as_the_second, NULL);
    rota__fj_answer(crew[0]);
    ex_join(second);
    check_request();
    rota__add_acq_rel(&crew[0]->pool->crowd, FJ_ACTIVE);
    end_crew();
}

static void force_and_steal(void *arg)
{
    rota__fj_worker *victim = arg;

    rota__deque_force(&victim->deque);
    count(rota__deque_steal(&victim->deque));
}

static void take_back(rota_fj *task)
{
    if (rota_unfork(task))
        count(task);
}

/* deck.Q6: the owner is on the short way, or the long one, or on none. */
EXPLORE(an_owner_forks_and_takes_back_as_it_is_forced)
{
    rota__fj_worker *worker = begin_owner();
    rota__fj_become(worker);
    begin_entries();
    rota_fork(&entries[0]);
    ex_thread *thief = ex_start(force_and_steal, worker);
    rota_fork(&entries[1]);
    take_back(&entries[1]);
    take_back(&entries[0]);
    rota_fork(&entries[2]);
    ex_join(thief);
    while (count(rota__deque_pop(&worker->deque)))
        continue;
    for (int i = 0; i < 3; i++)
        ex_check(rota__load_relaxed(&taken[i]) == 1);
    rota__fj_become(NULL);
    end_owner(worker);
}
