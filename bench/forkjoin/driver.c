/* SPDX-License-Identifier: MIT */
/*
 * driver.c - measures the fork/join tasks of one library. It answers each line that it reads with
 * one:
 *
 *     SIZE WORK PIECES WORKERS COUNT                32 fib 0 1 3
 *     LIBRARY;SIZE;WORK;PIECES;WORKERS;FIGURE...    rota;32;fib;0;1;2.1e7;2.1e7;1e6
 *
 * The figures are the best time of COUNT and the processor time then, both in ns, and the most
 * memory that was resident, without the input: three with one worker, and three with WORKERS, if
 * these are more. Each is a process of its own. PIECES is for loops: the grain is SIZE divided by
 * it, or the library's choice if it is 0. What the work is stands at its functions below. Every
 * result is checked.
 *
 * The first argument, if any, is the kind that peer_start is told. Jdk.java does the same for Java.
 */
#include "peer.h"

#include <bench/driver.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PATIENCE = 120, REGION = 10, TINY = 1000 };

struct request {
    const char *kind;
    char work[16];
    size_t size, pieces;
    unsigned workers;
    uint64_t count;
};

/* What a run has to do with. */
static struct {
    int64_t value, expected;
    int64_t *numbers;
    int *base, *spare;
    double *a, *b, *c;
    struct loop_data loop;
    uint64_t bytes; /* of all this */
} data;

static void *make(size_t n, size_t size)
{
    void *room = aligned_alloc(64, (n * size + 63) / 64 * 64);

    if (room == NULL)
        fail("no memory");
    memset(room, 0, n * size);
    data.bytes += n * size;
    return room;
}

static void check_value(const struct request *request)
{
    (void)request;
    if (data.value != data.expected)
        fail("a wrong result");
}

static void fill_nothing(const struct request *request)
{
    (void)request;
}

/* -- fib, and region: SIZE calls of a small one ------------------------------------------------ */

static int64_t fib_of(size_t n)
{
    int64_t a = 0;
    int64_t b = 1;

    while (n-- > 0) {
        int64_t sum = a + b;
        a = b;
        b = sum;
    }
    return a;
}

static void make_fib(const struct request *request)
{
    data.expected = fib_of(request->size);
}

static void run_fib(const struct request *request)
{
    data.value = peer_fib((int)request->size);
}

static void make_region(const struct request *request)
{
    data.expected = (int64_t)request->size * fib_of(REGION);
}

static void run_region(const struct request *request)
{
    data.value = 0;
    for (size_t i = 0; i < request->size; i++)
        data.value += peer_fib(REGION);
}

/* -- queens, tree ------------------------------------------------------------------------------ */

static void make_queens(const struct request *request)
{
    static const int64_t ways[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712};

    if (request->size >= sizeof ways / sizeof ways[0])
        fail("too many queens");
    data.expected = ways[request->size];
}

static void run_queens(const struct request *request)
{
    data.value = peer_queens((int)request->size);
}

static void make_tree(const struct request *request)
{
    data.expected = (int64_t)request->size;
}

static void run_tree(const struct request *request)
{
    (void)request;
    data.value = peer_tree();
}

/* -- sum6, sum10k ------------------------------------------------------------------------------ */

static void make_numbers(const struct request *request)
{
    data.numbers = make(request->size, sizeof *data.numbers);
    for (size_t i = 0; i < request->size; i++) {
        data.numbers[i] = (int64_t)(i ^ i >> 3);
        data.expected += data.numbers[i];
    }
}

static void run_sum6(const struct request *request)
{
    data.value = peer_sum(data.numbers, request->size, 6);
}

static void run_sum10k(const struct request *request)
{
    data.value = peer_sum(data.numbers, request->size, 10000);
}

/* -- sort, library ----------------------------------------------------------------------------- */

static void make_ints(const struct request *request)
{
    data.base = make(request->size, sizeof *data.base);
    data.spare = make(request->size, sizeof *data.spare);
}

static void fill_ints(const struct request *request)
{
    uint64_t x = UINT64_C(88172645463325252);

    data.expected = 0;
    for (size_t i = 0; i < request->size; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        data.base[i] = (int)(x >> 33);
        data.expected += data.base[i];
    }
}

static void check_sorted(const struct request *request)
{
    data.value = 0;
    for (size_t i = 0; i < request->size; i++) {
        if (i > 0 && data.base[i - 1] > data.base[i])
            fail("not sorted");
        data.value += data.base[i];
    }
    check_value(request);
}

static void run_sort(const struct request *request)
{
    peer_sort(data.base, data.spare, request->size);
}

static void run_library(const struct request *request)
{
    peer_library_sort(data.base, request->size);
}

/* -- matrix ------------------------------------------------------------------------------------ */

static size_t stride_of(const struct request *request)
{
    return request->size + MATRIX_PAD;
}

static void make_matrices(const struct request *request)
{
    size_t n = request->size;
    size_t stride = stride_of(request);

    data.a = make(n * stride, sizeof *data.a);
    data.b = make(n * stride, sizeof *data.b);
    data.c = make(n * stride, sizeof *data.c);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            data.a[i * stride + j] = (double)((i * 3 + j) % 7) - 3;
            data.b[i * stride + j] = (double)((i + j * 5) % 11) - 5;
        }
}

static void fill_product(const struct request *request)
{
    memset(data.c, 0, request->size * stride_of(request) * sizeof *data.c);
}

static void check_cell(const struct request *request, size_t i, size_t j)
{
    size_t stride = stride_of(request);
    double sum = 0;

    for (size_t k = 0; k < request->size; k++)
        sum += data.a[i * stride + k] * data.b[k * stride + j];
    if (data.c[i * stride + j] < sum || data.c[i * stride + j] > sum) /* whole numbers all */
        fail("a wrong product");
}

static void check_product(const struct request *request)
{
    for (size_t i = 0; i < request->size; i += 97)
        for (size_t j = 0; j < request->size; j += 89)
            check_cell(request, i, j);
}

static void run_matrix(const struct request *request)
{
    peer_matrix(data.c, data.a, data.b, request->size, stride_of(request));
}

/* -- Loops ------------------------------------------------------------------------------------- */

static const struct named_loop {
    const char *name;
    loop_body *body;
} loops[] = {
    {"even", even_loop},     {"skewed", skewed_loop}, {"spiky", spiky_loop}, {"front", front_loop},
    {"coarse", coarse_loop}, {"stream", stream_loop}, {"tiny", even_loop},
};

static loop_body *body_of(const struct request *request)
{
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++)
        if (strcmp(request->work, loops[i].name) == 0)
            return loops[i].body;
    fail("there is no such loop");
    return NULL;
}

/* Of whatever a loop has written. */
static int64_t loop_value(void)
{
    uint64_t value = 0;

    for (size_t i = 0; i < data.loop.n; i++)
        value = value * 31 + (data.loop.out != NULL ? data.loop.out[i] : (uint64_t)data.loop.z[i]);
    return (int64_t)value;
}

static void make_doubles(size_t n)
{
    data.a = make(n, sizeof *data.a);
    data.b = make(n, sizeof *data.b);
    data.c = make(n, sizeof *data.c);
    for (size_t i = 0; i < n; i++)
        data.a[i] = data.b[i] = (double)i;
    data.loop = (struct loop_data){.x = data.a, .y = data.b, .z = data.c, .n = n};
}

static void fill_loop(const struct request *request)
{
    (void)request;
    if (data.loop.out != NULL)
        memset(data.loop.out, 0, data.loop.n * sizeof *data.loop.out);
    else
        memset(data.loop.z, 0, data.loop.n * sizeof *data.loop.z);
}

static void make_loop_of(const struct request *request, size_t n)
{
    loop_body *body = body_of(request);

    if (body == stream_loop)
        make_doubles(n);
    else
        data.loop = (struct loop_data){.out = make(n, sizeof(uint64_t)), .n = n};
    body(0, n, &data.loop);
    data.expected = loop_value();
}

static void make_loop(const struct request *request)
{
    make_loop_of(request, request->size);
}

static void make_tiny(const struct request *request)
{
    make_loop_of(request, TINY);
}

static void check_loop(const struct request *request)
{
    data.value = loop_value();
    check_value(request);
}

static size_t grain_of(const struct request *request)
{
    size_t grain = request->pieces != 0 ? data.loop.n / request->pieces : 0;

    return request->pieces != 0 && grain == 0 ? 1 : grain;
}

static void run_loop(const struct request *request)
{
    peer_loop(request->size, grain_of(request), body_of(request), &data.loop);
}

/* SIZE loops, each over in microseconds. */
static void run_tiny(const struct request *request)
{
    for (size_t i = 0; i < request->size; i++)
        peer_loop(TINY, grain_of(request), even_loop, &data.loop);
}

/* -- Requests ---------------------------------------------------------------------------------- */

static const struct work {
    const char *name;
    void (*make)(const struct request *request);
    void (*fill)(const struct request *request); /* before each run */
    void (*run)(const struct request *request);
    void (*check)(const struct request *request); /* after each */
} works[] = {
    {"fib", make_fib, fill_nothing, run_fib, check_value},
    {"region", make_region, fill_nothing, run_region, check_value},
    {"queens", make_queens, fill_nothing, run_queens, check_value},
    {"tree", make_tree, fill_nothing, run_tree, check_value},
    {"sum6", make_numbers, fill_nothing, run_sum6, check_value},
    {"sum10k", make_numbers, fill_nothing, run_sum10k, check_value},
    {"sort", make_ints, fill_ints, run_sort, check_sorted},
    {"library", make_ints, fill_ints, run_library, check_sorted},
    {"matrix", make_matrices, fill_product, run_matrix, check_product},
    {"even", make_loop, fill_loop, run_loop, check_loop},
    {"skewed", make_loop, fill_loop, run_loop, check_loop},
    {"spiky", make_loop, fill_loop, run_loop, check_loop},
    {"front", make_loop, fill_loop, run_loop, check_loop},
    {"coarse", make_loop, fill_loop, run_loop, check_loop},
    {"stream", make_loop, fill_loop, run_loop, check_loop},
    {"tiny", make_tiny, fill_loop, run_tiny, check_loop},
};

static const struct work *work_of(const struct request *request)
{
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        if (strcmp(request->work, works[i].name) == 0)
            return &works[i];
    fail("there is no such work");
    return NULL;
}

struct times {
    uint64_t ns, cpu;
};

static struct times run_once(const struct work *work, const struct request *request)
{
    work->fill(request);
    uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t begin = now(CLOCK_MONOTONIC);
    work->run(request);
    uint64_t ns = now(CLOCK_MONOTONIC) - begin;
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    work->check(request);
    return (struct times){ns, cpu};
}

static uint64_t most_resident(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void measure(const struct request *request, unsigned workers)
{
    const struct work *work = work_of(request);
    struct times best = {UINT64_MAX, 0};

    work->make(request);
    peer_start(request->kind, workers);
    if (peer_fib(20) != fib_of(20)) /* all threads are there */
        fail("a wrong result");
    for (uint64_t i = 0; i < request->count; i++) {
        struct times times = run_once(work, request);
        best = times.ns < best.ns ? times : best;
    }
    printf(";%" PRIu64 ";%" PRIu64 ";%.0f", best.ns, best.cpu,
           more(most_resident(), data.bytes, 1));
    fflush(stdout);
}

/* In a child, which ends without tidying up. */
static void measure_apart(const struct request *request, unsigned workers)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(PATIENCE);
        measure(request, workers);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("the run has failed");
}

static void answer(const char *program, const struct request *request)
{
    if (request->count == 0 || request->workers == 0)
        fail("the request makes no sense");
    printf("%s%s%s;%zu;%s;%zu;%u", program, *request->kind ? "-" : "", request->kind, request->size,
           request->work, request->pieces, request->workers);
    fflush(stdout);
    measure_apart(request, 1);
    if (request->workers > 1)
        measure_apart(request, request->workers);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct request request = {.kind = argc > 1 ? argv[1] : ""};
    int words;

    while ((words = scanf("%zu %15s %zu %u %" SCNu64, &request.size, request.work, &request.pieces,
                          &request.workers, &request.count))
           == 5)
        answer(name_of(argv[0]), &request);
    if (words != EOF)
        fail("a request is: SIZE WORK PIECES WORKERS COUNT");
    return 0;
}
