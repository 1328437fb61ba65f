/* SPDX-License-Identifier: MIT */
/*
 * examples.h - the names that the examples in the public headers use and do not declare. tools/check_docs.py
 * compiles the examples with these declarations.
 */
#include <errno.h>
#include <rota/rota.h>
#include <stdio.h>

/* Executors, tasks and futures. */
extern rota_executor *executor, *pool;
extern rota_future *future, *futures[3], *user, *orders, *total, *in_time, *answer, *page;
extern rota_call calls[3];
extern rota_fn work, log_line, resize, warn, heartbeat, find_user;
extern void *arg, *line, *image, *job, *name, *db, *result, *value;
extern long number;
extern int i, n, fd, guess;
extern size_t height;
void use(void *result);
void report(int code);

/* rota/task.h */
struct file;
extern struct file *file;
bool file_open(struct file *file);
void *file_parse(struct file *file);
void file_drop(void *arg);
void tree_free(void *result);

/* rota/queue.h */
enum { DEPTH = 10 };
struct stack {
    size_t count;
    void *elements[DEPTH];
};
extern struct stack stack;
extern rota_queue *queue;
void *top(void *self);
void filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx);
size_t room(void *self);

/* rota/compose.h */
extern rota_chain_fn fetch_orders;
extern rota_then_fn add_up;
extern rota_handle_fn use_estimate;

/* rota/forkjoin.h, rota/completer.h, rota/parallel.h */
struct fib_task {
    rota_fj task;
    void *value;
};
extern struct fib_task a;
extern rota_completer *c, *d;
extern struct tree {
    rota_completer completer;
} root;
void *f(int n);
void merge(rota_completer *completer);
void shade_row(void *image, size_t row);
