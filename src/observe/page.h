/* SPDX-License-Identifier: MIT */
/*
 * page.h - the parts of the page's server: sockets (socket.c), answers (page_answer.c), the text that
 * a browser is given (page_html.c). page.c puts them together.
 */
#ifndef ROTA_OBSERVE_PAGE_H
#define ROTA_OBSERVE_PAGE_H

#include "observe/http.h"

#include <stdint.h>

/* -- Sockets -------------------------------------------------------------- */

enum { ROTA__ADDRESS_TEXT = 46, ROTA__ADDRESS_BYTES = 128 };

typedef struct rota__address {
    union {
        unsigned char bytes[ROTA__ADDRESS_BYTES]; /* a sockaddr_in or sockaddr_in6 */
        uint64_t aligned;
    } socket;
    size_t size;
    bool is_loopback;
    char text[ROTA__ADDRESS_TEXT]; /* as it was given */
} rota__address;

/* An IP address, version 4 or 6, as text: no name, which would have to be looked up. */
bool rota__address_read(rota__address *address, const char *text, unsigned port);

/* A socket that clients may connect to, and its port; -1, and errno tells why. */
int rota__listen(const rota__address *address, unsigned *port);

/* None of these waits: -1 with EAGAIN in place of it. No descriptor stays open in what is executed. */
int rota__accept(int listener);
long rota__receive(int fd, void *bytes, size_t size); /* 0: the other side has ended */
long rota__send(int fd, const rota__http_part parts[2]);

bool rota__is_passing(int error); /* of those calls: it is to be tried again later */

void rota__end_sending(int fd);
void rota__close(int *fd); /* is -1 by the time it is closed */

/* -- Answers -------------------------------------------------------------- */

/*
 * The body is `body`, as far as it is in memory, and then what `file` still has. The head has its
 * room here, for as long as both are sent.
 */
typedef struct rota__page_answer {
    char head[ROTA__HTTP_ANSWER];
    rota__http_part parts[2]; /* what is still to be sent: of the head, of the body */
    char *block;              /* where the body is, if it was made for this answer */
    size_t block_size;
    int file;    /* or -1 */
    size_t size; /* of the whole body */
} rota__page_answer;

void rota__page_answer_init(rota__page_answer *answer);

/* What is asked for, or why not. */
void rota__page_answer_make(rota__page_answer *answer, const rota__http_request *request);
void rota__page_refuse(rota__page_answer *answer, int status);

/* So many bytes were sent: is there more? */
bool rota__page_answer_sent(rota__page_answer *answer, size_t size);
void rota__page_answer_end(rota__page_answer *answer); /* lets go of all; as after init */

/* -- The page ------------------------------------------------------------- */

extern const char *const rota__page_html[]; /* one after the other; ended by NULL */
extern const char rota__page_policy[];

#endif
