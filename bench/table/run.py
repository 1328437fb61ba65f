#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One line from each of the other benchmarks: the table of the README.

bench/run table [--quick]

--quick   fewer and shorter runs: half a minute instead of two

Each line is a row of bench/run pool, queue, forkjoin or timer, and is measured as there, where more is
said of it. Of several of one kind, as two OpenMPs or the queues of the JDK, the best counts.
"""
import importlib.util
import os
import sys
from pathlib import Path

import turns

ROUNDS = (9, 3)  # and of a quick run
COLUMNS = ["rota", "GLib", "libuv", "oneTBB", "OpenMP", "JDK 17"]


class Line:
    """`words` choose the row of a benchmark and `label` its line; `peers` are names there, by column."""

    def __init__(self, title, bench, words, label, **peers):
        self.title, self.bench, self.words, self.label = title, bench, set(words.split()), label
        self.names = {column: peers.get(column.split()[0], "").split() for column in COLUMNS}


LINES = [
    Line("a task through a pool, ns", "pool", "unbounded empty 1p2w", "empty 1p2w",
         rota="LINKED", GLib="GLIB", libuv="LIBUV", oneTBB="TBB", JDK="JDK_LINKED"),
    Line("a task submitted, its result read, one by one, us", "pool", "trip 2w", "trip 2w p50",
         rota="LINKED", GLib="GLIB", libuv="LIBUV", oneTBB="TBB", JDK="JDK_LINKED"),
    Line("a pointer through a bounded queue, ns", "queue", "bounded waiting 2p2c", "waiting 2p2c",
         rota="ARRAY LINKED", oneTBB="TBB", JDK="JDK_ARRAY JDK_LINKED"),
    Line("a pointer through an unbounded queue, ns", "queue", "unbounded waiting 2p2c", "waiting 2p2c",
         rota="LINKED TRANSFER", GLib="GLIB", oneTBB="TBB", JDK="JDK_LINKED JDK_TRANSFER"),
    Line("a fork and its join, ns", "forkjoin", "forks fib", "fib 1w",
         rota="ROTA", oneTBB="TBB", OpenMP="GCC CLANG", JDK="JDK"),
    Line("a node of an uneven tree, two workers, ns", "forkjoin", "forks tree", "tree 2w",
         rota="ROTA", oneTBB="TBB", OpenMP="GCC CLANG", JDK="JDK"),
    Line("one of a million timers cancelled, one set, ns", "timer", "cost cancel 1m", "cancel+sched 1m",
         rota="HELD", libuv="OTHERS", GLib="GLIB", JDK="JDK"),
]


# -- The benchmarks ------------------------------------------------------------------------------

def load(name):
    """All of them are called run.py."""
    folder = Path("bench") / name
    sys.path.append(str(folder))
    spec = importlib.util.spec_from_file_location(f"bench_{name}", folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "prepare"):
        module.prepare()
    return module


def peer(module, column, name):
    """By the name that the benchmark has for it, or by its column in a list of them."""
    found = getattr(module, name)
    return found if isinstance(found, turns.Peer) else dict(found[0][1])[column]


def row_of(module, line):
    return next(row for group in module.GROUPS for row in group.rows
                if line.words <= {*group.words, *row.words})


def measure(line, modules, folder, quick, log):
    """By column, the best figure of those that are there."""
    module, folder = modules[line.bench], folder / line.bench
    row = row_of(module, line)
    columns = {column: [peer(module, column, name) for name in names] for column, names in line.names.items()}
    peers = [one for some in columns.values() for one in some if (folder / one.file).exists()]
    group = turns.Group(line.title, [], [("", dict(enumerate(peers)))], [row])
    turns.Turns(folder, quick, ROUNDS[quick], log).take([group])
    for one in peers:
        one.stop()
        one.processes.clear()
    tell = row.lines[line.label]
    found = {column: [tell(row.runs[one]) for one in some if one in row.runs]
             for column, some in columns.items()}
    return {column: min(figures, default=None) for column, figures in found.items()}


# -- The table -----------------------------------------------------------------------------------

def print_line(*cells):
    print("| " + " | ".join(cells) + " |")


def text(figure):
    if figure is None:
        return ""
    return f"{figure:.1f}" if figure < 10 else f"{figure:,.0f}"


def main():
    options = turns.arguments("table", __doc__)
    modules = {name: load(name) for name in {line.bench for line in LINES}}
    others = turns.Others()
    with open(os.devnull, "w", encoding="utf-8") as log:
        found = {line: measure(line, modules, options.folder.parent, options.quick, log) for line in LINES}
    print(f"{os.cpu_count()} CPUs{others.text()}\n")
    print_line("", *COLUMNS)
    print("|---|" + "---|" * len(COLUMNS))
    for line, figures in found.items():
        print_line(line.title, *(text(figures[column]) for column in COLUMNS))


main()
