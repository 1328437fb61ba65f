#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which test shows what becomes of which scenario: tests/conformance/scenarios.txt.

scenarios.py --check [ROOT]                 complains of lines that cannot be, ids that are there
                                            twice, and tests that are not; counts the rest
scenarios.py --check --against FILE [ROOT]  also of scenarios of FILE that are not listed, and of
                                            those that FILE does not have
scenarios.py --self-test                    plants one offence of each kind and looks whether it is
                                            found
"""
import re
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

LIST = "tests/conformance/scenarios.txt"
LINE = re.compile(r"(?P<id>[A-Z0-9]+-\d+)\s+(?:-\s+(?P<reason>\S.*)|(?P<tests>\w+\.\w+: .+))")
SCENARIO = re.compile(r"^- \*\*([A-Z0-9]+-\d+)\*\*", re.MULTILINE)


@lru_cache(maxsize=None)
def tests_of(root, suite):
    """The tests that the suite's files define: TEST(name), CONTRACT(needs, name) and their like."""
    folder, unit = suite.split(".")
    paths = [root / "tests" / folder / f"test_{unit}.c"]
    paths += (root / "tests" / folder).glob(f"{unit}*.c")
    code = "\n".join(path.read_text() for path in paths if path.exists())
    return set(re.findall(r"^(?:\w*TEST\w*|CONTRACT)\((?:[^()]*,\s*)?(\w+)\)\n\{", code, re.MULTILINE))


def missing_tests(root, tests):
    for part in tests.split("; "):
        suite, colon, names = part.partition(": ")
        known = tests_of(root, suite) if re.fullmatch(r"\w+\.\w+", suite) and colon else set()
        for name in names.split(", "):
            if name not in known:
                yield f"{suite} has no test {name}"


def read_list(root):
    """The ids and the tests of each, or None; and what is wrong with them."""
    listed, offences = {}, []
    for number, line in enumerate((root / LIST).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if match is None:
            offences.append(f"{LIST}:{number}: neither tests nor a reason")
            continue
        if match["id"] in listed:
            offences.append(f"{LIST}:{number}: {match['id']} is there already")
        listed[match["id"]] = match["tests"]
        if match["tests"]:
            offences += [f"{LIST}:{number}: {what}" for what in missing_tests(root, match["tests"])]
    return listed, offences


def compare(listed, path):
    known = SCENARIO.findall(Path(path).read_text())
    offences = [f"{path}: {name} is not listed" for name in known if name not in listed]
    return offences + [f"{LIST}: {path} has no {name}" for name in listed if name not in set(known)]


def check(root, against):
    listed, offences = read_list(root)
    if against:
        offences += compare(listed, against)
    covered = sum(tests is not None for tests in listed.values())
    return offences, f"{covered} covered, {len(listed) - covered} do not apply"


# -- Does it find anything? ----------------------------------------------------------------------

GOOD = """# a comment
AB-01   pool.unit: runs, sleeps
AB-02   -  there is no such thing
AB-03   contract.all: holds; pool.unit: runs
"""
CODE = "TEST({0})\n{{\n}}\n"
PLANTED = {
    "AB-04   pool.unit:": "neither tests",
    "AB-04   -  ": "neither tests",
    "AB-01   -  twice": "is there already",
    "AB-04   pool.unit: runs, flies": "no test flies",
    "AB-04   pool.other: runs": "no test runs",
    "AB-04   pool.unit: unlisted": "no test unlisted",
    "AB-05   -  unknown": "has no AB-05",
}


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("conformance", "pool", "contract"):
            (root / "tests" / folder).mkdir(parents=True)
        (root / "tests/pool/test_unit.c").write_text(
            CODE.format("runs") + CODE.format("sleeps") + "static void unlisted(void)\n{\n}\n")
        (root / "tests/contract/all_parts.c").write_text(CODE.format("holds"))
        wanted = root / "wanted.md"
        wanted.write_text("".join(f"- **AB-0{i}** text\n" for i in (1, 2, 3, 4)))
        for line, found in PLANTED.items():
            (root / LIST).write_text(GOOD + line + "\n")
            offences, _ = check(root, wanted)
            if not any(found in offence for offence in offences):
                sys.exit(f"not found: {line}")
        (root / LIST).write_text(GOOD)
        assert check(root, None) == ([], "2 covered, 1 do not apply")
        assert check(root, wanted)[0] == [f"{wanted}: AB-04 is not listed"]
    print("self-test passed")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments[:1] != ["--check"]:
        sys.exit(__doc__)
    against = None
    if arguments[1:2] == ["--against"]:
        against = arguments[2]
        del arguments[1:3]
    root = Path(arguments[1]) if arguments[1:] else Path(__file__).resolve().parent.parent
    offences, counts = check(root, against)
    for offence in offences:
        print(offence)
    print(counts)
    return bool(offences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
