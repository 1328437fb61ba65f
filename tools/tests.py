#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./test needs to read from other programs.

tests.py list            CTest's list (JSON on stdin), for people
tests.py pick WORD...    the same list -> a pattern of the tests that the words mean
tests.py count FILE      CTest's JUnit file -> "N passed, N failed"; fails if any did
tests.py coverage FILE   gcovr's JSON summary -> one line per source file
"""
import json
import re
import sys
import xml.etree.ElementTree as xml


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


def coverage(path):
    with open(path, encoding="utf-8") as file:
        summary = json.load(file)
    row = "{:<34}{:>8}{:>10}{:>10}{:>10}"
    print(row.format("file", "lines", "covered", "branches", "covered"))
    for entry in summary["files"] + [dict(summary, filename="all")]:
        print(row.format(
            entry["filename"],
            entry["line_total"], percent(entry["line_covered"], entry["line_total"]),
            entry["branch_total"], percent(entry["branch_covered"], entry["branch_total"])))


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "list" and not rest:
        list_tests()
    elif what == "pick" and rest:
        pick(rest)
    elif what == "count" and len(rest) == 1:
        count(rest[0])
    elif what == "coverage" and len(rest) == 1:
        coverage(rest[0])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
