/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzz target on the files and folders that are named, without a fuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned inputs;

static void die(const char *path)
{
    perror(path);
    exit(2);
}

static void run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1); /* exactly: a step beyond it is seen */

    if (file == NULL || data == NULL || fread(data, 1, size, file) != size)
        die(path);
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last that is named is the one that failed */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
}

static void run(const char *path);

static void run_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);

    if (count < 0)
        die(path);
    for (int i = 0; i < count; i++) {
        char name[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
            run(name);
        }
        free(entries[i]);
    }
    free(entries);
}

static void run(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        die(path);
    if (S_ISDIR(status.st_mode))
        run_folder(path);
    else
        run_file(path, (size_t)status.st_size);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    printf("%u inputs\n", inputs);
    return inputs == 0;
}
