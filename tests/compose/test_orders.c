/* SPDX-License-Identifier: MIT */
/*
 * Small graphs of up to four futures: every order of making, completing, cancelling and letting go,
 * against a model. Nothing is freed early, twice, or never.
 *
 *     A ---> D ---> E        D is made of A, or of A and B; E is a copy of D
 *     B -'
 */
#include "rota_test_compose.h"
#include "rota_test_internal.h"

#include "base/block.h"

#include <string.h>

enum { A, B, D, E, FUTURES };

enum graph { THEN, CHAIN, BOTH, ANY, GRAPHS };
enum what { MAKE, COMPLETE, CANCEL, DROP, WHATS };

struct operation {
    int future;
    enum what what;
};

/* -- The model ---------------------------------------------------------------------------- */

enum state { ABSENT, PENDING, SUCCEEDED, CANCELLED };

struct node {
    enum state state;
    int value; /* whose, if it has succeeded */
    bool is_held;
};

static struct {
    struct node nodes[FUTURES];
    bool has_inner; /* the chain waits for B */
    bool was_completed[FUTURES];
} model;

static bool is_done(int i)
{
    return model.nodes[i].state > PENDING;
}

static void end_like(int i, int source)
{
    model.nodes[i].state = model.nodes[source].state;
    model.nodes[i].value = model.nodes[source].value;
}

static void end_cancelled(int i)
{
    model.nodes[i].state = CANCELLED;
}

static void model_chain(void)
{
    if (!model.has_inner && model.nodes[A].state == SUCCEEDED) {
        model.has_inner = true;
        if (!model.nodes[B].is_held)
            end_cancelled(D);
    } else if (!model.has_inner && is_done(A)) {
        end_like(D, A);
    }
    if (model.has_inner && model.nodes[D].state == PENDING && is_done(B))
        end_like(D, B);
}

static void model_both(void)
{
    if (is_done(A) && is_done(B))
        end_like(D, model.nodes[A].state == SUCCEEDED && model.nodes[B].state != SUCCEEDED ? B : A);
}

/* What follows from the last operation. */
static void model_follow(enum graph graph)
{
    if (model.nodes[D].state == PENDING) {
        if (graph == CHAIN)
            model_chain();
        else if (graph == BOTH)
            model_both();
        else if (is_done(A))
            end_like(D, A);
        else if (graph == ANY && is_done(B))
            end_like(D, B);
    }
    if (model.nodes[E].state == PENDING && is_done(D))
        end_like(E, D);
}

/* Is it the one that ends it? */
static bool model_end(int i, enum what what)
{
    if (model.nodes[i].state != PENDING)
        return false;
    model.nodes[i].state = what == COMPLETE ? SUCCEEDED : CANCELLED;
    model.nodes[i].value = i;
    model.was_completed[i] = what == COMPLETE;
    return true;
}

static void model_drop(int i)
{
    model.nodes[i].is_held = false;
    if (i == A || i == B)
        model_end(i, CANCEL); /* OWN-20 */
}

/* -- The futures -------------------------------------------------------------------------- */

static rota_future *futures[FUTURES];
static unsigned frees[FUTURES]; /* of the values, which are these counters */

static void count_free(void *value)
{
    ++*(unsigned *)value;
}

static void *same(void *value, void *arg)
{
    return value;
}

static void *first_of(void *first, void *second, void *arg)
{
    return first;
}

static rota_future *give_b(void *value, void *arg)
{
    return futures[B] != NULL ? rota_future_ref(futures[B]) : test_promise();
}

static int make_d(enum graph graph)
{
    switch (graph) {
    case THEN:
        return rota_then(futures[A], NULL, same, NULL, &futures[D]);
    case CHAIN:
        return rota_chain(futures[A], NULL, give_b, NULL, &futures[D]);
    case BOTH:
        return rota_both(futures[A], futures[B], NULL, first_of, NULL, &futures[D]);
    default:
        return rota_any_of(futures, 2, &futures[D]);
    }
}

static void make(enum graph graph, int i)
{
    if (i < D)
        futures[i] = test_promise();
    else if (i == D)
        assert_ok(make_d(graph));
    else
        assert_ok(rota_copy(futures[D], &futures[E]));
    assert_ok(rota_future_own_result(futures[i], count_free));
    model.nodes[i] = (struct node){.state = PENDING, .is_held = true};
}

static void drop(int i)
{
    rota_future *dropped = futures[i];

    futures[i] = NULL;
    model_drop(i);
    rota_future_unref(dropped);
}

static void apply(enum graph graph, struct operation operation)
{
    int i = operation.future;

    if (operation.what == MAKE)
        make(graph, i);
    else if (operation.what == COMPLETE)
        assert_int_equal(rota_promise_complete(futures[i], &frees[i]), model_end(i, COMPLETE));
    else if (operation.what == CANCEL)
        assert_int_equal(rota_future_cancel(futures[i]), model_end(i, CANCEL));
    else
        drop(i);
    model_follow(graph);
}

/* What is held is as the model says, and no value that it has was freed. */
static void check(void)
{
    static const rota_future_state states[] = {
        [PENDING] = ROTA_FUTURE_PENDING,
        [SUCCEEDED] = ROTA_FUTURE_SUCCEEDED,
        [CANCELLED] = ROTA_FUTURE_CANCELED,
    };

    for (int i = 0; i < FUTURES; i++) {
        const struct node *node = &model.nodes[i];
        if (!node->is_held)
            continue;
        assert_int_equal(rota_future_state_of(futures[i]), states[node->state]);
        if (node->state != SUCCEEDED)
            continue;
        assert_ptr_equal(rota_future_get_now(futures[i], NULL), &frees[node->value]);
        assert_int_equal(frees[node->value], 0);
    }
}

/* -- Every order -------------------------------------------------------------------------- */

enum { MOST = FUTURES * 3 };

struct story {
    enum graph graph;
    int futures; /* so many of them: with E or without */
    struct operation operations[MOST];
    int count;
    bool has[FUTURES][WHATS];
};

#ifdef __SANITIZE_THREAD__
enum { FIRST = ANY }; /* there is one thread, and this makes it slow */
#else
enum { FIRST = THEN };
#endif

static size_t stories;

static void print(const struct story *story)
{
    for (int i = 0; i < story->count; i++)
        print_error("%c%c ", "mcxd"[story->operations[i].what],
                    "ABDE"[story->operations[i].future]);
    print_error("in graph %d\n", story->graph);
}

/* Values are freed once, if they were ever a future's, and nothing is left. */
static void check_end(const struct story *story, size_t live)
{
    bool is_good = true;

    rota__blocks_flush();
    is_good = test_memory_live() == live;
    for (int i = 0; i < FUTURES; i++)
        is_good = is_good && frees[i] == model.was_completed[i];
    if (!is_good)
        print(story);
    assert_true(is_good);
}

static void play(const struct story *story)
{
    size_t live;

    memset(&model, 0, sizeof model);
    memset(frees, 0, sizeof frees);
    memset(futures, 0, sizeof futures);
    rota__blocks_flush();
    live = test_memory_live();
    for (int i = 0; i < story->count; i++) {
        apply(story->graph, story->operations[i]);
        check();
    }
    check_end(story, live);
    stories++;
}

static bool has_what_it_needs(const struct story *story, int i)
{
    if (i == D)
        return story->has[A][MAKE] && story->has[B][MAKE];
    return i != E || story->has[D][MAKE];
}

/* Is somebody still to be made of it? */
static bool is_needed(const struct story *story, int i)
{
    if (i < D)
        return !story->has[D][MAKE];
    return i == D && story->futures > E && !story->has[E][MAKE];
}

static bool is_possible(const struct story *story, int i, enum what what)
{
    const bool *has = story->has[i];

    if (what == MAKE)
        return !has[MAKE] && has_what_it_needs(story, i);
    if (!has[MAKE] || has[DROP])
        return false;
    if (what == DROP)
        return !is_needed(story, i);
    return !has[COMPLETE] && !has[CANCEL];
}

static void tell(struct story *story)
{
    bool is_over = true;

    for (int i = 0; i < story->futures; i++) {
        for (enum what what = MAKE; what < WHATS; what++) {
            if (!is_possible(story, i, what))
                continue;
            is_over = is_over && what != DROP && what != MAKE;
            story->operations[story->count++] = (struct operation){i, what};
            story->has[i][what] = true;
            tell(story);
            story->has[i][what] = false;
            story->count--;
        }
    }
    if (is_over)
        play(story);
}

static void begin(struct story *story, int i)
{
    story->operations[story->count++] = (struct operation){i, MAKE};
    story->has[i][MAKE] = true;
}

/* COMP-18, COMP-26, COMP-27, OWN-20, OWN-06: three futures, made at any moment. */
TEST(three_futures_in_every_order)
{
    for (enum graph graph = THEN; graph < GRAPHS; graph++) {
        struct story story = {.graph = graph, .futures = E};
        stories = 0;
        begin(&story, A);
        begin(&story, B);
        tell(&story);
        assert_true(stories > 1000);
    }
}

/* The same: four futures, once they are made. */
TEST(four_futures_in_every_order)
{
    for (enum graph graph = (enum graph)FIRST; graph < GRAPHS; graph++) {
        struct story story = {.graph = graph, .futures = FUTURES};
        stories = 0;
        for (int i = 0; i < FUTURES; i++)
            begin(&story, i);
        tell(&story);
        assert_int_equal(stories, 65304);
    }
}
