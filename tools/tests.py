#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./test needs to read from other programs.

tests.py list            CTest's list (JSON on stdin), for people
tests.py pick WORD...    the same list -> a pattern of the tests that the words mean
tests.py count FILE      CTest's JUnit file -> "N passed, N failed"; fails if any did
tests.py coverage [--check] FILE...
                         gcovr's JSON reports, merged by line -> one line per source file; with
                         --check it fails for every line that was not reached and is not marked
                         (GCOVR_EXCL_LINE: reason), and for too few branches
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


def merge_line(line, other):
    """Adds the counts of another build. Its branches count if it has the same ones."""
    line["count"] += other["count"]
    if len(line["branches"]) == len(other["branches"]):
        for branch, same in zip(line["branches"], other["branches"]):
            branch["count"] += same["count"]


def read_reports(paths):
    """The files with their lines that count, sorted. A marked line does not count in any report."""
    files = {}
    for path in paths:
        with open(path, encoding="utf-8") as report:
            for file in json.load(report)["files"]:
                lines = files.setdefault(file["file"], {})
                for line in file["lines"]:
                    if line["gcovr/noncode"]:
                        continue
                    if line["line_number"] in lines:
                        merge_line(lines[line["line_number"]], line)
                    else:
                        lines[line["line_number"]] = line
    return [{"file": name, "lines": [lines[number] for number in sorted(lines)]}
            for name, lines in sorted(files.items())]


def complaints(files, branches):
    for file in files:
        with open(file["file"], encoding="utf-8") as source:
            text = source.read().split("\n")
        for number, line in enumerate(text, 1):
            if re.search(r"GCOVR_EXCL_(?!STOP\b)\w+(?!\w)(?!: \w)", line):
                yield f"{file['file']}:{number}: a marker without a reason: {line.strip()}"
        for number in (line["line_number"] for line in file["lines"] if line["count"] == 0):
            yield f"{file['file']}:{number}: not reached: {text[number - 1].strip()}"
    if branches < LEAST_BRANCHES:
        yield f"Fewer than {LEAST_BRANCHES} % of the branches were reached."


def coverage(paths, is_checked):
    files = read_reports(paths)
    found = list(complaints(files, print_table(files)))
    if is_checked:
        print("\n".join(found))
        sys.exit(1 if found else 0)


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "list" and not rest:
        list_tests()
    elif what == "pick" and rest:
        pick(rest)
    elif what == "count" and len(rest) == 1:
        count(rest[0])
    elif what == "coverage" and rest[-1:] not in ([], ["--check"]):
        coverage([path for path in rest if path != "--check"], "--check" in rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
