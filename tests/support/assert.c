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

/* -- The main thread ---------------------------------------------------------------------- */

static void main_thread_ends(void *arg)
{
    test_die(__FILE__, __LINE__, "the main thread has ended, with tests still to run");
}

/* A process whose main thread has ended exits with 0 once the others have, too: without a word of the
   tests that were still to come. Only a thread that ends has its keys destroyed; exit does not. */
__attribute__((constructor)) static void keep_main_thread(void)
{
    static pthread_key_t key;

    test_check(pthread_key_create(&key, main_thread_ends) == 0);
    test_check(pthread_setspecific(key, &key) == 0);
}
