/* SPDX-License-Identifier: MIT */
/*
 * Chains and fan-outs of a million, on a small stack: all is worked off in loops.
 */
#include "pools.h"
#include "rota_test_compose.h"

#ifdef __SANITIZE_THREAD__
enum { LONG = 100000, MIXED = 3000 }; /* which makes it slow, and stack frames no smaller */
#else
enum { LONG = 1000000, MIXED = 3000 };
#endif

static size_t calls;

static void *add_one(void *value, void *arg)
{
    calls++;
    return (char *)value + 1;
}

static void *add_one_of_both(void *first, void *second, void *arg)
{
    return add_one(first, arg);
}

static void *add_one_anyway(int status, void *value, int error, void *arg)
{
    return add_one(value, arg);
}

static void *second_plus_one(void *first, void *second, void *arg)
{
    return add_one(second, arg);
}

static char origin[LONG + 1]; /* values are places in it */

/* A chain of `count` links, each made by `link` of the one before it, which is let go of. */
static rota_future *long_chain(rota_future *source, size_t count,
                               int (*link)(rota_future *last, rota_future **next))
{
    rota_future *last = rota_future_ref(source);

    for (size_t i = 0; i < count; i++) {
        rota_future *next = NULL;
        test_check(link(last, &next) == ROTA_OK);
        rota_future_unref(last);
        last = next;
    }
    return last;
}

static rota_executor *direct; /* runs each task at once; NULL: none */

static int link_then(rota_future *last, rota_future **next)
{
    return rota_then(last, direct, add_one, NULL, next);
}

static int run_here(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

static int link_owned(rota_future *last, rota_future **next)
{
    int status = rota_copy(last, next);

    return status == ROTA_OK ? rota_future_own(*next) : status;
}

static rota_future *beside; /* a second source */

static int link_owned_second(rota_future *last, rota_future **next)
{
    int status = rota_both(beside, last, NULL, second_plus_one, NULL, next);

    return status == ROTA_OK ? rota_future_own(*next) : status;
}

static int link_owned_first(rota_future *last, rota_future **next)
{
    int status = rota_both(last, beside, NULL, add_one_of_both, NULL, next);

    return status == ROTA_OK ? rota_future_own(*next) : status;
}

/* -- Completed ---------------------------------------------------------------------------- */

static void complete_chain(void *arg)
{
    rota_future *source = test_promise();
    rota_future *last = long_chain(source, LONG, link_then);

    calls = 0;
    test_end(source, TEST_SUCCEEDS, origin);
    test_check(calls == LONG);
    test_check(rota_future_get_now(last, NULL) == origin + LONG);
    rota_future_unref(source);
    rota_future_unref(last);
}

/* COMP-24 */
TEST(a_long_chain_is_run_in_a_loop)
{
    test_on_small_stack(complete_chain, NULL);
}

/* COMP-24: also by an executor of one's own that runs each step at once, */
TEST(a_long_chain_is_run_in_a_loop_by_an_executor_that_runs_at_once)
{
    const rota_executor_ops ops = {.execute = run_here};

    assert_ok(rota_executor_new(&ops, NULL, &direct));
    test_on_small_stack(complete_chain, NULL);
    assert_ok(rota_close(direct));
    direct = NULL;
}

/* and by a pool whose caller runs what it rejects. */
TEST(a_long_chain_is_run_in_a_loop_by_a_pool_that_rejects)
{
    rota_queue *queue;
    test_gate gate;

    assert_ok(rota_handoff_queue(&queue));
    direct = test_pool((rota_pool_options){
        .core_threads = 1, .queue = queue, .on_reject = rota_reject_caller_runs});
    test_gate_init(&gate);
    test_occupy(direct, &gate, 1);
    test_on_small_stack(complete_chain, NULL);
    test_gate_open(&gate);
    assert_ok(rota_close(direct));
    direct = NULL;
}

static void pass_along_chain(void *ending)
{
    rota_future *source = test_promise();
    rota_future *last = long_chain(source, LONG, link_then);

    calls = 0;
    test_end(source, *(test_ending *)ending, NULL);
    test_check(calls == 0);
    test_check(rota_future_error(last) == (*(test_ending *)ending == TEST_FAILS ? TEST_CODE : 0));
    test_check(rota_future_get_timed(last, 0, NULL)
               == (*(test_ending *)ending == TEST_FAILS ? ROTA_EFAILED : ROTA_ECANCELED));
    rota_future_unref(source);
    rota_future_unref(last);
}

/* COMP-24, COMP-06 */
TEST(an_end_is_passed_along_in_a_loop)
{
    for (test_ending ending = TEST_FAILS; ending < TEST_ENDINGS; ending++)
        test_on_small_stack(pass_along_chain, &ending);
}

static void let_go_of_chain(void *arg)
{
    rota_future *source = test_promise();
    rota_future *last = long_chain(source, LONG, link_then);

    rota_future_unref(last);
    rota_future_unref(source);
}

/* OWN-20, COMP-24: a chain that nobody holds goes when its promise does. */
TEST(a_long_chain_is_let_go_of_in_a_loop)
{
    test_on_small_stack(let_go_of_chain, NULL);
}

static void fan_out(void *arg)
{
    rota_future *source = test_promise();

    for (int i = 0; i < LONG; i++) {
        rota_future *out;
        test_check(rota_then(source, NULL, add_one, NULL, &out) == ROTA_OK);
        rota_future_unref(out);
    }
    test_check(rota_future_dependents(source) == LONG);
    calls = 0;
    test_end(source, TEST_SUCCEEDS, origin);
    test_check(calls == LONG);
    rota_future_unref(source);
}

/* COMP-24 */
TEST(a_wide_fan_out_is_run_in_a_loop)
{
    test_on_small_stack(fan_out, NULL);
}

/* A step whose inner future is the last of those before it. */
static rota_future *give(void *value, void *inner)
{
    calls++;
    return inner;
}

static void nest(void *arg)
{
    rota_future *source = test_done(TEST_SUCCEEDS, NULL);
    rota_future *inner = test_promise();
    rota_future *last = rota_future_ref(inner);

    for (int i = 0; i < LONG; i++) {
        rota_future *next;
        test_check(rota_chain(source, NULL, give, last, &next) == ROTA_OK);
        last = next;
    }
    test_end(inner, TEST_SUCCEEDS, origin);
    test_check(rota_future_get_now(last, NULL) == origin);
    rota_future_unref(last);
    rota_future_unref(inner);
    rota_future_unref(source);
}

/* COMP-24, COMP-12: chains that wait for one another. */
TEST(inner_futures_end_in_a_loop)
{
    test_on_small_stack(nest, NULL);
}

static void wide_all(void *arg)
{
    static rota_future *sources[LONG];
    rota_future *out;

    for (int i = 0; i < LONG; i++)
        sources[i] = test_promise();
    test_check(rota_all_of(sources, LONG, &out) == ROTA_OK);
    for (int i = 0; i < LONG; i++) {
        test_check(!rota_future_is_done(out));
        test_end(sources[i], TEST_SUCCEEDS, NULL);
        rota_future_unref(sources[i]);
    }
    test_check(rota_future_get(out, NULL) == ROTA_OK);
    rota_future_unref(out);
}

/* COMP-16 */
TEST(all_of_a_million)
{
    test_on_small_stack(wide_all, NULL);
}

/* -- Mixed -------------------------------------------------------------------------------- */

static rota_future *dead; /* a source that never ends */

static int link_mixed(rota_future *last, rota_future **next)
{
    switch (calls++ % 4) {
    case 0:
        return rota_then(last, NULL, add_one, NULL, next);
    case 1:
        return rota_either(dead, last, NULL, add_one, NULL, next);
    case 2:
        return rota_both(last, last, NULL, add_one_of_both, NULL, next);
    default:
        return rota_handle(last, NULL, add_one_anyway, NULL, next);
    }
}

/* COMP-24: the tail is the head and the number of links, with dead ends beside. */
TEST(mixed_links_are_counted)
{
    rota_future *source = test_promise();

    dead = test_promise();
    calls = 0;
    rota_future *last = long_chain(source, MIXED, link_mixed);
    test_end(source, TEST_SUCCEEDS, origin);
    test_has_ended(last, TEST_SUCCEEDS, origin + MIXED);
    assert_int_equal(rota_future_dependents(dead), 0);
    rota_future_unref(dead);
    rota_future_unref(last);
    rota_future_unref(source);
}

/* -- Cancelled from its end --------------------------------------------------------------- */

typedef int link_fn(rota_future *last, rota_future **next);

static void cancel_from_its_end(link_fn *link)
{
    rota_future *source = test_promise();

    beside = test_promise();
    rota_future *last = long_chain(source, LONG, link);
    test_check(rota_future_cancel(last));
    test_check(rota_future_state_of(source) == ROTA_FUTURE_CANCELED);
    test_check(rota_future_dependents(beside) == 0);
    rota_future_unref(beside);
    rota_future_unref(source);
    rota_future_unref(last);
}

static void cancel_copies(void *arg)
{
    cancel_from_its_end(link_owned);
}

static void cancel_firsts(void *arg)
{
    cancel_from_its_end(link_owned_first);
}

static void cancel_seconds(void *arg)
{
    cancel_from_its_end(link_owned_second);
}

/* COMP-24: owners, each of the one before it, are cancelled in a loop; whichever of its sources
   that is. */
TEST(a_chain_of_owners_is_cancelled_in_a_loop)
{
    test_on_small_stack(cancel_copies, NULL);
    test_on_small_stack(cancel_firsts, NULL);
    test_on_small_stack(cancel_seconds, NULL);
}
