/* SPDX-License-Identifier: MIT */
#include "completers.h"

static test_counted *counted_of(rota_completer *completer)
{
    return (test_counted *)(void *)completer;
}

void test_counted_compute(rota_completer *self)
{
    test_counted *counted = counted_of(self);

    atomic_fetch_add(&counted->computes, 1);
    if (counted->fails_with != 0)
        rota_fj_fail(&self->task, counted->fails_with);
    else
        rota_try_complete(self);
}

static void note_completion(rota_completer *self, rota_completer *caller)
{
    test_counted *counted = counted_of(self);

    counted->caller = caller;
    atomic_fetch_add(&counted->completions, 1);
}

static bool note_failure(rota_completer *self, int code, rota_completer *caller)
{
    test_counted *counted = counted_of(self);

    counted->caller = caller;
    counted->code = code;
    atomic_fetch_add(&counted->failures, 1);
    return !counted->stops_failure;
}

void test_counted_init(test_counted *counted, test_counted *parent)
{
    *counted =
        (test_counted){.completer = ROTA_COMPLETER(test_counted_compute,
                                                   parent != NULL ? &parent->completer : NULL)};
    counted->completer.on_completion = note_completion;
    counted->completer.on_failure = note_failure;
}

void test_counted_line(test_counted *line, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        test_counted_init(&line[i], i > 0 ? &line[i - 1] : NULL);
}

void test_counted_check(const test_counted *counted, unsigned computes, unsigned completions,
                        unsigned failures, const char *file, int line)
{
    if (atomic_load(&counted->computes) != computes)
        test_die(file, line, "another number of computes");
    if (atomic_load(&counted->completions) != completions)
        test_die(file, line, "another number of completions");
    if (atomic_load(&counted->failures) != failures)
        test_die(file, line, "another number of failures");
}
