/* SPDX-License-Identifier: MIT */
/*
 * The page's life: started, stopped, refused and forked; and memory that fails at every place.
 */
#define _GNU_SOURCE
#include "observing.h"
#include "page_client.h"
#include "rota_test_race.h"

#include "os/fault.h"

#include <signal.h>
#include <sys/wait.h>

static const test_fixture observed = {.setup = observing_before, .teardown = observing_after};

/* -- Starting and stopping ------------------------------------------------------------------- */

TEST(there_is_one_in_a_process)
{
    unsigned port = 77;

    assert_ok(rota_page_stop());
    client_begin(NULL);
    assert_status(rota_page_start(NULL, &port), ROTA_EBUSY);
    assert_int_equal(port, 77);
    client_gets(CLIENT_GET("/"), 200);
    assert_ok(rota_page_stop());
    assert_ok(rota_page_stop());
}

TEST(nobody_need_know_the_port)
{
    assert_ok(rota_page_start(NULL, NULL));
    assert_ok(rota_page_stop());
}

/* Also at a port that connections of the one before have only just left. */
TEST(it_can_be_started_again_where_it_was)
{
    rota_page_options options = {.port = 0};

    client_begin(NULL);
    for (int i = 0; i < 20; i++) {
        client_gets(CLIENT_GET("/"), 200);
        assert_ok(rota_page_stop());
        options.port = client_port;
        client_begin(&options);
        assert_int_equal(client_port, options.port);
    }
    assert_ok(rota_page_stop());
}

static bool is_refused(void)
{
    struct sockaddr_in address = client_address();
    int fd = client_socket();
    bool refused = connect(fd, (struct sockaddr *)&address, sizeof address) != 0;

    close(fd);
    return refused;
}

TEST(nobody_listens_after_the_end)
{
    client_begin(NULL);
    assert_false(is_refused());
    assert_ok(rota_page_stop());
    assert_true(is_refused());
}

static void start_and_stop(void *arg)
{
    for (int i = 0; i < 100; i++) {
        int status = rota_page_start(NULL, NULL);
        test_check(status == ROTA_OK || status == ROTA_EBUSY);
        test_check(rota_page_stop() == ROTA_OK);
    }
}

TEST(threads_may_start_and_stop_it_at_the_same_time)
{
    test_thread *threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = test_thread_start(start_and_stop, NULL);
    for (int i = 0; i < 4; i++)
        test_thread_join(threads[i]);
    client_begin(NULL);
    client_gets(CLIENT_GET("/"), 200);
    client_end();
}

static void start_again(void *arg)
{
    client_begin(NULL);
}

static void stop_and_look(void *arg)
{
    test_check(rota_page_stop() == ROTA_OK);
    test_check(is_refused());
}

static void is_over(void *arg)
{
    test_check(rota_page_stop() == ROTA_OK);
}

/* Also to who was not the first to say so. */
TEST(stop_returns_when_it_has_ended)
{
    static const test_race race = {
        .before = start_again, .sides = {stop_and_look, stop_and_look}, .after = is_over};

    test_race_run(&race, NULL);
}

/* -- Addresses ------------------------------------------------------------------------------- */

TEST(an_address_is_an_ip_address)
{
    static const char *const wrong[] = {
        "",          "localhost",  "1.2.3",
        "1.2.3.256", " 127.0.0.1", "127.0.0.1:80",
        "[::1]",     "::1%lo",     "0000:0000:0000:0000:0000:0000:0000:0000:0000:0001",
        "*"};
    rota_page_options options = {.port = 0};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.address = wrong[i];
        assert_status(rota_page_start(&options, NULL), ROTA_EINVAL);
    }
    options = (rota_page_options){.port = 65536};
    assert_status(rota_page_start(&options, NULL), ROTA_EINVAL);
}

TEST(what_the_system_refuses_is_told_by_errno)
{
    rota_page_options options = {.address = "192.0.2.1"}; /* nobody's: RFC 5737 */
    unsigned port = 77;

    errno = 0;
    assert_status(rota_page_start(&options, &port), ROTA_EIO);
    assert_int_equal(errno, EADDRNOTAVAIL);

    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int taken = client_socket();
    assert_int_equal(bind(taken, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(taken, 1), 0);
    assert_int_equal(getsockname(taken, (struct sockaddr *)&address, &size), 0);
    options = (rota_page_options){.port = ntohs(address.sin_port)};
    errno = 0;
    assert_status(rota_page_start(&options, &port), ROTA_EIO);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(port, 77);
    close(taken);
    client_begin(&options); /* and now it is free */
    client_end();
}

/* The last of them go to what wakes the page. */
TEST(without_a_socket_errno_tells)
{
    struct rlimit usual = client_limit_descriptors(test_is_linux() ? 1 : 2);

    errno = 0;
    int status = rota_page_start(NULL, NULL);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_status(status, ROTA_EIO);
    assert_int_equal(error, EMFILE);
}

TEST(whoever_listens_to_the_network_is_asked_by_any_name)
{
    client_begin(&(rota_page_options){.address = "0.0.0.0"});
    client_gets("GET / HTTP/1.1\r\nHost: any.example\r\n\r\n", 200);
    client_end();
}

TEST(a_loopback_address_is_asked_by_its_own_name)
{
    client_begin(&(rota_page_options){.address = "127.0.0.1"});
    client_gets("GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", 200);
    client_gets("GET / HTTP/1.1\r\nHost: 127.0.0.2\r\n\r\n", 403);
    client_end();
}

static void ask_over_ipv6(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)client_port),
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    client_send(fd, "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n");
    client_takes(fd, 200);
}

TEST(an_address_may_be_of_version_6)
{
    int status = rota_page_start(&(rota_page_options){.address = "::1"}, &client_port);

    if (status == ROTA_EIO)
        skip(); /* a machine without it */
    assert_ok(status);
    ask_over_ipv6();
    client_end();
}

/* -- Faults ---------------------------------------------------------------------------------- */

static int attempt(void *arg)
{
    unsigned port = 0;
    int status = rota_page_start(NULL, &port);

    assert_true((status == ROTA_OK) == (port != 0));
    return status;
}

static void undo(void *arg)
{
    assert_ok(rota_page_stop());
}

/* ROTA_ENOMEM from rota_page_start. */
TEST(it_is_started_or_not)
{
    test_every_allocation_fails(attempt, undo, NULL, ROTA_ENOMEM);
}

TEST(without_a_thread_or_a_descriptor_it_can_be_tried_again)
{
    static const rota__fault_kind kinds[] = {ROTA__FAULT_THREAD_START, ROTA__FAULT_EVENT};

    for (size_t i = 0; i < 2; i++) {
        size_t live = test_memory_live();
        rota__fault_arm(kinds[i], 1, false);
        assert_status(rota_page_start(NULL, NULL), ROTA_EAGAIN);
        assert_int_equal(test_memory_live(), live);
        assert_ok(rota_page_start(NULL, NULL));
        rota__fault_arm(kinds[i], 0, false);
        assert_ok(rota_page_stop());
    }
}

static _Thread_local bool is_client = false;

static bool is_the_page(void)
{
    return !is_client;
}

/* Every allocation of an answer fails in turn: the client is told, and the next one served. */
TEST_WITH(observed, without_memory_an_answer_says_so)
{
    static const char *const requests[] = {CLIENT_GET("/"), CLIENT_GET("/figures"),
                                           CLIENT_GET("/metrics"), CLIENT_GET("/trace")};

    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;

    is_client = true;
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 1);
    client_begin(NULL);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        client_gets(requests[i], 200); /* what is made once is there */
        test_memory_fail_only(is_the_page);
        for (unsigned n = 1; n == 1 || test_memory_asked() >= n - 1; n++) {
            test_memory_fail_at(n, false);
            client_answer answer = client_ask(requests[i]);
            assert_int_equal(answer.status, test_memory_asked() >= n ? 503 : 200);
            assert_int_equal(answer.body_size, answer.length);
            free(answer.text);
        }
        test_memory_fail_at(0, false);
        test_memory_fail_only(NULL);
        client_gets(requests[i], 200);
    }
    client_end();
    test_stop(pool);
}

/* -- fork(2) --------------------------------------------------------------------------------- */

static void be_a_child(void *arg)
{
    unsigned parents_port = client_port;

    client_gets(CLIENT_GET("/"), 200); /* its parent's */
    if (arg != NULL)
        test_check(rota_page_stop() == ROTA_OK); /* there is none here */
    client_begin(NULL);
    test_check(client_port != parents_port);
    client_gets(CLIENT_GET("/metrics"), 200);
    client_end();
}

/* FAULT-44: a child has no page, may have its own, and does not touch its parent's. */
TEST(a_child_has_no_page)
{
    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    client_begin(NULL);
    int hanging = client_open();
    client_send(hanging, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(test_in_child(be_a_child, NULL), 0);
        assert_int_equal(test_in_child(be_a_child, &client_port), 0);
        client_gets(CLIENT_GET("/"), 200);
    }
    client_send(hanging, "Host: localhost\r\n\r\n");
    client_takes(hanging, 200);
    client_end();
    assert_int_equal(test_in_child(start_and_stop, NULL), 0); /* there is none in its parent, too */
}

/* page.V5: as the child has closed what it inherited, the port and the clients are the parent's
   alone. */
static void stop_in_place_of_the_parent(void *arg)
{
    test_check(rota_page_stop() == ROTA_OK);
    test_check(write(*(int *)arg, "x", 1) == 1);
    for (;;)
        pause();
}

TEST(a_child_does_not_keep_the_port)
{
    int ends[2];
    char byte;

    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    client_begin(NULL);
    int hanging = client_open();
    client_gets(CLIENT_GET("/"), 200); /* so it has its place */
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        stop_in_place_of_the_parent(&ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    client_end();
    assert_true(client_is_at_end(hanging));
    assert_true(is_refused());
    client_begin(&(rota_page_options){.port = client_port});
    client_end();
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(hanging);
    close(ends[0]);
    close(ends[1]);
}
