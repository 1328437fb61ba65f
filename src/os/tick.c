/* SPDX-License-Identifier: MIT */
/*
 * tick.c - finds out whether the processor's counter can be used as a clock.
 */
#define _GNU_SOURCE
#include "os/tick.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
/* The kernel compares the counters of all processors, and uses them only if they agree. */
bool rota__os_has_ticks(void)
{
    char source[8] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, source, sizeof source - 1) : -1;

    if (fd >= 0)
        close(fd);
    return length == 4 && memcmp(source, "tsc\n", 4) == 0;
}
#elif defined(__aarch64__)
bool rota__os_has_ticks(void)
{
    return true; /* by the architecture: the generic timer */
}
#else
bool rota__os_has_ticks(void)
{
    return false;
}
#endif
