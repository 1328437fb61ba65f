/* SPDX-License-Identifier: MIT */
/*
 * page.c - a small HTTP server for the page: one thread, a few connections, one answer for each.
 *
 *   page.V1  `phase` says whose `server` is: the starter's while STARTING, the server's own
 *            thread's from then on, and the stopper's after it has joined that. It carries the
 *            generation it was written in: to a child of fork(2) all is NONE.
 *   page.V2  Only the server's thread opens, uses and closes sockets. The threads of users do
 *            nothing in which they could be cancelled.
 *   page.V3  That thread waits in poll and nowhere else, and not beyond the nearest deadline. Each
 *            connection has one, and gets one read or write a round: none can hold up another.
 *   page.V4  Nobody gets more than is set aside: as many connections as there are places, as much
 *            head as fits into one, and an answer as long as it is sent.
 *   page.V5  While `opening` is OPEN, a descriptor that is noted here is one of the server's: it is
 *            noted after it was opened, and no more before it is closed. A child of fork closes
 *            them, as the port would stay taken otherwise.
 */
#include "observe/page.h"

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fork.h"
#include "base/time.h"
#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <rota/observe.h>

enum { PLACES = 8 };

#define PATIENCE  ROTA_SEC(5)  /* until a head is there; and until an answer is taken, */
#define FOR_A_MIB ROTA_SEC(1)  /* and so much more for each MiB of it */
#define LINGER    ROTA_SEC(1)  /* until a client has read why it was refused */
#define REST      ROTA_MS(100) /* when the system has nothing left to accept with */

enum { FREE, READING, WRITING, LINGERING };

typedef struct connection {
    int state;
    int fd; /* -1 if it is free */
    rota_ns deadline;
    size_t got;    /* of the head */
    bool was_read; /* all that was sent is known to have been */
    rota__page_answer answer;
    char head[ROTA__HTTP_HEAD];
} connection;

enum { OPENING, OPEN, CLOSED };

static struct server {
    rota__address address;
    rota__os_thread thread;
    rota__os_event changed; /* phase */
    rota__os_word opening;
    int error; /* why it is CLOSED */
    unsigned port;
    int listener;
    rota_ns rests_until;
    connection *places;
} server;

/* -- Phases --------------------------------------------------------------- */

enum { NONE, STARTING, RUNNING, STOPPING, PHASES };

static rota__os_word phase;

static uint32_t word_of(uint32_t of_phase)
{
    return rota__process_generation() * PHASES + of_phase;
}

static uint32_t phase_in(uint32_t word)
{
    return word - word % PHASES == word_of(0) ? word % PHASES : NONE; /* page.V1 */
}

static void enter(uint32_t next)
{
    rota__store_release(&phase, word_of(next)); /* pairs with all who look at it */
    rota__os_wake(&phase);
}

/* -- Connections ---------------------------------------------------------- */

static void leave(connection *it)
{
    rota__page_answer_end(&it->answer);
    rota__close(&it->fd); /* page.V5 */
    it->state = FREE;
}

static void enter_place(connection *it, int fd)
{
    it->state = READING;
    it->deadline = rota__deadline(PATIENCE);
    it->got = 0;
    it->fd = fd;
}

/* A socket that is closed with something unread is reset, and the answer with it. */
static void finish(connection *it)
{
    if (it->was_read) {
        leave(it);
        return;
    }
    rota__page_answer_end(&it->answer);
    it->state = LINGERING;
    it->deadline = rota__deadline(LINGER);
    rota__end_sending(it->fd);
}

static void write_some(connection *it)
{
    long sent = rota__send(it->fd, it->answer.parts);

    if (sent < 0 && !rota__is_passing(errno))
        leave(it);
    else if (sent >= 0 && !rota__page_answer_sent(&it->answer, (size_t)sent))
        finish(it);
}

static void begin_to_write(connection *it)
{
    rota_ns for_size = FOR_A_MIB * (rota_ns)(it->answer.size >> 20);

    it->state = WRITING;
    it->deadline = rota__deadline(PATIENCE + for_size);
    write_some(it);
}

static void refuse(connection *it, int status)
{
    it->was_read = false;
    rota__page_refuse(&it->answer, status);
    begin_to_write(it);
}

/*
 * A page elsewhere can have its name resolved to this machine, and would then be let to read what it
 * asks for: but its browser says that name.
 */
static bool is_trusted(const rota__http_request *request)
{
    return !server.address.is_loopback || rota__http_is_local(request->host, server.address.text);
}

static void answer(connection *it, const rota__http_request *request)
{
    if (!is_trusted(request)) {
        refuse(it, ROTA__HTTP_FORBIDDEN);
        return;
    }
    it->was_read = it->got == request->size;
    rota__page_answer_make(&it->answer, request);
    begin_to_write(it);
}

static void read_some(connection *it)
{
    long got = rota__receive(it->fd, it->head + it->got, sizeof it->head - it->got); /* page.V4 */
    rota__http_request request;

    if (got < 0 && rota__is_passing(errno))
        return;
    if (got < 0 || (got == 0 && it->got == 0)) {
        leave(it);
        return;
    }
    it->got += (size_t)got;
    int status = rota__http_read(it->head, it->got, &request);
    if (status == ROTA__HTTP_OK)
        answer(it, &request);
    else if (status != ROTA__HTTP_MORE)
        refuse(it, status);
    else if (got == 0) /* and no more will come */
        refuse(it, ROTA__HTTP_BAD);
}

static void linger(connection *it)
{
    long got = rota__receive(it->fd, it->head, sizeof it->head);

    if (got == 0 || (got < 0 && !rota__is_passing(errno)))
        leave(it);
}

static void go_on(connection *it)
{
    if (it->state == READING)
        read_some(it);
    else if (it->state == WRITING)
        write_some(it);
    else
        linger(it);
}

/* -- The thread ----------------------------------------------------------- */

static void accept_some(void)
{
    for (int i = 0; i < PLACES; i++) {
        if (server.places[i].state != FREE)
            continue;
        int fd = rota__accept(server.listener);
        if (fd < 0) {
            if (!rota__is_passing(errno))
                server.rests_until = rota__deadline(REST);
            return;
        }
        enter_place(&server.places[i], fd);
    }
}

/* What there is to wait for, and until when (page.V3). */
static rota_ns prepare(struct pollfd *polled)
{
    rota_ns nearest = ROTA_FOREVER;
    bool has_room = false;

    for (int i = 0; i < PLACES; i++) {
        const connection *it = &server.places[i];
        polled[i] =
            (struct pollfd){.fd = it->fd, .events = it->state == WRITING ? POLLOUT : POLLIN};
        has_room |= it->state == FREE;
        if (it->state != FREE && it->deadline < nearest)
            nearest = it->deadline;
    }
    polled[PLACES] = (struct pollfd){.fd = server.changed.readable, .events = POLLIN};
    polled[PLACES + 1] = (struct pollfd){.fd = -1};
    if (has_room && rota__has_passed(server.rests_until))
        polled[PLACES + 1] = (struct pollfd){.fd = server.listener, .events = POLLIN};
    else if (has_room && server.rests_until < nearest)
        nearest = server.rests_until;
    return nearest;
}

/* In milliseconds, rounded up, as poll wants it. */
static int wait_until(rota_ns deadline)
{
    rota_ns left = rota__time_left(deadline);

    if (left > PATIENCE)
        return deadline == ROTA_FOREVER ? -1 : (int)(PATIENCE / ROTA_MS(1));
    return (int)((left + ROTA_MS(1) - 1) / ROTA_MS(1));
}

static void serve(void)
{
    struct pollfd polled[PLACES + 2];
    rota_ns deadline = prepare(polled);

    if (poll(polled, PLACES + 2, wait_until(deadline)) < 0) {
        /* GCOVR_EXCL_START: poll has no memory, or a signal came */
        if (errno != EINTR) /* no memory: less will be asked for */
            rota__os_wait(&phase, word_of(RUNNING), rota__os_now() + REST);
        return;
        /* GCOVR_EXCL_STOP */
    }
    for (int i = 0; i < PLACES; i++) {
        connection *it = &server.places[i];
        if (polled[i].revents != 0)
            go_on(it);
        if (it->state != FREE && rota__has_passed(it->deadline))
            leave(it);
    }
    if (polled[PLACES + 1].revents != 0)
        accept_some();
}

static void set_opening(uint32_t to)
{
    rota__store_release(&server.opening, to); /* pairs with the loads in await_opening */
    rota__os_wake(&server.opening);
}

static void server_main(void *arg)
{
    (void)arg;
    server.listener = rota__listen(&server.address, &server.port); /* page.V2 */
    server.error = errno;
    set_opening(server.listener >= 0 ? OPEN : CLOSED);
    if (server.listener < 0)
        return;
    while (phase_in(rota__load_acquire(&phase)) != STOPPING) /* pairs with rota_page_stop */
        serve();
    rota__store_release(&server.opening, CLOSED); /* page.V5 */
    for (int i = 0; i < PLACES; i++)
        leave(&server.places[i]);
    rota__close(&server.listener);
}

/* -- fork(2) -------------------------------------------------------------- */

static bool is_watching;

static void in_child(void)
{
    if (rota__load_acquire(&server.opening) != OPEN) /* page.V5 */
        return;
    rota__store_release(&server.opening, CLOSED);
    for (int i = 0; i < PLACES; i++) {
        rota__close(&server.places[i].fd);
        rota__close(&server.places[i].answer.file);
    }
    rota__close(&server.listener);
    rota__os_event_close(&server.changed);
}

static int watch_forks(void)
{
    int status = rota__fork_register();

    if (status == ROTA_OK && !is_watching)
        status = rota__os_at_fork(NULL, NULL, in_child);
    is_watching |= status == ROTA_OK;
    return status;
}

/* -- Starting and stopping ------------------------------------------------ */

static int make_places(void)
{
    server.places = rota__alloc_array(PLACES, sizeof(connection));
    if (server.places == NULL)
        return ROTA_ENOMEM;
    for (int i = 0; i < PLACES; i++) {
        server.places[i].state = FREE;
        server.places[i].fd = -1;
        rota__page_answer_init(&server.places[i].answer);
    }
    return ROTA_OK;
}

static void free_places(void)
{
    rota__free(server.places, PLACES * sizeof(connection));
    server.places = NULL;
}

static int await_opening(void)
{
    uint32_t seen;

    while ((seen = rota__load_acquire(&server.opening)) == OPENING) /* pairs with set_opening */
        rota__os_wait(&server.opening, OPENING, ROTA_FOREVER);
    if (seen == OPEN)
        return ROTA_OK;
    rota__os_thread_join(&server.thread);
    return ROTA_EIO;
}

static int start(void)
{
    const rota__os_thread_options options = {.name = "rota-page", .cpu = ROTA__OS_ANY_CPU};
    int status = watch_forks();

    if (status == ROTA_OK)
        status = make_places();
    if (status != ROTA_OK)
        return status;
    status = rota__os_event_open(&server.changed);
    if (status != ROTA_OK)
        goto free;
    status = rota__os_thread_start(&server.thread, &options, server_main, NULL);
    if (status == ROTA_OK)
        status = await_opening();
    if (status == ROTA_OK)
        return ROTA_OK;

    rota__os_event_close(&server.changed);
free:
    free_places();
    return status;
}

static bool read_options(const rota_page_options *options, rota__address *address)
{
    const char *text = options != NULL ? options->address : NULL;

    return rota__address_read(address, text != NULL ? text : "127.0.0.1",
                              options != NULL ? options->port : 0);
}

int rota_page_start(const rota_page_options *options, unsigned *port)
{
    uint32_t seen = rota__load_acquire(&phase);
    rota__address address;

    if (!read_options(options, &address))
        return ROTA_EINVAL;
    if (phase_in(seen) != NONE || !rota__cas_acquire(&phase, &seen, word_of(STARTING)))
        return ROTA_EBUSY;
    server = (struct server){.address = address, .listener = -1}; /* page.V1 */
    int status = start();
    int error = server.error;
    if (status == ROTA_OK && port != NULL)
        *port = server.port;
    enter(status == ROTA_OK ? RUNNING : NONE);
    if (status == ROTA_EIO)
        errno = error;
    return status;
}

static void stop(void)
{
    rota__os_event_signal(&server.changed);
    rota__os_thread_join(&server.thread);
    rota__os_event_close(&server.changed);
    free_places();
    enter(NONE);
}

/* Whoever leaves wakes the next, as a change wakes only one. */
int rota_page_stop(void)
{
    for (;;) {
        uint32_t seen = rota__load_acquire(&phase); /* pairs with enter */
        switch (phase_in(seen)) {
        case NONE:
            rota__os_wake(&phase);
            return ROTA_OK;
        case RUNNING:
            if (rota__cas_acq_rel(&phase, &seen, word_of(STOPPING))) { /* pairs with server_main */
                stop();
                return ROTA_OK;
            }
            break; /* GCOVR_EXCL_LINE: another thread stops the page just now */
        default:   /* somebody else is at it */
            rota__os_wait(&phase, seen, ROTA_FOREVER);
        }
    }
}
