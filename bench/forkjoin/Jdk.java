// SPDX-License-Identifier: MIT
// Jdk.java - the JDK's ForkJoinPool, measured as driver.c does it

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.stream.IntStream;

final class Jdk extends Bench {
    static final long WARM = 500 * MS; // of the same work, before it is measured first

    static final class Request {
        int size, pieces, workers;
        String work;
        long count;
    }

    static ForkJoinPool pool;

    // -- Fib --------------------------------------------------------------------------------------

    @SuppressWarnings("serial")
    static final class Fib extends RecursiveAction {
        final int n;
        long value;

        Fib(int n) {
            this.n = n;
        }

        @Override
        protected void compute() {
            if (n < 2) {
                value = n;
                return;
            }
            Fib a = new Fib(n - 1);
            Fib b = new Fib(n - 2);
            a.fork();
            b.compute();
            a.join();
            value = a.value + b.value;
        }
    }

    static long fib(int n) {
        Fib root = new Fib(n);
        pool.invoke(root);
        return root.value;
    }

    static long fibOf(int n) {
        long a = 0;
        long b = 1;
        while (n-- > 0) {
            long sum = a + b;
            a = b;
            b = sum;
        }
        return a;
    }

    // -- Trees ------------------------------------------------------------------------------------

    @SuppressWarnings("serial")
    static final class Queens extends RecursiveAction {
        final int n, row;
        final byte[] board;
        long ways;

        Queens(int n, int row, byte[] board) {
            this.n = n;
            this.row = row;
            this.board = board;
        }

        boolean isSafe(int column) {
            for (int i = 0; i < row; i++) {
                int away = board[i] - column;
                if (away == 0 || away == row - i || away == i - row)
                    return false;
            }
            return true;
        }

        @Override
        protected void compute() {
            if (row == n) {
                ways = 1;
                return;
            }
            Queens[] next = new Queens[n];
            int count = 0;
            for (int column = 0; column < n; column++) {
                if (!isSafe(column))
                    continue;
                byte[] copy = board.clone();
                copy[row] = (byte) column;
                next[count] = new Queens(n, row + 1, copy);
                next[count++].fork();
            }
            while (count-- > 0) {
                next[count].join();
                ways += next[count].ways;
            }
        }
    }

    static long queens(int n) {
        Queens root = new Queens(n, 0, new byte[n]);
        pool.invoke(root);
        return root.ways;
    }

    static final long[] WAYS = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712};

    static long mix(long x) {
        for (int i = 0; i < 12; i++) {
            x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
            x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
            x ^= x >>> 31;
        }
        return x;
    }

    @SuppressWarnings("serial")
    static final class Node extends RecursiveAction {
        final long parent;
        final int number; // -1: the root
        long nodes;

        Node(long parent, int number) {
            this.parent = parent;
            this.number = number;
        }

        void computeAll(long id, int count) {
            Node[] children = new Node[count];
            nodes = 1;
            for (int i = 0; i < count; i++) {
                children[i] = new Node(id, i);
                children[i].fork();
            }
            while (count-- > 0) {
                children[count].join();
                nodes += children[count].nodes;
            }
        }

        @Override
        protected void compute() {
            if (number < 0) {
                computeAll(parent, 2000);
                return;
            }
            long id = mix(parent + 0x9e3779b97f4a7c15L * (number + 1));
            if (id >>> 32 < 536332000)
                computeAll(id, 8);
            else
                nodes = 1;
        }
    }

    static long tree() {
        Node root = new Node(mix(130), -1);
        pool.invoke(root);
        return root.nodes;
    }

    // -- Arrays -----------------------------------------------------------------------------------

    @SuppressWarnings("serial")
    static final class Sum extends RecursiveAction {
        final long[] numbers;
        final int from, n, cut;
        long value;

        Sum(long[] numbers, int from, int n, int cut) {
            this.numbers = numbers;
            this.from = from;
            this.n = n;
            this.cut = cut;
        }

        @Override
        protected void compute() {
            if (n < cut) {
                long sum = 0;
                for (int i = from; i < from + n; i++)
                    sum += numbers[i];
                value = sum;
                return;
            }
            Sum a = new Sum(numbers, from, n / 2, cut);
            Sum b = new Sum(numbers, from + n / 2, n - n / 2, cut);
            a.fork();
            b.fork();
            b.join();
            a.join();
            value = a.value + b.value;
        }
    }

    static long sum(long[] numbers, int cut) {
        Sum root = new Sum(numbers, 0, numbers.length, cut);
        pool.invoke(root);
        return root.value;
    }

    @SuppressWarnings("serial")
    static final class Sort extends RecursiveAction {
        final int[] base, spare;
        final int from, n;

        Sort(int[] base, int[] spare, int from, int n) {
            this.base = base;
            this.spare = spare;
            this.from = from;
            this.n = n;
        }

        void insertAll(int low, int end) {
            for (int i = low + 1; i < end; i++) {
                int next = base[i];
                int place = i;
                for (; place > low && base[place - 1] > next; place--)
                    base[place] = base[place - 1];
                base[place] = next;
            }
        }

        static int median(int x, int y, int z) {
            if (x < y)
                return y < z ? y : x < z ? z : x;
            return x < z ? x : y < z ? z : y;
        }

        int part(int low, int end) {
            int pivot = median(base[low], base[low + (end - low) / 2], base[end - 1]);
            int i = low;
            int j = end - 1;
            for (;; i++, j--) {
                while (base[i] < pivot)
                    i++;
                while (base[j] > pivot)
                    j--;
                if (i >= j)
                    return j + 1;
                int swap = base[i];
                base[i] = base[j];
                base[j] = swap;
            }
        }

        void sortFew(int low, int end) {
            while (end - low > 24) {
                int middle = part(low, end);
                sortFew(low, middle);
                low = middle;
            }
            insertAll(low, end);
        }

        void mergeHalves(int half) {
            int i = from;
            int j = from + half;
            int to = from;
            System.arraycopy(base, from, spare, from, half);
            while (i < from + half && j < from + n) {
                int left = spare[i];
                int right = base[j];
                if (right < left) {
                    base[to++] = right;
                    j++;
                } else {
                    base[to++] = left;
                    i++;
                }
            }
            System.arraycopy(spare, i, base, to, from + half - i);
        }

        @Override
        protected void compute() {
            if (n <= 2048) {
                sortFew(from, from + n);
                return;
            }
            Sort a = new Sort(base, spare, from, n / 2);
            a.fork();
            new Sort(base, spare, from + n / 2, n - n / 2).compute();
            a.join();
            mergeHalves(n / 2);
        }
    }

    /** Arrays.parallelSort splits by the size of the pool that it is called in. */
    static void librarySort(int[] base) {
        pool.submit(() -> {
            if (pool.getParallelism() == 1)
                Arrays.sort(base);
            else
                Arrays.parallelSort(base);
        }).join();
    }

    static final int CUT = 64;
    static final int PAD = 8;

    /** Three square matrices, in rows with some room at the end. */
    static final class Matrices {
        final double[] a, b, c;
        final int n, stride;

        Matrices(int n) {
            this.n = n;
            stride = n + PAD;
            a = new double[n * stride];
            b = new double[n * stride];
            c = new double[n * stride];
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    a[i * stride + j] = (i * 3 + j) % 7 - 3;
                    b[i * stride + j] = (i + j * 5) % 11 - 5;
                }
        }

        void multiplyBlock(int toC, int fromA, int fromB) {
            multiplyBlock(c, toC, a, fromA, b, fromB, stride);
        }

        /** With the arrays as arguments it is compiled to vectors. */
        static void multiplyBlock(double[] c, int toC, double[] a, int fromA, double[] b, int fromB,
                int stride) {
            for (int i = 0; i < CUT; i++)
                for (int k = 0; k < CUT; k++) {
                    double x = a[fromA + i * stride + k];
                    int row = toC + i * stride;
                    int other = fromB + k * stride;
                    for (int j = 0; j < CUT; j++)
                        c[row + j] += x * b[other + j];
                }
        }

        long check() {
            for (int i = 0; i < n; i += 97)
                for (int j = 0; j < n; j += 89) {
                    double sum = 0;
                    for (int k = 0; k < n; k++)
                        sum += a[i * stride + k] * b[k * stride + j];
                    if (c[i * stride + j] != sum)
                        fail("a wrong product");
                }
            return 0;
        }
    }

    @SuppressWarnings("serial")
    static final class Product extends RecursiveAction {
        final Matrices all;
        final int c, a, b, n;

        Product(Matrices all, int c, int a, int b, int n) {
            this.all = all;
            this.c = c;
            this.a = a;
            this.b = b;
            this.n = n;
        }

        void multiplyQuarters(int step) {
            int half = n / 2;
            int down = half * all.stride;
            Product[] quarters = new Product[4];
            for (int i = 0; i < 4; i++) {
                int row = i >> 1;
                int column = i & 1;
                quarters[i] = new Product(all, c + row * down + column * half,
                        a + row * down + step * half, b + step * down + column * half, half);
                quarters[i].fork();
            }
            for (int i = 3; i >= 0; i--)
                quarters[i].join();
        }

        @Override
        protected void compute() {
            if (n <= CUT) {
                all.multiplyBlock(c, a, b);
                return;
            }
            multiplyQuarters(0);
            multiplyQuarters(1);
        }
    }

    // -- Loops ------------------------------------------------------------------------------------

    static final int TINY = 1000;

    static long takeSteps(long x, int steps) {
        for (int i = 0; i < steps; i++)
            x = x * 6364136223846793005L + 1442695040888963407L;
        return x;
    }

    static int stepsOf(String work, int i, int n) {
        switch (work) {
        case "skewed":
            return i;
        case "spiky":
            return takeSteps(i, 3) >>> 56 == 0 ? 20000 : 20;
        case "front":
            return i < n / 64 ? 5000 : 1;
        case "coarse":
            return 200000;
        default:
            return 2;
        }
    }

    static void loop(IntStream indices, String work, long[] out) {
        int n = out.length;
        switch (work) { // each with a body of its own, as its author would write it
        case "skewed":
            indices.forEach(i -> out[i] = takeSteps(i, stepsOf("skewed", i, n)));
            break;
        case "spiky":
            indices.forEach(i -> out[i] = takeSteps(i, stepsOf("spiky", i, n)));
            break;
        case "front":
            indices.forEach(i -> out[i] = takeSteps(i, stepsOf("front", i, n)));
            break;
        case "coarse":
            indices.forEach(i -> out[i] = takeSteps(i, stepsOf("coarse", i, n)));
            break;
        default:
            indices.forEach(i -> out[i] = takeSteps(i, 2));
            break;
        }
    }

    static long valueOf(long[] out) {
        long value = 0;
        for (long each : out)
            value = value * 31 + each;
        return value;
    }

    // -- Work -------------------------------------------------------------------------------------

    interface Run {
        long get() throws Exception;
    }

    /** What is done before each run, in it and after it, which tells the result; and its input. */
    static final class Work {
        Runnable fill = () -> {};
        Run run;
        Run check; // null: the result is that of the run
        long expected, bytes;
    }

    static Work work(long expected, Run run) {
        Work work = new Work();
        work.expected = expected;
        work.run = run;
        return work;
    }

    static Work sumWork(int n, int cut) {
        long[] numbers = new long[n];
        long expected = 0;
        for (int i = 0; i < n; i++) {
            numbers[i] = i ^ i >> 3;
            expected += numbers[i];
        }
        Work work = work(expected, () -> sum(numbers, cut));
        work.bytes = 8L * n;
        return work;
    }

    static long fillInts(int[] base) {
        long x = 88172645463325252L;
        long sum = 0;
        for (int i = 0; i < base.length; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            base[i] = (int) (x >>> 33);
            sum += base[i];
        }
        return sum;
    }

    static long checkSorted(int[] base) {
        long sum = 0;
        for (int i = 0; i < base.length; i++) {
            if (i > 0 && base[i - 1] > base[i])
                fail("not sorted");
            sum += base[i];
        }
        return sum;
    }

    static Work sortWork(int n, boolean library) {
        int[] base = new int[n];
        int[] spare = new int[n];
        Work work = work(fillInts(base), () -> {
            if (library)
                librarySort(base);
            else
                pool.invoke(new Sort(base, spare, 0, n));
            return 0;
        });
        work.fill = () -> fillInts(base);
        work.check = () -> checkSorted(base);
        work.bytes = 8L * n;
        return work;
    }

    static Work matrixWork(int n) {
        Matrices all = new Matrices(n);
        Work work = work(0, () -> {
            pool.invoke(new Product(all, 0, 0, 0, n));
            return 0;
        });
        work.fill = () -> Arrays.fill(all.c, 0);
        work.check = all::check;
        work.bytes = 24L * n * all.stride;
        return work;
    }

    static Work loopWork(String name, int n, int times) {
        long[] out = new long[n];
        loop(IntStream.range(0, n), name, out);
        Work work = work(valueOf(out), () -> {
            for (int i = 0; i < times; i++)
                pool.submit(() -> loop(IntStream.range(0, n).parallel(), name, out)).join();
            return 0;
        });
        work.fill = () -> Arrays.fill(out, 0);
        work.check = () -> valueOf(out);
        work.bytes = 8L * n;
        return work;
    }

    static Work streamWork(int n) {
        double[] x = new double[n];
        double[] z = new double[n];
        Arrays.setAll(x, i -> i);
        double[] y = x.clone();
        Work work = work(0, () -> {
            pool.submit(() -> IntStream.range(0, n).parallel().forEach(i -> z[i] = x[i] + 3 * y[i]))
                .join();
            return 0;
        });
        work.fill = () -> Arrays.fill(z, 0);
        work.check = () -> IntStream.range(0, n).filter(i -> z[i] != 4.0 * i).count();
        work.bytes = 24L * n;
        return work;
    }

    static Work workOf(Request request) {
        int n = request.size;
        switch (request.work) {
        case "fib":
            return work(fibOf(n), () -> fib(n));
        case "region":
            return work(n * fibOf(10), () -> {
                long all = 0;
                for (int i = 0; i < n; i++)
                    all += fib(10);
                return all;
            });
        case "queens":
            return work(WAYS[n], () -> queens(n));
        case "tree":
            return work(n, Jdk::tree);
        case "sum6":
            return sumWork(n, 6);
        case "sum10k":
            return sumWork(n, 10000);
        case "sort":
            return sortWork(n, false);
        case "library":
            return sortWork(n, true);
        case "matrix":
            return matrixWork(n);
        case "stream":
            return streamWork(n);
        case "tiny":
            return loopWork("even", TINY, n);
        default:
            return loopWork(request.work, n, 1);
        }
    }

    // -- Requests ---------------------------------------------------------------------------------

    static final Set<String> WARMED = new HashSet<>(); // work and workers

    static long cpu; // of the last run, in ns

    static long runOnce(Work work) throws Exception {
        work.fill.run();
        cpu = -SYSTEM.getProcessCpuTime();
        long begin = System.nanoTime();
        long value = work.run.get();
        long ns = System.nanoTime() - begin;
        cpu += SYSTEM.getProcessCpuTime();
        if (work.check != null)
            value = work.check.get();
        if (value != work.expected)
            fail("a wrong result");
        return ns;
    }

    static void warmUp(Work work, String name) throws Exception {
        if (!WARMED.add(name))
            return;
        for (long ran = 0; ran < WARM;)
            ran += runOnce(work);
    }

    /** Since it was reset. */
    static long mostResident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("VmHWM:"))
                return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
        return 0;
    }

    static void measure(Request request, int workers) throws Exception {
        pool = new ForkJoinPool(workers);
        Work work = workOf(request);
        warmUp(work, request.work + workers);
        Files.writeString(Path.of("/proc/self/clear_refs"), "5"); // resets what was the most
        long best = Long.MAX_VALUE;
        long bestCpu = 0;
        for (long i = 0; i < request.count; i++) {
            long ns = runOnce(work);
            bestCpu = ns < best ? cpu : bestCpu;
            best = Math.min(best, ns);
        }
        print(";%d;%d;%d", best, bestCpu, mostResident() - work.bytes);
        pool.shutdown();
    }

    static void answer(Request request) throws Exception {
        print("jdk;%d;%s;%d;%d", request.size, request.work, request.pieces, request.workers);
        measure(request, 1);
        if (request.workers > 1)
            measure(request, request.workers);
        print("%n");
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        Scanner in = new Scanner(System.in);
        while (in.hasNext()) {
            Request request = new Request();
            request.size = in.nextInt();
            request.work = in.next();
            request.pieces = in.nextInt();
            request.workers = in.nextInt();
            request.count = in.nextLong();
            answer(request);
        }
    }
}
