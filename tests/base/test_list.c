/* SPDX-License-Identifier: MIT */
/*
 * Lists whose links lie in the elements, and the checks of a checked build.
 */
#include "rota_test.h"

#include "base/list.h"

#include <signal.h>

typedef struct item {
    int number;
    rota__link link;
} item;

enum { COUNT = 5 };

static item items[COUNT];

static int prepare(void **state)
{
    for (int i = 0; i < COUNT; i++) {
        items[i].number = i;
        rota__link_init(&items[i].link);
    }
    return 0;
}

TEST_FIXTURE(.setup = prepare);

static void append_all(rota__list *list)
{
    rota__list_init(list);
    for (int i = 0; i < COUNT; i++) {
        rota__list_append(list, &items[i].link);
        rota__list_check(list);
    }
}

/* The number of the first, which is taken out; -1: there is none. */
static int take(rota__list *list)
{
    rota__link *first = rota__list_take_first(list);

    rota__list_check(list);
    if (first == NULL)
        return -1;
    assert_false(rota__link_is_in_list(first));
    return ROTA__CONTAINER(first, item, link)->number;
}

/* At the front, and anywhere. */
TEST(a_link_goes_to_the_front_or_after_another)
{
    rota__list list;

    rota__list_init(&list);
    rota__list_prepend(&list, &items[2].link);
    rota__list_prepend(&list, &items[0].link);
    rota__list_insert_after(&items[0].link, &items[1].link);
    rota__list_insert_after(&items[2].link, &items[3].link);
    rota__list_check(&list);
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(&list), i);
    assert_int_equal(take(&list), -1);
}

/* A new list has nothing in it. */
TEST(a_new_list_is_empty)
{
    rota__list list;

    rota__list_init(&list);
    assert_true(rota__list_is_empty(&list));
    assert_null(rota__list_first(&list));
    assert_null(rota__list_take_first(&list));
    rota__list_check(&list);
}

/* First in, first out. */
TEST(elements_come_out_in_their_order)
{
    rota__list list;

    append_all(&list);
    assert_false(rota__list_is_empty(&list));
    assert_ptr_equal(rota__list_first(&list), &items[0].link);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(take(&list), i);
    assert_int_equal(take(&list), -1);
    assert_true(rota__list_is_empty(&list));
}

/* The first, the last and one in the middle can be taken out; the rest keeps its order. */
TEST(an_element_is_removed_from_anywhere)
{
    rota__list list;

    append_all(&list);
    rota__list_remove(&items[2].link);
    rota__list_check(&list);
    rota__list_remove(&items[0].link);
    rota__list_check(&list);
    rota__list_remove(&items[COUNT - 1].link);
    rota__list_check(&list);
    assert_false(rota__link_is_in_list(&items[2].link));
    assert_true(rota__link_is_in_list(&items[1].link));
    assert_int_equal(take(&list), 1);
    assert_int_equal(take(&list), 3);
    assert_int_equal(take(&list), -1);
}

/* FAULT-10: removing what is in no list does nothing: who withdraws need not know who was first. */
TEST(removing_again_does_nothing)
{
    rota__list list;

    append_all(&list);
    rota__list_remove(&items[1].link);
    rota__list_remove(&items[1].link);
    rota__list_check(&list);
    assert_int_equal(take(&list), 0);
    assert_int_equal(take(&list), 2);
}

/* What was removed can be appended again, to this list or another. */
TEST(an_element_can_come_back)
{
    rota__list list, other;

    append_all(&list);
    rota__list_init(&other);
    rota__list_remove(&items[0].link);
    rota__list_append(&list, &items[0].link);
    rota__list_remove(&items[1].link);
    rota__list_append(&other, &items[1].link);
    assert_int_equal(take(&list), 2);
    assert_int_equal(take(&list), 3);
    assert_int_equal(take(&list), 4);
    assert_int_equal(take(&list), 0);
    assert_int_equal(take(&list), -1);
    assert_int_equal(take(&other), 1);
}

/* -- Checked builds ----------------------------------------------------------------------- */

static void append_twice(void *arg)
{
    rota__list list;

    (void)arg;
    append_all(&list);
    rota__list_append(&list, &items[1].link);
}

static void check_a_broken_list(void *arg)
{
    rota__list list;

    (void)arg;
    append_all(&list);
    items[3].link.previous = &items[1].link;
    rota__list_check(&list);
}

/*
 * FAULT-10: in a checked build a mistake of the library's ends the process; else it costs nothing.
 */
TEST(mistakes_are_noticed_in_checked_builds)
{
#ifdef ROTA_CHECKED
    assert_int_equal(test_in_child(append_twice, NULL), -SIGABRT);
    assert_int_equal(test_in_child(check_a_broken_list, NULL), -SIGABRT);
#else
    int evaluated = 0;

    ROTA__ASSERT(++evaluated == 1);
    assert_int_equal(evaluated, 0);
    (void)append_twice;
    (void)check_a_broken_list;
#endif
}
