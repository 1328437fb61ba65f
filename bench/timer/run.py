#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a task costs that is to run later: rota's scheduled pool beside others, in one table.

bench/run timer [--quick] [WORD...]

--quick   fewer and shorter runs, and none with 10 million tasks: two minutes instead of ten
WORD      only the rows that all the words are in: cost, 1k, 100k, 1m, 10m, insert, cancel, expire,
          bytes, lateness, idle

cost      ns for each task when so many are pending. insert: it is scheduled at a random time, where
          there was none before. cancel+sched: one of them is cancelled, another one scheduled.
          expire: all are due, and one worker takes and runs them.
bytes     of memory for each pending task: resident; for the JDK, of the heap. asked: what rota asks
          its allocator for.
lateness  of 1000 tasks at fixed rates of 1 to 10 ms, on 2 workers: us after the time at which each
          run was due; the processor time, in % of one CPU
idle      us of processor time in a second, with a million tasks pending, none of them soon

rota and the JDK have futures, which are held; dropped: rota's without. The JDK has the collector
that is best for its queue, and not the usual one, with which cancel+sched takes twice the time.
mutex: a binary heap, a mutex and a condition. The event loops have one thread, neither locks nor
futures, and reuse the memory of a timer; libuv and GLib count in ms. The floor is a thread in
clock_nanosleep, with a binary heap of its own; it is compared with nothing.

They take turns, round after round, so that what else the machine does hits all alike; a number is
the median of the rounds, max the most of all. 10 million, bytes and idle have one round. Each run
checks that all that were due have run. The targets are those of rota's design.
"""
import math

import turns
from turns import Group, Peer, Row, figure, jdk, print_verdict, rota, value

PACKAGES = {"libev": "libev-dev", "libevent": "libevent-dev", "libuv": "libuv1-dev",
            "glib": "libglib2.0-dev", "Jdk.class": "openjdk-17-jdk-headless"}

HELD, DROPPED, COUNTED = rota("held"), rota("dropped"), rota("counted")
JDK = jdk(heap=("-Xms4g", "-Xmx4g", "-XX:+UseParallelGC"))
MUTEX, GLIB = Peer("mutex"), Peer("glib")
FLOOR = Peer("nanosleep", league="floor")
OTHERS = [("others", {"mutex": MUTEX, "libev": Peer("libev"), "libevnt": Peer("libevent"),
                      "libuv": Peer("libuv"), "GLib": GLIB}),
          ("JDK", {"pool": JDK}), ("floor", {"sleep": FLOOR})]
RATIOS = {"/ JDK": [JDK], "/ best": None}
US = 1000

PENDING = {"1k": 1000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}


def most(index, unit):
    return lambda runs: max(run[index] for run in runs) / unit


def row(mode, size, words, lines, **how):
    """The longest ones once; not GLib's, which looks at all timers whenever it looks at one."""
    huge = size == "10m"
    how = {"count": (1, 1), "once": huge, "slow": huge, "but": [GLIB] if huge else [], **how}
    return Row(f"{PENDING[size]} {mode} 1 1", [*words, size], lines, **how)


def fill(size):
    return row("fill", size, ["insert", "cancel"],
               {f"insert {size}": figure(0), f"cancel+sched {size}": figure(1)}, count=TIMES[size])


def expire(size):
    return row("expire", size, ["expire"], {f"expire {size}": figure(0)}, count=TIMES[size])


TIMES = {"1k": (50, 20), "100k": (3, 1), "1m": (1, 1), "10m": (1, 1)}
FILL = {size: fill(size) for size in PENDING}
EXPIRE = {size: expire(size) for size in PENDING}
BYTES = {size: row("bytes", size, [], {f"resident {size}": figure(0), f"asked {size}": figure(1)},
                   once=True) for size in ("1m", "10m")}
LATENESS = Row("1000 beat 1 2", [],
               {"p50": turns.median(0, US), "p99": turns.median(1, US), "max": most(2, US),
                "cpu, %": turns.mean(3, 1e7)}, count=(2000, 1000))
IDLE = Row(f"{PENDING['1m']} idle 1 2", [], {"cpu in a second": turns.median(0, US)},
           count=(1000, 500), once=True)

GROUPS = [
    Group("cost, ns", ["cost"], [("rota", {"held": HELD, "dropped": DROPPED}), *OTHERS],
          [row for size in PENDING for row in (FILL[size], EXPIRE[size])], RATIOS),
    Group("bytes", ["bytes"], [("rota", {"held": COUNTED, "dropped": DROPPED}), *OTHERS],
          list(BYTES.values()), RATIOS),
    Group("lateness, us", ["lateness"], [("rota", {"pool": HELD}), *OTHERS], [LATENESS], RATIOS),
    Group("idle, us", ["idle"], [("rota", {"pool": HELD}), *OTHERS], [IDLE], RATIOS),
]


# -- The targets ---------------------------------------------------------------------------------

IDLE_US = 100  # in a second: as good as none


def judge_share(what, row, tell, limit):
    ours, theirs = value(row, tell, HELD), value(row, tell, JDK)
    if ours is not None and theirs:
        print_verdict(f"{what} / JDK's", ours / theirs, limit)


def judge_number(what, row, tell, peer, limit):
    ours = value(row, tell, peer)
    if ours is not None:
        print_verdict(what, ours, limit)


def growth(rows, tell, peer):
    few, many = value(rows["1m"], tell, peer), value(rows["10m"], tell, peer)
    return many / few if few and many else None


def judge_growth(what, rows, tell):
    ours = growth(rows, tell, HELD)
    if ours is None:
        return
    others = {"JDK": growth(rows, tell, JDK), "mutex": growth(rows, tell, MUTEX),
              "floor": growth(rows, tell, FLOOR)}
    text = ", ".join(f"{name} {by:.2f}" for name, by in others.items() if by)
    print_verdict(f"{what}, 10m / 1m, which is log n ({text})", ours,
                  math.log(PENDING["10m"]) / math.log(PENDING["1m"]))


def judge():
    print("\nTargets")
    judge_share("cancel+sched 1m", FILL["1m"], figure(1), 1 / 3)
    judge_share("expire 1m", EXPIRE["1m"], figure(0), 1 / 3)
    judge_growth("cancel+sched", FILL, figure(1))
    judge_growth("expire", EXPIRE, figure(0))
    for label, tell in LATENESS.lines.items():
        if label != "max":
            judge_share(f"lateness {label}", LATENESS, tell, 1 / 2 if label == "p50" else 1)
    for size, row in BYTES.items():
        judge_number(f"bytes resident {size}", row, figure(0), COUNTED, 160)
    judge_number("us of processor time in an idle second", IDLE, turns.median(0, US), HELD, IDLE_US)


if __name__ == "__main__":
    turns.main(name="timer", doc=__doc__, groups=GROUPS, unit="ns, us and bytes", each="task",
               packages=PACKAGES, rounds=(5, 2), judge=judge)
