#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is every fault of tests/conformance/faults.txt tried, by tests that are there?

faults.py --check [ROOT]   complains of faults that are missing or without a test, and of tests that
                           do not exist or are never run
faults.py --self-test      plants one offence of each kind and looks whether it is found
"""
import re
import sys
import tempfile
from pathlib import Path

FAULTS = 50
HEAD = re.compile(r"(\d+) (\S.*)")
TEST = re.compile(r"    (?:host/(?P<case>[\w-]+)|(?P<file>[\w/.]+): (?P<test>\w+))")


def read_faults(text):
    """Number -> what is given as its tests; lines that are no such are given as they are."""
    faults, number = {}, None
    for line in text.split("\n"):
        head = HEAD.fullmatch(line)
        if head:
            number = int(head[1])
            faults[number] = []
        elif line.startswith("    "):
            faults.setdefault(number, []).append(line)
    return faults


def is_run(name, text):
    return re.search(rf"\b(EXPLORE\w*|\w*TEST\w*|CONTRACT|add_executable)\((?:[^()]*,\s*)?{name}\b",
                     text) is not None


def complaint(tests, line):
    """What is wrong with a line that names a test, or None."""
    match = TEST.fullmatch(line)
    if match is None:
        return f"{line.strip()}: neither FILE: TEST nor host/CASE"
    path = tests / ("host/run" if match["case"] else match["file"])
    if not path.is_file():
        return f"{line.strip()}: there is no {path.name}"
    text = path.read_text(encoding="utf-8")
    if match["case"]:
        is_there = f"case_{match['case'].replace('-', '_')}() {{" in text
    else:
        is_there = is_run(match["test"], text)
    return None if is_there else f"{line.strip()}: is not run there"


def complaints(root):
    tests = Path(root) / "tests"
    faults = read_faults((tests / "conformance/faults.txt").read_text(encoding="utf-8"))
    for number in range(1, FAULTS + 1):
        if number not in faults:
            yield f"fault {number} is missing"
        elif not faults[number]:
            yield f"fault {number} has no test"
    for number, lines in faults.items():
        if number not in range(1, FAULTS + 1):
            yield f"there is no fault {number}"
        yield from (f"fault {number}: {found}" for found in
                    (complaint(tests, line) for line in lines) if found)


def check(root):
    found = list(complaints(root))
    print("\n".join(found + [f"{FAULTS} faults; {len(found)} complaints"]))
    return len(found)


CLEAN = {
    "tests/a/test_a.c": "TEST(one)\n{\n}\n",
    "tests/explore/b.c": "EXPLORE(two)\n{\n}\n",
    "tests/host/run": "case_one_cpu() { true; }\n",
    "tests/conformance/faults.txt": "# comment\n\n1 first\n  and more of it\n    a/test_a.c: one\n"
                                    "    explore/b.c: two\n"
                                    + "".join(f"{n} other\n    host/one-cpu\n"
                                              for n in range(2, FAULTS + 1)),
}
LIST = "tests/conformance/faults.txt"
PLANTED = [
    (LIST, "3 other\n    host/one-cpu\n", "", "fault 3 is missing"),
    (LIST, "3 other\n    host/one-cpu\n", "3 other\n", "fault 3 has no test"),
    (LIST, "50 other", "51 other", "there is no fault 51"),
    (LIST, "host/one-cpu", "host/two-cpus", "host/two-cpus: is not run there"),
    (LIST, "a/test_a.c: one", "a/test_b.c: one", "there is no test_b.c"),
    (LIST, "a/test_a.c: one", "by hand", "by hand: neither"),
    ("tests/a/test_a.c", "TEST(one)", "int one(void)", "a/test_a.c: one: is not run there"),
    ("tests/explore/b.c", "two", "three", "explore/b.c: two: is not run there"),
]


def complaints_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return list(complaints(root))


def self_test():
    wrong = [f"wrong alarm: {found}" for found in complaints_of(CLEAN)]
    for name, old, new, expected in PLANTED:
        found = complaints_of({**CLEAN, name: CLEAN[name].replace(old, new)})
        if not any(expected in line for line in found):
            wrong.append(f"missed {expected!r}: got {found}")
    print("\n".join(wrong + [f"{len(PLANTED) + 1} cases, {len(wrong)} wrong"]))
    return len(wrong)


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if sys.argv[1:2] != ["--check"] or len(sys.argv) > 3:
        sys.exit(__doc__)
    root = sys.argv[2] if len(sys.argv) == 3 else Path(__file__).parent.parent
    sys.exit(1 if check(root) else 0)


if __name__ == "__main__":
    main()
