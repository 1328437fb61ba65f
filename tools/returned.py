#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which codes of tests/conformance/errors.txt do the calls really return while the tests run?

returned.py BUILD [ROOT]   links the tests of BUILD, a folder that ninja has built, once more, with
                           each call wrapped in one that notes what it returns, runs them, and
                           complains of codes that are listed and were not returned, and of those that
                           were and are not listed; takes a minute or two
returned.py --self-test    plants one offence of each kind and looks whether it is found

conformance.py believes a comment where a code comes out of a table; this does not. Races are left out.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance import COMMENT, named, read_list

CODE = re.compile(r"ROTA_(E[A-Z]+) = -(\d+)")
MOST = 32  # codes
PATIENCE = 120  # seconds for a test

NOTES = """
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned char *notes;
__attribute__((constructor(101))) static void open_notes(void)
{
    int fd = open("%s", O_RDWR);
    notes = mmap(NULL, %d, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}
static int note(int call, int status)
{
    if (notes != MAP_FAILED && status < 0 && status > -%d)
        notes[call * %d - status] = 1;
    return status;
}
"""


# -- Wrappers ------------------------------------------------------------------------------------

def split_arguments(text):
    """At commas that are in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip() != "void"]


def name_of(argument):
    function = re.search(r"\(\*\s*(\w+)\)", argument)
    return function[1] if function else re.search(r"(\w+)(?:\[\w*\])?$", argument)[1]


def wrapper(number, call, headers):
    """The code of one, or None if there is no such call."""
    found = re.search(rf"\bint {call}\(([^;{{}}]*?)\);", headers)
    if found is None:
        return None
    names = ", ".join(name_of(argument) for argument in split_arguments(found[1]))
    return (f"int __real_{call}({found[1]});\nint __wrap_{call}({found[1]})\n{{\n"
            f"    return note({number}, __real_{call}({names}));\n}}\n")


def wrappers(calls, root, notes):
    paths = sorted((root / "include/rota").glob("*.h"))
    headers = COMMENT.sub(" ", "\n".join(path.read_text(encoding="utf-8") for path in paths))
    made = [wrapper(number, call, headers) for number, call in enumerate(calls)]
    includes = "".join(f"#include <rota/{path.name}>\n" for path in paths)
    return ("#define ROTA_NO_INLINE\n" + includes + NOTES % (notes, len(calls) * MOST, MOST, MOST)
            + "".join(filter(None, made)))


# -- Tests ---------------------------------------------------------------------------------------

def link(build, test, made, calls, folder):
    """The command that made a test, for one with wrappers."""
    command = subprocess.run(["ninja", "-t", "commands", f"tests/{test}"], cwd=build, check=True,
                             capture_output=True, text=True).stdout.strip().split("\n")[-1]
    flags = " ".join(f"-Wl,--wrap={call}" for call in calls)
    subprocess.run(command.replace(f"-o tests/{test} ", f"-o {folder}/{test} {made} {flags} "),
                   shell=True, cwd=build, check=True)


def run_tests(build, root, calls, folder):
    """A byte for each call and code: 1 if it was returned."""
    notes = Path(folder, "notes")
    notes.write_bytes(bytes(len(calls) * MOST))
    source, made = Path(folder, "wrap.c"), Path(folder, "wrap.o")
    source.write_text(wrappers(calls, root, notes), encoding="utf-8")
    subprocess.run(["cc", "-w", f"-I{root / 'include'}", "-c", source, "-o", made], check=True)
    tests = [path.name for path in sorted((build / "tests").glob("test_*"))
             if path.is_file() and not path.name.startswith("test_stress")]
    for test in tests:
        link(build, test, made, calls, folder)
        ended = subprocess.run([Path(folder, test)], cwd=build, capture_output=True, check=False,
                               timeout=PATIENCE)
        if ended.returncode != 0:
            print(f"{test} has failed")
    return notes.read_bytes(), len(tests)


def returned(notes, calls, codes):
    return {(call, code) for number, call in enumerate(calls)
            for value, code in codes.items() if notes[number * MOST + value]}


def complaints(errors, seen):
    for call, codes in errors.items():
        yield from (f"ROTA_{code} was not returned by {call}" for code in named(codes)
                    if (call, code) not in seen)
    for call, code in sorted(seen):
        if code not in errors[call] and "..." not in errors[call]:
            yield f"ROTA_{code} was returned by {call}, which is not in errors.txt"


def check(build, root):
    errors = {call: codes.split()
              for call, codes in read_list(root / "tests/conformance/errors.txt")}
    errors = {call: codes for call, codes in errors.items() if named(codes)}
    base = (root / "include/rota/base.h").read_text(encoding="utf-8")
    codes = {int(value): code for code, value in CODE.findall(base)}
    with tempfile.TemporaryDirectory() as folder:
        notes, tests = run_tests(build, root, list(errors), folder)
    found = list(complaints(errors, returned(notes, list(errors), codes)))
    listed = sum(len(named(codes)) for codes in errors.values())
    print("\n".join(found + [f"{tests} tests, {listed} codes of {len(errors)} calls; "
                             f"{len(found)} complaints"]))
    return len(found)


# -- The self-test -------------------------------------------------------------------------------

def self_test():
    headers = "int rota_a(void);\nint rota_b(int (*make)(int, int), void *out[2]);\n"
    cases = [
        (wrapper(3, "rota_c", headers), None),
        ("note(3, __real_rota_a())" in wrapper(3, "rota_a", headers), True),
        ("note(4, __real_rota_b(make, out))" in wrapper(4, "rota_b", headers), True),
        (returned(bytes(MOST) + b"\0\1" + bytes(MOST), ["rota_a", "rota_b"], {1: "EINVAL"}),
         {("rota_b", "EINVAL")}),
        (list(complaints({"rota_a": ["EINVAL", "..."]}, {("rota_a", "EINVAL"),
                                                         ("rota_a", "EBUSY")})), []),
        (list(complaints({"rota_a": ["EINVAL"]}, set())),
         ["ROTA_EINVAL was not returned by rota_a"]),
        (list(complaints({"rota_a": ["-"]}, {("rota_a", "EBUSY")})),
         ["ROTA_EBUSY was returned by rota_a, which is not in errors.txt"]),
    ]
    wrong = [f"got {got}, not {wanted}" for got, wanted in cases if got != wanted]
    print("\n".join(wrong + [f"{len(cases)} cases, {len(wrong)} wrong"]))
    return len(wrong)


def main():
    words = sys.argv[1:]
    if words == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if not 1 <= len(words) <= 2 or words[0].startswith("-"):
        sys.exit(__doc__)
    root = Path(words[1]) if len(words) == 2 else Path(__file__).parent.parent
    sys.exit(1 if check(Path(words[0]).resolve(), root.resolve()) else 0)


if __name__ == "__main__":
    main()
