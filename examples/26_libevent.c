/* SPDX-License-Identifier: MIT */
/* 26_libevent.c - libevent's web server, with handlers on a pool, which may take their time */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <rota/rota.h>
#include <signal.h>
#include <stdlib.h>

typedef struct job {
    struct evhttp_request *request; /* the loop's: not for the pool's threads */
    unsigned long number;
} job;

static struct event_base *loop;

/* On a thread of the pool. */
static void *square(void *arg)
{
    job *mine = arg;

    mine->number *= mine->number;
    return mine;
}

/* In the loop, as all that follows. The answer comes later. */
static void on_request(struct evhttp_request *request, void *done)
{
    job *mine = malloc(sizeof *mine);
    rota_call call = {.fn = square, .arg = mine, .discard = free, .free_result = free};

    if (mine != NULL)
        *mine = (job){request, strtoul(evhttp_request_get_uri(request) + 1, NULL, 10)};
    if (mine == NULL || rota_completion_submit(done, &call, NULL) != ROTA_OK) {
        free(mine);
        evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
    }
}

static void on_results(evutil_socket_t fd, short events, void *done)
{
    (void)fd, (void)events;
    for (rota_future *future; rota_completion_poll(done, &future) == ROTA_OK;) {
        void *result;
        rota_future_get(future, &result); /* it is done, and does not fail */
        job *mine = result;
        struct evbuffer *body = evhttp_request_get_output_buffer(mine->request);
        int size = evbuffer_add_printf(body, "%lu\n", mine->number);
        evhttp_send_reply(mine->request, size > 0 ? HTTP_OK : HTTP_INTERNAL, NULL, NULL);
        if (mine->number == 0)
            event_base_loopbreak(loop);
        rota_future_unref(future); /* and with it the job */
    }
}

int main(int argc, char **argv) /* with its port; GET /12 says 144, and GET /0 ends it */
{
    int port = argc > 1 ? atoi(argv[1]) : 8080, fd;
    rota_executor *pool;
    rota_completion *done;
    struct evhttp *server;
    struct event *results;

    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR /* clients go when they like */
        || rota_fixed_pool(4, &pool) != ROTA_OK || rota_completion_new(pool, &done) != ROTA_OK
        || rota_completion_fd(done, &fd) != ROTA_OK || (loop = event_base_new()) == NULL
        || (results = event_new(loop, fd, EV_READ | EV_PERSIST, on_results, done)) == NULL
        || (server = evhttp_new(loop)) == NULL || event_add(results, NULL) != 0)
        return 1;
    evhttp_set_gencb(server, on_request, done);
    if (evhttp_bind_socket(server, "127.0.0.1", (uint16_t)port) != 0
        || event_base_dispatch(loop) < 0)
        return 1;
    event_free(results); /* out of the loop, before the descriptor goes */
    evhttp_free(server);
    event_base_free(loop);
    rota_completion_free(done);
    return rota_close(pool) == ROTA_OK ? 0 : 1;
}
