// SPDX-License-Identifier: MIT
// Bench.java - what the Java programs of several benchmarks need, as driver.h for those in C

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

class Bench {
    static final long US = 1000;
    static final long MS = 1000 * US;

    static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    static void fail(String what) {
        System.err.println(what);
        System.exit(1);
    }

    static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format, values);
    }

    static void sleepUntil(long then) {
        for (long left; (left = then - System.nanoTime()) > 0;)
            LockSupport.parkNanos(left);
    }

    static void sleepFor(long ns) {
        sleepUntil(System.nanoTime() + ns);
    }

    /**
     * Processor time of all threads of the process, those of Java itself, too, but for this one.
     * What the JDK has for this knows only hundredths of a second.
     */
    static long cpuOfOthers() throws IOException {
        long all = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads)
                all += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
        } catch (NoSuchFileException e) {
            return cpuOfOthers(); // one has just ended
        }
        return all - ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** The bytes of the heap that are in use. */
    static long used() {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++)
            runtime.gc();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
