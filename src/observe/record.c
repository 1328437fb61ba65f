/* SPDX-License-Identifier: MIT */
/*
 * record.c - what each thread writes of the tasks it runs: the tracer.
 */
#include "observe/observe_internal.h"

#include "base/alloc.h"
#include "base/fork.h"
#include "base/time.h"

#include <string.h>

enum { MOST_CELLS = 256 }; /* of a thread */

#define LATE ROTA_MS(1) /* a timer is, from here on */

rota__list rota__records = {{&rota__records.head, &rota__records.head}};

static rota__atomic(uint32_t) modes;   /* of rota__mode; changed under the lock */
static rota__atomic(int64_t) on_since; /* likewise: all that threads ran since then was seen */

static bool has(rota__mode mode)
{
    return (rota__load_relaxed(&modes) & mode) != 0;
}

/* -- A thread's record ---------------------------------------------------- */

/* observe.B3 */
static void leave(rota__trace_record *trace)
{
    rota__record *record = ROTA__CONTAINER(trace, rota__record, trace);

    rota__mutex_lock(&rota__process_lock);
    record->is_used = false;
    rota__store_relaxed(&record->depth, 0); /* of tasks that have ended the thread */
    rota__store_relaxed(&record->awaited, 0);
    rota__mutex_unlock(&rota__process_lock);
}

/* With the lock held. */
static rota__record *find_unused(void)
{
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        if (!record->is_used)
            return record;
    }
    return NULL;
}

/* With the lock held. */
static rota__record *make(void)
{
    rota__record *record = rota__alloc(sizeof *record);

    if (record == NULL)
        return NULL;
    memset(record, 0, sizeof *record);
    record->trace.leave = leave;
    rota__link_init(&record->link);
    rota__list_append(&rota__records, &record->link);
    return record;
}

/* With the lock held. Where the system has no numbers, one of our own. */
static long thread_id(void)
{
    static long threads;
    long id = rota__os_thread_id();

    return id != 0 ? id : ++threads;
}

static ROTA__NOINLINE rota__record *take_one(rota_thread *self)
{
    rota__record *record;

    if (!self->watched) /* nobody would say that it has ended */
        return NULL;    /* GCOVR_EXCL_LINE: the C library had no memory at the first call */
    rota__mutex_lock(&rota__process_lock);
    record = find_unused();
    if (record == NULL)
        record = make();
    if (record != NULL) {
        record->is_used = true;
        record->introduced = 0;
        record->thread_id = thread_id();
        rota__os_get_thread_name(record->thread_name);
        record->inside = 0;
        record->ended = 0;
        rota__store_relaxed(&record->depth, 0);
        rota__store_relaxed(&record->awaited, 0);
        self->record = &record->trace;
    }
    rota__mutex_unlock(&rota__process_lock);
    return record;
}

static rota__record *mine(void)
{
    rota_thread *self = rota__self();

    if (ROTA__LIKELY(self->record != NULL))
        return ROTA__CONTAINER(self->record, rota__record, trace);
    return take_one(self);
}

/* -- Cells ---------------------------------------------------------------- */

/* With the lock held. */
static rota__cell *find_cell(rota__record *record, uint32_t executor, uint32_t name)
{
    rota__cell *cell = record->cells;

    while (cell != NULL && (cell->executor != executor || cell->name != name))
        cell = cell->next;
    return cell;
}

/* Does what was recorded last know an executor's name by it? */
static bool is_recorded(const rota__cell *cell)
{
    return cell->session != 0 && cell->session == rota__recorder_session();
}

/* One of an executor that is gone. */
static rota__cell *find_cell_of_none(rota__record *record, bool may_be_recorded)
{
    rota__cell *cell = record->cells;

    while (cell != NULL
           && (rota__executor_by_number(cell->executor) != NULL
               || (!may_be_recorded && is_recorded(cell))))
        cell = cell->next;
    return cell;
}

static rota__cell *new_cell(rota__record *record)
{
    rota__cell *cell = rota__alloc(sizeof *cell);

    if (cell == NULL)
        return NULL;
    cell->next = record->cells;
    record->cells = cell;
    record->cell_count++;
    return cell;
}

/* What is cached of a cell is of its meaning before. */
static void forget_cached(rota__record *record, const rota__cell *cell)
{
    for (unsigned i = 0; i < ROTA__CELL_CACHE; i++) {
        if (record->cache[i].cell == cell)
            record->cache[i].cell = NULL;
    }
}

static rota__cell *make_cell(rota__record *record, const rota_executor *ex, uint32_t name)
{
    rota__cell *cell = find_cell_of_none(record, false);

    if (cell == NULL && record->cell_count < MOST_CELLS)
        cell = new_cell(record);
    if (cell == NULL)
        cell = find_cell_of_none(record, true);
    if (cell == NULL)
        return find_cell(record, ex->number, ROTA__OTHER_NAME);
    forget_cached(record, cell);
    cell->executor = ex->number;
    cell->name = name;
    cell->session = 0;
    memcpy(cell->executor_name, ex->name, sizeof cell->executor_name);
    rota__store_relaxed(&cell->completed, 0);
    rota__store_relaxed(&cell->failed, 0);
    rota__tally_clear(&cell->waiting);
    rota__tally_clear(&cell->running);
    return cell;
}

static ROTA__NOINLINE rota__cell *look_up(rota__record *record, const rota_executor *ex,
                                          const char *text, unsigned slot)
{
    rota__cell *cell;
    uint32_t name;

    rota__mutex_lock(&rota__process_lock);
    name = rota__name_number(text);
    cell = find_cell(record, ex->number, name);
    if (cell == NULL)
        cell = make_cell(record, ex, name);
    rota__mutex_unlock(&rota__process_lock);
    record->cache[slot].cell = cell;
    record->cache[slot].name = text;
    if (text != NULL)
        strncpy(record->cache[slot].text, text, ROTA_NAME_SIZE);
    return cell;
}

/* NULL: there is no memory. A name may be other text at the same place by now. */
static rota__cell *cell_of(rota__record *record, const rota_executor *ex, const char *text)
{
    unsigned slot = (unsigned)(((uintptr_t)text >> 3) + ex->number) % ROTA__CELL_CACHE;
    rota__cell *cell = record->cache[slot].cell;

    if (ROTA__LIKELY(
            cell != NULL && record->cache[slot].name == text && cell->executor == ex->number
            && (text == NULL || strncmp(text, record->cache[slot].text, ROTA_NAME_SIZE) == 0)))
        return cell;
    return look_up(record, ex, text, slot);
}

/* -- What runs now, for who looks ----------------------------------------- */

static void changed(rota__record *record)
{
    rota__store_release(&record->changes, rota__load_relaxed(&record->changes) + 1);
}

static void push(rota__record *record, const rota__span *span, const void *future)
{
    uint32_t depth = rota__load_relaxed(&record->depth);

    if (depth < ROTA__DEPTH) {
        rota__running *running = &record->running[depth];
        /* Release: who sees one of these sees that `changes` has come this far. */
        rota__store_release(&running->cell, span->cell);
        rota__store_release(&running->begun, span->begun);
        rota__store_release(&running->future, (uintptr_t)future);
        running->outer = rota__load_relaxed(&record->awaited);
    }
    rota__store_relaxed(&record->awaited, 0);       /* this one waits for nothing yet */
    rota__store_release(&record->depth, depth + 1); /* pairs with who looks */
    changed(record);
}

static void pop(rota__record *record)
{
    uint32_t depth = rota__load_relaxed(&record->depth) - 1;

    rota__store_relaxed(&record->depth, depth);
    rota__store_relaxed(&record->awaited, depth < ROTA__DEPTH ? record->running[depth].outer : 0);
    changed(record);
}

/* -- The tracer ----------------------------------------------------------- */

/* From INT64_MIN + 1 on: what is not less than 0 is a time at which something is due. */
static int64_t stamp(void)
{
    return INT64_MIN + 1 + rota__ticks();
}

rota_ns rota__age(int64_t stamped)
{
    rota_ns age;

    if (stamped == 0 || stamped == ROTA__NOT_SCHEDULED)
        return 0;
    age = stamped > 0 ? rota__now() - stamped : rota__ticks() - (stamped - INT64_MIN - 1);
    return age > 0 ? age : 0;
}

static void note_wait(const rota__span *span, rota__record *record, int64_t stamped)
{
    rota_ns waited;

    if (stamped == 0 || stamped == ROTA__NOT_SCHEDULED)
        return;
    waited = stamped > 0 ? rota__age(stamped) : span->begun - (stamped - INT64_MIN - 1);
    rota__tally_add(&span->cell->waiting, waited);
    if (stamped > 0 && waited >= LATE && has(ROTA__RECORDS))
        rota__ring_note(record, ROTA__TRACE_LATE, span->cell->executor, span->cell->name,
                        span->begun, waited);
}

/*
 * What was in the queue already when the thread ended the task before, it has taken at once: so that
 * look at the clock serves for both. What came later it may have waited for; also what was submitted
 * before, but was queued later, for which it has slept.
 */
static rota_ns begin_time(const rota__record *record, const rota__traced *task)
{
    if (task->follows && record->inside == 0 && task->stamp < 0
        && task->stamp != ROTA__NOT_SCHEDULED && task->stamp - INT64_MIN - 1 <= record->ended
        && record->ended > rota__load_relaxed(&on_since))
        return record->ended;
    return rota__ticks();
}

static void begin(rota__span *span, const rota__traced *task)
{
    rota__record *record = mine();

    span->record = NULL;
    if (record == NULL)
        return;
    span->cell = cell_of(record, task->executor, task->name);
    if (span->cell == NULL)
        return;
    span->record = &record->trace;
    span->begun = begin_time(record, task);
    record->inside++;
    note_wait(span, record, task->stamp);
    span->is_shown = has(ROTA__WATCHES);
    if (span->is_shown)
        push(record, span, task->future);
    if (has(ROTA__RECORDS)) {
        span->cell->session = rota__recorder_session();
        rota__ring_note(record, ROTA__TRACE_BEGIN, span->cell->executor, span->cell->name,
                        span->begun, 0);
    }
}

static void end(rota__span *span, bool has_failed)
{
    rota__cell *cell = span->cell;
    rota__record *record;
    rota_ns now;

    if (span->record == NULL)
        return;
    record = ROTA__CONTAINER(span->record, rota__record, trace);
    now = rota__ticks();
    record->inside--;
    record->ended = now;
    if (span->is_shown)
        pop(record);
    rota__tally_add(&cell->running, now - span->begun);
    rota__store_relaxed(&cell->completed, rota__load_relaxed(&cell->completed) + 1);
    if (has_failed)
        rota__store_relaxed(&cell->failed, rota__load_relaxed(&cell->failed) + 1);
    if (has(ROTA__RECORDS))
        rota__ring_note(record, ROTA__TRACE_END, cell->executor, cell->name, now, has_failed);
}

/* Whatever the thread does next, it does not do it right after its last task. */
static void forget_end(void)
{
    rota__trace_record *trace = rota__self()->record;

    if (trace != NULL)
        ROTA__CONTAINER(trace, rota__record, trace)->ended = 0;
}

static void event(rota__trace_event event, const void *executor, int64_t value)
{
    const rota_executor *ex = executor;
    rota__record *record;

    if (event == ROTA__TRACE_PARK)
        forget_end();
    if (!has(ROTA__RECORDS))
        return;
    record = mine();
    if (record != NULL)
        rota__ring_note(record, event, ex != NULL ? ex->number : 0, ROTA__NO_NAME, rota__ticks(),
                        value);
}

static const void *waits(const void *future)
{
    rota__record *record = has(ROTA__WATCHES) ? mine() : NULL;
    const void *before;

    if (record == NULL)
        return NULL;
    before = (const void *)rota__load_relaxed(&record->awaited);
    rota__store_relaxed(&record->awaited, (uintptr_t)future);
    changed(record);
    return before;
}

static const rota__tracer tracer = {
    .stamp = stamp, .begin = begin, .end = end, .event = event, .waits = waits};

/* -- Switching ------------------------------------------------------------ */

/* In a child of fork(2) there is one thread: what the others ran does not run here. */
static void leave_for_the_others(void)
{
    static uint32_t generation;
    const rota__trace_record *own = rota__self()->record;

    if (generation == rota__process_generation())
        return;
    generation = rota__process_generation();
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        if (&record->trace == own)
            continue; /* GCOVR_EXCL_LINE: the thread that forked has run observed tasks */
        record->is_used = false;
        rota__store_relaxed(&record->depth, 0);
    }
}

/* What threads waited for when they were last watched, they may have got unseen. */
static void forget_awaited(void)
{
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        rota__store_relaxed(&record->awaited, 0);
    }
}

void rota__mode_set(rota__mode mode, bool on)
{
    uint32_t now = rota__load_relaxed(&modes);

    rota__ticks_prepare();
    leave_for_the_others();
    if (on && mode == ROTA__WATCHES)
        forget_awaited();
    if (now == 0)
        rota__store_relaxed(&on_since, rota__ticks());
    now = on ? now | mode : now & ~(uint32_t)mode;
    rota__store_relaxed(&modes, now);
    rota__store_release(&rota__the_tracer, now != 0 ? &tracer : NULL); /* pairs with its users */
}

bool rota__mode_is(rota__mode mode)
{
    return has(mode);
}

int rota_observe(bool on)
{
    if (!rota__self()->watched)
        return ROTA_ENOMEM;
    rota__mutex_lock(&rota__process_lock);
    rota__mode_set(ROTA__FIGURES, on);
    rota__mutex_unlock(&rota__process_lock);
    return ROTA_OK;
}

bool rota_is_observing(void)
{
    return has(ROTA__FIGURES);
}

/* -- Names ---------------------------------------------------------------- */

void rota__executor_called(uint32_t number, char *name)
{
    const rota_executor *ex = rota__executor_by_number(number);

    if (ex != NULL) {
        memcpy(name, ex->name, ROTA_NAME_SIZE);
        return;
    }
    snprintf(name, ROTA_NAME_SIZE, "executor-%u", (unsigned)number);
    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        for (const rota__cell *cell = record->cells; cell != NULL; cell = cell->next) {
            if (cell->executor == number)
                memcpy(name, cell->executor_name, ROTA_NAME_SIZE);
        }
    }
}

/* -- Forgetting ----------------------------------------------------------- */

static void free_record(rota__record *record)
{
    while (record->cells != NULL) {
        rota__cell *cell = record->cells;
        record->cells = cell->next;
        rota__free(cell, sizeof *cell);
    }
    rota__ring_free(record->ring);
    rota__free(record, sizeof *record);
}

void rota__observe_forget(void)
{
    rota_thread *self = rota__self();

    if (self->record != NULL)
        self->record->leave(self->record);
    self->record = NULL;
    rota__mutex_lock(&rota__process_lock);
    for (rota__record *record; (record = find_unused()) != NULL;) {
        rota__list_remove(&record->link);
        free_record(record);
    }
    rota__mutex_unlock(&rota__process_lock);
}
