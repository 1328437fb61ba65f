/* SPDX-License-Identifier: MIT */
/*
 * nuisance.c - what a host does to a process.
 *
 *     nuisance signals PID SECONDS   sends a signal to the process and one to each of its threads, each
 *                                    a thousand times a second
 *     nuisance hold PID SECONDS      stops one of its workers, as a debugger does
 *     nuisance spin SECONDS          computes and never sleeps
 *     nuisance refuse COMMAND...     runs it in a sandbox that forbids what it can do without: waits on
 *                                    a futex of its own, barriers, affinity, names
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(int is_so, const char *what)
{
    if (is_so)
        return;
    perror(what);
    exit(1);
}

static int find_threads(pid_t process, pid_t *threads)
{
    char path[64];
    const struct dirent *entry;
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    must(folder != NULL, path);
    while (count < MOST_THREADS && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.')
            threads[count++] = (pid_t)atoi(entry->d_name);
    }
    closedir(folder);
    return count;
}

static int is_worker(pid_t process, pid_t thread)
{
    char path[64], name[32] = "";

    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)process, (int)thread);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    int has_name = fgets(name, sizeof name, file) != NULL && strncmp(name, "load-", 5) == 0;
    fclose(file);
    return has_name;
}

/* Both are ignored by default; they interrupt system calls of threads that let them in. */
static void send_signals(pid_t process, double seconds)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    double end = now() + seconds;
    pid_t threads[MOST_THREADS];

    while (now() < end) {
        int count = find_threads(process, threads);
        must(kill(process, SIGCHLD) == 0, "kill");
        for (int i = 0; i < count; i++)
            syscall(SYS_tgkill, process, threads[i], SIGWINCH); /* it may be gone */
        nanosleep(&pause, NULL);
    }
}

static void hold_worker(pid_t process, double seconds)
{
    pid_t threads[MOST_THREADS], worker = 0;
    int count = find_threads(process, threads), status;

    for (int i = 0; i < count && worker == 0; i++)
        worker = is_worker(process, threads[i]) ? threads[i] : 0;
    must(worker != 0, "worker");
    must(ptrace(PTRACE_SEIZE, worker, NULL, NULL) == 0, "seize");
    must(ptrace(PTRACE_INTERRUPT, worker, NULL, NULL) == 0, "interrupt");
    must(waitpid(worker, &status, __WALL) == worker && WIFSTOPPED(status), "stop");
    usleep((useconds_t)(seconds * 1e6));
    must(ptrace(PTRACE_DETACH, worker, NULL, NULL) == 0, "detach");
}

static void spin(double seconds)
{
    double end = now() + seconds;

    while (now() < end)
        ;
}

#define WHEN(value, action) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define FORBIDDEN   (SECCOMP_RET_ERRNO | EPERM)

/* The C library waits for a thread's end on a futex that is not private, which is allowed. */
static void refuse(char **command)
{
    struct sock_filter filter[] = {
        LOAD(nr),
        WHEN(SYS_membarrier, FORBIDDEN),
        WHEN(SYS_sched_setaffinity, FORBIDDEN),
        WHEN(SYS_prctl, FORBIDDEN),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        LOAD(args[1]),
        WHEN(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, FORBIDDEN),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
    execvp(command[0], command);
    must(0, command[0]);
}

int main(int count, char **arguments)
{
    if (count == 4 && strcmp(arguments[1], "signals") == 0)
        send_signals(atoi(arguments[2]), atof(arguments[3]));
    else if (count == 4 && strcmp(arguments[1], "hold") == 0)
        hold_worker(atoi(arguments[2]), atof(arguments[3]));
    else if (count == 3 && strcmp(arguments[1], "spin") == 0)
        spin(atof(arguments[2]));
    else if (count > 2 && strcmp(arguments[1], "refuse") == 0)
        refuse(arguments + 2);
    else
        return 2;
    return 0;
}
