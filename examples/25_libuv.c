/* SPDX-License-Identifier: MIT */
/* 25_libuv.c - a web server in a libuv loop, with handlers on a pool, which may take their time */
#include <rota/rota.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

typedef struct client {
    uv_tcp_t socket; /* first: whoever has it has the client */
    char text[500];  /* a request, then its answer */
} client;
static rota_completion *answers;

static void *square(void *arg) /* on a thread of the pool; the loop leaves the client alone */
{
    unsigned long n = strtoul(((client *)arg)->text + strlen("GET /"), NULL, 10);
    sprintf(((client *)arg)->text, "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n%20lu\n", n * n);
    return arg;
}

static void on_close(uv_handle_t *gone) /* in the loop, as all that follows */
{
    free(gone);
}

static void on_room(uv_handle_t *who, size_t hint, uv_buf_t *room)
{
    *room = uv_buf_init(((client *)who)->text, hint < 499 ? (unsigned)hint : 499);
}

static void on_text(uv_stream_t *who, ssize_t size, const uv_buf_t *text) /* small: all of it */
{
    if (uv_read_stop(who) != 0 || size <= 0 || text->len == 0
        || rota_completion_submit(answers, &(rota_call){.fn = square, .arg = who}, NULL) != ROTA_OK)
        uv_close((uv_handle_t *)who, on_close); /* it has gone, or there is too much to do */
}

static void on_answers(uv_poll_t *done, int status, int events)
{
    (void)status, (void)events;
    for (rota_future *future; rota_completion_poll(answers, &future) == ROTA_OK;) {
        void *who;
        rota_future_get(future, &who); /* it is done */
        rota_future_unref(future);
        uv_buf_t all = uv_buf_init(((client *)who)->text, (unsigned)strlen(((client *)who)->text));
        if (uv_try_write(who, &all, 1) != (int)all.len || uv_read_start(who, on_room, on_text) != 0)
            uv_close(who, on_close); /* who does not read is not waited for */
        else if (strstr(all.base, " 0\n") != NULL)
            uv_stop(done->loop);
    }
}

static void on_client(uv_stream_t *door, int status)
{
    void *new = calloc(1, sizeof(client));
    if (status != 0 || new == NULL || uv_tcp_init(door->loop, new) != 0)
        free(new);
    else if (uv_accept(door, new) != 0 || uv_read_start(new, on_room, on_text) != 0)
        uv_close(new, on_close);
}

int main(int argc, char **argv) /* with its port; GET /12 says 144, and GET /0 ends it */
{
    int port = argc > 1 ? atoi(argv[1]) : 8080, fd;
    uv_loop_t *loop = uv_default_loop();
    struct sockaddr_in me;
    rota_executor *pool;
    uv_tcp_t door;
    uv_poll_t done;
    if (rota_fixed_pool(4, &pool) != ROTA_OK || rota_completion_new(pool, &answers) != ROTA_OK
        || rota_completion_fd(answers, &fd) != ROTA_OK || uv_poll_init(loop, &done, fd) != 0
        || uv_poll_start(&done, UV_READABLE, on_answers) != 0 || uv_tcp_init(loop, &door) != 0
        || uv_ip4_addr("127.0.0.1", port, &me) != 0 || uv_tcp_bind(&door, (void *)&me, 0) != 0
        || uv_listen((void *)&door, 100, on_client) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR
        || uv_run(loop, UV_RUN_DEFAULT) == 0 || uv_poll_stop(&done) != 0)
        return 1;
    rota_completion_free(answers); /* its descriptor goes, too: it is out of the loop */
    return rota_close(pool) == ROTA_OK ? 0 : 1;
}
