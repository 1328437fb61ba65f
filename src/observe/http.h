/* SPDX-License-Identifier: MIT */
/*
 * http.h - the head of one HTTP/1.1 request (RFC 9112), read strictly, and the head of its answer.
 *
 * Only bytes in memory: page.c moves them. Whatever is not understood is refused, with a status that
 * says why; there is no body, no second request, and no form of anything that is only tolerated.
 */
#ifndef ROTA_OBSERVE_HTTP_H
#define ROTA_OBSERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum {
    ROTA__HTTP_HEAD = 4096,   /* bytes that a request's head may have, with its empty line */
    ROTA__HTTP_TARGET = 256,  /* bytes that its target may have */
    ROTA__HTTP_ANSWER = 1024, /* bytes that the head of any answer fits into */
};

/* Statuses of HTTP that are used. */
enum {
    ROTA__HTTP_MORE = 0, /* none: the head goes on */
    ROTA__HTTP_OK = 200,
    ROTA__HTTP_BAD = 400,
    ROTA__HTTP_FORBIDDEN = 403,
    ROTA__HTTP_NOT_FOUND = 404,
    ROTA__HTTP_METHOD = 405,
    ROTA__HTTP_BODY = 413,
    ROTA__HTTP_LONG_TARGET = 414,
    ROTA__HTTP_LONG_HEAD = 431,
    ROTA__HTTP_UNAVAILABLE = 503,
    ROTA__HTTP_VERSION = 505,
};

/* A part of the text that was read. */
typedef struct rota__http_part {
    const char *text;
    size_t size;
} rota__http_part;

typedef struct rota__http_request {
    bool is_head;         /* HEAD, else GET */
    rota__http_part path; /* of the target, as it was sent: up to a question mark */
    rota__http_part host; /* without a port; with brackets, if it has them */
    size_t size;          /* of the head, with its empty line; what follows is not looked at */
} rota__http_request;

/*
 * Reads what there is of a head: ROTA__HTTP_OK, and *request is written; ROTA__HTTP_MORE, and it is
 * to be called again with more; or the status to refuse it with, as soon as that is clear. The answer
 * to a whole head does not depend on how much of it was shown before.
 */
int rota__http_read(const char *text, size_t size, rota__http_request *request);

bool rota__http_is(rota__http_part part, const char *text);

/* Does the host say this machine by itself, in a way that no name server has a say in? Or is it
   `address`, which is an IP address? */
bool rota__http_is_local(rota__http_part host, const char *address);

const char *rota__http_reason(int status); /* a few words */

/*
 * What an answer is about. `policy` tells a browser what the page may do; NULL: nothing at all.
 */
typedef struct rota__http_answer {
    int status;
    const char *type;
    const char *policy;
    size_t size; /* of its body */
} rota__http_answer;

/* Writes the head of an answer, with its empty line, into ROTA__HTTP_ANSWER bytes; its length. */
size_t rota__http_write(char *text, const rota__http_answer *answer);

#endif
