/* SPDX-License-Identifier: MIT */
/*
 * Fork/join pools and loops when memory or threads run out: callers do the work themselves, and no
 * task is lost. (GEN-10, FJ-31)
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

#include "os/fault.h"

static void refuse_threads(unsigned from, bool onwards)
{
    rota__fault_arm(ROTA__FAULT_THREAD_START, from, onwards);
}

static int disarm(void **state)
{
    refuse_threads(0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    test_memory_fail_at(0, false);
    return 0;
}

static const test_fixture with_faults = {.teardown = disarm};

/* A caller that is no worker for want of memory forks into the common pool, which stays. */
static const test_fixture with_common_pool = {.teardown = disarm, .keeps_memory = true};

/* -- Work --------------------------------------------------------------------------------- */

static void invoke_fib(void *pool)
{
    test_fib_task f = {ROTA_FJ(test_fib), 14, 0};

    test_check(rota_invoke(pool, &f.task) == ROTA_OK);
    test_check(f.value == 377);
}

/* -- Memory: what is made ----------------------------------------------------------------- */

static int make_pool(void *out)
{
    return rota_forkjoin_new(
        &(rota_forkjoin_options){.parallelism = 2, .threads = {.name = "x-%u"}}, out);
}

static int make_stealing(void *out)
{
    return rota_work_stealing_pool(2, out);
}

static void close_made(void *made)
{
    assert_ok(rota_close(*(rota_executor **)made));
}

/* GEN-10: ROTA_ENOMEM from rota_forkjoin_new, rota_work_stealing_pool. */
TEST_WITH(with_faults, a_pool_is_made_or_not)
{
    rota_executor *made = NULL;

    test_every_allocation_fails(make_pool, close_made, &made, ROTA_ENOMEM);
    test_every_allocation_fails(make_stealing, close_made, &made, ROTA_ENOMEM);
}

/* -- Memory: what is submitted ------------------------------------------------------------ */

/* True: there is an n-th allocation. OWN-05, or it runs. */
static bool submit_fails_at(unsigned busy, unsigned n, bool onwards)
{
    rota_executor *pool = test_forkjoin_of(2);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, busy);
    rota__blocks_flush();
    test_memory_fail_at(n, onwards);
    int status = rota_submit_call(pool, &call, &future);
    bool reached = test_memory_asked() >= n;
    test_memory_fail_at(0, false);
    if (status != ROTA_OK) {
        assert_true(status == ROTA_ENOMEM || status == ROTA_EAGAIN);
        assert_ptr_equal(future, TEST_UNTOUCHED);
        assert_int_equal(probe.runs + probe.discards, 0);
        assert_int_equal(test_fj_stats(pool).submissions, 0);
        assert_ok(rota_submit_call(pool, &call, &future));
    }
    test_gate_open(&gate);
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 1);
    return reached;
}

/* GEN-10, FAULT-19 */
TEST_WITH(with_faults, a_task_is_taken_or_not)
{
    for (unsigned busy = 0; busy <= 2; busy++) {
        for (int onwards = 0; onwards < 2; onwards++) {
            unsigned n = 1;
            while (submit_fails_at(busy, n, onwards == 1) && n < 50)
                n++;
            assert_in_range(n, 2, 49);
        }
    }
}

/* -- Memory: what is forked --------------------------------------------------------------- */

enum { MANY = 20000 };

struct leaf {
    rota_fj task; /* first */
    unsigned runs;
};

static struct leaf leaves[MANY];

static void be_leaf(rota_fj *task)
{
    ((struct leaf *)task)->runs++;
}

/* How many ran at once, as there was no room. */
static unsigned fork_leaves(void)
{
    unsigned ran = 0;

    for (int i = 0; i < MANY; i++) {
        leaves[i] = (struct leaf){.task = ROTA_FJ(be_leaf)};
        rota_fork(&leaves[i].task);
        ran += leaves[i].runs;
    }
    return ran;
}

static void join_leaves(void)
{
    for (int i = MANY; i-- > 0;) {
        test_check(rota_join(&leaves[i].task) == ROTA_OK);
        test_check(leaves[i].runs == 1);
    }
}

static void fork_without_memory(void *pool)
{
    rota__blocks_flush();
    test_memory_fail_at(1, true);
    unsigned ran = fork_leaves();
    test_check(ran > 0 && ran < MANY);
    test_check(test_fj_stats(pool).queued == MANY - ran);
    test_memory_fail_at(0, false);
    join_leaves();
    test_check(fork_leaves() == 0); /* now there is */
    join_leaves();
}

/* FJ-09, FAULT-41: a fork that cannot be queued runs here and now. */
TEST_WITH(with_faults, a_fork_without_room_runs_at_once)
{
    rota_executor *pool = test_forkjoin_of(1);

    test_fj_inside(pool, fork_without_memory, pool);
    assert_ok(rota_close(pool));
}

static atomic_uint submitted;

static void submit_without_room(void *pool)
{
    unsigned accepted = 0;
    int status = ROTA_OK;

    for (int i = 0; i < 3000; i++) { /* memory for the task, none for the deque, or the reverse */
        test_memory_fail_at(i % 2 == 0 ? 1 : 2, true);
        status = rota_execute(pool, test_count, &submitted);
        test_memory_fail_at(0, false);
        test_check(status == ROTA_OK || status == ROTA_ENOMEM);
        accepted += status == ROTA_OK;
    }
    test_check(rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK);
    test_check(atomic_load(&submitted) == accepted);
    test_check(accepted > 0 && accepted < 3000);
}

TEST_WITH(with_faults, a_worker_without_memory_is_told)
{
    rota_executor *pool = test_forkjoin_of(1);

    atomic_store(&submitted, 0);
    test_fj_inside(pool, submit_without_room, pool);
    assert_ok(rota_close(pool));
}

/* -- Memory: the end ---------------------------------------------------------------------- */

enum { QUEUED = 5 };

static rota_executor *busy_pool(test_gate *gate, test_probe *probe)
{
    rota_executor *pool = test_forkjoin_of(1);

    test_fill(pool, gate, probe, QUEUED);
    return pool;
}

/* FAULT-20 */
TEST_WITH(with_faults, to_look_at_a_pool_and_to_end_it_needs_no_memory)
{
    test_probe probe = {.error = 0};
    test_gate gate;
    rota_executor *pool = busy_pool(&gate, &probe);
    char line[200];

    test_memory_fail_at(1, true);
    assert_int_equal(test_fj_stats(pool).submissions, QUEUED);
    assert_true(rota_executor_describe(pool, line, sizeof line) > 0);
    assert_status(rota_await_quiescence(pool, 1), ROTA_ETIMEDOUT);
    assert_ok(rota_shutdown(pool));
    assert_status(rota_await_termination(pool, 1), ROTA_ETIMEDOUT);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_int_equal(probe.runs, QUEUED);
}

/* FJ-27: "they are where they were", and run. */
TEST_WITH(with_faults, what_cannot_be_handed_over_stays)
{
    rota_executor *pool = test_forkjoin_of(1);
    rota_task_list list = {NULL, 77};
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < QUEUED; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    rota__blocks_flush();
    test_memory_fail_at(1, true);
    assert_status(rota_forkjoin_drain_tasks(pool, &list), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_int_equal(list.count, 77);
    assert_int_equal(test_fj_stats(pool).submissions, QUEUED);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, QUEUED);
}

TEST_WITH(with_faults, to_stop_a_pool_needs_no_memory)
{
    test_probe probe = {.error = 0};
    rota_task_list list = {NULL, 77};
    test_gate gate;
    rota_executor *pool = busy_pool(&gate, &probe);

    test_memory_fail_at(1, true);
    assert_ok(rota_shutdown_now(pool, &list));
    assert_int_equal(list.count, 0);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_int_equal(probe.discards, QUEUED);
    assert_int_equal(probe.runs, 0);
}

struct litter {
    rota_executor *pool;
    atomic_uint runs;
};

static void drain_own_without_memory(void *arg)
{
    struct litter *litter = arg;
    rota_task_list list = {NULL, 77};

    for (int i = 0; i < QUEUED; i++)
        test_check(rota_execute(litter->pool, test_count, &litter->runs) == ROTA_OK);
    test_memory_fail_at(1, true);
    test_check(rota_forkjoin_drain_tasks(litter->pool, &list) == ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    test_check(list.count == 77 && atomic_load(&litter->runs) == 0);
    test_check(test_fj_stats(litter->pool).submissions == QUEUED);
    test_check(rota_await_quiescence(litter->pool, ROTA_FOREVER) == ROTA_OK);
    test_check(atomic_load(&litter->runs) == QUEUED);
}

/* FJ-27; header: "they are where they were, or in the line of those from outside". */
TEST_WITH(with_faults, without_memory_tasks_of_a_deque_are_not_lost)
{
    struct litter litter = {.pool = test_forkjoin_of(1)};

    test_fj_inside(litter.pool, drain_own_without_memory, &litter);
    assert_ok(rota_close(litter.pool));
}

/* -- Threads ------------------------------------------------------------------------------ */

/* FJ-35, FAULT-21 */
TEST_WITH(with_faults, without_a_first_thread_no_task_is_taken)
{
    rota_executor *pool = test_forkjoin_of(2);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    refuse_threads(1, true);
    assert_status(rota_submit_call(pool, &call, &future), ROTA_EAGAIN);
    assert_status(rota_execute(pool, call.fn, &probe), ROTA_EAGAIN);
    invoke_fib(pool);
    assert_int_equal(test_fj_stats(pool).threads + test_fj_stats(pool).submissions, 0);
    refuse_threads(0, false);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_ok(rota_submit_call(pool, &call, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
}

/* GEN-10, FJ-15: a worker that has left comes again, or stays as it was when its thread is refused. */
TEST_WITH(with_faults, a_place_whose_thread_is_refused_can_be_taken_later)
{
    rota_executor *pool =
        test_forkjoin((rota_forkjoin_options){.parallelism = 1, .max_threads = 1, .keep_alive = 1});
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 3; i++) {
        assert_ok(rota_execute(pool, test_count, &runs));
        test_await_count(&runs, i);
        test_fj_await_threads(pool, 0);
        refuse_threads(1, true);
        assert_status(rota_execute(pool, test_count, &runs), ROTA_EAGAIN);
        refuse_threads(0, false);
    }
    assert_ok(rota_close(pool));
}

TEST_WITH(with_faults, a_pool_whose_threads_could_not_be_made_can_be_shut_down)
{
    rota_executor *pool = test_forkjoin_of(2);
    atomic_uint runs = 0;

    refuse_threads(1, true);
    assert_status(rota_execute(pool, test_count, &runs), ROTA_EAGAIN);
    assert_ok(rota_shutdown(pool));
    assert_true(rota_is_terminated(pool));
    assert_ok(rota_executor_free(pool));
}

/*
 * FAULT-20: who cannot be woken, as the end of its thread cannot be watched for, does not sleep;
 * nor does it hold up the end of the pool.
 */
TEST_WITH(with_faults, a_pool_whose_workers_cannot_sleep_can_be_closed)
{
    rota_executor *pool = test_forkjoin_of(2);
    atomic_uint runs = 0;

    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    for (int i = 0; i < 3; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    assert_int_equal(runs, 3);
}

/* Once, at any place. */
TEST_WITH(with_faults, whichever_thread_is_refused_no_task_is_lost)
{
    for (unsigned n = 1; n <= 6; n++) {
        rota_executor *pool = test_forkjoin_of(4);
        unsigned accepted = 0;
        atomic_uint runs = 0;

        refuse_threads(n, n % 2 == 0);
        for (int i = 0; i < 50; i++)
            accepted += rota_execute(pool, test_count, &runs) == ROTA_OK;
        invoke_fib(pool);
        refuse_threads(0, false);
        assert_ok(rota_close(pool));
        assert_true(accepted > 0);
        assert_int_equal(runs, accepted);
    }
}

/* -- Tasks that were left to a caller who takes part -------------------------------------- */

enum { LEFT = 20 };

/* Takes part until so many wait for it to go on. */
struct leaver {
    rota_executor *pool;
    size_t waiting;
    atomic_uint begun;
    bool has_gone;
};

static void wait_inside(void *arg)
{
    struct leaver *leaver = arg;

    atomic_store(&leaver->begun, 1);
    test_fj_await_submissions(leaver->pool, leaver->waiting);
}

static void take_part_and_leave(void *arg)
{
    struct leaver *leaver = arg;

    test_fj_taking_part(leaver->pool, wait_inside, leaver);
    leaver->has_gone = true;
}

/* FAULT-22: of two callers one waits for the other; who leaves can make no worker in its place. */
TEST_WITH(with_faults, who_leaves_runs_what_others_wait_for)
{
    struct leaver leaver = {.pool = test_forkjoin_of(1), .waiting = 1};

    refuse_threads(1, true);
    test_thread *thread = test_thread_start(take_part_and_leave, &leaver);
    test_await_count(&leaver.begun, 1);
    invoke_fib(leaver.pool);
    test_thread_join(thread);
    refuse_threads(0, false);
    assert_ok(rota_close(leaver.pool));
}

TEST_WITH(with_faults, who_leaves_runs_what_was_submitted)
{
    struct leaver leaver = {.pool = test_forkjoin_of(1), .waiting = LEFT};
    atomic_uint runs = 0;

    refuse_threads(1, true);
    test_thread *thread = test_thread_start(take_part_and_leave, &leaver);
    test_await_count(&leaver.begun, 1);
    for (int i = 0; i < LEFT; i++)
        assert_ok(rota_execute(leaver.pool, test_count, &runs));
    test_thread_join(thread);
    assert_int_equal(runs, LEFT);
    assert_true(leaver.has_gone);
    refuse_threads(0, false);
    assert_ok(rota_close(leaver.pool));
}

static void block_refused(void *pool)
{
    refuse_threads(1, true);
    test_check(rota_block_begin() == ROTA_EAGAIN);
    refuse_threads(0, false);
    test_check(test_fj_stats(pool).running == 1);
    test_check(rota_block_begin() == ROTA_OK);
    rota_block_end();
}

/* FJ-19 */
TEST_WITH(with_faults, without_a_thread_nobody_stands_in)
{
    rota_executor *pool = test_forkjoin_of(1);

    test_fj_inside(pool, block_refused, pool);
    assert_ok(rota_close(pool));
}

/* -- A thread whose end cannot be watched for --------------------------------------------- */

static void await_unwatched(void *pool)
{
    test_check(rota_await_quiescence(pool, 0) == ROTA_ETIMEDOUT);
    test_check(rota_await_quiescence(pool, ROTA_HOURS(1)) == ROTA_ENOMEM);
    test_check(rota_await_termination(pool, -1) == ROTA_ETIMEDOUT);
    test_check(rota_await_termination(pool, ROTA_HOURS(1)) == ROTA_ENOMEM);
    test_check(rota_close(pool) == ROTA_ENOMEM);
    test_check(rota_close_within(pool, ROTA_HOURS(1), NULL) == ROTA_ENOMEM);
}

/* GEN-10, GEN-04: it can do all but wait, and look once. */
TEST_WITH(with_faults, who_cannot_wait_is_told)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread_join(test_thread_start(await_unwatched, pool));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* -- The common pool ---------------------------------------------------------------------- */

static void add(size_t begin, size_t end, void *sum)
{
    atomic_fetch_add((atomic_size_t *)sum, end - begin);
}

static void never_map(const void *in, void *out, void *ctx)
{
    test_die(__FILE__, __LINE__, "there is no pool");
}

static void never_init(void *acc, void *ctx)
{
}

static void never_fold(void *acc, size_t begin, size_t end, void *ctx)
{
    test_die(__FILE__, __LINE__, "there is no pool");
}

static void never_join(void *acc, const void *right, void *ctx)
{
    test_die(__FILE__, __LINE__, "there is no pool");
}

static int never_compare(const void *a, const void *b, void *ctx)
{
    test_die(__FILE__, __LINE__, "there is no pool");
}

/* It is not made before, nor here. */
TEST_WITH(with_faults, without_memory_there_is_no_common_pool_and_forks_run_at_once)
{
    const rota_reduction never = {1, never_init, never_fold, never_join};
    struct leaf leaf = {.task = ROTA_FJ(be_leaf)};
    char in[9] = {0};
    atomic_size_t sum = 0;

    test_memory_fail_at(1, true);
    assert_null(rota_common_pool());
    rota_fork(&leaf.task);
    assert_int_equal(leaf.runs, 1);
    assert_ok(rota_join(&leaf.task));
    assert_status(rota_parallel_for(NULL, 0, 9, 0, add, &sum), ROTA_ENOMEM);
    assert_status(rota_parallel_map(NULL, in, 1, in, 1, 9, never_map, NULL), ROTA_ENOMEM);
    assert_status(rota_parallel_reduce(NULL, 0, 9, 0, &never, NULL, in), ROTA_ENOMEM);
    assert_status(rota_parallel_sort(NULL, in, 9, 1, never_compare, NULL), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_int_equal(sum, 0);
}

/* -- Memory: what is invoked -------------------------------------------------------------- */

/* True: there is an n-th allocation. */
static bool invoke_fails_at(unsigned n, bool onwards)
{
    rota_executor *pool = test_forkjoin_of(2);

    rota__blocks_flush();
    test_memory_fail_at(n, onwards);
    invoke_fib(pool);
    bool reached = test_memory_asked() >= n;
    test_memory_fail_at(0, false);
    invoke_fib(pool);
    test_fj_inside(pool, invoke_fib, pool);
    assert_ok(rota_close(pool));
    return reached;
}

/* FJ-35 */
TEST_WITH(with_common_pool, an_invocation_needs_no_memory)
{
    for (int onwards = 0; onwards < 2; onwards++) {
        for (unsigned n = 1; n <= 6; n++)
            assert_true(invoke_fails_at(n, onwards == 1) || n > 1);
    }
}

/* -- Loops -------------------------------------------------------------------------------- */

enum { LENGTH = 3000 };

static void zero(void *acc, void *ctx)
{
    *(size_t *)acc = 0;
}

static void fold(void *acc, size_t begin, size_t end, void *ctx)
{
    *(size_t *)acc += end - begin;
}

static void join(void *acc, const void *right, void *ctx)
{
    *(size_t *)acc += *(const size_t *)right;
}

static int by_number(const void *a, const void *b, void *ctx)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void sort_with_faults(rota_executor *pool, bool may_fail)
{
    int numbers[LENGTH];
    int status;

    for (int i = 0; i < LENGTH; i++)
        numbers[i] = (i * 7919) % LENGTH;
    status = rota_parallel_sort(pool, numbers, LENGTH, sizeof numbers[0], by_number, NULL);
    assert_true(status == ROTA_OK || (may_fail && status == ROTA_ENOMEM));
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(numbers[i], status == ROTA_OK ? i : (i * 7919) % LENGTH);
}

static void loop_with_faults(rota_executor *pool)
{
    const rota_reduction reduction = {sizeof(size_t), zero, fold, join};
    atomic_size_t sum = 0;
    size_t result = 77;

    assert_ok(rota_parallel_for(pool, 0, LENGTH, 1, add, &sum));
    assert_int_equal(sum, LENGTH);
    assert_ok(rota_parallel_reduce(pool, 0, LENGTH, 1, &reduction, NULL, &result));
    assert_int_equal(result, LENGTH);
}

/* PAR-05, FJ-35 */
TEST_WITH(with_common_pool, loops_go_on_without_memory_and_threads)
{
    for (unsigned n = 1; n <= 8; n++) {
        rota_executor *pool = test_forkjoin_of(3);
        test_memory_fail_at(n, n % 2 == 0);
        loop_with_faults(pool);
        sort_with_faults(pool, true);
        test_memory_fail_at(0, false);
        refuse_threads(n, n % 2 == 0);
        loop_with_faults(pool);
        sort_with_faults(pool, false);
        refuse_threads(0, false);
        assert_ok(rota_close(pool));
    }
}
