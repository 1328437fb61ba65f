/* SPDX-License-Identifier: MIT */
/* 27_glib.c - a web server in a GLib main loop, with handlers on a pool, which may take their time */
#include <arpa/inet.h>
#include <glib-unix.h>
#include <rota/rota.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLIENTS = 1000 };
static char texts[CLIENTS][500]; /* by descriptor: a request, then its answer */
static rota_completion *answers;

static void *square(void *text) /* on a thread of the pool; the loop does not watch the client */
{
    gulong n = strtoul((char *)text + strlen("GET /"), NULL, 10);

    g_snprintf(text, 500, "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n%20lu\n", n * n);
    return text;
}

static gboolean on_request(gint fd, GIOCondition condition, gpointer data)
{
    rota_call call = {.fn = square, .arg = texts[fd]};

    (void)condition, (void)data;
    if (recv(fd, texts[fd], sizeof *texts - 1, 0) <= 0 /* they are small: all of it */
        || rota_completion_submit(answers, &call, NULL) != ROTA_OK)
        close(fd);          /* the client has gone, or there is too much to do */
    return G_SOURCE_REMOVE; /* the loop hears of it again when the answer is sent */
}

static gboolean on_answers(gint done, GIOCondition condition, gpointer loop)
{
    (void)done, (void)condition;
    for (rota_future *future; rota_completion_poll(answers, &future) == ROTA_OK;) {
        void *text;
        rota_future_get(future, &text); /* it is done */
        rota_future_unref(future);
        int fd = (int)((char(*)[sizeof *texts])text - texts);
        if (send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)strlen(text))
            shutdown(fd, SHUT_RDWR); /* who does not read is not waited for */
        g_unix_fd_add(fd, G_IO_IN, on_request, NULL);
        if (strstr(text, " 0\n") != NULL)
            g_main_loop_quit(loop);
    }
    return G_SOURCE_CONTINUE;
}

static gboolean on_client(gint door, GIOCondition condition, gpointer data)
{
    int fd = accept(door, NULL, NULL);

    (void)condition, (void)data;
    if (fd < 0 || fd >= CLIENTS || g_unix_fd_add(fd, G_IO_IN, on_request, NULL) == 0)
        close(fd);
    return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv) /* with its port; GET /12 says 144, and GET /0 ends it */
{
    struct sockaddr_in me = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    int door = socket(AF_INET, SOCK_STREAM, 0), done;
    rota_executor *pool;

    me.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 8080));
    if (setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) != 0
        || bind(door, (struct sockaddr *)&me, sizeof me) != 0 || listen(door, 100) != 0
        || rota_fixed_pool(4, &pool) != ROTA_OK || rota_completion_new(pool, &answers) != ROTA_OK
        || rota_completion_fd(answers, &done) != ROTA_OK)
        return 1;
    g_unix_fd_add(door, G_IO_IN, on_client, NULL);
    guint results = g_unix_fd_add(done, G_IO_IN, on_answers, loop);
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
    g_source_remove(results); /* out of the loop, before the descriptor goes */
    rota_completion_free(answers);
    return rota_close(pool) == ROTA_OK ? 0 : 1;
}
