/* SPDX-License-Identifier: MIT */
/*
 * litmus.c - is the explorer's C11 model (history.c) what it claims to be?
 *
 * Each test is a small program of two to four threads with the outcomes that the model allows: the values
 * of the registers, as digits. All schedules together must show exactly these outcomes. The names of the
 * shapes are those of the literature (Alglave, Maranget and Tautschnig, "Herding cats", TOPLAS 2014).
 */
#include "engine.h"
#include "os/os.h"

#include <stdio.h>
#include <string.h>

enum { REGISTERS = 4, THREADS = 4, OUTCOMES = 256 };

typedef struct litmus {
    const char *name;
    const char *allowed;
    void (*threads[THREADS])(void *unused);
    void (*finally)(void *unused); /* runs when all threads have ended */
    struct litmus *next;
} litmus;

static litmus *first;
static litmus **last = &first;

static rota__atomic(uint32_t) x, y, z;
static uint32_t r[REGISTERS]; /* each is 0 to 3 */

static const litmus *tested;
static bool seen[OUTCOMES]; /* by the registers, two bits each */

/* -- Writing tests --------------------------------------------------------------------------- */

#define LITMUS(title, outcomes, ...)                                  \
    __attribute__((constructor)) static void register_##title(void)   \
    {                                                                 \
        static litmus test = {#title, outcomes, {__VA_ARGS__}, 0, 0}; \
        add(&test);                                                   \
    }
#define LITMUS_FINALLY(title, outcomes, end, ...)                       \
    __attribute__((constructor)) static void register_##title(void)     \
    {                                                                   \
        static litmus test = {#title, outcomes, {__VA_ARGS__}, end, 0}; \
        add(&test);                                                     \
    }
#define THREAD(name, ...)          \
    static void name(void *unused) \
    {                              \
        (void)unused;              \
        __VA_ARGS__;               \
    }

#define W(object, value)     rota__store_relaxed(&object, value)
#define W_REL(object, value) rota__store_release(&object, value)
#define R(object)            rota__load_relaxed(&object)
#define R_ACQ(object)        rota__load_acquire(&object)
#define ADD(object)          rota__add_relaxed(&object, 1)
#define ADD_REL(object)      rota__add_release(&object, 1)
#define ADD_SYNC(object)     rota__add_acq_rel(&object, 1)

static void add(litmus *test)
{
    *last = test;
    last = &test->next;
}

/* 3 if it was swapped, else what was there. */
static uint32_t cas(uint32_t *object, uint32_t expected, uint32_t desired)
{
    return rota__cas_acq_rel(object, &expected, desired) ? 3 : expected;
}

THREAD(write_x, W(x, 1))
THREAD(write_x_2, W(x, 2))
THREAD(write_y_2, W(y, 2))
THREAD(write_release_x, W_REL(x, 1))
THREAD(write_release_y, W_REL(y, 1))
THREAD(write_release_y_2, W_REL(y, 2))
THREAD(add_y, ADD(y))
THREAD(add_release_y, ADD_REL(y))

/* -- Store buffering (SB): both threads may miss the other's store --------------------------- */

THREAD(sb_x, W(x, 1); r[0] = R(y))
THREAD(sb_y, W(y, 1); r[1] = R(x))
LITMUS(store_buffering, "00 01 10 11", sb_x, sb_y)

THREAD(sb_release_x, W_REL(x, 1); r[0] = R_ACQ(y))
THREAD(sb_release_y, W_REL(y, 1); r[1] = R_ACQ(x))
LITMUS(release_and_acquire_do_not_order_a_store_before_a_load, "00 01 10 11", sb_release_x,
       sb_release_y)

THREAD(sb_add_x, ADD_SYNC(x); r[0] = R_ACQ(y))
THREAD(sb_add_y, ADD_SYNC(y); r[1] = R_ACQ(x))
LITMUS(nor_do_read_modify_writes_of_two_objects, "00 01 10 11", sb_add_x, sb_add_y)

THREAD(sb_third_x, W(x, 1); ADD_SYNC(z); r[0] = R(y))
THREAD(sb_third_y, W(y, 1); ADD_SYNC(z); r[1] = R(x))
LITMUS(read_modify_writes_of_one_object_do, "01 10 11", sb_third_x, sb_third_y)

THREAD(sb_barrier_x, W(x, 1); rota__os_membarrier(); r[0] = R(y))
LITMUS(a_barrier_for_all_threads_orders_both, "01 10 11", sb_barrier_x, sb_y)

/* -- Message passing (MP) --------------------------------------------------------------------- */

THREAD(mp_write, W(x, 1); W(y, 1))
THREAD(mp_write_release, W(x, 1); W_REL(y, 1))
THREAD(mp_read, r[0] = R(y); r[1] = R(x))
THREAD(mp_read_acquire, r[0] = R_ACQ(y); r[1] = R(x))
LITMUS(message_passing, "00 01 11", mp_write_release, mp_read_acquire)
LITMUS(message_passing_without_both, "00 01 10 11", mp_write, mp_read)
LITMUS(message_passing_without_acquire, "00 01 10 11", mp_write_release, mp_read)
LITMUS(message_passing_without_release, "00 01 10 11", mp_write, mp_read_acquire)

/* Causality passes over a third thread (WRC). */
THREAD(wrc_read, r[0] = R_ACQ(x); if (r[0]) W_REL(y, 1))
THREAD(wrc_last, r[1] = R_ACQ(y); r[2] = R(x))
LITMUS(causality_passes_over_a_third_thread, "000 001 100 101 111", write_release_x, wrc_read,
       wrc_last)

THREAD(wrc_read_relaxed, r[0] = R(x); if (r[0]) W_REL(y, 1))
LITMUS(also_if_the_third_thread_only_reads, "000 001 100 101 111", write_x, wrc_read_relaxed,
       wrc_last)

THREAD(wrc_read_and_write_relaxed, r[0] = R(x); if (r[0]) W(y, 1))
LITMUS(but_not_without_release, "000 001 100 101 110 111", write_x, wrc_read_and_write_relaxed,
       wrc_last)

/* -- Release sequences ------------------------------------------------------------------------ */

LITMUS(a_read_modify_write_continues_a_release_sequence, "00 01 10 11 21", mp_write_release, add_y,
       mp_read_acquire)
LITMUS(a_store_of_another_thread_ends_it, "00 01 11 20 21", mp_write_release, write_y_2,
       mp_read_acquire)
LITMUS(so_does_a_release_store, "00 01 11 20 21", mp_write_release, write_release_y_2,
       mp_read_acquire)

THREAD(mp_write_on, W(x, 1); W_REL(y, 1); W(y, 2))
LITMUS(so_does_a_relaxed_store_of_the_same_thread, "00 01 11 20 21", mp_write_on, mp_read_acquire)

THREAD(mp_add_release, W(x, 1); ADD_REL(y))
LITMUS(two_read_modify_writes_release_both, "00 01 10 11 21", mp_add_release, add_release_y,
       mp_read_acquire)

THREAD(mp_add, W(x, 1); ADD(y))
LITMUS(a_relaxed_read_modify_write_releases_nothing, "00 01 10 11", mp_add, mp_read_acquire)

/* -- Coherence: each object has one order ----------------------------------------------------- */

THREAD(read_x_twice, r[0] = R(x); r[1] = R(x))
LITMUS(two_reads_do_not_go_back, "00 01 11", write_x, read_x_twice) /* CoRR */

THREAD(write_and_read_x, W(x, 1); r[0] = R(x))
LITMUS(a_thread_does_not_miss_its_own_store, "1 2", write_and_read_x, write_x_2) /* CoWR */

THREAD(read_and_write_x, r[0] = R(x); W(x, 2))
THREAD(final_x, r[1] = R(x))
LITMUS_FINALLY(a_store_comes_behind_what_its_thread_has_read, "01 02 12", final_x, /* CoRW */
               write_x, read_and_write_x)

THREAD(write_x_twice, W(x, 1); W(x, 2))
LITMUS_FINALLY(two_stores_of_one_thread_stay_in_order, "02", final_x, write_x_twice) /* CoWW */

THREAD(read_x_and_tell, r[0] = R(x); W_REL(y, 1))
THREAD(hear_and_read_x, r[1] = R_ACQ(y); r[2] = R(x))
LITMUS(what_another_thread_has_read_is_not_missed, "000 001 010 011 100 101 111", write_x,
       read_x_and_tell, hear_and_read_x)

/* -- Where stores take their places ----------------------------------------------------------- */

THREAD(final_x_and_y, r[0] = R(x); r[1] = R(y))
THREAD(write_x_1_y_2, W(x, 1); W(y, 2))
THREAD(write_y_1_x_2, W(y, 1); W(x, 2))
LITMUS_FINALLY(two_plus_two_writes, "11 12 21 22", final_x_and_y, write_x_1_y_2, write_y_1_x_2)

THREAD(release_x_1_y_2, W_REL(x, 1); W_REL(y, 2))
THREAD(release_y_1_x_2, W_REL(y, 1); W_REL(x, 2))
LITMUS_FINALLY(release_does_not_order_them, "11 12 21 22", final_x_and_y, release_x_1_y_2,
               release_y_1_x_2)

THREAD(write_y_2_read_x, W(y, 2); r[0] = R(x))
THREAD(final_y, r[1] = R(y))
LITMUS_FINALLY(a_store_may_come_before_an_earlier_one, "01 02 11 12", final_y, /* R */
               mp_write, write_y_2_read_x)

THREAD(s_read, r[0] = R_ACQ(y); W(x, 2))
THREAD(s_write, W(x, 1); W_REL(y, 1))
LITMUS_FINALLY(a_store_does_not_come_before_one_that_it_follows, "01 02 12", final_x, s_write,
               s_read) /* S */

THREAD(lb_x, r[0] = R(x); W(y, 1))
THREAD(lb_y, r[1] = R(y); W(x, 1))
LITMUS(no_load_sees_the_future, "00 01 10", lb_x, lb_y) /* LB, which needs promises */

THREAD(iriw_x, r[0] = R_ACQ(x); r[1] = R_ACQ(y))
THREAD(iriw_y, r[2] = R_ACQ(y); r[3] = R_ACQ(x))
LITMUS(readers_may_disagree_on_two_objects, /* IRIW */
       "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111",
       write_release_x, write_release_y, iriw_x, iriw_y)

/* -- Read-modify-writes ----------------------------------------------------------------------- */

THREAD(count_0, r[0] = ADD(x))
THREAD(count_1, r[1] = ADD(x))
THREAD(count_2, r[2] = ADD(x))
LITMUS(every_addition_counts, "012 021 102 120 201 210", count_0, count_1, count_2)

THREAD(cas_0, r[0] = cas(&x, 0, 1))
THREAD(cas_1, r[1] = cas(&x, 0, 1))
LITMUS(one_compare_and_swap_wins, "13 31", cas_0, cas_1)

THREAD(cas_fails, r[0] = cas(&y, 2, 3); r[1] = R(x))
LITMUS(a_compare_and_swap_that_fails_acquires, "00 01 11", mp_write_release, cas_fails)

THREAD(final_x_3, r[2] = R(x))
LITMUS_FINALLY(nothing_comes_between_a_read_modify_write_and_its_source, "002 203", final_x_3,
               count_0, write_x_2)

/* -- Sleeping --------------------------------------------------------------------------------- */

THREAD(wake_x, W(x, 1); W(y, 1); rota__os_wake(&x))
THREAD(sleep_on_x, while (R(x) == 0) rota__os_wait(&x, 0, ROTA_FOREVER); r[0] = R(y))
LITMUS(no_wake_is_lost, "0 1", wake_x, sleep_on_x)

/* -- Running them ----------------------------------------------------------------------------- */

void ex_register(ex_scenario *scenario)
{
    (void)scenario; /* there are none here */
}

static void run_tested(void)
{
    ex_thread *started[THREADS];
    unsigned outcome = 0;
    int n = 0;

    x = y = z = 0;
    memset(r, 0, sizeof r);
    for (; n < THREADS && tested->threads[n] != NULL; n++)
        started[n] = ex_start(tested->threads[n], NULL);
    for (int i = 0; i < n; i++)
        ex_join(started[i]);
    if (tested->finally != NULL)
        tested->finally(NULL);
    for (int i = 0; i < REGISTERS; i++)
        outcome |= r[i] << 2 * i;
    seen[outcome] = true;
}

static unsigned parse(const char *outcome, size_t registers)
{
    unsigned parsed = 0;

    for (size_t i = 0; i < registers; i++)
        parsed |= (unsigned)(outcome[i] - '0') << 2 * i;
    return parsed;
}

static void print(unsigned outcome, size_t registers)
{
    for (size_t i = 0; i < registers; i++)
        printf("%u", outcome >> 2 * i & 3);
}

/* All schedules, with any number of stale accesses. Four threads have too many for any number of preemptions. */
static const char *try_all(void)
{
    static const ex_scenario scenario = {.name = "litmus", .run = run_tested};
    const ex_options options = {.strategy = EX_DFS,
                                .depth = tested->threads[THREADS - 1] != NULL ? 2 : 100,
                                .budget = {[EX_STALE] = 100}};

    memory_forget();
    memset(seen, 0, sizeof seen);
    choice_setup(&options, NULL);
    for (;;) {
        const char *problem = ex_run(&scenario, false);
        if (problem != NULL)
            return problem;
        if (memory_learned())
            choice_setup(&options, NULL);
        else if (!choice_next())
            return NULL;
    }
}

static bool compare(void)
{
    size_t registers = strcspn(tested->allowed, " ");
    bool allowed[OUTCOMES] = {false};
    bool good = true;

    for (const char *at = tested->allowed; at[0] != '\0'; at += registers + (at[registers] == ' '))
        allowed[parse(at, registers)] = true;
    for (unsigned i = 0; i < OUTCOMES; i++) {
        if (allowed[i] == seen[i])
            continue;
        good = false;
        printf("    ");
        print(i, registers);
        printf(seen[i] ? " must not occur\n" : " does not occur\n");
    }
    return good;
}

int main(void)
{
    unsigned tests = 0;
    unsigned failed = 0;

    for (tested = first; tested != NULL; tested = tested->next) {
        const char *problem = try_all();
        bool good = problem == NULL && compare();
        printf("%-4s %s%s%s\n", good ? "ok" : "BAD", tested->name, problem != NULL ? ": " : "",
               problem != NULL ? problem : "");
        tests++;
        failed += !good;
        fflush(stdout);
    }
    printf("%u tests, %u failed\n", tests, failed);
    return failed > 0;
}
