// SPDX-License-Identifier: MIT
// Jdk.java - the JDK's ScheduledThreadPoolExecutor, measured as driver.c does it

import java.util.Arrays;
import java.util.Locale;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

final class Jdk extends Bench {
    static final long HOUR = 3600 * 1000 * MS;
    static final int MOST_AGAIN = 200_000; // both as in driver.c
    static final long NS_TO_SCHEDULE = 400;

    static final class Request {
        String mode;
        int pending, producers, workers;
        long count;
    }

    static long state = 88172645463325252L;

    static long chance(long below) {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        return Long.remainderUnsigned(state, below);
    }

    static long farAway() {
        return HOUR + chance(HOUR);
    }

    // -- A pool, and the futures of its timers ----------------------------------------------------

    /** Counts the timers that run, with one worker. */
    static final class Counter implements Runnable {
        final long expected;
        long end; // when the last had run
        volatile long count;

        Counter(long expected) {
            this.expected = expected;
        }

        @Override
        @SuppressWarnings("NonAtomicOperationOnVolatileField")
        public void run() {
            long number = count + 1;
            if (number == expected)
                end = System.nanoTime();
            count = number;
        }
    }

    static final class Timers {
        final ScheduledThreadPoolExecutor pool;
        final ScheduledFuture<?>[] futures;
        final Counter counter;
        CountDownLatch gate;

        Timers(Request request, long expected) {
            pool = new ScheduledThreadPoolExecutor(request.workers);
            pool.setRemoveOnCancelPolicy(true);
            pool.prestartAllCoreThreads();
            futures = new ScheduledFuture<?>[request.pending];
            counter = new Counter(expected);
        }

        void schedule(int id, long delay) {
            futures[id] = pool.schedule(counter, delay, TimeUnit.NANOSECONDS);
        }

        void cancel(int id) {
            if (!futures[id].cancel(false))
                fail("a timer has run too early");
        }

        void fill() {
            for (int id = 0; id < futures.length; id++)
                schedule(id, farAway());
        }

        void scheduleAnew(int times) {
            for (int i = 0; i < times; i++) {
                int id = (int) chance(futures.length);
                cancel(id);
                schedule(id, farAway());
            }
        }

        void hold() throws InterruptedException {
            CountDownLatch held = new CountDownLatch(1);
            gate = new CountDownLatch(1);
            pool.execute(() -> {
                held.countDown();
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    fail(e.toString());
                }
            });
            held.await();
        }

        void end() throws InterruptedException {
            pool.getQueue().clear(); // else they leave one by one
            pool.shutdownNow();
            if (!pool.awaitTermination(1, TimeUnit.MINUTES))
                fail("the pool does not end");
        }
    }

    static String figures(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    // -- What it costs ----------------------------------------------------------------------------

    static String measureFill(Request request) throws Exception {
        int again = Math.min(request.pending, MOST_AGAIN);
        long filled = 0;
        long changed = 0;
        for (long i = 0; i < request.count; i++) {
            Timers timers = new Timers(request, -1);
            long begin = System.nanoTime();
            timers.fill();
            long middle = System.nanoTime();
            timers.scheduleAnew(again);
            filled += middle - begin;
            changed += System.nanoTime() - middle;
            timers.end();
        }
        return figures(";%.2f;%.2f", (double) filled / ((double) request.pending * request.count),
                (double) changed / ((double) again * request.count));
    }

    static void scheduleSoon(Timers timers, int count) {
        long span = MS + count * NS_TO_SCHEDULE;
        long begin = System.nanoTime() + span;
        for (int id = 0; id < count; id++)
            timers.schedule(id, begin + chance(span) - System.nanoTime());
        sleepUntil(begin + span + 2 * MS);
    }

    static long expire(Timers timers, int due) {
        long begin = System.nanoTime();
        timers.gate.countDown();
        while (timers.counter.count < due)
            sleepFor(MS);
        if (timers.counter.count != due)
            fail("other timers have run than were due");
        return timers.counter.end - begin;
    }

    static String measureExpire(Request request) throws Exception {
        int due = request.pending;
        long ns = 0;
        for (long i = 0; i < request.count; i++) {
            Timers timers = new Timers(request, due);
            timers.hold();
            scheduleSoon(timers, due);
            ns += expire(timers, due);
            timers.end();
        }
        return figures(";%.2f", (double) ns / ((double) due * request.count));
    }

    static String measureBytes(Request request) throws Exception {
        Timers timers = new Timers(request, -1);
        long before = used();
        timers.fill();
        long after = used();
        timers.end();
        return figures(";%.1f", (double) (after - before) / request.pending);
    }

    // -- Over time --------------------------------------------------------------------------------

    /** Lets them run for so long; returns the processor time of a second. */
    static double runFor(long ns) throws Exception {
        long begin = System.nanoTime();
        long before = cpuOfOthers();
        sleepUntil(begin + ns);
        return (cpuOfOthers() - before) * 1e9 / (System.nanoTime() - begin);
    }

    static String measureIdle(Request request) throws Exception {
        Timers timers = new Timers(request, -1);
        timers.fill();
        System.gc(); // now, not while it is idle
        runFor(300 * MS); // what is still to be done afterwards
        double cpu = runFor(request.count * MS);
        timers.end();
        return figures(";%.0f", Math.max(0.0, cpu));
    }

    /** A timer at a fixed rate: its runs do not overlap. */
    static final class Beat implements Runnable {
        final long period;
        final long[] late; // by run
        long next;
        int runs;

        Beat(long period, long delay, long ns) {
            this.period = period;
            late = new long[(int) (2 * ns / period + 100)];
            next = System.nanoTime() + delay;
        }

        @Override
        public void run() {
            long time = System.nanoTime();
            if (runs < late.length)
                late[runs++] = Math.max(0, time - next);
            next += period;
        }
    }

    static Beat startBeat(Timers timers, int id, long ns) {
        long period = (id % 10 + 1) * MS;
        long delay = 50 * MS + chance(period);
        Beat beat = new Beat(period, delay, ns);
        timers.futures[id] =
                timers.pool.scheduleAtFixedRate(beat, delay, period, TimeUnit.NANOSECONDS);
        return beat;
    }

    static String measureBeat(Request request) throws Exception {
        Timers timers = new Timers(request, -1);
        long ns = request.count * MS;
        Beat[] beats = new Beat[request.pending];
        for (int id = 0; id < beats.length; id++)
            beats[id] = startBeat(timers, id, ns);
        double cpu = runFor(ns);
        timers.end();
        long[] late = Arrays.stream(beats)
                              .flatMapToLong(beat -> Arrays.stream(beat.late, 0, beat.runs))
                              .sorted()
                              .toArray();
        return figures(";%d;%d;%d;%.0f;%.0f", late[late.length / 2],
                late[(int) (late.length * 99L / 100)], late[late.length - 1], cpu,
                late.length * 1e9 / ns);
    }

    // -- Requests ---------------------------------------------------------------------------------

    static String measure(Request request) throws Exception {
        switch (request.mode) {
        case "fill":
            return measureFill(request);
        case "expire":
            return measureExpire(request);
        case "bytes":
            return measureBytes(request);
        case "idle":
            return measureIdle(request);
        case "beat":
            return measureBeat(request);
        default:
            throw new IllegalArgumentException("the request makes no sense");
        }
    }

    static Request request(int pending, String mode, int producers, int workers, long count) {
        Request request = new Request();
        request.pending = pending;
        request.mode = mode;
        request.producers = producers;
        request.workers = workers;
        request.count = count;
        return request;
    }

    /** Java compiles meanwhile. */
    static void warmUp() throws Exception {
        measure(request(1000, "fill", 1, 1, 100));
        measure(request(1000, "expire", 1, 1, 100));
        measure(request(1000, "beat", 1, 2, 500));
    }

    public static void main(String[] args) throws Exception {
        Scanner in = new Scanner(System.in);
        warmUp();
        while (in.hasNext()) {
            Request request =
                    request(in.nextInt(), in.next(), in.nextInt(), in.nextInt(), in.nextLong());
            print("jdk;%d;%s;%d;%d%s%n", request.pending, request.mode, request.producers,
                    request.workers, measure(request));
        }
    }
}
