// SPDX-License-Identifier: MIT
// Jdk.java - the JDK's queues, measured as driver.c does it: array, linked, transfer, handoff, fair

import java.util.Scanner;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;

final class Jdk extends Bench {
    /** What a thread does with `count` elements; returns their sum. */
    interface Role {
        long run(BlockingQueue<Integer> queue, BlockingQueue<Integer> back, long count)
                throws InterruptedException;
    }

    static final class Worker extends Thread {
        CyclicBarrier start;
        Role role;
        BlockingQueue<Integer> queue, back;
        long count;
        long sum, begin, end; // the results

        @Override
        public void run() {
            try {
                start.await();
                begin = System.nanoTime();
                sum = role.run(queue, back, count);
                end = System.nanoTime();
            } catch (Exception e) {
                fail(e.toString());
            }
        }
    }

    static BlockingQueue<Integer> make(String kind, String bound) {
        boolean bounded = !bound.equals("unbounded") && !bound.equals("handoff");
        switch (kind + " " + (bounded ? "bounded" : bound)) {
        case "array bounded":
            return new ArrayBlockingQueue<>(Integer.parseInt(bound));
        case "linked bounded":
            return new LinkedBlockingQueue<>(Integer.parseInt(bound));
        case "linked unbounded":
            return new LinkedBlockingQueue<>();
        case "transfer unbounded":
            return new LinkedTransferQueue<>();
        case "handoff handoff":
            return new SynchronousQueue<>();
        case "fair handoff":
            return new SynchronousQueue<>(true);
        default:
            throw new IllegalArgumentException("there is no such queue");
        }
    }

    // -- Roles ------------------------------------------------------------------------------------

    /** Small numbers, whose objects exist already. */
    static Integer element(long i) {
        return (int) (i % 64) + 1;
    }

    static long put(BlockingQueue<Integer> queue, BlockingQueue<Integer> back, long count)
            throws InterruptedException {
        long sum = 0;
        for (long i = 0; i < count; i++) {
            queue.put(element(i));
            sum += element(i);
        }
        return sum;
    }

    static long take(BlockingQueue<Integer> queue, BlockingQueue<Integer> back, long count)
            throws InterruptedException {
        long sum = 0;
        for (long i = 0; i < count; i++)
            sum += queue.take();
        return sum;
    }

    static long offer(BlockingQueue<Integer> queue, BlockingQueue<Integer> back, long count) {
        long sum = 0;
        for (long i = 0; i < count; i++) {
            while (!queue.offer(element(i)))
                Thread.yield();
            sum += element(i);
        }
        return sum;
    }

    static long poll(BlockingQueue<Integer> queue, BlockingQueue<Integer> back, long count) {
        long sum = 0;
        for (long i = 0; i < count; i++) {
            Integer got;
            while ((got = queue.poll()) == null)
                Thread.yield();
            sum += got;
        }
        return sum;
    }

    static long call(BlockingQueue<Integer> queue, BlockingQueue<Integer> back, long count)
            throws InterruptedException {
        long sum = 0;
        for (long i = 0; i < count; i++) {
            queue.put(element(i));
            if (!back.take().equals(element(i)))
                fail("another element came back");
            sum += element(i);
        }
        return sum;
    }

    static long answer(BlockingQueue<Integer> queue, BlockingQueue<Integer> back, long count)
            throws InterruptedException {
        long sum = 0;
        for (long i = 0; i < count; i++) {
            Integer got = queue.take();
            back.put(got);
            sum += got;
        }
        return sum;
    }

    static Role role(String mode, boolean producer) {
        switch (mode) {
        case "wait":
            return producer ? Jdk::put : Jdk::take;
        case "try":
            return producer ? Jdk::offer : Jdk::poll;
        case "echo":
            return producer ? Jdk::call : Jdk::answer;
        default:
            throw new IllegalArgumentException("the request makes no sense");
        }
    }

    // -- Measuring --------------------------------------------------------------------------------

    static void measure(String kind, String bound, String mode, int producers, int consumers,
            long count) throws InterruptedException {
        Worker[] workers = new Worker[producers + consumers];
        CyclicBarrier start = new CyclicBarrier(workers.length);
        BlockingQueue<Integer> queue = make(kind, bound);
        BlockingQueue<Integer> back = make(kind, bound);
        for (int i = 0; i < workers.length; i++) {
            Worker worker = workers[i] = new Worker();
            worker.start = start;
            worker.role = role(mode, i < producers);
            worker.queue = queue;
            worker.back = back;
            worker.count = count / (i < producers ? producers : consumers);
        }

        long cpu = SYSTEM.getProcessCpuTime();
        for (Worker worker : workers)
            worker.start();
        for (Worker worker : workers)
            worker.join();
        cpu = SYSTEM.getProcessCpuTime() - cpu;

        long begin = Long.MAX_VALUE;
        long end = Long.MIN_VALUE;
        long left = 0;
        for (int i = 0; i < workers.length; i++) {
            begin = Math.min(begin, workers[i].begin);
            end = Math.max(end, workers[i].end);
            left += i < producers ? workers[i].sum : -workers[i].sum;
        }
        if (left != 0)
            fail("what came out is not what went in");
        print("jdk-%s;%s;%s;%d;%d;%.2f;%.2f%n", kind, bound, mode, producers,
                consumers, (double) (end - begin) / count, (double) cpu / count);
    }

    public static void main(String[] args) throws InterruptedException {
        Scanner in = new Scanner(System.in);
        while (in.hasNext())
            measure(args[0], in.next(), in.next(), in.nextInt(), in.nextInt(), in.nextLong());
    }
}
