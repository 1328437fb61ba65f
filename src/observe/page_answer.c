/* SPDX-License-Identifier: MIT */
/*
 * page_answer.c - what the page's server has to say: the page, figures, metrics, the trace.
 */
#define _GNU_SOURCE /* mkostemp */
#include "observe/page.h"

#include "base/alloc.h"
#include "base/time.h"

#include <fcntl.h>
#include <inttypes.h>
#include <rota/observe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- Text that grows ------------------------------------------------------ */

enum { LEAST_TEXT = 4096, MOST_TEXT = 64 << 20, MOST_TRACE = 1 << 30, WINDOW = 64 << 10 };

/* Room for `size` bytes, more than there was; what is there stays. ROTA_ENOMEM. */
static int grow(rota__page_answer *answer, size_t size)
{
    char *block = size <= MOST_TEXT ? rota__alloc(size) : NULL;

    if (block == NULL)
        return ROTA_ENOMEM;
    if (answer->size > 0)
        memcpy(block, answer->block, answer->size);
    rota__free(answer->block, answer->block_size);
    answer->block = block;
    answer->block_size = size;
    return ROTA_OK;
}

static int add_bytes(rota__page_answer *answer, const char *bytes, size_t size)
{
    size_t needed = answer->size + size;

    if (needed > answer->block_size) {
        int status = grow(answer, needed > LEAST_TEXT / 2 ? needed * 2 : LEAST_TEXT);
        if (status != ROTA_OK)
            return status;
    }
    memcpy(answer->block + answer->size, bytes, size);
    answer->size = needed;
    return ROTA_OK;
}

__attribute__((format(printf, 2, 3))) static int add(rota__page_answer *answer, const char *format,
                                                     ...)
{
    char line[640]; /* more than any of ours has */
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return add_bytes(answer, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* -- / -------------------------------------------------------------------- */

static int add_page(rota__page_answer *answer)
{
    int status = ROTA_OK;

    for (size_t i = 0; status == ROTA_OK && rota__page_html[i] != NULL; i++)
        status = add_bytes(answer, rota__page_html[i], strlen(rota__page_html[i]));
    return status;
}

/* -- /metrics ------------------------------------------------------------- */

/* There may be more of them by the time that there is room. */
static int add_metrics(rota__page_answer *answer)
{
    size_t length = WINDOW;

    while (length >= answer->block_size) {
        int status = grow(answer, length + length / 4 + 1);
        if (status != ROTA_OK)
            return status;
        status = rota_metrics_text(answer->block, answer->block_size);
        if (status < 0)
            return status;
        length = (size_t)status;
    }
    answer->size = length;
    return ROTA_OK;
}

/* -- /figures ------------------------------------------------------------- */

static const char *const states[] = {"running", "shut down", "stopping", "tidying", "terminated"};

/* As a string of JSON, which is safe in HTML and scripts, too. */
static int add_name(rota__page_answer *answer, const char *name)
{
    int status = add_bytes(answer, "\"", 1);

    for (; status == ROTA_OK && *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c < ' ' || c == 0x7f || strchr("\"\\<>&'", c) != NULL)
            status = add(answer, "\\u%04x", (unsigned)c);
        else
            status = add_bytes(answer, name, 1);
    }
    return status == ROTA_OK ? add_bytes(answer, "\"", 1) : status;
}

static int add_quantiles(rota__page_answer *answer, const char *name,
                         const rota_histogram *histogram)
{
    return add(answer, ",\"%s\":[%" PRId64 ",%" PRId64 "]", name,
               rota_histogram_quantile(histogram, 0.5), rota_histogram_quantile(histogram, 0.99));
}

static int add_figures(rota__page_answer *answer, const rota_figures *figures)
{
    int status = add(answer,
                     ",\"state\":\"%s\",\"threads\":%u,\"active\":%u,\"queued\":%zu"
                     ",\"submitted\":%" PRIu64 ",\"completed\":%" PRIu64 ",\"rejected\":%" PRIu64
                     ",\"stolen\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"oldest\":%" PRId64,
                     states[figures->state], figures->threads, figures->active, figures->queued,
                     figures->submitted, figures->completed, figures->rejected, figures->stolen,
                     figures->failed, figures->oldest);

    if (status == ROTA_OK)
        status = add_quantiles(answer, "waiting", &figures->waiting);
    if (status == ROTA_OK)
        status = add_quantiles(answer, "running", &figures->running);
    return status == ROTA_OK ? add_bytes(answer, "}", 1) : status;
}

struct listing {
    rota__page_answer *answer;
    const char *before; /* the next one */
    int status;
};

static bool add_executor(rota_executor *ex, void *arg)
{
    struct listing *listing = arg;
    char name[ROTA_NAME_SIZE];
    rota_figures figures;

    rota_executor_name(ex, name, sizeof name);
    listing->status = rota_figures_get(ex, &figures);
    if (listing->status == ROTA_OK)
        listing->status = add(listing->answer, "%s{\"name\":", listing->before);
    if (listing->status == ROTA_OK)
        listing->status = add_name(listing->answer, name);
    if (listing->status == ROTA_OK)
        listing->status = add_figures(listing->answer, &figures);
    listing->before = ",\n";
    return listing->status == ROTA_OK;
}

static int add_executors(rota__page_answer *answer)
{
    struct listing listing = {.answer = answer, .before = "", .status = ROTA_OK};
    int status = add(answer, "{\"now\":%" PRId64 ",\"observing\":%s,\"executors\":[", rota__now(),
                     rota_is_observing() ? "true" : "false");

    if (status == ROTA_OK)
        status = rota_executors_visit(add_executor, &listing);
    if (status == ROTA_OK)
        status = listing.status;
    return status == ROTA_OK ? add(answer, "]}\n") : status;
}

/* -- /trace --------------------------------------------------------------- */

/* From its beginning, and how long it is. */
static bool is_ready(int file, size_t *size)
{
    struct stat about;
    bool is_good = fstat(file, &about) == 0 && about.st_size <= MOST_TRACE;

    *size = is_good ? (size_t)about.st_size : 0;
    return is_good && lseek(file, 0, SEEK_SET) == 0;
}

/* Through a file without a name: it may be larger than what should be asked of the memory. */
static int add_trace(rota__page_answer *answer)
{
    char path[] = P_tmpdir "/rota-XXXXXX";
    int status = grow(answer, WINDOW);

    if (status != ROTA_OK)
        return status;
    answer->file = mkostemp(path, O_CLOEXEC);
    if (answer->file < 0)
        return ROTA_EIO;
    unlink(path);
    status = rota_recorder_write(answer->file);
    if (status != ROTA_OK)
        return status;
    return is_ready(answer->file, &answer->size) ? ROTA_OK : ROTA_EIO;
}

/* The next of the file is in memory, unless there is no more of it. */
static void read_on(rota__page_answer *answer)
{
    ssize_t got = read(answer->file, answer->block, answer->block_size);

    answer->parts[1] = (rota__http_part){answer->block, got > 0 ? (size_t)got : 0};
}

/* -- Which it is ---------------------------------------------------------- */

static const struct content {
    const char *path;
    const char *type;
    const char *policy;
    int (*add)(rota__page_answer *answer);
} contents[] = {
    {"/", "text/html; charset=utf-8", rota__page_policy, add_page},
    {"/figures", "application/json", NULL, add_executors},
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", NULL, add_metrics},
    {"/trace", "application/json", NULL, add_trace},
};

static const struct content *content_at(rota__http_part path)
{
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        if (rota__http_is(path, contents[i].path))
            return &contents[i];
    }
    return NULL;
}

static void write_head(rota__page_answer *answer, const rota__http_answer *about)
{
    answer->parts[0] = (rota__http_part){answer->head, rota__http_write(answer->head, about)};
}

static void say(rota__page_answer *answer, int status, const char *why)
{
    rota__http_answer about = {
        .status = status, .type = "text/plain; charset=utf-8", .size = strlen(why)};

    write_head(answer, &about);
    answer->parts[1] = (rota__http_part){why, about.size};
}

void rota__page_refuse(rota__page_answer *answer, int status)
{
    say(answer, status, rota__http_reason(status));
}

void rota__page_answer_make(rota__page_answer *answer, const rota__http_request *request)
{
    const struct content *content = content_at(request->path);
    int status;

    if (content == NULL) {
        rota__page_refuse(answer, ROTA__HTTP_NOT_FOUND);
    } else if ((status = content->add(answer)) != ROTA_OK) {
        rota__page_answer_end(answer);
        say(answer, ROTA__HTTP_UNAVAILABLE, rota_strerror(status));
    } else {
        write_head(answer, &(rota__http_answer){ROTA__HTTP_OK, content->type, content->policy,
                                                answer->size});
        answer->parts[1] = (rota__http_part){answer->block, answer->size};
        if (answer->file >= 0)
            read_on(answer);
    }
    if (request->is_head) {
        answer->parts[1].size = 0;
        rota__close(&answer->file);
    }
}

void rota__page_answer_init(rota__page_answer *answer)
{
    answer->parts[0] = answer->parts[1] = (rota__http_part){"", 0};
    answer->block = NULL;
    answer->block_size = 0;
    answer->file = -1;
    answer->size = 0;
}

bool rota__page_answer_sent(rota__page_answer *answer, size_t size)
{
    for (int i = 0; i < 2; i++) {
        size_t part = size < answer->parts[i].size ? size : answer->parts[i].size;
        answer->parts[i].text += part;
        answer->parts[i].size -= part;
        size -= part;
    }
    if (answer->parts[0].size == 0 && answer->parts[1].size == 0 && answer->file >= 0)
        read_on(answer);
    return answer->parts[0].size > 0 || answer->parts[1].size > 0;
}

void rota__page_answer_end(rota__page_answer *answer)
{
    rota__close(&answer->file);
    rota__free(answer->block, answer->block_size);
    rota__page_answer_init(answer);
}
