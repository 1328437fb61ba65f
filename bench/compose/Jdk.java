// SPDX-License-Identifier: MIT
// Jdk.java - the JDK's CompletableFuture, measured as rota.c does it

import java.util.HashSet;
import java.util.Locale;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

final class Jdk extends Bench {
    static final long WARM = 500 * MS; // until a mode is compiled
    static final Object VALUE = new Object();

    static int size;
    static ExecutorService pool; // null: on the thread that completes
    static CompletableFuture<Object> source, given;
    static CompletableFuture<?> last;
    static CompletableFuture<Object>[] leaves, made;
    static int ran;
    static final AtomicInteger RAN_ANYWHERE = new AtomicInteger();

    static void must(boolean holds) {
        if (!holds)
            fail("a call has failed, or a step has not run");
    }

    @SuppressWarnings("unchecked")
    static CompletableFuture<Object>[] room() {
        return (CompletableFuture<Object>[]) new CompletableFuture<?>[size];
    }

    // -- Steps -----------------------------------------------------------------------------------

    static Object countHere(Object value) {
        ran++;
        return value;
    }

    static Object countAnywhere(Object value) {
        if (RAN_ANYWHERE.incrementAndGet() == size) {
            ran = size;
            completeLast();
        }
        return value;
    }

    @SuppressWarnings("unchecked")
    static void completeLast() {
        must(((CompletableFuture<Object>) last).complete(VALUE));
    }

    static CompletableFuture<Object> giveDone(Object value) {
        CompletableFuture<Object> done = new CompletableFuture<>();
        ran++;
        done.complete(value);
        return done;
    }

    static CompletableFuture<Object> givePending(Object value) {
        ran++;
        given = new CompletableFuture<>();
        return given;
    }

    // -- What is measured ------------------------------------------------------------------------

    abstract static class Mode {
        boolean leaves = true;
        int steps = 0; // of ours that run

        abstract void make();

        void complete() {
            for (CompletableFuture<Object> leaf : Jdk.leaves)
                must(leaf.complete(VALUE));
        }
    }

    abstract static class FromSource extends Mode {
        FromSource() {
            leaves = false;
            steps = size;
        }

        @Override
        void complete() {
            must(source.complete(VALUE));
            last.join();
        }
    }

    static final class Then extends FromSource {
        @Override
        void make() {
            CompletableFuture<Object> from = source;
            for (int i = 0; i < size; i++)
                from = pool != null ? from.thenApplyAsync(Jdk::countHere, pool)
                        : from.thenApply(Jdk::countHere);
            last = from;
        }
    }

    static final class Done extends FromSource {
        @Override
        void make() {
            CompletableFuture<Object> from = source;
            for (int i = 0; i < size; i++)
                from = from.thenCompose(Jdk::giveDone);
            last = from;
        }
    }

    static final class Pending extends FromSource {
        @Override
        void make() {
            CompletableFuture<Object> from = source;
            for (int i = 0; i < size; i++)
                from = from.thenCompose(Jdk::givePending);
            last = from;
        }

        @Override
        void complete() {
            must(source.complete(VALUE));
            for (int i = 0; i < size; i++)
                must(given.complete(VALUE));
        }
    }

    static final class Fan extends FromSource {
        @Override
        void make() {
            last = new CompletableFuture<Object>();
            for (int i = 0; i < size; i++)
                if (pool != null)
                    source.thenApplyAsync(Jdk::countAnywhere, pool);
                else
                    source.thenApply(Jdk::countHere);
        }

        @Override
        void complete() {
            must(source.complete(VALUE));
            if (pool == null)
                completeLast();
            last.join();
        }
    }

    static final class All extends Mode {
        @Override
        void make() {
            last = CompletableFuture.allOf(Jdk.leaves);
        }
    }

    static final class Any extends Mode {
        @Override
        void make() {
            last = CompletableFuture.anyOf(Jdk.leaves);
        }

        @Override
        void complete() {
            must(Jdk.leaves[size - 1].complete(VALUE));
        }
    }

    static final class Both extends Mode {
        Both() {
            steps = size - 1;
        }

        static Object count(Object first, Object second) {
            ran++;
            return first;
        }

        @Override
        void make() {
            CompletableFuture<Object>[] from = Jdk.leaves;
            for (int left = size; left > 1; left /= 2) {
                for (int i = 0; i < left; i += 2)
                    made[i / 2] = from[i].thenCombine(from[i + 1], Both::count);
                from = made;
            }
            last = made[0];
        }
    }

    /** Of the future itself: orTimeout makes no other one. */
    static final class Timeout extends Mode {
        @Override
        void make() {
            for (int i = 0; i < size; i++)
                made[i] = Jdk.leaves[i].orTimeout(1, TimeUnit.HOURS);
            last = made[0];
        }
    }

    // -- Requests --------------------------------------------------------------------------------

    static Mode modeOf(String name) {
        switch (name) {
        case "then":
            return new Then();
        case "done":
            return new Done();
        case "pending":
            return new Pending();
        case "fan":
            return new Fan();
        case "all":
            return new All();
        case "any":
            return new Any();
        case "both":
            return new Both();
        case "timeout":
            return new Timeout();
        default:
            throw new IllegalArgumentException("the request makes no sense");
        }
    }

    static void begin(Mode mode) {
        ran = 0;
        RAN_ANYWHERE.set(0);
        if (!mode.leaves)
            source = new CompletableFuture<>();
        for (int i = 0; mode.leaves && i < size; i++)
            leaves[i] = new CompletableFuture<>();
    }

    static void end(Mode mode) {
        last.join();
        must(ran == mode.steps);
        source = given = null;
        last = null;
    }

    static String times(Mode mode, long count) {
        long make = 0, all = 0, cpu = 0, steps = 0;
        for (; steps < count; steps += size) {
            begin(mode);
            long used = SYSTEM.getProcessCpuTime();
            long start = System.nanoTime();
            mode.make();
            make += System.nanoTime() - start;
            mode.complete();
            all += System.nanoTime() - start;
            cpu += SYSTEM.getProcessCpuTime() - used;
            end(mode);
        }
        return String.format(Locale.ROOT, ";%.2f;%.2f;%.2f;%.2f", (double) all / steps,
                (double) make / steps, (double) (all - make) / steps, (double) cpu / steps);
    }

    static String bytes(Mode mode) {
        begin(mode);
        long before = used();
        mode.make();
        long after = used();
        mode.complete();
        end(mode);
        return String.format(Locale.ROOT, ";%.1f", (double) (after - before) / size);
    }

    public static void main(String[] args) {
        boolean counted = args.length > 0 && args[0].equals("counted");
        Set<String> warm = new HashSet<>();
        ExecutorService workersPool = null;
        Scanner in = new Scanner(System.in);
        while (in.hasNext()) {
            size = in.nextInt();
            String name = in.next();
            int producers = in.nextInt(), workers = in.nextInt();
            long count = in.nextLong();
            if (workers > 0 && workersPool == null)
                workersPool = Executors.newFixedThreadPool(workers, task -> {
                    Thread thread = new Thread(task);
                    thread.setDaemon(true);
                    return thread;
                });
            pool = workers > 0 ? workersPool : null;
            leaves = room();
            made = room();
            Mode mode = modeOf(name);
            long enough = System.nanoTime() + WARM;
            if (warm.add(name + workers) && !counted)
                while (System.nanoTime() < enough)
                    times(mode, size);
            print("jdk;%d;%s;%d;%d%s%n", size, name, producers, workers,
                    counted ? bytes(mode) : times(mode, count));
        }
    }
}
