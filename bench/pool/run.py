#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a task costs in a thread pool: rota's beside others, in one table.

bench/run pool [--quick] [--cpu] [WORD...]

--quick   fewer and shorter runs: 40 seconds instead of four minutes
--cpu     a second table, of processor time
WORD      only the rows that all the words are in: bounded, unbounded, empty, work, 1p, 2p, 1w, 2w,
          4w, single, trip, wake, life, rate, idle, bytes

unbounded, bounded
          ns for each task, from the first submit until all have run: so many producers and workers,
          and tasks that do nothing, or keep their thread busy for 1 us. submit: the tasks have
          futures, whose results are read at the end. In the bounded pool, whose queue has room for
          1024 tasks, submitters wait.
single    one task at a time. trip: submitted until its result is there, one after the other. wake:
          until it starts in a pool that had nothing to do for 10 ms. life: a pool of 8 threads is
          made, all of them meet, and it is freed. cpu: processor time of a pool of 8 threads, for
          each of 1000 tasks a second, submitter and all, and in a second without tasks. The floor
          is a thread that waits at a semaphore; for life, pthread_create and pthread_join.
bytes     of memory for each task that waits in a long queue: resident; for the JDK, of the heap,
          and without the task itself. asked: what rota asks its allocator for.

The pools take turns, round after round, so that what else the machine does hits all alike; a
number is the median of the rounds, or a percentile of all. The first round only warms up. Each run
has as many tasks as fit into a set time, and checks that all of them have run. What a pool does not
offer is left empty. Those with futures are compared with one another, and the floor with nothing.
"""
import itertools

import turns
from turns import Group, Peer, Row, jdk, rota

PACKAGES = {"glib": "libglib2.0-dev", "libuv": "libuv1-dev", "apr": "libaprutil1-dev",
            "tbb": "libtbb-dev", "Jdk.class": "openjdk-17-jdk-headless"}


class Libuv(Peer):
    """Its pool is one for the whole process, and as large as the environment says."""

    def start_for(self, request):
        return self.command, {"UV_THREADPOOL_SIZE": request.split()[3]}


class Floor(Peer):
    """The least that can be: not compared with anything."""

    def start_for(self, request):
        return ("./threads" if request.split()[1] == "life" else "./handover",), {}


LINKED, LINKED_FUTURES = rota("linked"), rota("linked", "futures", league="futures")
ARRAY, ARRAY_FUTURES = rota("array"), rota("array", "futures", league="futures")
JDK_LINKED, JDK_LINKED_FUTURES = jdk("linked"), jdk("linked", "futures", league="futures")
JDK_ARRAY, JDK_ARRAY_FUTURES = jdk("array"), jdk("array", "futures", league="futures")
MUTEX, GLIB, LIBUV, APR, TBB = (Peer("mutex"), Peer("glib"), Libuv("libuv"), Peer("apr"),
                                Peer("tbb"))
OTHERS = {"mutex": MUTEX, "GLib": GLIB, "libuv": LIBUV, "APR": APR, "TBB": TBB}
FLOOR = Floor("handover", league="floor")
US = 1000


# -- Throughput ----------------------------------------------------------------------------------

LABELS = {"empty": "empty", "work": "1 us"}


def tasks(bound, mode, producers, workers):
    shape = f"{producers}p{workers}w"
    label = f"{LABELS[mode]} {shape}"
    return Row(f"{bound} {mode} {producers} {workers}",
               [mode, shape, f"{producers}p", f"{workers}w"],
               {label: turns.median(0)}, {label: turns.mean(1)},
               but=[LIBUV] if producers > 1 else [], most=1_000_000)


def throughput(title, words, bound, ours, others, jdks):
    return Group(title, words, [("rota", ours), ("others", others), ("JDK", jdks)],
                 [tasks(bound, *how) for how in itertools.product(LABELS, [1, 2], [1, 2, 4])])


# -- One task at a time --------------------------------------------------------------------------

def percentile(percent, unit):
    """Of all figures of all runs."""
    def tell(runs):
        figures = sorted(figure for run in runs for figure in run)
        return figures[len(figures) * percent // 100] / unit
    return tell


def trip(workers):
    figures = enumerate(["mean", "p50", "p99", "p99.9"])
    return Row(f"unbounded trip 1 {workers}", ["trip", f"{workers}w"],
               {f"trip {workers}w {name}": turns.median(i, US) for i, name in figures},
               most=100_000)


SINGLE = [
    trip(1),
    trip(2),
    Row("unbounded wake 1 2", ["wake"],
        {"wake p50": percentile(50, US), "wake p99": percentile(99, US)}, count=(10, 10)),
    Row("unbounded life 1 8", ["life"], {"life": turns.median(0, US)}, first=16, but=[LIBUV]),
    Row("unbounded rate 1 8", ["rate"], {"cpu of a task": turns.median(0, US)}, count=(100, 50)),
    Row("unbounded idle 1 8", ["idle"], {"cpu when idle": turns.median(0, US)}, count=(1000, 300),
        but=[FLOOR], once=True),
]


# -- Memory --------------------------------------------------------------------------------------

def asked(runs):
    return runs[0][1] if len(runs[0]) > 1 else None


# In programs that have done nothing before. Not APR: a queue as long as that takes it minutes.
MEMORY = Group(
    "bytes", ["bytes"],
    [("rota", {"execute": rota("counted"),
               "submit": rota("counted", "futures", league="futures")}),
     ("others", {"mutex": Peer("mutex"), "GLib": Peer("glib"), "libuv": Libuv("libuv"),
                 "TBB": Peer("tbb")}),
     ("JDK", {"execute": JDK_LINKED, "submit": JDK_LINKED_FUTURES})],
    [Row("unbounded bytes 1 1", [], {"resident": turns.median(0), "asked": asked},
         count=(200_000, 200_000), once=True)])

GROUPS = [
    throughput("unbounded, ns", ["unbounded"], "unbounded",
               {"execute": LINKED, "submit": LINKED_FUTURES}, OTHERS,
               {"execute": JDK_LINKED, "submit": JDK_LINKED_FUTURES}),
    throughput("bounded 1024, ns", ["bounded"], "1024",
               {"array": ARRAY, "linked": LINKED, "submit": ARRAY_FUTURES},
               {"mutex": MUTEX},
               {"array": JDK_ARRAY, "linked": JDK_LINKED, "submit": JDK_ARRAY_FUTURES}),
    Group("single, us", ["single"],
          [("rota", {"pool": LINKED}), ("others", OTHERS), ("JDK", {"pool": JDK_LINKED}),
           ("floor", {"raw": FLOOR})], SINGLE),
    MEMORY,
]

if __name__ == "__main__":
    turns.main(name="pool", doc=__doc__, groups=GROUPS, unit="ns, us and bytes", each="task",
               packages=PACKAGES, rounds=(15, 4))
