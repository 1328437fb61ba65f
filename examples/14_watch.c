/* SPDX-License-Identifier: MIT */
/* 14_watch.c - a program that is watched while it works: a page, and metrics for Prometheus */
#include <arpa/inet.h>
#include <rota/rota.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void *resize(void *arg)
{
    rota_sleep(ROTA_MS(5)); /* it would be work */
    return arg;
}

static void *sweep_up(void *arg)
{
    return arg;
}

/* What Prometheus would do; prints what there is about one executor. */
static int fetch(unsigned port, const char *name)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct sockaddr_in page = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char line[500];
    int lines = 0;

    page.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&page, sizeof page) != 0
        || write(fd, request, strlen(request)) != (ssize_t)strlen(request)) {
        close(fd);
        return 0;
    }
    FILE *answer = fdopen(fd, "r");
    while (answer != NULL && fgets(line, sizeof line, answer) != NULL) {
        if (strncmp(line, "rota_executor_", 14) == 0 && strstr(line, name) != NULL) {
            printf("  %s", line);
            lines++;
        }
    }
    if (answer != NULL)
        fclose(answer);
    return lines;
}

int main(void)
{
    rota_executor *pool, *sched;
    unsigned port;

    if (rota_observe(true) != ROTA_OK || rota_fixed_pool(2, &pool) != ROTA_OK
        || rota_scheduled_pool(1, &sched) != ROTA_OK)
        return 1;
    rota_executor_set_name(pool, "resize");
    rota_executor_set_name(sched, "housekeeping");

    int status = rota_page_start(NULL, &port); /* with a port of your own: .port = 8080 */
    if (status != ROTA_OK) {
        perror(rota_strerror(status));
        return 1;
    }
    printf("  for as long as this runs: http://localhost:%u/\n", port);

    for (int i = 0; i < 60; i++) {
        if (rota_execute(pool, resize, NULL) != ROTA_OK)
            return 1;
    }
    rota_future *sweeping;
    if (rota_schedule_at_fixed_rate(sched, sweep_up, NULL, 0, ROTA_MS(10), &sweeping) != ROTA_OK)
        return 1;
    rota_sleep(ROTA_MS(100)); /* somewhere in the middle */
    int lines = fetch(port, "\"resize\"");

    rota_future_cancel(sweeping);
    rota_future_unref(sweeping);
    bool closed = rota_close(pool) == ROTA_OK && rota_close(sched) == ROTA_OK;
    return rota_page_stop() == ROTA_OK && closed && lines > 0 ? 0 : 1;
}
