#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py - runs the rows of tests/combine and compares the failures with known.txt.

    run.py [--seed N|random] [--minutes N] [--sample N] [--jobs N] [--without LIST=CHOICE] PROGRAM
    run.py --row "CHOICE..." PROGRAM   runs one row, and prints a short program that does the same

Each row runs in a process of its own, with a time limit. A row that takes too long runs again with a longer limit and
few others beside it, so that a busy machine causes no failure; if the row passes then, it is printed as "slow". With --minutes the run goes on with other seeds until the
time is up.

The defects in known.txt also show in rare forms that no entry there describes. A failure in such a form is an error if
it comes again in five more runs of the row, or with --strict. Otherwise it is only printed.
"""
import argparse
import concurrent.futures
import os
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import program
import rows

HERE = Path(__file__).resolve().parent
SHORT, USUAL, LONG = 0.5, 3.0, 30.0  # seconds
MORE_RUNS = 5
# A busy machine can cause these.
SLOW = re.compile(r"^hangs|^memory is not freed$|^a thread has not ended$|^a descriptor is still open$|^a child of fork hangs$")


class Entry:
    """Rows that fail by a known defect, and the message with which they do. `sometimes`: they may also pass."""

    def __init__(self, number, pattern, message, sometimes):
        self.number = number  # of its line
        self.pattern = pattern
        self.message = message
        self.sometimes = sometimes
        self.seen = 0

    def explains(self, row, line):
        return self.pattern.matches(row) and self.message.search(line)

    def hangs(self, row):
        return not self.sometimes and "hangs" in self.message.pattern and self.pattern.matches(row)

    def is_gone(self, runner, table):
        """True if no row fails as the entry says, in several runs of the rows that it names."""
        if self.sometimes or self.seen > 0:
            return False
        for row in [row for row in table if self.pattern.matches(row)] * MORE_RUNS:
            runner.note(row, runner.run(row, USUAL))
            if self.seen > 0:
                return False
        return True


def known_entries(build):
    """Reads known.txt. A line that begins with "asan" or "tsan" counts in that build alone."""
    lists, entries, has_cause = rows.choices(), [], False
    for number, line in enumerate((HERE / "known.txt").read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            has_cause = True
            continue
        words, _, message = line.strip().partition(" : ")
        if not message or not has_cause:
            raise SystemExit(f"known.txt:{number}: {line}")
        words = words.split()
        marks = [w for w in words if "=" not in w]
        if set(marks) - {"sometimes", "dev", "asan", "tsan"}:
            raise SystemExit(f"known.txt:{number}: {line}")
        words = [w for w in words if "=" in w]
        builds = [m for m in marks if m in ("dev", "asan", "tsan")]
        if builds and build not in builds:
            continue
        entries.append(Entry(number, rows.Pattern(" ".join(words), lists), re.compile(message),
                             "sometimes" in marks or build != "dev"))
    return entries


def sanitizer_lines(lines):
    """Keeps the lines of the row and the kinds of errors that a sanitizer reports."""
    kept = []
    for line in lines:
        error = re.match(r"SUMMARY: (?:Address|Thread|UndefinedBehavior)Sanitizer: (\S+(?: race)?)", line)
        if error and "byte(s) leaked" in line:
            kept.append("memory is not freed")
        elif error:
            kept.append(f"sanitizer: {error.group(1)}")
        elif re.match(r"\S+:\d+:\d+: runtime error", line):
            kept.append("sanitizer: " + line.split("runtime error: ")[1])
        elif re.match(r"[a-z`]", line):
            kept.append(line)
    errors = [line for line in kept if line.startswith("sanitizer: ")]
    return list(dict.fromkeys(errors or kept))


class Runner:
    def __init__(self, args, entries):
        self.args = args
        self.entries = entries
        self.ran = self.known = 0
        self.bad = []

    def run(self, row, limit):
        """Returns the lines that say what is wrong."""
        env = dict(os.environ, COMBINE_SECONDS=str(limit), TSAN_OPTIONS="report_thread_leaks=0")  # a row that hangs
        try:
            done = subprocess.run([self.args.program, *row], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=limit + 20, text=True, errors="replace", stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            return [*(error.stdout or b"").decode(errors="replace").splitlines(), "hangs, and its alarm does nothing"]
        lines = done.stdout.splitlines()
        if self.args.build != "dev":
            lines = sanitizer_lines(lines)
        if done.returncode < 0:
            lines.append(f"is killed by signal {-done.returncode}")
        elif done.returncode != 0 and not lines:
            lines.append(f"exits with status {done.returncode}")
        return lines  # also if a child of fork has printed them

    def explaining(self, row, line):
        return [entry for entry in self.entries if entry.explains(row, line)]

    def unexplained(self, row, lines):
        return [line for line in lines if not self.explaining(row, line)]

    def first(self, row):
        hangs = any(entry.hangs(row) for entry in self.entries)
        start = time.monotonic()
        lines = self.run(row, (SHORT if hangs else USUAL) * self.args.slow)
        return row, lines, time.monotonic() - start

    def note(self, row, lines):
        self.ran += 1
        self.known += bool(lines)
        for line in lines:
            for entry in self.explaining(row, line):
                entry.seen += 1

    def again(self, row, lines):
        """Runs a row again with more time, unless its failure is clear. Returns also whether the failure came again."""
        if len(self.bad) >= self.args.most:
            return row, lines, True
        if all(SLOW.search(line) for line in self.unexplained(row, lines)):
            first, lines = lines, self.run(row, LONG)
            if not lines:
                print(f"slow {' '.join(row)}: {'; '.join(first)}", flush=True)
        if not self.unexplained(row, lines) or self.args.strict:
            return row, lines, True
        return row, lines, any(self.unexplained(row, self.run(row, LONG)) for _ in range(MORE_RUNS))

    def judge(self, row, lines, has_come_again):
        odd = self.unexplained(row, lines)
        if odd:
            if has_come_again:
                self.bad.append(row)
            print(f"{'FAILED' if has_come_again else 'once'} {' '.join(row)}")
            for line in lines:
                print(f"    {line}{'' if line in odd else ' (known)'}")
            sys.stdout.flush()
        self.note(row, [line for line in lines if line not in odd])

    def run_all(self, table):
        again = []
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for row, lines, seconds in pool.map(self.first, table):
                if self.unexplained(row, lines):
                    again.append((row, lines))
                else:
                    self.note(row, lines)
                if self.args.log:
                    print(f"{' '.join(row)} | {seconds:.2f} | {'; '.join(lines)}", file=self.args.log)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for judged in pool.map(lambda pair: self.again(*pair), again):
                self.judge(*judged)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--sample", type=int, default=0, help="so many rows of each seed")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--build", default="dev", choices=["dev", "asan", "tsan"])
    parser.add_argument("--without", action="append", default=[], metavar="LIST=CHOICE")
    parser.add_argument("--most", type=int, default=40, help="so many failures are enough")
    parser.add_argument("--strict", action="store_true", help="a failure need not come again")
    parser.add_argument("--log", type=argparse.FileType("w"))
    parser.add_argument("--row")
    parser.add_argument("program")
    args = parser.parse_args()
    args.slow = 1 if args.build == "dev" else 4
    return args


def rows_of(seed, args, lists):
    table = rows.Rows(seed).build()
    for text in args.without:
        pattern = rows.Pattern(text, lists)
        table = [row for row in table if not pattern.matches(row)]
    random.Random(seed).shuffle(table)
    return table[:args.sample] if args.sample else table


def main():
    args = arguments()
    entries = known_entries(args.build)
    runner = Runner(args, entries)
    if args.row:
        row = tuple(args.row.replace(",", " ").split())
        lines = runner.run(row, LONG)
        print(program.of(row, lines))
        sys.exit(1 if lines else 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    begun = time.monotonic()
    lists = rows.choices()
    seed = random.randrange(1 << 30) if args.seed == "random" else int(args.seed)
    while True:
        print(f"seed {seed}", flush=True)
        runner.run_all(rows_of(seed, args, lists))
        if runner.bad or time.monotonic() - begun >= args.minutes * 60:
            break
        seed += 1
    failed = len(runner.bad)
    if runner.bad:
        path = Path(args.program).resolve().parent / "failing_row.c"
        path.write_text(program.of(runner.bad[0], []))
        print(f"{path} shows the first failure: {' '.join(runner.bad[0])}")
    if not args.sample and not args.without and not runner.bad:
        table = rows_of(seed, args, lists)
        for entry in entries:
            if entry.is_gone(runner, table):
                failed += 1
                print(f"known.txt:{entry.number}: no row fails any more as this entry says: remove it")
    print(f"{runner.ran} rows, {runner.known} of them fail as known.txt says, "
          f"{time.monotonic() - begun:.0f} s")
    print(f"{runner.ran - len(runner.bad)} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
