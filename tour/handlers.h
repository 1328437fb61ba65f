/* SPDX-License-Identifier: MIT */
/* handlers.h - the pages of the web server, each made by a function that runs on the pool. */
#ifndef HANDLERS_H
#define HANDLERS_H

#include <stddef.h>

typedef struct page {
    const char *path; /* what the path begins with; the rest is the argument */
    const char *name; /* of its task */
    size_t (*make)(const char *argument, char *body, size_t room); /* the body's length */
} page;

const page *page_find(const char *path); /* NULL: there is none */
#endif
