# SPDX-License-Identifier: MIT
"""What the benchmarks of rota beside others have in common: programs that take turns, and a table.

A program reads one request a line, BOUND MODE PRODUCERS CONSUMERS COUNT, and answers each with one:
its name, the request without COUNT, and figures, with semicolons between them. What the figures are
is a matter of the benchmark; where COUNT is to fit into a set time, the first is the time for one,
in ns.

The programs take turns, round after round, so that what else the machine does hits all alike. The
first round only warms up.
"""
import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

WARM = 0.3  # seconds that a program runs before it is measured: Java compiles meanwhile
PATIENCE = 300  # seconds until a run that does not end has lost something

JAVA = ["-XX:-UsePerfData", "-cp", ".", "Jdk"]
JAVA_HEAP = ("-Xms512m", "-Xmx512m")


# -- What is measured ----------------------------------------------------------------------------

class Peer:
    """What is compared: the program that measures it, which runs from the first request on."""

    def __init__(self, file, *command, league=""):
        self.file = file
        self.command = command or (f"./{file}",)
        self.league = league  # compared are peers of the same one
        self.processes = {}  # by command and environment
        self.ran = 0  # seconds

    def start_for(self, request):
        """The command, and what it needs in its environment."""
        del request  # the same for all
        return self.command, {}

    def process_for(self, folder, request):
        command, environment = self.start_for(request)
        key = (*command, *environment.items())
        if key not in self.processes:
            self.processes[key] = subprocess.Popen(
                command, cwd=folder, env={**os.environ, **environment}, text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self.processes[key]

    def ask(self, folder, request, count):
        """One run: its line, and the figures in it."""
        process = self.process_for(folder, request)
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            process.stdin.write(f"{request} {count}\n")
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        watchdog.cancel()
        if not line.endswith("\n"):  # it ended in the middle
            sys.exit(f"{' '.join(self.command)}: failed, or lost something: {request} {count}")
        line = line.strip()
        return line, [float(figure) for figure in line.split(";")[5:]]

    def stop(self):
        for process in self.processes.values():
            process.stdin.close()
            process.wait()


def rota(*words, league=""):
    return Peer("rota", "./rota", *words, league=league)


def jdk(*words, league="", heap=JAVA_HEAP):
    return Peer("Jdk.class", "java", *heap, *JAVA, *words, league=league)


# The lines of the table: what they say of the figures of all runs, one list a run.

def median(figure, unit=1):
    return lambda runs: statistics.median(run[figure] for run in runs) / unit


def figure(index, unit=1):
    """The median of one that not all have."""
    def tell(runs):
        return median(index, unit)(runs) if len(runs[0]) > index else None
    return tell


def mean(figure, unit=1):
    """Java's processor time has a resolution of 10 ms: only a mean evens that out."""
    return lambda runs: statistics.fmean(run[figure] for run in runs) / unit


class Row:
    """A request, and the lines of the table that tell what came of it.

    words   they choose it
    lines   by label, what is said of the runs; cpu: the same for the table of processor time
    but     peers that cannot do it
    count   so often in a run, and in a quick one, of which none is to warm up; None: as often as
            fits into the time
    first   where the search for this number begins
    most    and where it ends
    once    in the last round only
    slow    not in a quick run
    """

    def __init__(self, request, words, lines, cpu=None, but=(), count=None, first=1600,
                 most=2_000_000, once=False, slow=False):
        self.request = request
        self.words = words
        self.lines = lines
        self.cpu = cpu or {}
        self.but = but
        self.count = count
        self.first = first
        self.most = most
        self.once = once
        self.slow = slow
        self.fit = {}  # the count of a run, by peer
        self.runs = {}  # by peer: figures of each run

    def fitting(self, ns, seconds):
        """How many of that cost fit in; a multiple of every number of threads."""
        return max(16, min(self.most, int(seconds * 1e9 / ns)) // 16 * 16)


class Group:
    """Rows for the same peers, which stand in parts: whose they are, and by name the columns. The
    first part is rota's. `ratios` are to others, by name: to the best of these, or of all in the
    same league."""

    def __init__(self, title, words, parts, rows, ratios=None):
        self.title = title
        self.words = words
        self.parts = parts
        self.rows = rows
        self.ratios = ratios or {"/ best": None}

    def narrow(self, there, words, quick):
        """Leaves the peers that are there, and the rows that all the words are in."""
        self.parts = [(owner, {name: peer for name, peer in peers.items() if there(peer)})
                      for owner, peers in self.parts]
        self.rows = [row for row in self.rows if set(words) <= {*self.words, *row.words}
                     and not (quick and row.slow)]

    def ours(self):
        return self.parts[0][1]

    def others(self):
        return [peer for _, peers in self.parts[1:] for peer in peers.values()]

    def peers(self):
        return [*self.ours().values(), *self.others()]


# -- Measuring -----------------------------------------------------------------------------------

class Turns:
    def __init__(self, folder, quick, rounds, log):
        self.folder = folder
        self.quick = quick
        self.rounds = rounds
        self.seconds = 0.02 if quick else 0.04  # a run
        self.log = log

    def warm_up(self, row, peer):
        """Runs until a run is long enough to tell how many fit into one, and it is warm."""
        if row.count is not None:
            row.fit[peer] = row.count[self.quick]
            return
        count = row.first
        while True:
            _, figures = peer.ask(self.folder, row.request, count)
            peer.ran += figures[0] * count / 1e9
            fit = row.fitting(figures[0], self.seconds)
            if fit <= 2 * count and peer.ran >= WARM:
                row.fit[peer] = fit
                return
            count = min(fit, 16 * count)

    def measure(self, row, peer):
        line, figures = peer.ask(self.folder, row.request, row.fit[peer])
        print(line, file=self.log)
        runs = row.runs.setdefault(peer, [])
        runs.append(figures)
        if row.count is None:
            row.fit[peer] = row.fitting(median(0)(runs), self.seconds)

    def take(self, groups):
        for turn in range(self.rounds + 1):
            progress(f"{turn} of {self.rounds} rounds")
            for group in groups:
                for row in group.rows:
                    peers = [peer for peer in group.peers() if peer not in row.but]
                    for peer in peers if turn % 2 else reversed(peers):
                        if turn == 0:
                            self.warm_up(row, peer)
                        elif turn == self.rounds or not row.once:
                            self.measure(row, peer)
        progress("")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:<20}\r", end="", file=sys.stderr, flush=True)


class Others:
    """What other processes, and the host, used of the CPUs meanwhile: with a CPU less what is
    measured is another, as its threads then run one after the other."""

    def __init__(self):
        self.begin = self.now()

    @staticmethod
    def now():
        """The time, and the processor time of all but this process and its ended children."""
        try:
            with open("/proc/stat", encoding="ascii") as file:
                user, nice, system, _, _, *rest = map(int, file.readline().split()[1:9])
        except (OSError, ValueError):
            return None
        used = (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), used - sum(os.times()[:4])

    def text(self):
        end = self.now()
        if self.begin is None or end is None:
            return ""
        share = max(0.0, (end[1] - self.begin[1]) / (end[0] - self.begin[0]))
        return f", of which other programs used {share:.1f}" + (
            ": NOT QUIET ENOUGH to compare with other runs" if share > 0.2 else "")


# -- The table -----------------------------------------------------------------------------------

LABEL, WIDTH = 20, 8  # of the columns


def number(value):
    if value is None:
        return ""
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def line(label, *parts):
    """One line of the table; parts without columns are left out."""
    parts = ["".join(f"{cell:>{WIDTH}}" for cell in cells) for cells in parts if cells]
    return f"{label:<{LABEL}}" + " |".join(parts)


def heading(group):
    """Two lines: whose the columns are, and their names."""
    parts = [*group.parts, *((name, group.ours()) for name in group.ratios)]
    owners = [[""] * (len(peers) - 1) + [owner] for owner, peers in parts if peers]
    return line("", *owners) + "\n" + line(group.title, *(peers for _, peers in parts))


def ratio(group, peer, rivals, found):
    """How it compares with the best of the rivals, or else of the others of its league."""
    if rivals is None:
        rivals = [other for other in group.others() if other.league == peer.league]
    best = min((found[rival] for rival in rivals if found.get(rival) is not None), default=0)
    return f"{found[peer] / best:.2f}" if best and found.get(peer) is not None else "-"


def table(groups, lines_of):
    for group in groups:
        rows = [row for row in group.rows if lines_of(row)]
        if rows:
            print("\n" + heading(group))
        for row in rows:
            for label, tell in lines_of(row).items():
                found = {peer: tell(runs) for peer, runs in row.runs.items()}
                cells = [[number(found.get(peer)) for peer in peers.values()]
                         for _, peers in group.parts]
                ratios = [[ratio(group, peer, rivals, found) for peer in group.ours().values()]
                          for rivals in group.ratios.values()]
                print(line("  " + label, *cells, *ratios))


# -- The targets ---------------------------------------------------------------------------------

def value(row, tell, peer):
    """None if it was not measured."""
    return tell(row.runs[peer]) if peer in row.runs else None


def print_verdict(what, found, limit):
    print(f"  {'met   ' if found <= limit else 'MISSED'}  {what}: {found:.2f}, at most {limit:.2f}")


# -- The program ---------------------------------------------------------------------------------

def arguments(name, doc):
    parser = argparse.ArgumentParser(prog=f"bench/run {name}", description=doc, add_help=False,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()
    if options.help:
        print(doc.rstrip())
        sys.exit()
    return options


def run(name, doc, groups, unit, each, packages, rounds, judge=None, draw=None):
    """`unit` is what the numbers are, `each` what the processor time is for; `packages` tells by
    file what is not installed when that file is not there; `rounds` how many there are, and in a
    quick run; `judge` has the last word, after the table; `draw` writes a picture of it."""
    options = arguments(name, doc)
    for group in groups:
        group.narrow(lambda peer: (options.folder / peer.file).exists(), options.words,
                     options.quick)
    if not any(group.rows for group in groups):
        sys.exit(f"No row has all these words. See bench/run {name} --help")

    others = Others()
    results = options.folder / "results.csv"
    with open(results, "w", encoding="utf-8") as log:
        turns = Turns(options.folder, options.quick, rounds[options.quick], log)
        turns.take(groups)
    for peer in {peer for group in groups for peer in group.peers()}:
        peer.stop()

    timed = any(row.count is None for group in groups for row in group.rows)
    length = f" of {1000 * turns.seconds:.0f} ms" if timed else ""
    print(f"{unit}, the median of {turns.rounds} runs{length}\n"
          f"{os.cpu_count()} CPUs{others.text()}")
    ratios = dict.fromkeys(name for group in groups for name in group.ratios)
    print(f"{', '.join(ratios)}: rota's number divided by theirs; below 1, rota is better")
    table(groups, lambda row: row.lines)
    if options.cpu:
        print(f"\nns of processor time for each {each}, the mean of the same runs")
        table(groups, lambda row: row.cpu)
    if judge:
        judge()
    missing = [package for file, package in packages.items()
               if not (options.folder / file).exists()]
    print(f"\nEvery run: {results}")
    if draw:
        picture = options.folder.with_suffix(".svg")
        draw(picture)
        print(f"A picture: {picture}")
    if missing:
        print("Not measured, as it is not installed:", ", ".join(missing))


def main(**benchmark):
    try:
        run(**benchmark)
    except KeyboardInterrupt:
        sys.exit(130)
