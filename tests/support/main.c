/* SPDX-License-Identifier: MIT */
/* The main function of every test program that has none of its own. */
#include "rota_test.h"

int main(void)
{
    test_memory_install();
    return test_run_all();
}
