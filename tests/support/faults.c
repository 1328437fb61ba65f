/* SPDX-License-Identifier: MIT */
#include "rota_test_internal.h"

enum { TOO_MANY = 100000 };

/* cmocka's messages do not say at which allocation it was. */
static void expect(bool so, unsigned n, const char *what, int status)
{
    if (so)
        return;
    print_error("allocation %u fails: %s; status %d (%s)\n", n, what, status,
                rota_strerror(status));
    fail();
}

void test_every_allocation_fails(int (*attempt)(void *arg), void (*undo)(void *arg), void *arg,
                                 int expected)
{
    for (unsigned n = 1; n < TOO_MANY; n++) {
        rota__blocks_flush();
        size_t before = test_memory_live();

        test_memory_fail_at(n, false);
        int status = attempt(arg);
        bool reached = test_memory_asked() >= n;
        test_memory_fail_at(0, false);

        if (!reached) {
            expect(status == ROTA_OK, n, "there is no such allocation, yet no success", status);
            if (undo != NULL)
                undo(arg);
        } else {
            expect(status == expected, n, "another status", status);
        }
        rota__blocks_flush();
        expect(test_memory_live() == before, n, "memory in use is not as before", status);
        if (!reached)
            return;
    }
    expect(false, TOO_MANY, "there is no end to them", ROTA_OK);
}
