/* SPDX-License-Identifier: MIT */
/*
 * out.c - text into a buffer, a file or a descriptor. What went wrong is told at the end.
 */
#include "observe/observe_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void rota__out_begin(rota__out *out, FILE *file, int fd)
{
    out->file = file;
    out->fd = fd;
    out->text = NULL;
    out->size = 0;
    out->length = 0;
    out->filled = 0;
    out->status = ROTA_OK;
    out->error = 0;
}

static void fails(rota__out *out)
{
    if (out->status != ROTA_OK)
        return; /* GCOVR_EXCL_LINE: fflush succeeds after fwrite has failed */
    out->status = ROTA_EIO;
    out->error = errno;
}

static void flush(rota__out *out)
{
    size_t done = 0;

    while (done < out->filled && out->status == ROTA_OK) {
        ssize_t written = write(out->fd, out->buffer + done, out->filled - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            fails(out);
    }
    out->filled = 0;
}

static void to_descriptor(rota__out *out, const char *text, size_t length)
{
    if (out->filled + length > sizeof out->buffer)
        flush(out);
    memcpy(out->buffer + out->filled, text, length);
    out->filled += length;
}

static void to_buffer(rota__out *out, const char *text, size_t length)
{
    size_t room = out->size > out->length ? out->size - out->length - 1 : 0;

    if (out->size == 0)
        return;
    if (room > 0)
        memcpy(out->text + out->length, text, length < room ? length : room);
    out->text[out->length + length < out->size ? out->length + length : out->size - 1] = '\0';
}

/* At most as much as a descriptor's buffer takes. */
static void put(rota__out *out, const char *text, size_t length)
{
    if (out->file != NULL) {
        if (fwrite(text, 1, length, out->file) != length)
            fails(out);
    } else if (out->fd >= 0) {
        to_descriptor(out, text, length);
    } else {
        to_buffer(out, text, length);
    }
    out->length += length;
}

void rota__out_print(rota__out *out, const char *format, ...)
{
    char line[512];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0 && out->status == ROTA_OK)
        put(out, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* Threads may have names that are no text: what is no character, or controls, is a question mark. */
void rota__out_escaped(rota__out *out, const char *text)
{
    for (size_t step; *text != '\0'; text += step > 0 ? step : 1) {
        step = rota__character(text);
        if (*text == '"' || *text == '\\')
            rota__out_print(out, "\\");
        if (step > 0)
            rota__out_print(out, "%.*s", (int)step, text);
        else
            rota__out_print(out, "?");
    }
}

int rota__out_end(rota__out *out)
{
    if (out->fd >= 0)
        flush(out);
    else if (out->file != NULL && fflush(out->file) != 0)
        fails(out);
    if (out->status == ROTA_EIO)
        errno = out->error; /* much has been called since */
    return out->status;
}

/* -- Executors ------------------------------------------------------------ */

static bool print_one(rota_executor *ex, void *out)
{
    char name[ROTA_NAME_SIZE], line[200];

    rota_executor_name(ex, name, sizeof name);
    rota_executor_describe(ex, line, sizeof line);
    rota__out_print(out, "%s: %s\n", name, line);
    return true;
}

int rota_executors_print(FILE *file)
{
    rota__out out;
    int status;

    if (file == NULL)
        return ROTA_EINVAL;
    rota__out_begin(&out, file, -1);
    status = rota_executors_visit(print_one, &out);
    return status == ROTA_OK ? rota__out_end(&out) : status;
}
