/* SPDX-License-Identifier: MIT */
#include "rota_test.h"

#include <stdio.h>
#include <stdlib.h>

void test_assert_status(int status, int expected, const char *call, const char *file, int line)
{
    if (status == expected)
        return;
    print_error("%s is %d (%s), not %d (%s)\n", call, status, rota_strerror(status), expected,
                rota_strerror(expected));
    _fail(file, line);
}

void test_die(const char *file, int line, const char *message)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, message);
    abort();
}
