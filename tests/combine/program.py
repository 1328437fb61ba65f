#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""program.py - makes a short C program from the choices of a row, without the oracle.

    program.py CHOICE...    prints the program of a row
    program.py --self-test  compiles programs in which every choice occurs

The program does what the row does, prints how the calls end, and is killed by SIGALRM if it hangs. It includes only
<rota/...> and headers of the system. Instead of the flags of the oracle it uses short sleeps.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import rows

ROOT = Path(__file__).resolve().parent.parent.parent

# Definitions, in their order. A program has those whose names it uses.
PARTS = {
    "ex": "static rota_executor *ex;",
    "behind": "static rota_executor *behind;",
    "other": "static rota_executor *other; /* the waiter's */",
    "source_pool": "static rota_executor *source_pool;",
    "queue": "static rota_queue *queue;",
    "future": "static rota_future *future;",
    "promise": "static rota_future *promise;",
    "late_start": "static rota_future *late_start, *proxy;",
    "sibling": "static rota_future *sibling;",
    "completion": "static rota_completion *completion;",
    "sleeper": "static rota_thread *_Atomic sleeper;",
    "ran": "static atomic_int ran, discarded;",
    "arrived": "static sem_t arrived, go, released, waited;",
    "timed_out": "static atomic_bool timed_out;",
    "print": '''static void print(const char *what, int status)
{
    printf("%s: %s\\n", what, rota_strerror(status));
    fflush(stdout);
}''',
    "quick": '''static void *quick(void *arg)
{
    return arg;
}''',
    "quick_run": '''static void quick_run(rota_fj *task)
{
    (void)task;
}''',
    "block": '''static void *block(void *arg)
{
    while (sem_wait(&released) != 0)
        continue;
    sem_post(&released); /* for the next one */
    return arg;
}''',
    "run_here": '''static int run_here(void *self, rota_task *task)
{
    (void)self;
    rota_task_run(task);
    return ROTA_OK;
}''',
    "compare": '''static int compare(const void *a, const void *b, void *ctx)
{
    const char *first = rota_task_call(a)->name, *second = rota_task_call(b)->name;

    (void)ctx;
    return first == NULL || second == NULL ? 0 : strcmp(first, second);
}''',
    "due_soon": '''static rota_ns due_soon(const void *task, void *ctx)
{
    (void)task;
    (void)ctx;
    return rota_now() + ROTA_MS(5);
}''',
    "serve": '''static void *serve(void *unused)
{
    void *task = NULL;

    while (rota_queue_take(queue, &task) == ROTA_OK && task != &queue)
        rota_task_run(task);
    return unused;
}

static int serve_execute(void *self, rota_task *task)
{
    (void)self;
    return rota_queue_put(queue, task);
}

static int serve_shutdown(void *self)
{
    (void)self;
    return rota_queue_put(queue, &queue);
}

static int serve_await(void *self, rota_ns timeout)
{
    (void)self;
    (void)timeout;
    return ROTA_OK;
}''',
    "after_execute": '''static void after_execute(rota_executor *self, rota_task *task, int status, int error, void *ctx)
{
    (void)self;
    (void)ctx;
    printf("after_execute of %s: %d, code %d\\n", rota_task_call(task)->name, status, error);
}

static void unobserved_failure(rota_executor *self, const rota_call *call, int error, void *ctx)
{
    (void)self;
    (void)ctx;
    printf("unobserved failure of %s: %d\\n", call->name, error);
}

static void terminated(rota_executor *self, void *ctx)
{
    (void)ctx;
    print("rota_close in terminated", rota_close(self));
}''',
    "hooks": '''static const rota_hooks hooks = {
    .after_execute = after_execute, .unobserved_failure = unobserved_failure, .terminated = terminated};''',
    "BODY": "",
    "discard": '''static void discard(void *arg)
{
    (void)arg;
    discarded++;
}''',
    "job": 'static const rota_call job = {.fn = body, .discard = discard, .name = "the job"};',
    "step": '''static void *step(void *value, void *arg)
{
    (void)value;
    return body(arg);
}''',
    "chain_step": '''static rota_future *chain_step(void *value, void *arg)
{
    rota_future *inner = NULL;

    (void)value;
    (void)arg;
    if (rota_submit_call(ex, &job, &inner) != ROTA_OK)
        rota_fail(ROTA_EREJECTED);
    return inner;
}''',
    "both_step": '''static void *both_step(void *first, void *second, void *arg)
{
    (void)first;
    (void)second;
    return body(arg);
}''',
    "done_step": '''static void done_step(rota_future *done, void *arg)
{
    (void)done;
    body(arg);
}''',
    "recover_step": '''static void *recover_step(int status, void *value, int error, void *arg)
{
    (void)status;
    (void)value;
    (void)error;
    return arg;
}''',
    "fj_body": '''static void fj_body(rota_fj *task)
{
    (void)task;
    body(NULL);
}''',
    "forked": "static rota_fj forked = ROTA_FJ(fj_body);",
    "fork_outside": '''static void *fork_outside(void *unused)
{
    rota_fork(&forked);
    return unused;
}''',
    "kids": "static rota_completer kids[3];",
    "root_compute": '''static void complete(rota_completer *self)
{
    rota_try_complete(self);
}

static void job_compute(rota_completer *self)
{
    body(NULL);
    rota_try_complete(self);
}

static void root_compute(rota_completer *self)
{
    kids[0] = (rota_completer)ROTA_COMPLETER(complete, self);
    kids[1] = (rota_completer)ROTA_COMPLETER(job_compute, self);
    kids[2] = (rota_completer)ROTA_COMPLETER(complete, self);
    rota_set_pending(self, 3);
    for (int i = 0; i < 3; i++)
        rota_fork(&kids[i].task);
    rota_fj_cancel(&kids[2].task);
    rota_fj_fail(&kids[2].task, 8);
    rota_try_complete(self);
}

static rota_completer root = ROTA_COMPLETER(root_compute, NULL);''',
    "loop_body": '''static void loop_body(size_t begin, size_t end, void *ctx)
{
    (void)end;
    if (begin == 0)
        body(ctx);
}''',
    "START": "",
    "start_step": '''static rota_future *start_step(void *value, void *arg)
{
    (void)value;
    (void)arg;
    start();
    return rota_future_ref(future);
}''',
    "watch": '''static void *watch(void *arg)
{
    print("rota_future_get by the watcher", rota_future_get(arg, NULL));
    return NULL;
}''',
    "WAITER": "",
    "refuse_threads": '''/* A stack that is larger than the address space: pthread_create fails. */
static void refuse_threads(bool on)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, on ? (size_t)1 << 50 : (size_t)8 << 20);
    pthread_setattr_default_np(&attr);
}''',
    "refused": '''static atomic_bool refused;

static void *allocate(size_t size, void *ctx)
{
    (void)ctx;
    return refused ? NULL : malloc(size);
}

static void release(void *block, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    free(block);
}''',
    "thread": "static pthread_t thread;",
}


def pool(core, most, queue="", reject="", out="ex"):
    options = [f".core_threads = {core}", f".max_threads = {most}"]
    options += [f".queue = {queue}"] if queue else []
    options += [f".on_reject = rota_reject_{reject}"] if reject else []
    return f"rota_pool_new(&(rota_pool_options){{{', '.join(options)}HOOKS}}, &{out});"


def bounded(reject, out="ex"):
    return "rota_array_queue(2, &queue);\n" + pool(1, 1, "queue", reject, out)


INLINE = "rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, &%s);"
DELAY = "\nrota_delayed(behind, ROTA_MS(5), &ex);"
EXECUTOR = {
    "fixed1": pool(1, 1), "fixed2": pool(2, 2), "cached": "rota_cached_pool(&ex);",
    "single": "rota_single_thread(&ex);", "per_task": "rota_thread_per_task(NULL, &ex);",
    "bounded_abort": bounded("abort"), "bounded_caller_runs": bounded("caller_runs"),
    "bounded_discard": bounded("discard"), "bounded_discard_oldest": bounded("discard_oldest"),
    "bounded_block": bounded("block"),
    "priority": "rota_priority_queue(compare, NULL, &queue);\n" + pool(1, 1, "queue"),
    "delay_queue": "rota_delay_queue(due_soon, NULL, &queue);\n" + pool(1, 1, "queue"),
    "handoff": "rota_handoff_queue(&queue);\n" + pool(1, 64, "queue"),
    "sched1": "rota_sched_new(&(rota_sched_options){.core_threads = 1HOOKS}, &ex);",
    "sched2": "rota_sched_new(&(rota_sched_options){.core_threads = 2HOOKS}, &ex);",
    "forkjoin1": "rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1HOOKS}, &ex);",
    "forkjoin2": "rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 2HOOKS}, &ex);",
    "forkjoin_max1": "rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1, .max_threads = 1HOOKS}, &ex);",
    "common": 'setenv("ROTA_COMMON_PARALLELISM", "2", 1);\nex = rota_common_pool();',
    "common0": 'setenv("ROTA_COMMON_PARALLELISM", "0", 1);\nex = rota_common_pool();',
    "inline": INLINE % "ex",
    "own_thread": "rota_linked_queue(ROTA_UNBOUNDED, &queue);\npthread_create(&thread, NULL, serve, NULL);\n"
                  "rota_executor_new(&(rota_executor_ops){.execute = serve_execute,\n"
                  "                                       .shutdown = serve_shutdown,\n"
                  "                                       .await_termination = serve_await},\n"
                  "                  NULL, &ex);",
    "delayed": pool(1, 1, out="behind") + DELAY, "delayed_inline": INLINE % "behind" + DELAY,
    "delayed_abort": bounded("abort", "behind") + DELAY, "delayed_caller_runs": bounded("caller_runs", "behind") + DELAY,
}
HOLD = {"fixed2": 2, "sched2": 2, "forkjoin2": 2, "common": 2, "cached": 0, "per_task": 0, "handoff": 0, "inline": 0,
        "common0": 0, "delayed_inline": 0}

SOURCE = 'rota_future *source = NULL;\nrota_submit(ex, quick, NULL, &source);\n'
RELEASE = "\nrota_future_unref(source);"
OF_JOB = 'rota_future *source = NULL;\nprint("rota_submit_call", rota_submit_call(ex, &job, &source));\n'


def started(call):
    name = call.split("(")[0]
    return f'print("{name}", {call});'


def composed(call, source=SOURCE, more=""):
    return source + more + started(call) + RELEASE


WORK = {
    "plain": started("rota_execute(ex, body, NULL)"), "future": started("rota_submit_call(ex, &job, &future)"),
    "delayed": started("rota_schedule_call(ex, &job, ROTA_MS(2), 0, &future)"),
    "periodic": started("rota_schedule_call(ex, &job, ROTA_MS(1), ROTA_MS(1), &future)"),
    "completion": "rota_completion_new(ex, &completion);\n"
                  + started("rota_completion_submit(completion, &job, &future)"),
    "then": composed("rota_then(source, ex, step, NULL, &future)"),
    "chain": composed("rota_chain(source, ex, chain_step, NULL, &future)"),
    "both": composed("rota_both(source, second, ex, both_step, NULL, &future)",
                     more="rota_future *second = NULL;\nrota_submit(ex, quick, NULL, &second);\n")
            + "\nrota_future_unref(second);",
    "either": composed("rota_either(source, promise, ex, step, NULL, &future)"),
    "all_of": composed("rota_all_of((rota_future *[]){source, promise}, 2, &future)", OF_JOB),
    "any_of": composed("rota_any_of((rota_future *[]){source, second}, 2, &future)", OF_JOB,
                       "rota_future *second = NULL;\nrota_any_of(NULL, 0, &second);\n")
              + "\nrota_future_unref(second);",
    "timeout": composed("rota_timeout(source, ROTA_HOURS(1), &future)", OF_JOB),
    "when_done": composed("rota_when_done(source, ex, done_step, NULL, &future)"),
    "recover": composed("rota_recover(source, ex, recover_step, NULL, &future)", OF_JOB),
    "retry": started("rota_retry(ex, &job, &(rota_retry_options){.attempts = 2, .first_delay = ROTA_MS(2)}, &future)"),
    "hedge": started("rota_hedge(ex, &job, ROTA_MS(2), &future)"),
    "invoke_all": "rota_future *all[2] = {NULL, NULL};\n"
                  + started("rota_invoke_all(ex, (rota_call[]){{.fn = quick}, job}, 2, ROTA_FOREVER, all)")
                  + "\nrota_future_unref(all[0]);\nfuture = all[1];",
    "invoke_any": started("rota_invoke_any(ex, (rota_call[]){job, {.fn = quick}}, 2, ROTA_FOREVER, &future)"),
    "fj_task": started("rota_invoke(ex, &forked)"),
    "fj_forked": "pthread_t forker;\npthread_create(&forker, NULL, fork_outside, NULL);\npthread_join(forker, NULL);\n"
                 + started("rota_join(&forked)"),
    "completer": started("rota_invoke(ex, &root.task)"),
    "loop": started("rota_parallel_for(POOL, 0, 4, 1, loop_body, NULL)"),
    "drained": "rota_task_list drained = {NULL, 0};\nrota_fixed_pool(1, &source_pool);\n"
               "rota_execute(source_pool, block, NULL);\nusleep(10000);\nrota_submit_call(source_pool, &job, &future);\n"
               "rota_shutdown_now(source_pool, &drained);\n"
               "for (size_t i = 0; i < drained.count; i++)\n"
               "    if (rota_execute_task(ex, drained.tasks[i]) != ROTA_OK)\n"
               "        rota_task_discard(drained.tasks[i]);\nrota_task_list_free(&drained);",
}
NO_OWN = ("plain", "future", "delayed", "periodic", "completion", "invoke_all", "invoke_any", "fj_task", "fj_forked",
          "completer", "loop", "drained")

BODY = {
    "returns": "", "fails": "FAIL(7)", "ends_thread": "usleep(50000); /* until the event has happened */\npthread_exit(NULL);",
    "interrupts_itself": "rota_thread_interrupt(rota_thread_self());",
    "cancels_itself": "usleep(20000);\nCANCEL",
    "cancels_sibling": 'printf("rota_future_cancel_now of a sibling: %d\\n", rota_future_cancel_now(sibling));',
    "submits_and_waits": "rota_future *inner = NULL;\n"
                         "if (rota_submit(ex, quick, NULL, &inner) == ROTA_OK)\n"
                         '    print("rota_future_get of an inner task", rota_future_get(inner, NULL));\n'
                         "rota_future_unref(inner);",
    "waits_for_promise": 'print("rota_future_get of a promise", rota_future_get(promise, NULL));',
    "waits_for_itself": "usleep(20000);\nif (future != NULL)\n"
                        '    print("rota_future_get of the own future", rota_future_get(future, NULL));',
    "closes_own": 'usleep(20000);\nprint("rota_close in the job", rota_close(ex));',
    "stops_own": 'rota_task_list list = {NULL, 0};\nusleep(20000);\n'
                 'print("rota_shutdown_now in the job", rota_shutdown_now(ex, &list));\n'
                 'printf("it is interrupted: %d\\n", rota_interrupted());\n'
                 "for (size_t i = 0; i < list.count; i++)\n    rota_task_run(list.tasks[i]);\nrota_task_list_free(&list);",
    "sleeps": 'sleeper = rota_thread_self();\nprint("rota_sleep", rota_sleep(ROTA_SEC(100)));\nsleeper = NULL;\n'
              "rota_interrupted();",
    "forks": "int status = 0;\npid_t pid = fork();\nif (pid == 0) {\n    rota_executor *pool = NULL;\n"
             "    rota_future *inner = NULL;\n    alarm(3);\n    signal(SIGALRM, SIG_DFL);\n"
             '    rota_fixed_pool(1, &pool);\n    rota_submit(pool, quick, NULL, &inner);\n'
             '    print("rota_future_get in the child", rota_future_get(inner, NULL));\n    rota_close(pool);\n'
             '    rota_close(ex);\n    _exit(0);\n}\nwaitpid(pid, &status, 0);\n'
             'printf("the child ends with %d\\n", status);',
}

GET = 'print("rota_future_get", rota_future_get({0}, NULL));'
WAIT = {
    "get": GET,
    "timed": "while (rota_future_get_timed({0}, ROTA_MS(5), NULL) == ROTA_ETIMEDOUT)\n    timed_out = true;\n" + GET,
    "descriptor": "struct pollfd poller = {{.events = POLLIN}};\nrota_future_fd({0}, &poller.fd);\n"
                  "poll(&poller, 1, -1);\n" + GET,
    "take": "TAKE_BEGIN" 'print("rota_completion_take", rota_completion_take(completion, &done));\n'
            "rota_future_unref(done);\n" + GET,
    "poll_timed": "TAKE_BEGIN" "while (rota_completion_poll_timed(completion, ROTA_MS(5), &done) == ROTA_ETIMEDOUT)\n"
                  "    timed_out = true;\nrota_future_unref(done);\n" + GET,
    "any": "ANY_POOLrota_future *first = NULL;\n"
           "rota_call watcher = {{.fn = watch, .arg = {0}}};\n"
           'print("rota_invoke_any", rota_invoke_any(ANY_EX, &watcher, 1, ROTA_FOREVER, &first));\n'
           "rota_future_unref(first);\n" + GET + "ANY_CLOSE",
    "quiescence": 'print("rota_await_quiescence", rota_await_quiescence(ex, ROTA_FOREVER));',
    "dropped": "rota_future_unref(future);\nfuture = NULL;",
    "dropped_descriptor": "int fd;\nrota_future_fd(future, &fd);\nrota_future_unref(future);\nfuture = NULL;",
}
CALLS_THAT_WAIT = ("invoke_all", "invoke_any", "fj_task", "fj_forked", "completer", "loop")

PLACE = {
    "plain": "pthread_create(&thread_of_waiter, NULL, waiter, NULL);",
    "same": "rota_execute(ex, waiter, NULL);",
    "other": "rota_fixed_pool(1, &other);\nrota_execute(other, waiter, NULL);",
    "forkjoin": "rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1}, &other);\n"
                "rota_execute(other, waiter, NULL);",
}

EVENT = {
    "none": "", "cancel": 'printf("rota_future_cancel: %d\\n", rota_future_cancel(future));',
    "cancel_now": 'printf("rota_future_cancel_now: %d\\n", rota_future_cancel_now(future));',
    "shutdown": 'print("rota_shutdown", rota_shutdown(ex));',
    "shutdown_now": 'rota_task_list list = {NULL, 0};\nprint("rota_shutdown_now", rota_shutdown_now(ex, &list));\n'
                    "for (size_t i = 0; i < list.count; i++)\n    rota_task_discard(list.tasks[i]);\n"
                    "rota_task_list_free(&list);",
    "close_within": "size_t dropped = 0;\nint closed = rota_close_within(ex, ROTA_MS(5), &dropped);\n"
                    'print("rota_close_within", closed);\nprintf("%zu dropped\\n", dropped);',
    "refused_thread": "refuse_threads(true);", "refused_memory": "refused = true;",
    "timeout": 'rota_future *timed = NULL;\nrota_timeout(future, ROTA_MS(5), &timed);OWN_TIMED\n'
               'print("rota_future_get of a timeout", rota_future_get(timed, NULL));\nrota_future_unref(timed);',
    "resize": "rota_pool_set_max_threads(ex, 2);\nrota_pool_set_core_threads(ex, 2);\n"
              "rota_pool_set_core_threads(ex, 1);\nrota_pool_set_max_threads(ex, 1);",
}
AFTER = {"refused_thread": "refuse_threads(false);", "refused_memory": "refused = false;"}


def indented(text):
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def waiter_of(choice):
    """The function that starts the work and waits for it."""
    is_late, has_to_wait = choice["start"] == "late", choice["work"] not in CALLS_THAT_WAIT
    waited = "proxy" if is_late else "future"
    wait = WAIT[choice["wait"]] if has_to_wait else ""
    own_service = choice["work"] == "completion" and not is_late
    wait = wait.replace("TAKE_BEGIN", "rota_future *done = NULL;\n" if own_service else
                        "rota_future *done = NULL;\nrota_call watcher = {{.fn = watch, .arg = {0}}};\n"
                        "rota_completion_new(ex, &completion);\n"
                        "rota_completion_submit(completion, &watcher, NULL);\n")
    inside = choice["place"] == "same"
    wait = wait.replace("ANY_POOL", "rota_executor *pool = NULL;\nrota_fixed_pool(1, &pool);\n" if inside else "")
    wait = wait.replace("ANY_EX", "pool" if inside else "ex")
    wait = wait.replace("ANY_CLOSE", "\nrota_close(pool);" if inside else "").format(waited)
    lines = ["sem_post(&arrived);\nsem_wait(&go);"] if choice["moment"] == "queued" else []
    if not is_late:
        lines.append("start();")
    if not is_late and has_to_wait and wait:
        lines.append("if (future != NULL) {\n" + indented(wait) + "}" if "future" in wait else wait)
    elif wait:
        lines.append(wait)
    return ("static void post_waited(void *unused)\n{\n    (void)unused;\n    sem_post(&waited);\n}\n\n"
            if choice["body"] == "ends_thread" else "") + (
        "static void *waiter(void *unused)\n{\n" + indented("\n".join(
            ["pthread_cleanup_push(post_waited, NULL);", *lines, "pthread_cleanup_pop(1);", "return unused;"]
            if choice["body"] == "ends_thread" else [*lines, "sem_post(&waited);", "return unused;"])) + "}")


def body_of(choice):
    is_fj = choice["work"] in ("fj_task", "fj_forked")
    body = BODY[choice["body"]]
    task = {"fj_task": "&forked", "fj_forked": "&forked", "completer": "&kids[1].task"}.get(choice["work"])
    if body == "FAIL(7)":
        body = f"rota_fj_fail({task}, 7);" if task else "return rota_fail(7);"
    if choice["work"] == "periodic":
        body = "if (ran == 3)\n    return rota_fail(9);\n" + body
    body = body.replace("CANCEL", f"rota_fj_cancel({task});" if task else "rota_future_cancel(future);")
    end = "" if body.endswith(("pthread_exit(NULL);", "return rota_fail(7);")) else "return arg;"
    lines = "\n".join(line for line in ("(void)arg;" if not end else "", "ran++;", body, end) if line)
    return ("static rota_fj forked;\n\n" if is_fj and "forked" in body else "") + (
        "static rota_completer kids[3];\n\n" if "kids" in body else "") + (
        "static void *body(void *arg)\n{\n" + indented(lines) + "}")


def main_of(choice):
    """The function main: makes the executor, starts the waiter, lets the event happen, and closes everything."""
    executor, event, queued = choice["executor"], choice["event"], choice["moment"] == "queued"
    hooks = ", .hooks = hooks" if choice["setting"] == "hooks" else ""
    is_inside, is_common = choice["place"] == "same", executor.startswith("common")
    lines = ["alarm(10);"]
    if event == "refused_memory":
        lines.append("rota_set_allocator(&(rota_allocator){allocate, release, NULL});")
    lines += [EXECUTOR[executor].replace("HOOKS", hooks), "rota_promise_new(&promise);"]
    if choice["start"] == "late":
        lines += ["rota_promise_new(&late_start);", "rota_chain(late_start, NULL, start_step, NULL, &proxy);"]
    if choice["place"] == "plain":
        lines.append("pthread_t thread_of_waiter;")
    lines.append(PLACE[choice["place"]])
    if queued:
        target = "behind" if executor.startswith("delayed") else "ex"
        hold = HOLD.get(executor, 1) - (1 if is_inside else 0)
        lines.append("sem_wait(&arrived);")
        lines += [f"rota_execute({target}, block, NULL);"] * max(hold, 0)
        lines.append("usleep(10000);")
        if executor.startswith("bounded") or executor in ("delayed_abort", "delayed_caller_runs"):
            lines += [f"rota_execute({target}, quick, NULL);"] * 2
    if choice["body"] == "cancels_sibling" and not (queued and executor == "bounded_block"):
        lines.append("rota_submit(ex, quick, NULL, &sibling);")
    if queued and event.startswith("refused"):
        lines.append(EVENT[event])
    if queued:
        lines.append("sem_post(&go);")
    if choice["start"] == "late":
        lines += ["usleep(10000); /* the waiter waits */", "rota_promise_complete(late_start, NULL);"]
    lines.append("usleep(30000); /* the work is " + ("queued" if queued else "running") + " */")
    if not (queued and event.startswith("refused")):
        own = "\nrota_future_own(timed);" if choice["setting"] == "own" else ""
        lines.append(EVENT[event].replace("OWN_TIMED", own))
    lines += ["usleep(10000);"] if EVENT[event] else []
    if queued and choice["work"] in ("fj_task", "fj_forked", "completer", "loop"):
        lines.append("while (ran == 0) /* the caller takes part */\n    usleep(1000);")
    if queued and "timed" in choice["wait"] and EVENT[event] == "" and choice["work"] not in CALLS_THAT_WAIT:
        lines.append("while (!timed_out)\n    usleep(1000);")
    if event in AFTER:
        lines.append(AFTER[event])
    if queued or choice["work"] == "drained":
        lines.append("sem_post(&released);")
    lines.append("rota_promise_complete(promise, NULL);")
    if choice["body"] == "sleeps":
        lines.append("while (sem_trywait(&waited) != 0) {\n    if (sleeper != NULL)\n"
                     "        rota_thread_interrupt(sleeper);\n    usleep(1000);\n}")
    else:
        lines.append("sem_wait(&waited);")
    if choice["place"] == "plain":
        lines.append("pthread_join(thread_of_waiter, NULL);")
    if is_common:
        lines.append("rota_await_quiescence(ex, ROTA_SEC(1));")
    else:
        close = 'print("rota_close", rota_close(ex));'
        lines.append("if (closed != ROTA_OK)\n    " + close if event == "close_within" else close)
    lines += ["rota_close(behind);"] if executor.startswith("delayed") else []
    lines += ["pthread_join(thread, NULL);", "rota_queue_free(queue);"] if executor == "own_thread" else []
    lines += ["rota_close(source_pool);"] if choice["work"] == "drained" else []
    lines += ["rota_close(other);"] if choice["place"] in ("other", "forkjoin") else []
    text = "\n".join(lines)
    lines += ["rota_future_unref(future);"] if choice["work"] not in (
        "plain", "fj_task", "fj_forked", "completer", "loop") else []
    lines += ["rota_future_unref(proxy);", "rota_future_unref(late_start);"] if "proxy" in text else []
    lines += ["rota_future_unref(sibling);"] if "sibling" in text else []
    lines += ["rota_completion_free(completion);"] if (
        choice["work"] == "completion" or choice["wait"] in ("take", "poll_timed")) else []
    lines += ["rota_future_unref(promise);", 'printf("ran %d, discarded %d\\n", ran, discarded);', "return 0;"]
    return "int main(void)\n{\n" + indented("\n".join(line for line in lines if line)) + "}\n"


def names_in(text):
    """The names that a part defines."""
    found = re.findall(r"^static [^(=;]*?\*?(\w+)(?:\[\d\])?(?:\(| =)", text, re.M)
    for variables in re.findall(r"^static ([^(=;]*);", text, re.M):
        found += [re.sub(r"\[.*", "", one).split()[-1].lstrip("*") for one in variables.split(",")]
    return found


def parts_of(texts):
    """Chooses the definitions whose names occur, and those that they use."""
    parts = dict(PARTS, **texts)
    home = {name: key for key, text in PARTS.items() for name in names_in(text)}
    chosen, todo = set(), list(texts)
    while todo:
        key = todo.pop()
        if key not in chosen:
            chosen.add(key)
            words = set(re.findall(r"\w+", re.sub(r'"[^"]*"|/\*.*?\*/', "", parts[key])))
            todo += [home[word] for word in words if word in home]
    return [parts[key] for key in parts if key in chosen]


def of(row, lines):
    """Returns the program of a row. `lines` say what is wrong with it."""
    choice = dict(zip(rows.LISTS, row))
    start = WORK[choice["work"]].replace(
        "POOL", "ex" if "forkjoin" in choice["executor"] or "common" in choice["executor"] else "NULL")
    if choice["setting"] == "own" and choice["work"] not in NO_OWN:
        start += "\nrota_future_own(future);"
    texts = {"BODY": body_of(choice), "START": "static void start(void)\n{\n" + indented(start) + "}",
             "WAITER": waiter_of(choice), "main": main_of(choice)}
    wrong = "".join(f" * {line}\n" for line in lines)
    head = (f"/*\n * {' '.join(row)}\n{wrong} *\n * cc FILE.c $(pkg-config --cflags --libs rota) -pthread\n"
            " * It prints how its calls end. If it hangs, SIGALRM kills it after 10 s.\n */\n")
    body = "\n\n".join(parts_of(texts))
    body = re.sub(r"(?<=;)\n\n(?=static (?!const)[^(\n]*;)", "\n", body)
    headers = {"poll.h": "poll(", "pthread.h": "pthread_", "semaphore.h": "sem_", "signal.h": "SIG",
               "stdatomic.h": "atomic_|_Atomic", "stdio.h": "printf", "stdlib.h": "setenv|malloc", "string.h": "strcmp",
               "sys/wait.h": "waitpid", "unistd.h": "alarm"}
    includes = sorted([f"#include <{name}>" for name, words in headers.items()
                       if re.search(words.replace("(", r"\("), body)] + ["#include <rota/rota.h>"])
    return head + "#define _GNU_SOURCE\n" + "\n".join(includes) + "\n\n" + body


def compile_program(row, folder):
    """Returns what the compiler says against the program of a row."""
    path = Path(folder) / "row.c"
    path.write_text(of(row, []))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    return subprocess.run([*compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT}/include",
                           str(path)], capture_output=True, text=True, check=False).stderr


def self_test():
    seen, longest, count = set(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for row in rows.Rows(1).build():
            new = set(enumerate(row))
            if new <= seen:
                continue
            seen |= new
            errors = compile_program(row, folder)
            if errors:
                raise SystemExit(f"{' '.join(row)}:\n{errors}")
            longest, count = max(longest, of(row, []).count("\n")), count + 1
    print(f"{count} programs, the longest has {longest} lines")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 1 + len(rows.LISTS):
        print(of(tuple(sys.argv[1:]), []), end="")
    else:
        raise SystemExit(__doc__)
