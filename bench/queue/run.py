#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an element costs on its way through a queue: rota's queues beside others, in one table.

bench/run queue [--quick] [--cpu] [WORD...]

--quick   fewer and shorter runs: half a minute instead of three
--cpu     a second table, of processor time
WORD      only the rows that all the words are in: bounded, unbounded, handoff, fair, waiting,
          polling, echo, 1p1c, ...

A row is a number of producers and consumers, and how they use the queue. waiting: put and take.
polling: offer and poll, and a yield when refused. echo: one element there and back between two
threads, through two queues, one round trip after the other.

The queues take turns, round after round, so that what else the machine does hits all alike; a
number is the median of the rounds. The first round only warms up. Each run moves as many elements
as fit into a set time, and checks that what comes out is what went in.
"""
import turns
from turns import Group, Peer, Row, jdk, rota

PACKAGES = {"glib": "libglib2.0-dev", "tbb": "libtbb-dev", "Jdk.class": "openjdk-17-jdk-headless"}

ARRAY, LINKED, DEQUE, TRANSFER = rota("array"), rota("linked"), rota("deque"), rota("transfer")
HANDOFF, FAIR = rota("handoff"), rota("fair")
RING, LIST, GLIB, TBB = Peer("mutex_ring"), Peer("mutex_list"), Peer("glib"), Peer("tbb")
JDK_ARRAY, JDK_LINKED, JDK_TRANSFER = jdk("array"), jdk("linked"), jdk("transfer")
JDK_HANDOFF, JDK_FAIR = jdk("handoff"), jdk("fair")

MODE = {"waiting": "wait", "polling": "try", "echo": "echo"}


def row(bound, how, shape):
    producers, consumers = shape.rstrip("c").split("p")
    label, unit = (f"{how} in us", 1000) if how == "echo" else (f"{how} {shape}", 1)
    return Row(f"{bound} {MODE[how]} {producers} {consumers}", [how, shape],
               {label: turns.median(0, unit)}, {label: turns.mean(1, unit)})


def group(title, words, bound, ours, others, jdks, shapes):
    """`bound` as the programs know it; `shapes` by how they use the queue."""
    return Group(title, words, [("rota", ours), ("others", others), ("JDK", jdks)],
                 [row(bound, how, shape) for how in shapes for shape in shapes[how]])


PAIRS = ["1p1c", "2p2c", "4p4c"]
GROUPS = [
    group("bounded, 1024", ["bounded"], "1024",
          {"array": ARRAY, "linked": LINKED, "deque": DEQUE},
          {"mutex": RING, "TBB": TBB},
          {"array": JDK_ARRAY, "linked": JDK_LINKED},
          {"waiting": PAIRS, "polling": PAIRS, "echo": ["1p1c"]}),
    group("unbounded", ["unbounded"], "unbounded",
          {"linked": LINKED, "transf": TRANSFER},
          {"mutex": LIST, "GLib": GLIB, "TBB": TBB},
          {"linked": JDK_LINKED, "transf": JDK_TRANSFER},
          {"waiting": ["1p1c", "1p2c", "1p4c", "2p2c", "4p4c"], "polling": PAIRS,
           "echo": ["1p1c"]}),
    group("hand-off", ["handoff"], "handoff",
          {"handoff": HANDOFF}, {}, {"sync": JDK_HANDOFF},
          {"waiting": PAIRS, "echo": ["1p1c"]}),
    group("hand-off, fair", ["handoff", "fair"], "handoff",
          {"fair": FAIR}, {}, {"fair": JDK_FAIR},
          {"waiting": PAIRS, "echo": ["1p1c"]}),
]

if __name__ == "__main__":
    turns.main(name="queue", doc=__doc__, groups=GROUPS, unit="ns for each element",
               each="element", packages=PACKAGES, rounds=(19, 5))
