/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - what was recorded, as JSON in the format of Chrome's tracing.
 *
 * Each thread's tasks and sleeps are pairs of a beginning and an end, one inside the other. The ring
 * may have lost the beginning of a pair, whose end is left out then; an end that is still to come is
 * put at the time of the last event.
 */
#include "observe/ring.h"

#include "base/alloc.h"
#include "base/fork.h"

#include <string.h>

typedef struct chrome {
    rota__out *out;
    rota__event_copy *events; /* of one thread after the other */
    size_t size;
    long thread;   /* that this is of */
    rota_ns last;  /* event */
    unsigned open; /* pairs */
    bool has_any;  /* events, of any thread */
    char name[ROTA__OS_NAME_SIZE];
} chrome;

/* Microseconds, with three digits behind the point. */
static void print_head(chrome *page, const char *phase, rota_ns time)
{
    rota__out_print(page->out, "%s\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%ld,\"ts\":%lld.%03d",
                    page->has_any ? "," : "", phase, page->thread, (long long)(time / 1000),
                    (int)(time % 1000));
    page->has_any = true;
}

static void print_name(chrome *page, const char *name, const char *otherwise)
{
    rota__out_print(page->out, ",\"name\":\"");
    rota__out_escaped(page->out, name[0] != '\0' ? name : otherwise);
    rota__out_print(page->out, "\"");
}

static void print_executor(chrome *page, const rota__event_copy *event)
{
    char name[ROTA_NAME_SIZE] = "";

    if (rota__event_executor(event) != 0) {
        rota__mutex_lock(&rota__process_lock);
        rota__executor_called(rota__event_executor(event), name);
        rota__mutex_unlock(&rota__process_lock);
    }
    rota__out_print(page->out, ",\"cat\":\"");
    rota__out_escaped(page->out, name[0] != '\0' ? name : "thread");
    rota__out_print(page->out, "\"");
}

static void print_begin(chrome *page, const rota__event_copy *event, const char *name)
{
    print_head(page, "B", event->time);
    print_name(page, name, "task");
    print_executor(page, event);
    rota__out_print(page->out, "}");
    page->open++;
}

static void print_end(chrome *page, rota_ns time, bool has_failed)
{
    if (page->open == 0)
        return;
    page->open--;
    print_head(page, "E", time);
    rota__out_print(page->out, "%s}", has_failed ? ",\"args\":{\"failed\":true}" : "");
}

static void print_instant(chrome *page, const rota__event_copy *event, const char *name)
{
    print_head(page, "i", event->time);
    print_name(page, name, name);
    print_executor(page, event);
    rota__out_print(page->out, ",\"s\":\"t\"");
    if (rota__event_kind(event) == ROTA__TRACE_LATE)
        rota__out_print(page->out, ",\"args\":{\"late_ns\":%lld}", (long long)event->value);
    rota__out_print(page->out, "}");
}

static void close_all(chrome *page)
{
    while (page->open > 0)
        print_end(page, page->last, false);
}

static void print_thread(chrome *page, rota_ns time)
{
    print_head(page, "M", time);
    rota__out_print(page->out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"");
    rota__out_escaped(page->out, page->name);
    rota__out_print(page->out, "\"}}");
}

static void note_thread(chrome *page, const rota__event_copy *event)
{
    switch (rota__event_kind(event)) {
    case ROTA__TRACE_THREAD:
        close_all(page);
        page->thread = (long)event->value;
        break;
    case ROTA__TRACE_NAME:
        memcpy(page->name, &event->value, sizeof event->value);
        break;
    default:
        memcpy(page->name + sizeof event->value, &event->value, sizeof event->value);
        print_thread(page, event->time);
    }
}

static void print_event(chrome *page, const rota__event_copy *event)
{
    switch (rota__event_kind(event)) {
    case ROTA__TRACE_BEGIN:
        print_begin(page, event, rota__name_of(rota__event_name(event)));
        break;
    case ROTA__TRACE_PARK:
        print_begin(page, event, "sleeps");
        break;
    case ROTA__TRACE_END:
    case ROTA__TRACE_UNPARK:
        print_end(page, event->time, event->value != 0);
        break;
    case ROTA__TRACE_STEAL:
        print_instant(page, event, "steal");
        break;
    case ROTA__TRACE_FULL:
        print_instant(page, event, "queue full");
        break;
    case ROTA__TRACE_REJECT:
        print_instant(page, event, "reject");
        break;
    case ROTA__TRACE_LATE:
        print_instant(page, event, "timer late");
        break;
    default:
        note_thread(page, event);
    }
    page->last = event->time;
}

/* The next record after `link`, whose events are copied now; NULL: there is none. */
static rota__link *copy_next(chrome *page, rota__link *link, size_t *count)
{
    rota__mutex_lock(&rota__process_lock);
    link = link != NULL ? link->next : rota__records.head.next;
    if (link == &rota__records.head) {
        link = NULL;
    } else {
        const rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        page->thread = record->thread_id; /* unless the ring tells */
        memcpy(page->name, record->thread_name, sizeof page->name);
        *count = rota__ring_copy(record->ring, page->events, page->size);
    }
    rota__mutex_unlock(&rota__process_lock);
    return link;
}

/* Without the lock: who reads this may be slow. */
static void print_all(chrome *page)
{
    rota__link *link = NULL;
    size_t count;

    while ((link = copy_next(page, link, &count)) != NULL) {
        page->open = 0;
        if (count > 0 && rota__event_kind(&page->events[0]) != ROTA__TRACE_THREAD)
            print_thread(page, page->events[0].time);
        for (size_t i = 0; i < count; i++)
            print_event(page, &page->events[i]);
        close_all(page);
    }
}

static int print(rota__out *out)
{
    chrome page = {.out = out, .size = rota__ring_size()};

    page.events = rota__alloc_array(page.size > 0 ? page.size : 1, sizeof page.events[0]);
    if (page.events == NULL)
        return ROTA_ENOMEM;
    rota__out_print(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    print_all(&page);
    rota__out_print(out, "\n]}\n");
    rota__free(page.events, (page.size > 0 ? page.size : 1) * sizeof page.events[0]);
    return rota__out_end(out);
}

int rota_recorder_print(FILE *file)
{
    rota__out out;

    if (file == NULL)
        return ROTA_EINVAL;
    rota__out_begin(&out, file, -1);
    return print(&out);
}

int rota_recorder_write(int fd)
{
    rota__out out;

    if (fd < 0)
        return ROTA_EINVAL;
    rota__out_begin(&out, NULL, fd);
    return print(&out);
}
