/* SPDX-License-Identifier: MIT */
/*
 * Visiting a queue while others insert, take and remove (QUEUE-12): what is there throughout is
 * shown once, what comes or goes once or not at all, and nothing leaves while it is shown.
 */
#include "queues.h"

#include <sched.h>

/* Heads go from the front, guests come at the back; between them passers go and residents stay. */
enum { HEADS = 100, MIDDLE = 400, GUESTS = 200, ITEMS = HEADS + MIDDLE + GUESTS };
enum { EVERY = 4, PASSERS = MIDDLE / EVERY, RESIDENTS = MIDDLE - PASSERS };
enum { CAPACITY = 1000, ROUNDS = 5 };

_Static_assert(PASSERS == GUESTS / 2, "each guest that leaves has a passer");

/* Who has it, not the queue, writes `value`: no atomic, so that a visitor too many would be seen. */
struct item {
    uint64_t rank;
    uint64_t value; /* the rank while it is in the queue */
};

static struct item items[ITEMS];
static rota_queue *queue;
static test_barrier together;
static atomic_uint busy; /* threads that still change the queue */

typedef size_t each_call(const rota_queue *queue, void (*visit)(void *element, void *ctx),
                         void *ctx);

/* -- Visitors ----------------------------------------------------------------------------- */

struct visit {
    each_call *each;
    size_t shown;
    size_t residents;
    uint64_t last; /* rank, and one more */
};

static bool is_resident(const struct item *item)
{
    return item->rank >= HEADS && item->rank < HEADS + MIDDLE && item->rank % EVERY != 0;
}

/* Ranks are inserted upwards, so that each comes after all that were shown before: once. */
static void check_item(void *element, void *ctx)
{
    const struct item *item = element;
    struct visit *visit = ctx;

    test_check(item->value == item->rank);
    if (visit->shown > 0 && visit->each == rota_queue_each)
        test_check(item->rank > visit->last);
    else if (visit->shown > 0)
        test_check(item->rank < visit->last);
    visit->last = item->rank;
    visit->shown++;
    visit->residents += is_resident(item);
}

static size_t residents_seen(each_call *each)
{
    struct visit visit = {.each = each};

    test_check(each(queue, check_item, &visit) == visit.shown);
    return visit.residents;
}

/* -- Those who change the queue ----------------------------------------------------------- */

static void ready(void)
{
    test_barrier_wait(&together);
}

static void done(void)
{
    atomic_fetch_sub(&busy, 1);
}

static void take_heads(void *arg)
{
    void *element;

    ready();
    for (size_t i = 0; i < HEADS; i++) {
        test_check(rota_queue_poll(queue, &element) == ROTA_OK);
        test_check(element == &items[i]);
        items[i].value = UINT64_MAX;
    }
    done();
}

static void remove_by_name(size_t i)
{
    test_check(rota_queue_remove(queue, &items[i]));
    items[i].value = UINT64_MAX;
}

/* Every second guest leaves again, and for each of those a passer. */
static void bring_guests(void *arg)
{
    size_t passer = HEADS;

    ready();
    for (size_t i = HEADS + MIDDLE; i < ITEMS; i++) {
        test_check(rota_queue_put(queue, &items[i]) == ROTA_OK);
        if (i % 2 == 1) {
            remove_by_name(i - 1);
            remove_by_name(passer);
            passer += EVERY;
        }
    }
    done();
}

/* From the middle to both sides. */
static void remove_all_by_name(void *arg)
{
    ready();
    for (size_t i = 0; i < HEADS + MIDDLE; i++) {
        size_t half = (HEADS + MIDDLE) / 2;
        remove_by_name(i % 2 == 0 ? half + i / 2 : half - 1 - i / 2);
    }
    done();
}

static void drain_all(void *arg)
{
    void *elements[3];
    size_t left = HEADS + MIDDLE;

    ready();
    while (left > 0) {
        size_t drained = rota_queue_drain(queue, elements, 3);
        for (size_t i = 0; i < drained; i++)
            ((struct item *)elements[i])->value = UINT64_MAX;
        left -= drained;
    }
    done();
}

/* -- A round ------------------------------------------------------------------------------ */

static void visit_beside(void *arg)
{
    each_call *const *each = arg;

    ready();
    do
        residents_seen(*each);
    while (atomic_load(&busy) > 0);
}

static void fill(void)
{
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = (struct item){i, i};
    for (size_t i = 0; i < HEADS + MIDDLE; i++)
        test_check(rota_queue_put(queue, &items[i]) == ROTA_OK);
}

/* Two visit while one or two change it. NULL: only one does. */
static void run_round(each_call *each, size_t expected, void (*change)(void *arg),
                      void (*change_too)(void *arg))
{
    test_thread *threads[3] = {NULL};

    fill();
    atomic_store(&busy, change_too != NULL ? 2 : 1);
    test_barrier_init(&together, change_too != NULL ? 4 : 3);
    threads[0] = test_thread_start(change, NULL);
    threads[1] = test_thread_start(visit_beside, &each);
    if (change_too != NULL)
        threads[2] = test_thread_start(change_too, NULL);
    ready();
    do {
        size_t seen = residents_seen(each);
        test_check(expected == 0 || seen == expected);
    } while (atomic_load(&busy) > 0);
    for (size_t i = 0; i < 3 && threads[i] != NULL; i++)
        test_thread_join(threads[i]);
}

/* -- Kinds that hold as many -------------------------------------------------------------- */

typedef int make_call(rota_queue **out);

static int make_array(rota_queue **out)
{
    return rota_array_queue(CAPACITY, out);
}

static int make_linked(rota_queue **out)
{
    return rota_linked_queue(CAPACITY, out);
}

static int make_deque(rota_queue **out)
{
    return rota_deque(CAPACITY, out);
}

static int make_ring(rota_queue **out)
{
    return test_ring_queue(CAPACITY, out);
}

/* The others of the table have no bound. */
static make_call *const bounded[] = {make_array, make_linked, make_deque, make_ring};

enum { BOUNDED = sizeof bounded / sizeof bounded[0] };

static void on_every_kind(void (*run)(make_call *make))
{
    for (size_t i = 0; i < BOUNDED; i++)
        run(bounded[i]);
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        if (test_queue_kinds[i].capacity == ROTA_UNBOUNDED)
            run(test_queue_kinds[i].make);
    }
}

/* -- Tests -------------------------------------------------------------------------------- */

static void come_and_go(make_call *make)
{
    assert_ok(make(&queue));
    for (int round = 0; round < ROUNDS; round++) {
        run_round(rota_queue_each, RESIDENTS, take_heads, bring_guests);
        assert_int_equal(residents_seen(rota_queue_each), RESIDENTS);
        assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), RESIDENTS + GUESTS / 2);
    }
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-12: elements come and go around those that stay. */
TEST(what_stays_is_shown_once)
{
    on_every_kind(come_and_go);
}

static void go_by_name(make_call *make)
{
    assert_ok(make(&queue));
    for (int round = 0; round < ROUNDS; round++) {
        run_round(rota_queue_each, 0, remove_all_by_name, NULL);
        assert_int_equal(rota_queue_size(queue), 0);
    }
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-12: all go while it is visited. */
TEST(a_queue_can_be_emptied_while_it_is_visited)
{
    on_every_kind(go_by_name);
}

static void go_by_drain(make_call *make)
{
    assert_ok(make(&queue));
    for (int round = 0; round < ROUNDS; round++) {
        run_round(rota_queue_each, 0, drain_all, NULL);
        assert_int_equal(rota_queue_size(queue), 0);
    }
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-12: from the front. */
TEST(a_queue_can_be_drained_while_it_is_visited)
{
    on_every_kind(go_by_drain);
}

/* QUEUE-12, QUEUE-23: a deque, visited from behind. */
TEST(the_same_from_behind)
{
    assert_ok(rota_deque(CAPACITY, &queue));
    for (int round = 0; round < ROUNDS; round++) {
        run_round(rota_deque_each_back, RESIDENTS, take_heads, bring_guests);
        assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), RESIDENTS + GUESTS / 2);
        run_round(rota_deque_each_back, 0, remove_all_by_name, NULL);
        assert_int_equal(rota_queue_size(queue), 0);
    }
    assert_ok(rota_queue_free(queue));
}

/* -- Between two groups ------------------------------------------------------------------- */

static atomic_ulong looks;

/* It needs the same lock as a visit, and leaves all elements to be shown. */
static void look_again_and_again(void *arg)
{
    void *element;

    while (atomic_load(&busy) > 0) {
        test_check(rota_queue_peek(queue, &element) == ROTA_OK);
        atomic_fetch_add(&looks, 1);
    }
}

struct watch {
    unsigned long first; /* the looks so far when the first and the last were shown */
    unsigned long last;
    size_t shown;
};

static void watch_others(void *element, void *ctx)
{
    struct watch *watch = ctx;

    if (watch->shown % 50 == 0)
        sched_yield();
    watch->last = atomic_load(&looks);
    if (watch->shown++ == 0)
        watch->first = watch->last;
}

/* Would for ever be so if the queue were locked all the time: one may have been counted late. */
static bool nobody_came_between(void)
{
    struct watch watch = {.shown = 0};

    rota_queue_each(queue, watch_others, &watch);
    return watch.last < watch.first + 2;
}

/* All but a container of one's own, which only knows its way in one go. */
static void others_come_between(make_call *make)
{
    if (make == make_ring)
        return;
    assert_ok(make(&queue));
    fill();
    atomic_store(&busy, 1);
    test_thread *other = test_thread_start(look_again_and_again, NULL);
    while (nobody_came_between())
        continue;
    done();
    test_thread_join(other);
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-12, QUEUE-16: between any two groups. */
TEST(a_visit_lets_others_in)
{
    on_every_kind(others_come_between);
}
