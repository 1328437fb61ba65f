/* SPDX-License-Identifier: MIT */
/*
 * text.h - the parts of the library that read text, for fuzz_text.c: text_*.c each include one source
 * file, to reach what is static in it.
 */
#ifndef ROTA_TESTS_FUZZ_TEXT_H
#define ROTA_TESTS_FUZZ_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* src/os/cgroup.c reads through these. */
int text_open(const char *path);
long text_read(int fd, void *to, size_t size);
int text_close(int fd);

unsigned text_parallelism(void); /* src/forkjoin/common.c */

/* src/pool/threads.c */
bool text_is_good_name(const char *name);
void text_make_name(char *name, size_t size, const char *pattern, uint64_t number);

#endif
