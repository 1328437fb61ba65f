/* SPDX-License-Identifier: MIT */
/* text_cgroup.c - src/os/cgroup.c, with files that are in memory. */
#define _GNU_SOURCE
#include "text.h"

#include <fcntl.h>
#include <unistd.h>

#define open(path, flags) text_open(path)
#define read              text_read
#define close             text_close
#include "os/linux_cgroup.c"
