#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./test needs to read from other programs.

tests.py list            CTest's list (JSON on stdin), for people
tests.py pick WORD...    the same list -> a pattern of the tests that the words mean
tests.py count FILE      CTest's JUnit file -> "N passed, N failed"; fails if any did
tests.py coverage FILE [LIST]
                         gcovr's JSON report -> one line per source file; with a list, it fails for
                         lines that were not reached and are not there, and for too few branches
"""
import json
import re
import sys
import xml.etree.ElementTree as xml

LEAST_BRANCHES = 95  # percent of all of src/


def read_tests():
    """The tests as pairs of name and labels."""
    for test in json.load(sys.stdin)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        yield test["name"], properties.get("LABELS", [])


def list_tests():
    for name, labels in sorted(read_tests()):
        print(f"{name:<40} {' '.join(labels)}")


def matching(tests, word):
    return [name for name, labels in tests if word in labels or word in name]


def pick(words):
    tests = list(read_tests())
    picked = set()
    for word in words:
        names = matching(tests, word)
        if not names and word.endswith("s"):
            names = matching(tests, word[:-1])
        if not names:
            sys.exit(f"No test, module or label is like '{word}': ./test --list shows them all.")
        picked.update(names)
    print("^(" + "|".join(re.sub(r"(\W)", r"[\1]", name) for name in sorted(picked)) + ")$")


def count(path):
    passed = failed = skipped = 0
    for case in xml.parse(path).iter("testcase"):
        status = case.get("status")
        note = case.find("skipped")
        if status == "run":
            passed += 1
        elif status == "disabled" or (note is not None
                                      and note.get("message", "").startswith("SKIP_")):
            skipped += 1
        else:  # failed, or could not be started
            failed += 1
    if skipped:
        print(f"{skipped} skipped")
    if passed + failed == 0:
        sys.exit("No tests ran.\n0 passed, 0 failed")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def percent(part, whole):
    return f"{100 * part / whole:6.1f} %" if whole else "       -"


def covered(items):
    return sum(item["count"] > 0 for item in items)


def print_table(files):
    row = "{:<34}{:>8}{:>10}{:>10}{:>10}"
    print(row.format("file", "lines", "covered", "branches", "covered"))
    files = files + [{"file": "all", "lines": [line for file in files for line in file["lines"]]}]
    for file in files:
        lines = file["lines"]
        branches = [branch for line in lines for branch in line["branches"]]
        print(row.format(file["file"], len(lines), percent(covered(lines), len(lines)),
                         len(branches), percent(covered(branches), len(branches))))
    return 100 * covered(branches) / len(branches)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file]


def unreached(files):
    """Each as the list has it, and the number of the line."""
    for file in files:
        path = file["file"]
        text = read_lines(path)
        functions = sorted((f["lineno"], f["name"]) for f in file["functions"])
        for number in (line["line_number"] for line in file["lines"] if line["count"] == 0):
            around = [name for start, name in functions if start <= number]
            yield f"{path}: {around[-1]}: {text[number - 1]}", number


def read_list(path):
    """What is indented below its reason: path: function: text of the line."""
    with open(path, encoding="utf-8") as file:
        entries = [line.strip() for line in file if line.startswith(" ")]
    for entry in entries:
        source, _, text = entry.split(": ", 2)
        if text not in read_lines(source):
            sys.exit(f"{path}: there is no such line: {entry}")
    return entries


def check(files, known, branches):
    new = [(name, number) for name, number in unreached(files) if name not in known]
    for name, number in new:
        print(f"not reached: {name} (line {number})")
    if branches < LEAST_BRANCHES:
        print(f"Fewer than {LEAST_BRANCHES} % of the branches were reached.")
    sys.exit(1 if new or branches < LEAST_BRANCHES else 0)


def coverage(path, known=None):
    with open(path, encoding="utf-8") as file:
        files = json.load(file)["files"]
    for file in files:
        file["lines"] = [line for line in file["lines"] if not line["gcovr/noncode"]]
    branches = print_table(files)
    if known is not None:
        check(files, read_list(known), branches)


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "list" and not rest:
        list_tests()
    elif what == "pick" and rest:
        pick(rest)
    elif what == "count" and len(rest) == 1:
        count(rest[0])
    elif what == "coverage" and len(rest) in (1, 2):
        coverage(*rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
