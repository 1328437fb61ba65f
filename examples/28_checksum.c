/* SPDX-License-Identifier: MIT */
/* 28_checksum.c - a checksum of all files below a folder, by all CPUs, with a progress bar */
#define _XOPEN_SOURCE 700 /* nftw */
#include <errno.h>
#include <ftw.h>
#include <rota/rota.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 10000, BAR = 40 };

typedef struct file {
    char *path;
    unsigned long sum;
} file;

static file files[MOST];
static int count;
static const char bar[BAR + 1] = "########################################";

static int found(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)where;
    if (kind == FTW_F && (count == MOST || (files[count++].path = strdup(path)) == NULL))
        return -1; /* ends the walk: too many, or no memory */
    return 0;
}

static void *checksum(void *arg)
{
    file *mine = arg;
    FILE *stream = fopen(mine->path, "rb");

    if (stream == NULL)
        return rota_fail(errno);
    mine->sum = 0;
    for (int byte; (byte = getc(stream)) != EOF;)
        mine->sum = mine->sum * 31 + (unsigned)byte;
    int error = ferror(stream) ? EIO : 0;
    fclose(stream);
    return error == 0 ? mine : rota_fail(error);
}

int main(int argc, char **argv)
{
    unsigned long sum = 0, again = 0;
    rota_executor *pool;
    rota_completion *results;

    if (nftw(argc > 1 ? argv[1] : "src", found, 20, FTW_PHYS) != 0 || count == 0
        || rota_fixed_pool(rota_cpu_count(), &pool) != ROTA_OK
        || rota_completion_new(pool, &results) != ROTA_OK)
        return 1;
    for (int i = 0; i < count; i++) {
        rota_call call = {.fn = checksum, .arg = &files[i]};
        if (rota_completion_submit(results, &call, NULL) != ROTA_OK)
            return 1;
    }
    for (int done = 1; done <= count; done++) { /* each as it is ready */
        rota_future *next;
        void *result;
        if (rota_completion_take(results, &next) != ROTA_OK)
            return 1;
        if (rota_future_get(next, &result) == ROTA_OK)
            sum += ((file *)result)->sum; /* what cannot be read is left out */
        rota_future_unref(next);
        if (isatty(STDOUT_FILENO) || done == count)
            printf("\r  [%-*.*s] %d of %d", BAR, done * BAR / count, bar, done, count);
        fflush(stdout);
    }
    rota_completion_free(results);
    for (int i = 0; i < count; i++) { /* the same, one after the other */
        again += checksum(&files[i]) != NULL ? files[i].sum : 0;
        free(files[i].path);
    }
    printf(" files, checksum %lx\n", sum);
    return rota_close(pool) == ROTA_OK && sum == again ? 0 : 1;
}
