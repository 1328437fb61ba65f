#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a file is in the text format of Prometheus, version 0.0.4, and strictly so.

check_metrics.py FILE...       prints one line for each fault; the exit status is 0 when there is none
check_metrics.py --self-test   plants one fault of each kind and looks whether it is found

Every metric has one HELP and one TYPE, before its samples, which stand together; no sample comes twice;
names, labels, escapes and values are as they must be. Counters end in _total. Buckets of a histogram
rise, are told in order, and the last of them is +Inf and the count.
"""
import re
import sys

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|\Z)')
NUMBER = re.compile(r"(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?Inf|NaN)\Z")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")
PARTS = ("_bucket", "_sum", "_count")
LAST_FAULTS = 20  # more than that help nobody


class Metrics:
    """What was read so far."""

    def __init__(self):
        self.faults = []
        self.help, self.type = {}, {}
        self.samples = set()
        self.buckets = {}  # of a histogram and its labels: (bound, count), in order
        self.counts = {}
        self.sums = set()
        self.current = None  # the metric whose samples may come now
        self.over = set()  # those whose samples have been

    def fault(self, text):
        self.faults.append(text)

    def comment(self, line):
        words = line.split(" ", 3)
        if len(words) < 4 or words[0] != "#" or words[1] not in ("HELP", "TYPE"):
            return self.fault(f"a comment that says nothing: {line}")
        _, kind, name, text = words
        if not NAME.match(name):
            return self.fault(f"no name: {name}")
        table = self.help if kind == "HELP" else self.type
        if name in table:
            self.fault(f"{name} has two {kind}")
        table[name] = text
        if kind == "TYPE" and text not in TYPES:
            self.fault(f"{name} is of no type: {text}")
        if kind == "HELP" and re.search(r"\\(?![\\n])", text):
            self.fault(f"{name} has a bad escape in its HELP")
        if kind == "TYPE" and text == "counter" and not name.endswith("_total"):
            self.fault(f"{name} is a counter and does not end in _total")
        self.enter(name)

    def enter(self, name):
        if name == self.current:
            return
        if self.current is not None:
            self.over.add(self.current)
        if name in self.over:
            self.fault(f"{name} is not all in one place")
        self.current = name

    def labels(self, text):
        """A dictionary; or None: they are none."""
        found = {}
        at = 0
        while at < len(text):
            match = LABEL.match(text, at)
            if not match or match[1] in found or (match[3] == "," and match.end() == len(text)):
                return None
            found[match[1]] = match[2]
            at = match.end()
        return found

    def sample(self, line):
        match = SAMPLE.match(line)
        labels = self.labels(match[2] or "") if match else None
        if labels is None:
            return self.fault(f"no sample: {line}")
        if not NUMBER.match(match[3]):
            return self.fault(f"no number: {line}")
        name, value = match[1], float(match[3])
        owner = self.owner_of(name)
        if owner not in self.type or owner not in self.help:
            return self.fault(f"{name} comes before its HELP and TYPE")
        self.enter(owner)
        key = (name, tuple(sorted(labels.items())))
        if key in self.samples:
            self.fault(f"twice: {line}")
        self.samples.add(key)
        if self.type[owner] == "counter" and not value >= 0:
            self.fault(f"a counter below 0: {line}")
        if self.type[owner] == "histogram":
            self.part(owner, name[len(owner):], labels, value)

    def owner_of(self, name):
        for part in PARTS:
            owner = name[: -len(part)]
            if name.endswith(part) and self.type.get(owner) == "histogram":
                return owner
        return name

    def part(self, owner, part, labels, value):
        bound = labels.pop("le", None)
        key = (owner, tuple(sorted(labels.items())))
        if (part == "_bucket") != (bound is not None) or part not in PARTS:
            return self.fault(f"{owner}{part} is no part of a histogram")
        if part == "_bucket":
            if not NUMBER.match(bound):
                return self.fault(f"{owner} has a bucket that ends nowhere: {bound}")
            self.buckets.setdefault(key, []).append((float(bound), value))
        elif part == "_count":
            self.counts[key] = value
        else:
            self.sums.add(key)

    def end(self):
        for key, buckets in self.buckets.items():
            bounds = [bound for bound, _ in buckets]
            counts = [count for _, count in buckets]
            if bounds != sorted(set(bounds)):
                self.fault(f"{key[0]}: buckets are not in order")
            if counts != sorted(counts):
                self.fault(f"{key[0]}: buckets do not rise")
            if bounds[-1] != float("inf"):
                self.fault(f"{key[0]}: there is no bucket for all")
            elif self.counts.get(key) != counts[-1]:
                self.fault(f"{key[0]}: the count is not that of the last bucket")
            if key not in self.sums:
                self.fault(f"{key[0]}: there is no sum")
        for key in self.counts:
            if key not in self.buckets:
                self.fault(f"{key[0]}: there are no buckets")
        for name in set(self.help) ^ set(self.type):
            self.fault(f"{name} lacks HELP or TYPE")


def check(text):
    """The faults of a text: a list of sentences."""
    metrics = Metrics()
    if not text.endswith("\n"):
        metrics.fault("the last line does not end")
    for line in text.split("\n")[:-1]:
        if line.startswith("#"):
            metrics.comment(line)
        else:
            metrics.sample(line)
    metrics.end()
    if not metrics.samples:
        metrics.fault("there is no sample")
    return metrics.faults


# -- Self-test -----------------------------------------------------------------------------------

GOOD = r"""# HELP a_total How many.
# TYPE a_total counter
a_total{x="1",y="\"\\\n"} 3
a_total{x="2"} 0.5
# HELP g A gauge.
# TYPE g gauge
g -1e-05
# HELP h Times.
# TYPE h histogram
h_bucket{x="1",le="0.1"} 1
h_bucket{x="1",le="1"} 2
h_bucket{x="1",le="+Inf"} 3
h_sum{x="1"} 1.5
h_count{x="1"} 3
"""

BAD = {  # what is put in place of what, and a part of what must be said then
    "has two HELP": ("# TYPE g gauge", "# HELP g A gauge.\n# TYPE g gauge"),
    "has two TYPE": ("g -1e-05", "# TYPE g gauge\ng 1"),
    "of no type": ("g gauge", "g gage"),
    "no name": ("HELP g", "HELP 9g"),
    "bad escape in its HELP": ("A gauge.", "A \\gauge."),
    "says nothing": ("# HELP g A gauge.", "#"),
    "does not end in _total": ("g gauge", "g counter"),
    "not all in one place": ("h_count", 'a_total{x="3"} 1\nh_count'),
    "no sample: ": ('x="2"', 'x="2'),
    "no sample: a_total{x=\"\\q": ('x="2"', 'x="\\q"'),
    "no sample: a_total{x=\"1\",x": ('x="2"', 'x="1",x="2"'),
    "no sample: a_total{x=\"2\",}": ('x="2"', 'x="2",'),
    "no sample: a_total{9": ('x="2"', '9="2"'),
    "no sample: \n": ("g -1e-05", "\ng -1e-05"),
    "no number": ("0.5", "0,5"),
    "comes before its HELP": ("g -1e-05", "f 1"),
    "twice": ("g -1e-05", "g 1\ng 1"),
    "a counter below 0": ("0.5", "-0.5"),
    "no part of a histogram": (',le="1"', ""),
    "ends nowhere": ('le="1"', 'le="one"'),
    "are not in order": ('le="0.1"', 'le="10"'),
    "do not rise": ("} 2", "} 0"),
    "no bucket for all": ("+Inf", "2"),
    "not that of the last": ('h_count{x="1"} 3', 'h_count{x="1"} 4'),
    "no sum": ('h_sum{x="1"} 1.5\n', ""),
    "no buckets": ('h_count{x="1"} 3', 'h_count{x="1"} 3\nh_count{x="2"} 0'),
    "lacks HELP": ("# HELP g A gauge.\n", ""),
    "does not end": ('h_count{x="1"} 3\n', 'h_count{x="1"} 3'),
}


def self_test():
    failed = check(GOOD)
    for fault, (part, other) in BAD.items():
        if GOOD.count(part) == 0:
            failed.append(f"nothing to replace: {part}")
        if not any(fault.strip("\n") in found for found in check(GOOD.replace(part, other, 1))):
            failed.append(f"not found: {fault}")
    if not check(""):
        failed.append("taken for metrics: nothing")
    return failed


def main(words):
    if words == ["--self-test"]:
        faults = self_test()
    else:
        faults = []
        for name in words:
            with open(name, encoding="utf-8", newline="") as file:
                faults += [f"{name}: {fault}" for fault in check(file.read())]
    for fault in faults[:LAST_FAULTS]:
        print(fault)
    if len(faults) > LAST_FAULTS:
        print(f"and {len(faults) - LAST_FAULTS} more")
    return 1 if faults or not words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
