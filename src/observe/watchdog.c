/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - a thread that looks, now and then, for what takes too long.
 *
 * It reads what threads write of themselves (record.c). What it finds is copied with the lock held, and
 * told without.
 *
 *   watchdog.L1  A task is told of once for each run: a run is known by when it began.
 *   watchdog.L2  A queue is told of once, until its first was seen to be young again.
 *   watchdog.L3  A cycle counts only if nobody in it has done anything since the look before:
 *                threads change what they run and wait for one after the other, and a cycle may
 *                seem to be there between.
 */
#include "observe/observe_internal.h"

#include "base/alloc.h"
#include "base/fork.h"
#include "base/time.h"
#include "base/wait.h"

#include <string.h>

typedef struct watchdog {
    rota_watchdog_options options;
    rota_ns period;
    rota__os_thread thread;
    rota__latch stop; /* under the process's lock, as is the next */
    bool is_stopped;
    uint32_t generation;
} watchdog;

static watchdog *the_watchdog; /* under the process's lock */

/* An alarm, with its texts. */
typedef struct found {
    rota_alarm alarm;
    char executor[ROTA_NAME_SIZE], task[ROTA_NAME_SIZE], thread[ROTA__OS_NAME_SIZE];
} found;

static void tell(const watchdog *self, found *one)
{
    one->alarm.executor = one->executor;
    one->alarm.task = one->task;
    one->alarm.thread = one->thread;
    self->options.alarm(&one->alarm, self->options.ctx);
}

/* -- Tasks that run for long ---------------------------------------------- */

static void describe(found *one, rota_alarm_kind kind, const rota__record *record,
                     const rota__cell *cell, rota_ns age)
{
    *one = (found){
        .alarm = {.kind = kind, .thread_id = record->thread_id, .since = rota__now() - age}};
    memcpy(one->executor, cell->executor_name, sizeof one->executor);
    snprintf(one->task, sizeof one->task, "%s", rota__name_of(cell->name));
    memcpy(one->thread, record->thread_name, sizeof one->thread);
}

/* With the lock held: the task at that depth, if nothing changes while it is looked at. */
static bool is_long(const watchdog *self, rota__record *record, uint32_t at, found *one)
{
    rota__running *running = &record->running[at];
    uint32_t changes = rota__load_acquire(&record->changes); /* pairs with changed; */
    bool runs = at < rota__load_acquire(&record->depth);     /* the rest with push */
    rota_ns begun = rota__load_acquire(&running->begun);
    const rota__cell *cell = rota__load_acquire(&running->cell);
    rota_ns age = rota__ticks() - begun;

    if (!runs || age < self->options.longest_task || running->told == begun
        || rota__load_acquire(&record->changes) != changes)
        return false;
    running->told = begun; /* watchdog.L1 */
    describe(one, ROTA_ALARM_TASK, record, cell, age);
    return true;
}

/* With the lock held. */
static bool find_long_in(const watchdog *self, rota__record *record, found *one)
{
    for (uint32_t i = 0; i < ROTA__DEPTH; i++) {
        if (is_long(self, record, i, one))
            return true;
    }
    return false;
}

static bool find_long(const watchdog *self, found *one)
{
    bool has_found = false;

    rota__mutex_lock(&rota__process_lock);
    for (rota__link *link = rota__records.head.next; link != &rota__records.head && !has_found;
         link = link->next)
        has_found = find_long_in(self, ROTA__CONTAINER(link, rota__record, link), one);
    rota__mutex_unlock(&rota__process_lock);
    return has_found;
}

static void look_at_tasks(const watchdog *self)
{
    found one;

    while (find_long(self, &one))
        tell(self, &one);
}

/* -- Queues --------------------------------------------------------------- */

static bool look_at_queue(rota_executor *ex, void *arg)
{
    const watchdog *self = arg;
    rota__snapshot seen = {0};
    rota_ns age;
    found one = {.alarm = {.kind = ROTA_ALARM_QUEUE}};

    ex->ops->snapshot(ex, &seen);
    age = rota__age(seen.oldest);
    if (age < self->options.oldest_queued)
        ex->observer_word = false;
    if (age < self->options.oldest_queued || ex->observer_word)
        return true; /* watchdog.L2 */
    ex->observer_word = true;
    one.alarm.since = rota__now() - age;
    rota_executor_name(ex, one.executor, sizeof one.executor);
    memcpy(one.task, seen.oldest_name, sizeof one.task);
    tell(self, &one);
    return true;
}

/* -- Cycles --------------------------------------------------------------- */

/* With the lock held: the record of the thread that runs this future; or NULL. */
static rota__record *runner_of(uintptr_t future)
{
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        uint32_t depth = rota__load_acquire(&record->depth); /* pairs with push */
        for (uint32_t i = 0; i < depth && i < ROTA__DEPTH; i++) {
            if (rota__load_relaxed(&record->running[i].future) == future)
                return record;
        }
    }
    return NULL;
}

/* With the lock held: who waits for whom leads back to where it began. *changes: of all in there. */
static bool is_in_cycle(rota__record *first, uint32_t *changes)
{
    enum { LONGEST = 1000 }; /* it may lead into a cycle that the first is not in */
    rota__record *record = first;

    *changes = 0;
    for (int steps = 0; steps < LONGEST && record != NULL; steps++) {
        uintptr_t awaited = rota__load_relaxed(&record->awaited);
        *changes += rota__load_acquire(&record->changes); /* pairs with changed */
        record = awaited != 0 ? runner_of(awaited) : NULL;
        if (record == first)
            return true;
    }
    return false;
}

/* With the lock held: all that are in there are told of with this one. */
static void mark_cycle(rota__record *record)
{
    while (record != NULL && record->cycle_looks != 2) {
        record->cycle_looks = 2;
        record = runner_of(rota__load_relaxed(&record->awaited));
    }
}

/* With the lock held. */
static bool find_cycle_from(rota__record *record, found *one)
{
    uint32_t changes = 0;

    if (!is_in_cycle(record, &changes)) {
        record->cycle_looks = 0;
        return false;
    }
    if (record->cycle_looks == 0 || record->cycle_changes != changes) {
        record->cycle_looks = 1;
        record->cycle_changes = changes;
        return false; /* watchdog.L3 */
    }
    if (record->cycle_looks == 2 || rota__load_acquire(&record->depth) == 0) /* pairs with push */
        return false;
    mark_cycle(record);
    describe(one, ROTA_ALARM_CYCLE, record, rota__load_acquire(&record->running[0].cell),
             rota__ticks() - rota__load_acquire(&record->running[0].begun));
    return true;
}

static bool find_cycle(found *one)
{
    bool has_found = false;

    rota__mutex_lock(&rota__process_lock);
    for (rota__link *link = rota__records.head.next; link != &rota__records.head && !has_found;
         link = link->next)
        has_found = find_cycle_from(ROTA__CONTAINER(link, rota__record, link), one);
    rota__mutex_unlock(&rota__process_lock);
    return has_found;
}

static void look_for_cycles(const watchdog *self)
{
    found one;

    while (find_cycle(&one))
        tell(self, &one);
}

/* -- The thread ----------------------------------------------------------- */

static void look(watchdog *self)
{
    if (self->options.longest_task > 0)
        look_at_tasks(self);
    if (self->options.oldest_queued > 0)
        rota_executors_visit(look_at_queue, self);
    if (self->options.cycles)
        look_for_cycles(self);
}

/* What one watchdog has told, the next has not. */
static bool forget_told(rota_executor *ex, void *arg)
{
    (void)arg;
    ex->observer_word = false;
    return true;
}

static void watch(void *arg)
{
    watchdog *self = arg;
    rota__os_word never = 0;
    rota__inside inside;

    rota__inside_enter(&inside, self);
    rota_executors_visit(forget_told, NULL);
    for (;;) {
        rota__mutex_lock(&rota__process_lock);
        if (self->is_stopped)
            break;
        if (rota__latch_wait(&self->stop, &rota__process_lock, rota__deadline(self->period))
            == ROTA_ENOMEM)
            rota__os_wait(&never, 0, rota__deadline(self->period));
        look(self);
    }
    rota__mutex_unlock(&rota__process_lock);
    rota__inside_leave(&inside);
}

/* -- Starting and stopping ------------------------------------------------ */

static rota_ns shorter(rota_ns a, rota_ns b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static rota_ns period_of(const rota_watchdog_options *options)
{
    rota_ns period = shorter(options->longest_task, options->oldest_queued) / 4;

    if (options->period > 0)
        return options->period;
    if (period == 0)
        return ROTA_MS(100);
    return period > ROTA_MS(10) ? period : ROTA_MS(10);
}

static bool are_possible(const rota_watchdog_options *options)
{
    return options != NULL && options->alarm != NULL && options->longest_task >= 0
           && options->oldest_queued >= 0 && options->period >= 0
           && (options->longest_task > 0 || options->oldest_queued > 0 || options->cycles);
}

/* Becomes the one, and starts. One of a parent process is none. */
static int start(watchdog *self)
{
    static const rota__os_thread_options thread = {.name = "rota-watchdog",
                                                   .cpu = ROTA__OS_ANY_CPU};
    int status = ROTA_EBUSY;

    rota__mutex_lock(&rota__process_lock);
    if (the_watchdog == NULL || the_watchdog->generation != rota__process_generation()) {
        status = rota__os_thread_start(&self->thread, &thread, watch, self);
        if (status == ROTA_OK) {
            the_watchdog = self;
            rota__mode_set(ROTA__WATCHES, true);
        }
    }
    rota__mutex_unlock(&rota__process_lock);
    return status;
}

int rota_watchdog_start(const rota_watchdog_options *options)
{
    watchdog *self;
    int status;

    if (!are_possible(options))
        return ROTA_EINVAL;
    self = rota__self()->watched ? rota__alloc(sizeof *self) : NULL;
    if (self == NULL)
        return ROTA_ENOMEM;
    *self = (watchdog){.options = *options,
                       .period = period_of(options),
                       .generation = rota__process_generation()};
    rota__latch_init(&self->stop);
    status = start(self);
    if (status != ROTA_OK)
        rota__free(self, sizeof *self);
    return status;
}

/* With the lock held: the one that the caller has to end; NULL: none. */
static watchdog *to_stop(int *status)
{
    watchdog *self = the_watchdog;

    *status = ROTA_OK;
    if (self == NULL || self->generation != rota__process_generation() || self->is_stopped)
        return NULL;
    if (!rota__is_inside(self))
        return self;
    *status = ROTA_EDEADLOCK;
    return NULL;
}

int rota_watchdog_stop(void)
{
    watchdog *self;
    int status;

    rota__self();
    rota__mutex_lock(&rota__process_lock);
    self = to_stop(&status);
    if (self != NULL) {
        self->is_stopped = true;
        rota__latch_signal_all(&self->stop);
    }
    rota__mutex_unlock(&rota__process_lock);
    if (self == NULL)
        return status;
    rota__os_thread_join(&self->thread);
    rota__mutex_lock(&rota__process_lock);
    the_watchdog = NULL;
    rota__mode_set(ROTA__WATCHES, false);
    rota__mutex_unlock(&rota__process_lock);
    rota__free(self, sizeof *self);
    return ROTA_OK;
}
