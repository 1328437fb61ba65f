/* SPDX-License-Identifier: MIT */
/*
 * worker.c - what a worker does: runs its own tasks, then others', then sleeps.
 */
/* layers: thread_local, the inline functions of <rota/forkjoin.h> read it */
#include "forkjoin/forkjoin_internal.h"

#include "base/check.h"
#include "base/time.h"

/* -- Who am I? ------------------------------------------------------------ */

static rota__deck nobodys; /* no push is below its limit, and no pop above its floor */

#ifdef ROTA_EXPLORE
rota__deck *rota__fj_deck(void)
{
    rota__deck *deck = rota__this_thread.deck;

    return deck != NULL ? deck : &nobodys;
}

static void set_deck(rota__deck *deck)
{
    rota__this_thread.deck = deck;
}
#else
__thread rota__deck *rota__my_deck ROTA__TLS_MODEL = &nobodys;

rota__deck *rota__fj_deck(void)
{
    return rota__my_deck;
}

static void set_deck(rota__deck *deck)
{
    rota__my_deck = deck;
}
#endif

rota__fj_worker *rota__fj_me(void)
{
    rota__deck *deck = rota__fj_deck();

    return deck == &nobodys ? NULL : ROTA__CONTAINER(deck, rota__fj_worker, deque.deck);
}

void rota__fj_become(rota__fj_worker *worker)
{
    set_deck(worker != NULL ? &worker->deque.deck : &nobodys);
}

rota_executor *rota_fj_pool(void)
{
    rota__fj_worker *worker = rota__fj_me();

    return worker != NULL ? &worker->pool->executor : NULL;
}

int rota_fj_worker(void)
{
    rota__fj_worker *worker = rota__fj_me();

    return worker != NULL ? (int)worker->number : -1;
}

int rota_fj_surplus(void)
{
    rota__fj_worker *worker = rota__fj_me();
    uint64_t crowd;
    int idle;

    if (worker == NULL)
        return 0;
    crowd = rota__load_relaxed(&worker->pool->crowd);
    idle = (int)worker->pool->parallelism - (int)rota__crowd_get(crowd, FJ_ACTIVE)
           + (int)rota__crowd_get(crowd, FJ_SEARCHING);
    return (int)rota__deque_size(&worker->deque) - (idle > 0 ? idle : 0);
}

/* -- Running -------------------------------------------------------------- */

void rota__fj_answer(rota__fj_worker *worker)
{
    rota__fj_pool *pool = worker->pool;
    uint64_t crowd;

    rota__deque_close(&worker->deque); /* crew.W5a */
    /* After that: who is counted, or stops the pool, from here on makes its request later (README.md). */
    crowd = rota__add_acq_rel(&pool->crowd, 0);
    if (ROTA__UNLIKELY(rota__fj_pool_state(pool) >= ROTA_STOP)) /* crew.W6 */
        rota__deque_open(&worker->deque);
    else if (ROTA__LIKELY(!rota__crew_wants_more(pool, crowd)))
        return;
    if (!rota__deque_has_public(&worker->deque) && !rota__deque_publish(&worker->deque))
        return;
    rota__crew_call(pool);
    rota__crew_ask_for_more(pool, &worker->deque); /* crew.W5d: it may be taken already */
}

static void run_task(rota__fj_pool *pool, rota_task *task)
{
    rota__run run;

    if (rota__fj_pool_state(pool) >= ROTA_STOP) {
        rota_task_discard(task); /* FJ-24 */
        return;
    }
    rota__run_init(&run, &pool->executor, &pool->hooks, &rota__run_once, NULL, &pool->stopped);
    ROTA__MUST_RETURN("a task of a fork/join pool", rota__run_task(&run, task));
}

/* From another worker, or from outside: large enough to be timed. */
static void run_taken(rota__fj_worker *worker, rota_fj *task)
{
    const rota__tracer *tracer = rota__tracer_now();
    rota__span span = {.tracer = tracer};

    if (ROTA__UNLIKELY(tracer != NULL))
        tracer->begin(&span,
                      &(rota__traced){.executor = &worker->pool->executor, .name = "forked"});
    rota__fj_run_shared(task, worker);
    if (ROTA__UNLIKELY(tracer != NULL))
        tracer->end(&span, false);
}

void rota__fj_run_entry(rota__fj_worker *worker, rota_fj *entry, bool is_own)
{
    worker->turns++;
    if (rota__entry_is_task(entry))
        run_task(worker->pool, rota__task_in(entry));
    else if (is_own)
        rota__fj_run_own(rota__fj_in(entry));
    else
        run_taken(worker, rota__fj_in(entry));
}

/* -- Looking for something to do ------------------------------------------ */

static rota_fj *take_submission(rota__fj_pool *pool)
{
    rota_fj *entry;

    if (rota__load_relaxed(&pool->submissions) == 0)
        return NULL;
    rota__mutex_lock(&pool->lock);
    entry = rota__inbox_take(pool);
    rota__mutex_unlock(&pool->lock);
    return entry;
}

static uint32_t next_random(rota__fj_worker *worker)
{
    uint32_t x = worker->random; /* xorshift: Marsaglia, 2003 */

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return worker->random = x;
}

/* From a random start, so that thieves do not all come to the same one: FJ-11. */
static rota_fj *steal_from_any(rota__fj_worker *worker)
{
    rota__fj_pool *pool = worker->pool;
    uint32_t made = rota__load_acquire(&pool->made);
    uint32_t start = next_random(worker) % made;

    for (uint32_t i = 0; i < made; i++) {
        /* mutants: in any order */
        rota__fj_worker *victim = rota__load_relaxed(&pool->workers[(start + i) % made]);
        rota_fj *entry;
        if (victim == worker)
            continue;
        entry = rota__crew_steal(pool, &victim->deque);
        if (entry != NULL) {
            rota__store_relaxed(&worker->steals, rota__load_relaxed(&worker->steals) + 1);
            rota__trace_steal(&pool->executor);
            return entry;
        }
        rota__deque_request(&victim->deque);
    }
    return NULL;
}

rota_fj *rota__fj_find(rota__fj_worker *worker)
{
    rota_fj *entry = steal_from_any(worker);

    return entry != NULL ? entry : take_submission(worker->pool);
}

bool rota__fj_run_one(rota__fj_worker *worker)
{
    rota_fj *entry = rota__deque_pop(&worker->deque);
    bool is_own = entry != NULL;

    rota__fj_answer(worker);
    if (entry == NULL)
        entry = rota__fj_find(worker);
    if (entry == NULL)
        return false;
    rota__fj_run_entry(worker, entry, is_own);
    return true;
}

static rota_fj *take_own(rota__fj_worker *worker)
{
    rota_fj *entry = NULL;

    if (worker->pool->fifo) {
        rota__deque_open(&worker->deque);
        entry = rota__deque_steal(&worker->deque);
    }
    if (entry == NULL)
        entry = rota__deque_pop(&worker->deque);
    rota__fj_answer(worker);
    return entry;
}

/* Looks for a while. NULL: nothing is there, and it still searches. */
static rota_fj *search(rota__fj_worker *worker)
{
    rota_ns length = rota__spin_budget_get(&worker->spin);
    rota_ns end = rota__time_add(rota__os_now(), length);
    rota_fj *entry;

    do {
        entry = rota__fj_find(worker);
        if (entry != NULL)
            break;
        for (int pause = 0; pause < 16; pause++)
            rota__cpu_relax();
    } while (rota__os_now() < end && rota__fj_pool_state(worker->pool) < ROTA_STOP);
    if (length > 0)
        /* mutants: only how long it spins the next time */
        rota__spin_budget_update(&worker->spin, length, entry != NULL);
    if (entry != NULL)
        rota__crew_found(worker);
    return entry;
}

enum { TURNS_FOR_ONE_SUBMISSION = 64 }; /* so that those from outside do not wait for ever */

/* NULL: it leaves. */
static rota_fj *fetch(rota__fj_worker *worker, bool *searches, bool *is_own)
{
    rota_fj *entry = NULL;

    *is_own = false;
    if (!*searches) {
        if (worker->turns % TURNS_FOR_ONE_SUBMISSION == 0)
            entry = take_submission(worker->pool);
        if (entry != NULL)
            return entry;
        entry = take_own(worker);
        *is_own = entry != NULL;
        if (entry != NULL)
            return entry;
        rota__crew_search(worker);
    }
    do {
        entry = search(worker);
        *searches = false;
    } while (entry == NULL && rota__crew_sleep(worker));
    return entry;
}

/* -- Beginning and end ---------------------------------------------------- */

void rota__fj_drop_entry(rota_fj *entry)
{
    if (rota__entry_is_task(entry))
        rota_task_discard(rota__task_in(entry));
    else
        rota__fj_drop(rota__fj_in(entry));
}

/* A stopped pool: nobody looks there any more. */
void rota__fj_give_back(rota__fj_pool *pool, rota_fj *entry)
{
    rota__mutex_lock(&pool->lock);
    if (rota__fj_pool_state(pool) >= ROTA_STOP) {
        rota__mutex_unlock(&pool->lock);
        rota__fj_drop_entry(entry);
        return;
    }
    if (rota__entry_is_task(entry))
        rota__inbox_put_task(pool, rota__task_in(entry));
    else
        rota__inbox_put(pool, rota__fj_in(entry));
    rota__mutex_unlock(&pool->lock);
}

static void leave(rota__fj_worker *worker)
{
    if (!rota__fj_is_here(worker->pool))
        return;
    rota__call_thread_hook("on_exit", worker->plan->threads.on_exit, worker->plan->threads.ctx);
    rota__self()->helper = NULL;
    rota__fj_become(NULL);
    rota__crew_leave(worker);
}

static void present(rota__fj_worker *worker)
{
    rota__fj_pool *pool = worker->pool;
    rota_thread *self = rota__self();

    self->helper = &worker->helper;
    if (worker->plan->threads.interrupt_signal != 0)
        self->signal_target = &worker->thread;
    self->outermost.stop =
        &pool->stopped; /* for forks that run without an execution of their own */
    rota__fj_become(worker);
    rota__mutex_lock(&pool->lock);
    worker->self = self;
    rota__mutex_unlock(&pool->lock);
}

static void join_thread_before(rota__fj_worker *worker)
{
    if (worker->has_thread_before)
        rota__os_thread_join(&worker->thread_before);
    worker->has_thread_before = false;
}

void rota__fj_worker_main(void *arg)
{
    rota__fj_worker *worker = arg;
    rota__inside inside;
    bool searches = true; /* as it was counted when it was made */
    bool is_own;
    rota_fj *entry;

    join_thread_before(worker);
    rota__inside_enter(&inside, &worker->pool->executor); /* exec.E3 */
    present(worker);
    rota__call_thread_hook("on_start", worker->plan->threads.on_start, worker->plan->threads.ctx);
    while (rota__fj_is_here(worker->pool) && (entry = fetch(worker, &searches, &is_own)) != NULL)
        rota__fj_run_entry(worker, entry, is_own);
    leave(worker);
    rota__inside_leave(&inside);
}

/* -- A caller that takes part --------------------------------------------- */

static void work_off(rota__fj_worker *worker)
{
    rota_fj *entry;

    while ((entry = take_own(worker)) != NULL)
        rota__fj_run_entry(worker, entry, true);
}

/* A worker of another pool is as if blocked there. */
static void step_out(rota__fj_worker *worker)
{
    if (worker != NULL && worker->blocks++ == 0)
        rota__crew_block(worker, false);
}

static void step_in(rota__fj_worker *worker)
{
    if (worker != NULL && --worker->blocks == 0)
        rota__crew_unblock(worker);
}

static void play(rota__fj_worker *worker, rota_fj *entry, rota_fj *goal)
{
    rota__fj_run_entry(worker, entry, false);
    work_off(worker);
    if (goal == NULL || rota__fj_is_done(goal))
        return;
    rota__fj_join_stolen(worker, goal);
    work_off(worker); /* what was forked while it helped, if somebody has ended its goal */
}

static void run_outside(rota__fj_pool *pool, rota_fj *entry)
{
    if (rota__entry_is_task(entry))
        run_task(pool, rota__task_in(entry));
    else
        rota__fj_run_shared(entry, NULL);
}

void rota__fj_take_part(rota__fj_pool *pool, rota__fj_worker *place, rota_fj *entry, rota_fj *goal)
{
    rota__execution execution; /* around all: a stop of the pool is no interrupt of the caller's */
    rota_thread *self = rota__self();

    if (place == NULL) {
        rota__mutex_unlock(&pool->lock);
        run_outside(pool, entry);
        return;
    }
    rota__execution_begin(&execution, NULL, &pool->stopped);
    rota__mutex_unlock(&pool->lock);
    step_out(rota__fj_me());
    place->outer_helper = self->helper;
    place->outer_deck = rota__fj_deck();
    rota__inside_enter(&place->inside, &pool->executor);
    self->helper = &place->helper;
    rota__fj_become(place);
    play(place, entry, goal);
    self->helper = place->outer_helper;
    rota__inside_leave(&place->inside);
    set_deck(place->outer_deck);
    rota__crew_exit(place);
    step_in(rota__fj_me());
    rota__execution_end(&execution);
}
