#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What fork and join cost, and what two workers gain: rota beside others, in one table.

bench/run forkjoin [--quick] [--cpu] [WORD...]

--quick   fewer runs: two minutes instead of seven
--cpu     a second table, of processor time
WORD      only the rows that all the words are in: forks, fib, queens, tree, sum6, arrays, sum10k,
          sort, library, matrix, region, loops, even, skewed, spiky, front, coarse, stream, tiny

forks     ns for each fork, with its join and with what the task does. fib: of 30, without a
          cut-off; unfork: rota's shorter way. queens: 12 of them, a task for each place where the
          next one can stand. tree: 4,120,865 nodes, 1418 deep, nowhere even. sum6: 10 million
          numbers, down to fewer than 6.
arrays    ms. sum10k: 10 million numbers, down to fewer than 10,000. sort: a merge sort of 10
          million ints, down to 2048. library: the sort that comes with the library, of the same
          ints. matrix: 1024 x 1024 doubles, in quarters down to 64.
region    us for each of 1000 small computations, fib of 10, entered from outside one after the
          other
loops     us. even: a million indices of a nanosecond. skewed: each takes longer than the one
          before. spiky: one in 256 takes a thousand times as long. front: all is in the first part.
          coarse: 16 indices of 250 us. stream: as fast as memory. tiny: 1000 indices of a
          nanosecond. By hand: so many pieces, as a grain that is given.

1w, 2w    with one worker, and with two. MB: the most memory that was resident, without the input;
          of the JDK nearly all is the heap, which may have 1 GB. serial: plain C, and qsort.

gcc and clang are their OpenMP tasks, static and guided gcc's loops. What is done in one go is the
same code for all but the JDK, whose compiler finds no vectors in the matrix. The library sorts of
others know at compile time what they compare; rota's and serial's call a function for that.

They take turns, round after round, so that what else the machine does hits all alike; a number is
the median of the rounds. Each run checks its result. The targets are those of rota's design.
"""
import os
import resource

import picture
import turns
from turns import Group, Peer, Row, figure, jdk, print_verdict, rota, value

PACKAGES = {"omp": "libgomp1", "clang_omp": "libomp-dev and clang", "tbb": "libtbb-dev",
            "rayon": "librust-rayon-dev and cargo", "Jdk.class": "openjdk-17-jdk-headless"}
STACK = 64 << 20  # bytes, for each thread: some nest what they steal
MB, MS, US = 1e6, 1e6, 1e3
ONE, TWO = figure(0), figure(3)  # the times with one worker and with two


class Variant(Peer):
    """Asks for something else than the row says: words of the request by position."""

    def __init__(self, file, words):
        super().__init__(file, league="" if file == "rota" else "floor")
        self.words = words

    def ask(self, folder, request, count):
        words = request.split()
        for position, word in self.words.items():
            words[position] = word
        return super().ask(folder, " ".join(words), count)


def by_hand(pieces):
    return Variant("rota", {2: str(pieces)})


ROTA, UNFORK = rota(), rota("unfork")
GCC, CLANG, TBB, RAYON = Peer("omp"), Peer("clang_omp"), Peer("tbb"), Peer("rayon")
GUIDED = Peer("omp", "./omp", "guided")
JDK = jdk(heap=("-Xms1g", "-Xmx1g"))
SERIAL = Variant("serial", {3: "1"})
HAND = {str(pieces): by_hand(pieces) for pieces in (2, 8, 32, 256, 2048)} | {"n": by_hand(1 << 40)}
OTHERS = [("others", {"gcc": GCC, "clang": CLANG, "TBB": TBB, "rayon": RAYON, "JDK": JDK}),
          ("floor", {"serial": SERIAL})]
RIVALS = [GCC, CLANG, GUIDED, TBB, JDK]  # none of which may be faster
ALL = [*RIVALS, RAYON]
RATIOS = {"/serial": [SERIAL], "/ best": ALL}


# -- Rows ----------------------------------------------------------------------------------------

def share(runs):
    """What two workers need of the time of one, in %."""
    one, two = ONE(runs), TWO(runs)
    return 100 * two / one if two else None


def mean(index, unit):
    """Of a figure that not all have."""
    return lambda runs: turns.mean(index, unit)(runs) if len(runs[0]) > index else None


def row(name, size, unit, count=(1, 1), but=(), memory=True):
    """The figures are time, processor time and memory with one worker, and the same with two."""
    lines = {f"{name} 1w": figure(0, unit), f"{name} 2w": figure(3, unit),
             f"{name} 2w/1w, %": share}
    if memory:
        lines[f"{name} 2w, MB"] = figure(5, MB)
    cpu = {f"{name} 1w": mean(1, unit), f"{name} 2w": mean(4, unit)}
    return Row(f"{size} {name} 0 2", [name], lines, cpu, count=count, but=but)


def sum_forks(n, cut):
    """Both halves are forked."""
    if n < cut:
        return 0
    half, rest = n // 2, n - n // 2
    if half == rest:
        return 2 + 2 * sum_forks(half, cut)
    return 2 + sum_forks(half, cut) + sum_forks(rest, cut)


NODES, NUMBERS, REGIONS = 4_120_865, 10_000_000, 1000

FORKS = [row("fib", 30, 1_346_268),
         row("queens", 12, 856_188, but=[UNFORK]),
         row("tree", NODES, NODES - 1, but=[UNFORK]),
         row("sum6", NUMBERS, sum_forks(NUMBERS, 6), but=[UNFORK])]
SUM10K = row("sum10k", NUMBERS, MS, count=(5, 3))
SORT = row("sort", NUMBERS, MS)
LIBRARY = row("library", NUMBERS, MS, but=[GCC, CLANG])
MATRIX = row("matrix", 1024, MS)
ARRAYS = [SUM10K, SORT, LIBRARY, MATRIX]
REGION = row("region", REGIONS, REGIONS * US, count=(3, 2), memory=False)
STREAM = row("stream", 4_000_000, US, count=(5, 3), memory=False)
LOOPS = [*(row(name, size, US, count=(5, 3), memory=False) for name, size in
           {"even": 1_000_000, "skewed": 4096, "spiky": 65_536, "front": 65_536,
            "coarse": 16}.items()), STREAM,
         row("tiny", REGIONS, REGIONS * US, count=(5, 3), memory=False)]

GROUPS = [
    Group("forks, ns", ["forks"], [("rota", {"plain": ROTA, "unfork": UNFORK}), *OTHERS], FORKS,
          RATIOS),
    Group("arrays, ms", ["arrays"], [("rota", {"tasks": ROTA}), *OTHERS], ARRAYS, RATIOS),
    Group("region, us", ["region"], [("rota", {"invoke": ROTA}), *OTHERS], [REGION], RATIOS),
    Group("loops, us", ["loops"],
          [("rota", {"auto": ROTA}), ("by hand", HAND),
           ("others", {"static": GCC, "guided": GUIDED, "TBB": TBB, "rayon": RAYON, "JDK": JDK}),
           ("floor", {"serial": SERIAL})], LOOPS,
          {"/ hand": list(HAND.values()), **RATIOS}),
]
MEMORY_BOUND = [SUM10K, STREAM, REGION, LOOPS[-1]]  # or over before a second worker is awake


# -- The targets ---------------------------------------------------------------------------------

EQUAL = 1.03  # as good as equal


def judge_ratio(what, row, tell, rivals, limit):
    """To the best of them."""
    ours = value(row, tell, ROTA)
    best = min((found for rival in rivals if (found := value(row, tell, rival))), default=None)
    if ours and best:
        print_verdict(what, ours / best, limit)


def judge_fib(fib):
    for name, rival, limit in (("rayon", RAYON, 1 / 2), ("JDK", JDK, 1 / 5), ("TBB", TBB, 1 / 10)):
        judge_ratio(f"fib 1w / {name}'s", fib, ONE, [rival], limit)


def judge_speedup(row):
    if ROTA in row.runs:
        print_verdict(f"{row.words[0]} 2w / 1w", share(row.runs[ROTA]) / 100, 1 / 1.8)


def judge():
    print("\nTargets")
    rows = [*FORKS, *ARRAYS, REGION, *LOOPS]
    judge_fib(FORKS[0])
    for row in SUM10K, SORT, MATRIX:
        judge_ratio(f"{row.words[0]} 1w / serial", row, ONE, [SERIAL], EQUAL)
    for row in rows:
        if row not in MEMORY_BOUND:
            judge_speedup(row)
    for row in rows:
        judge_ratio(f"{row.words[0]} 1w / best of OpenMP, TBB, JDK", row, ONE, RIVALS, EQUAL)
        judge_ratio(f"{row.words[0]} 2w / best of OpenMP, TBB, JDK", row, TWO, RIVALS, EQUAL)
    for row in LOOPS:
        judge_ratio(f"{row.words[0]} 2w / best grain by hand", row, TWO, HAND.values(), 1.10)


# -- The picture ---------------------------------------------------------------------------------

COLUMNS = {"rota": ROTA, "rota, unfork": UNFORK, "gcc": GCC, "gcc, guided": GUIDED, "clang": CLANG,
           "TBB": TBB, "rayon": RAYON, "JDK": JDK, "serial": SERIAL}


def draw(path):
    """Times with two workers, in those of rota; serial: its one."""
    bars = {}
    for row in [*FORKS, *ARRAYS, REGION, *LOOPS]:
        ours = value(row, TWO, ROTA)
        if ours:
            times = {name: value(row, TWO, peer) or value(row, ONE, peer)
                     for name, peer in COLUMNS.items() if peer in row.runs}
            bars[row.words[0]] = {name: time / ours for name, time in times.items()}
    picture.write(path, "Time with two workers, in that of rota: shorter is better", bars)


def prepare():
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard))
    os.environ["OMP_STACKSIZE"] = f"{STACK}B"


if __name__ == "__main__":
    prepare()
    turns.main(name="forkjoin", doc=__doc__, groups=GROUPS, unit="ns, us, ms and MB",
               each="fork; us and ms where that is said", packages=PACKAGES, rounds=(9, 2),
               judge=judge, draw=draw)
