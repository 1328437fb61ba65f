#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a future made of futures costs: rota's beside the JDK's CompletableFuture, in one table.

bench/run compose [--quick] [--cpu] [WORD...]

--quick   fewer and shorter runs: 20 seconds instead of 50
--cpu     a second table, of processor time, with the collector's; coarse for the JDK in quick runs
WORD      only the rows that all the words are in: steps, several, async, timeout, bytes, then,
          chain, fan, all, any, both, 1k, 100k

steps     ns for each, one after the other, so many at a time, with the thread that completes the
          first: made, completed, and both. In rota, what is completed is also freed meanwhile; in
          the JDK the collector does that, partly on another CPU. chain: each step gives a future
          that it has just made, done already, or pending and completed by hand.
several   ns for each of 100,000: the dependents of one future; the leaves of all_of, all of which
          are completed; those of any_of, of which the last is, and the others let go; and of a tree
          of both (65,536). The leaves themselves are made and freed outside the time.
async     ns for each step in a pool of 2 threads: one after the other, or all at once
timeout   ns for a timeout of an hour: set, and withdrawn as its future is completed; so many are
          pending at a time. The JDK's makes no new future, but ends the one it is given.
bytes     of memory for each that waits: resident; for the JDK, of the heap. asked: what rota asks
          its allocator for.

They take turns, round after round, so that what else the machine does hits both alike; a number is
the median of the rounds. Each run checks that all steps have run. The JDK runs each kind for half a
second before, and has the parallel collector. The targets are those of rota's design.
"""
import turns
from turns import Group, Row, figure, jdk, print_verdict, rota, value

PACKAGES = {"Jdk.class": "openjdk-17-jdk-headless"}

ROTA, COUNTED = rota("timed"), rota("counted")
HEAP = ("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC")
JDK, JDK_COUNTED = jdk("timed", heap=HEAP), jdk("counted", heap=HEAP)
SIZES = {"1k": 1000, "64k": 65_536, "100k": 100_000}


def row(label, mode, size, words, workers=0, names=("", " make", " complete")):
    """Three figures: all, and the two parts of it."""
    lines = {label + name: turns.median(i) for i, name in enumerate(names)}
    return Row(f"{SIZES[size]} {mode} 1 {workers}", [*words, size], lines,
               {label: turns.mean(3)}, first=SIZES[size], most=1_000_000)


def memory(label, mode, size, words):
    lines = {label: figure(0), label + " asked": figure(1)}
    return Row(f"{SIZES[size]} {mode} 1 0", words, lines, count=(1, 1), once=True)


THEN = {size: row(f"then {size}", "then", size, ["then"]) for size in ("1k", "100k")}
STEPS = [*THEN.values(),
         *(row(f"chain {mode} {size}", mode, size, ["chain"], names=[""])
           for size in ("1k", "100k") for mode in ("done", "pending"))]
SEVERAL = [row("fan", "fan", "100k", ["fan"]), row("all_of", "all", "100k", ["all"]),
           row("any_of", "any", "100k", ["any"]), row("both", "both", "64k", ["both"])]
ASYNC = [row("one by one", "then", "1k", ["then"], workers=2, names=[""]),
         row("at once", "fan", "100k", ["fan"], workers=2, names=[""])]
TIMEOUT = [row(size, "timeout", size, [], names=("", " set", " withdraw"))
           for size in ("1k", "100k")]
STEP_BYTES = memory("then", "then", "100k", ["then"])
BYTES = [STEP_BYTES, memory("chain", "done", "100k", ["chain"]),
         memory("fan", "fan", "100k", ["fan"]), memory("all_of", "all", "100k", ["all"]),
         memory("any_of", "any", "100k", ["any"]), memory("both", "both", "64k", ["both"]),
         memory("timeout", "timeout", "100k", ["timeout"])]


def group(title, words, rows, ours=ROTA, theirs=JDK):
    return Group(title, words, [("rota", {"": ours}), ("JDK", {"": theirs})], rows,
                 {"/ JDK": [theirs]})


GROUPS = [group("steps, ns", ["steps"], STEPS), group("several, ns", ["several"], SEVERAL),
          group("async, ns", ["async"], ASYNC), group("timeout, ns", ["timeout"], TIMEOUT),
          group("bytes", ["bytes"], BYTES, COUNTED, JDK_COUNTED)]


def judge_number(what, row, tell, peer, limit):
    ours = value(row, tell, peer)
    if ours is not None:
        print_verdict(what, ours, limit)


def judge():
    """A step is to be made, completed and freed in that time; less than that is told, too."""
    print("\nTargets")
    for size, row_of_size in THEN.items():
        label = f"then {size}"
        judge_number(f"ns, {label}", row_of_size, turns.median(0), ROTA, 60)
        judge_number(f"ns, {label}, only to complete it", row_of_size, turns.median(2), ROTA, 60)
        judge_number(f"ns of processor time, {label}", row_of_size, turns.mean(3), ROTA, 60)
    for label, tell in STEP_BYTES.lines.items():
        judge_number(f"bytes, {label}", STEP_BYTES, tell, COUNTED, 160)


if __name__ == "__main__":
    turns.main(name="compose", doc=__doc__, groups=GROUPS, unit="ns and bytes", each="step",
               packages=PACKAGES, rounds=(15, 4), judge=judge)
