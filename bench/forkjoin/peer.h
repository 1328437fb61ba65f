/* SPDX-License-Identifier: MIT */
/*
 * peer.h - what a library must bring to be measured by driver.c, in one file. All but peer_start
 * are called from outside its workers, one at a time, and return when all is done.
 *
 * What cannot fail here, but does, aborts; so does what the library does not have.
 */
#ifndef BENCH_FORKJOIN_PEER_H
#define BENCH_FORKJOIN_PEER_H

#include "work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* So many workers, with the caller if it takes part. Once in a process. The kind is a word for
   programs that do it in several ways, else "". */
void peer_start(const char *kind, unsigned workers);

int64_t peer_fib(int n);                                     /* forks n - 1, calls n - 2 */
int64_t peer_queens(int n);                                  /* how many ways there are */
int64_t peer_tree(void);                                     /* how many nodes */
int64_t peer_sum(const int64_t *from, size_t n, size_t cut); /* fewer than `cut` in one go */
void peer_sort(int *base, int *spare, size_t n);             /* halves, then merge_halves */
void peer_library_sort(int *base, size_t n);                 /* what the library has for it */
void peer_matrix(double *c, const double *a, const double *b, size_t n, size_t stride);
void peer_loop(size_t n, size_t grain, loop_body *body, void *data); /* 0: the library's choice */

#ifdef __cplusplus
}
#endif
#endif
