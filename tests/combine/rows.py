#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rows.py - the rows of tests/combine: a covering array of strength three.

    rows.py [--seed N]    prints rows in which every allowed combination of three choices occurs
    rows.py --self-test   checks a covering array, and the table of exclusions

The choices are the functions LIST_CHOICE in the C files beside this one. exclusions.txt lists the combinations that
make no sense.
"""
import itertools
import random
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LISTS = ["executor", "work", "body", "place", "wait", "event", "moment", "start", "setting"]


def choices():
    """Returns the choices of each list, as the sources have them."""
    text = "".join((HERE / f"{name}.c").read_text() for name in ("executors", "works", "bodies", "waiters", "events"))
    found = {name: [] for name in LISTS}
    for name, choice in re.findall(r"^(?:void \*?|int )([a-z]+)_(\w+)\([^;\n]*\)$", text, re.M):
        if name in found and choice not in ("is_started", "waits"):
            found[name].append(choice)
    return [found[name] for name in LISTS]


class Pattern:
    """Choices of some lists: "list=a|b list=!c"."""

    def __init__(self, text, lists):
        self.allowed = {}
        for word in text.split():
            name, _, names = word.partition("=")
            if name not in LISTS:
                raise SystemExit(f"there is no list {name}: {text}")
            index = LISTS.index(name)
            named = names.lstrip("!").split("|")
            for one in named:
                if one not in lists[index]:
                    raise SystemExit(f"there is no {name}_{one}: {text}")
            inverted = names.startswith("!")
            self.allowed[index] = {c for c in lists[index] if (c in named) != inverted}

    def matches(self, row):
        return all(row[index] in allowed for index, allowed in self.allowed.items())


def exclusions(lists):
    """Returns the patterns of exclusions.txt, each with its reason."""
    patterns = []
    for line in (HERE / "exclusions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            text, _, reason = line.partition(" : ")
            if not reason:
                raise SystemExit(f"exclusions.txt: no reason: {line}")
            patterns.append((Pattern(text, lists), reason))
    return patterns


class Rows:
    """Builds the covering array greedily."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lists = choices()
        self.patterns = [pattern for pattern, _ in exclusions(self.lists)]
        self.of_list = [[p for p in self.patterns if i in p.allowed] for i in range(len(LISTS))]
        self.impossible = set()  # combinations that no row can have, because of several exclusions

    def fits(self, row, index):
        """Is the choice in list `index` possible beside the others that are set?"""
        for pattern in self.of_list[index]:
            if all(row[i] is not None and row[i] in allowed for i, allowed in pattern.allowed.items()):
                return False
        return True

    def fill(self, row, order, gain):
        """Sets the other lists, each to the choice that covers most. None: there is no such row."""
        if not order:
            return row
        index, rest = order[0], order[1:]
        candidates = []
        for choice in self.lists[index]:
            row[index] = choice
            if self.fits(row, index):
                candidates.append((gain(row, index) if gain else 0, self.random.random(), choice))
        for _, _, choice in sorted(candidates, reverse=True):
            row[index] = choice
            done = self.fill(row, rest, gain)
            if done is not None:
                return done
        row[index] = None
        return None

    def triples(self):
        """Returns every combination of three choices that some row can have."""
        found = set()
        for lists in itertools.combinations(range(len(LISTS)), 3):
            for chosen in itertools.product(*(self.lists[i] for i in lists)):
                row = [None] * len(LISTS)
                for i, choice in zip(lists, chosen):
                    row[i] = choice
                if all(self.fits(row, i) for i in lists):
                    found.add((lists, chosen))
        return found

    def build(self):
        open_triples = self.triples()
        others = {i: list(itertools.combinations([j for j in range(len(LISTS)) if j != i], 2))
                  for i in range(len(LISTS))}

        def gain(row, index):
            count = 0
            for a, b in others[index]:
                if row[a] is None or row[b] is None:
                    continue
                key = tuple(sorted((a, b, index)))
                if (key, (row[key[0]], row[key[1]], row[key[2]])) in open_triples:
                    count += 1
            return count

        todo = sorted(open_triples)
        self.random.shuffle(todo)
        todo.sort(key=lambda t: -len(self.lists[t[0][0]]) * len(self.lists[t[0][1]]) * len(self.lists[t[0][2]]))
        rows = []
        for lists, chosen in todo:
            if (lists, chosen) not in open_triples:
                continue
            row = [None] * len(LISTS)
            for i, choice in zip(lists, chosen):
                row[i] = choice
            order = sorted((i for i in range(len(LISTS)) if row[i] is None), key=lambda i: -len(self.lists[i]))
            row = self.fill(row, order, gain)
            if row is None:
                self.impossible.add((lists, chosen))
                open_triples.discard((lists, chosen))
                continue
            for key in itertools.combinations(range(len(LISTS)), 3):
                open_triples.discard((key, tuple(row[i] for i in key)))
            rows.append(tuple(row))
        return rows


def self_test():
    rows = Rows(1)
    table = rows.build()
    covered = {(key, tuple(row[i] for i in key))
               for row in table for key in itertools.combinations(range(len(LISTS)), 3)}
    missing = rows.triples() - covered - rows.impossible
    if missing:
        raise SystemExit(f"no row covers {min(missing)}")
    for pattern, reason in exclusions(rows.lists):
        if any(pattern.matches(row) for row in table):
            raise SystemExit(f"a row is excluded: {reason}")
        if len(pattern.allowed) not in (2, 3):
            raise SystemExit(f"an exclusion names two or three lists: {reason}")
    if Rows(1).build() != table:
        raise SystemExit("the same seed gives other rows")
    print(f"{len(table)} rows cover {len(covered)} combinations of three choices")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif not sys.argv[1:] or sys.argv[1] == "--seed" and len(sys.argv) == 3:
        seed = int(sys.argv[2]) if sys.argv[1:] else 1
        for row in Rows(seed).build():
            print(*row)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
