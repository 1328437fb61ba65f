/* SPDX-License-Identifier: MIT */
/*
 * What a status means in words, and which version this is.
 */
#include "rota_test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const int statuses[] = {
    ROTA_OK,        ROTA_EINVAL,  ROTA_ENOMEM,    ROTA_EAGAIN,       ROTA_EREJECTED,
    ROTA_ECANCELED, ROTA_EFAILED, ROTA_ETIMEDOUT, ROTA_EINTERRUPTED, ROTA_EDEADLOCK,
    ROTA_EBUSY,     ROTA_ENOTSUP, ROTA_EFULL,     ROTA_EEMPTY,       ROTA_EIO,
};

enum { COUNT = sizeof statuses / sizeof statuses[0] };

/* GEN-01: a closed set: 0 and the negative numbers after it. */
TEST(the_codes_are_a_closed_set)
{
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(statuses[i], -i);
}

/* Every code has a text of its own. */
TEST(every_code_has_its_own_text)
{
    for (int i = 0; i < COUNT; i++) {
        assert_non_null(rota_strerror(statuses[i]));
        assert_true(strlen(rota_strerror(statuses[i])) > 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(rota_strerror(statuses[i]), rota_strerror(statuses[j]));
    }
}

/* GEN-02: any number has a text, and one that is no status has none of theirs. */
TEST(other_numbers_have_a_text_too)
{
    const int others[] = {INT_MIN, -1000, -COUNT, 1, 2, 4711, INT_MAX};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_non_null(rota_strerror(others[i]));
        assert_true(strlen(rota_strerror(others[i])) > 0);
        for (int j = 0; j < COUNT; j++)
            assert_string_not_equal(rota_strerror(others[i]), rota_strerror(statuses[j]));
    }
}

/* The library linked here is of the same version as its headers. */
TEST(the_version_is_that_of_the_headers)
{
    char expected[64];

    snprintf(expected, sizeof expected, "%d.%d.%d", ROTA_VERSION_MAJOR, ROTA_VERSION_MINOR,
             ROTA_VERSION_PATCH);
    assert_string_equal(rota_version(), expected);
}
