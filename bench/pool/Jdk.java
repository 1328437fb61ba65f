// SPDX-License-Identifier: MIT
// Jdk.java - the JDK's ThreadPoolExecutor, measured as driver.c does it, on a queue: linked, array

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

final class Jdk extends Bench {
    static final class Request {
        String kind, bound, mode;
        boolean futures;
        int producers, workers;
        long count;
    }

    // -- Tasks, and who counts them ---------------------------------------------------------------

    /** A thread that counts what it runs, in a place that shares no cache line with others. */
    static final class Worker extends Thread {
        static final int COUNT = 32;
        static final int SUM = 33; // of the numbers of the tasks
        final AtomicLongArray counters = new AtomicLongArray(64);

        Worker(Runnable run) {
            super(run);
            setDaemon(true);
        }

        void ran(int number) {
            counters.setPlain(SUM, counters.getPlain(SUM) + number);
            counters.setRelease(COUNT, counters.getPlain(COUNT) + 1);
        }
    }

    static final class Task implements Runnable, Callable<Integer> {
        final int number;
        final long busy; // ns

        Task(int number, long busy) {
            this.number = number;
            this.busy = busy;
        }

        @Override
        public void run() {
            if (busy > 0) {
                long begin = System.nanoTime();
                while (System.nanoTime() - begin < busy)
                    continue;
            }
            ((Worker) Thread.currentThread()).ran(number);
        }

        @Override
        public Integer call() {
            run();
            return number;
        }
    }

    /** As many as there are arguments in driver.c: none is allocated while it is measured. */
    static Task[] tasks(long busy) {
        Task[] tasks = new Task[64];
        for (int i = 0; i < tasks.length; i++)
            tasks[i] = new Task(i + 1, busy);
        return tasks;
    }

    static final Task[] EMPTY = tasks(0);
    static final Task[] WORK = tasks(US);

    static Task task(Task[] tasks, long i) {
        return tasks[(int) (i % tasks.length)];
    }

    static long numbers(long count) {
        long sum = 0;
        for (long i = 0; i < count; i++)
            sum += i % EMPTY.length + 1;
        return sum;
    }

    // -- Pools ------------------------------------------------------------------------------------

    static final class Pool extends ThreadPoolExecutor {
        final List<Worker> workers; // changed only by the thread that makes the pool

        Pool(int threads, BlockingQueue<Runnable> queue, List<Worker> workers) {
            super(threads, threads, 60, TimeUnit.SECONDS, queue, run -> {
                Worker worker = new Worker(run);
                workers.add(worker);
                return worker;
            }, Pool::waitForRoom);
            this.workers = workers;
            prestartAllCoreThreads();
        }

        static void waitForRoom(Runnable run, ThreadPoolExecutor pool) {
            try {
                pool.getQueue().put(run);
            } catch (InterruptedException e) {
                throw new RejectedExecutionException(e);
            }
        }

        long counted(int what) {
            long all = 0;
            for (Worker worker : workers)
                all += worker.counters.getAcquire(what);
            return all;
        }

        /** Until as many tasks as that have run, from the beginning on. */
        void awaitTasks(long count, long sum) {
            while (counted(Worker.COUNT) < count)
                sleepFor(150 * US);
            if (counted(Worker.COUNT) != count || counted(Worker.SUM) != sum)
                fail("other tasks have run than were submitted");
        }

        void end() throws InterruptedException {
            shutdown();
            if (!awaitTermination(1, TimeUnit.MINUTES))
                fail("the pool does not end");
        }
    }

    static BlockingQueue<Runnable> makeQueue(Request request) {
        boolean bounded = !request.bound.equals("unbounded");
        switch (request.kind + (bounded ? " bounded" : " unbounded")) {
        case "array bounded":
            return new ArrayBlockingQueue<>(Integer.parseInt(request.bound));
        case "linked bounded":
            return new LinkedBlockingQueue<>(Integer.parseInt(request.bound));
        case "linked unbounded":
            return new LinkedBlockingQueue<>();
        default:
            throw new IllegalArgumentException("there is no such pool");
        }
    }

    static Pool make(Request request) {
        return new Pool(request.workers, makeQueue(request), new ArrayList<>());
    }

    /** How many tasks a pool that makeWarm has made has run already. */
    static long warm(Request request) {
        return 200L * request.workers;
    }

    static Pool makeWarm(Request request) {
        Pool pool = make(request);
        for (long i = 0; i < warm(request); i++)
            pool.execute(task(EMPTY, i));
        pool.awaitTasks(warm(request), numbers(warm(request)));
        return pool;
    }

    /** Returns when all threads of the pool have run a task at the same time. */
    static void letAllMeet(Pool pool, int workers) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(workers + 1);
        for (int i = 0; i < workers; i++)
            pool.execute(() -> {
                try {
                    barrier.await();
                } catch (Exception e) {
                    fail(e.toString());
                }
            });
        barrier.await();
    }

    // -- Throughput -------------------------------------------------------------------------------

    static final class Producer extends Thread {
        final CyclicBarrier start;
        final Pool pool;
        final Task[] tasks;
        final long count;
        final Future<?>[] futures; // room for them; null: tasks without
        long begin, sum; // the results; the sum is that of the futures

        Producer(CyclicBarrier start, Pool pool, Task[] tasks, long count, boolean futures) {
            this.start = start;
            this.pool = pool;
            this.tasks = tasks;
            this.count = count;
            this.futures = futures ? new Future<?>[(int) count] : null;
        }

        void executeAll() {
            for (long i = 0; i < count; i++)
                pool.execute(task(tasks, i));
        }

        void submitAll() {
            for (int i = 0; i < count; i++)
                futures[i] = pool.submit((Callable<Integer>) task(tasks, i));
        }

        void getAll() throws Exception {
            for (int i = 0; i < count; i++)
                sum += (Integer) futures[i].get();
        }

        @Override
        public void run() {
            try {
                start.await();
                begin = System.nanoTime();
                if (futures != null) {
                    submitAll();
                    getAll();
                } else {
                    executeAll();
                }
            } catch (Exception e) {
                fail(e.toString());
            }
        }

        void check() {
            if (futures != null && sum != numbers(count))
                fail("a future has the wrong result");
        }
    }

    static void measureTasks(Request request, Task[] tasks) throws Exception {
        Producer[] producers = new Producer[request.producers];
        CyclicBarrier start = new CyclicBarrier(producers.length);
        Pool pool = makeWarm(request);
        long each = request.count / producers.length;
        long count = warm(request) + request.count;
        long sum = numbers(warm(request)) + producers.length * numbers(each);
        for (int i = 0; i < producers.length; i++)
            producers[i] = new Producer(start, pool, tasks, each, request.futures);

        long cpu = SYSTEM.getProcessCpuTime();
        long begin = Long.MAX_VALUE;
        for (Producer producer : producers)
            producer.start();
        for (Producer producer : producers) {
            producer.join();
            begin = Math.min(begin, producer.begin);
        }
        pool.awaitTasks(count, sum);
        long ns = System.nanoTime() - begin;
        cpu = SYSTEM.getProcessCpuTime() - cpu;

        for (Producer producer : producers)
            producer.check();
        pool.end();
        print(";%.2f;%.2f", (double) ns / request.count, (double) cpu / request.count);
    }

    // -- One task at a time -----------------------------------------------------------------------

    static void measureTrip(Request request) throws Exception {
        Pool pool = makeWarm(request);
        long[] times = new long[(int) request.count];
        long begin = System.nanoTime();
        for (int i = 0; i < times.length; i++) {
            Task task = task(EMPTY, i);
            if (pool.submit((Callable<Integer>) task).get() != task.number)
                fail("a future has the wrong result");
            long end = System.nanoTime();
            times[i] = end - begin;
            begin = end;
        }
        pool.awaitTasks(warm(request) + times.length,
                numbers(warm(request)) + numbers(times.length));
        pool.end();
        double mean = Arrays.stream(times).average().orElseThrow();
        Arrays.sort(times);
        print(";%.2f;%d;%d;%d", mean, times[times.length / 2], times[times.length * 99 / 100],
                times[(int) (times.length * 999L / 1000)]);
    }

    static void measureWake(Request request) throws Exception {
        Pool pool = makeWarm(request);
        AtomicLong started = new AtomicLong();
        Runnable stamp = () -> started.set(System.nanoTime());
        sleepFor(10 * MS);
        for (long i = 0; i < request.count; i++) {
            started.set(0);
            long begin = System.nanoTime();
            pool.execute(stamp);
            do {
                sleepFor(10 * MS); // also for the next one
            } while (started.get() == 0);
            print(";%d", started.get() - begin);
        }
        pool.end();
    }

    // -- A pool that has little to do -------------------------------------------------------------

    static void measureLife(Request request) throws Exception {
        long begin = System.nanoTime();
        for (long i = 0; i < request.count; i++) {
            Pool pool = make(request);
            letAllMeet(pool, request.workers);
            pool.end();
        }
        print(";%.0f", (double) (System.nanoTime() - begin) / request.count);
    }

    static void measureIdle(Request request) throws Exception {
        Pool pool = makeWarm(request);
        letAllMeet(pool, request.workers);
        cpuOfOthers(); // loads what it needs
        sleepFor(100 * MS);
        long before = cpuOfOthers();
        sleepFor(request.count * MS);
        long after = cpuOfOthers();
        pool.end();
        print(";%.0f", Math.max(0.0, (after - before) * 1000.0 / request.count));
    }

    static void measureRate(Request request) throws Exception {
        Pool pool = makeWarm(request);
        long before = cpuOfOthers() + ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        long begin = System.nanoTime();
        for (long i = 0; i < request.count; i++) {
            sleepUntil(begin + i * MS);
            pool.execute(task(EMPTY, i));
        }
        pool.awaitTasks(warm(request) + request.count,
                numbers(warm(request)) + numbers(request.count));
        long after = cpuOfOthers() + ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        pool.end();
        print(";%.0f", (double) (after - before) / request.count);
    }

    // -- Memory -----------------------------------------------------------------------------------

    static void measureBytes(Request request) throws Exception {
        Pool pool = makeWarm(request);
        CountDownLatch gate = new CountDownLatch(1);
        Producer producer = new Producer(null, pool, EMPTY, request.count, request.futures);
        for (int i = 0; i < request.workers; i++)
            pool.execute(() -> {
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    fail(e.toString());
                }
            });
        sleepFor(10 * MS); // until all are held
        long before = used();
        if (request.futures)
            producer.submitAll();
        else
            producer.executeAll();
        print(";%.1f", (double) (used() - before) / request.count);

        gate.countDown();
        if (request.futures)
            producer.getAll();
        pool.awaitTasks(warm(request) + request.count,
                numbers(warm(request)) + numbers(request.count));
        producer.check();
        pool.end();
    }

    // -- Requests ---------------------------------------------------------------------------------

    static void measure(Request request) throws Exception {
        switch (request.mode) {
        case "empty":
            measureTasks(request, EMPTY);
            break;
        case "work":
            measureTasks(request, WORK);
            break;
        case "trip":
            measureTrip(request);
            break;
        case "wake":
            measureWake(request);
            break;
        case "life":
            measureLife(request);
            break;
        case "idle":
            measureIdle(request);
            break;
        case "rate":
            measureRate(request);
            break;
        case "bytes":
            measureBytes(request);
            break;
        default:
            throw new IllegalArgumentException("the request makes no sense");
        }
    }

    public static void main(String[] args) throws Exception {
        Request request = new Request();
        request.kind = args[0];
        request.futures = args.length > 1 && args[1].equals("futures");
        Scanner in = new Scanner(System.in);
        while (in.hasNext()) {
            request.bound = in.next();
            request.mode = in.next();
            request.producers = in.nextInt();
            request.workers = in.nextInt();
            request.count = in.nextLong();
            print("jdk-%s%s;%s;%s;%d;%d", request.kind, request.futures ? "-futures" : "",
                    request.bound, request.mode, request.producers, request.workers);
            measure(request);
            print("%n");
        }
    }
}
