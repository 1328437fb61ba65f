#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each invariant is stated once, and that every citation of one resolves.

check_invariants.py [ROOT]
check_invariants.py --self-test   plants one mistake of each kind and looks whether it is found

A file states its invariants in the comment at its head, as " *   pool.P2  After it has put ...". The name in
front is the file's, without "_internal" and the suffix; "forkjoin/pool.P2" if another module has a file of that
name which states invariants, too. A comment cites it as pool.P2, and so does ROTA__BUG(pool.P2, ...). A letter
behind it, pool.P2b, tells the places apart that keep one invariant.
"""
import re
import sys
import tempfile
from pathlib import Path

NAME = r"(?:\w+/)?[a-z]\w*\.[A-Z]\d\d?"
STATED = re.compile(rf"^ \*   ({NAME})  ", re.M)
CITED = re.compile(rf"(?<![\w./*-])({NAME})[a-z]?\b")
BARE = re.compile(r"(?<![\w./-])[A-Z]\d(?![\w-]|\.\w)")
CITING = re.compile(r"/\*.*?\*/|\bROTA__BUG\([^,]*", re.S)
FILES = ["src/**/*.[ch]", "tests/**/*.[ch]", "tests/model/*.pml", "src/**/*.md", "docs/**/*.md", "*.md"]
STRICT = ("src/", "tests/explore/", "tests/model/")  # here nothing may look like an invariant without its file


def expected(path):
    stem = path.stem.removesuffix("_internal")
    return {stem, f"{path.parent.name}/{stem}"}


def check(root):
    complaints, stated, cited = [], {}, {}
    for path in sorted({path for pattern in FILES for path in root.glob(pattern)}):
        text, file = path.read_text(), str(path.relative_to(root))
        if path.suffix != ".md":
            text = "\n".join(CITING.findall(text))
        for name in STATED.findall(text):
            if name in stated:
                complaints.append(f"{file}: {name} is stated in {stated[name]}, too")
            if name.split(".")[0] not in expected(path):
                complaints.append(f"{file}: {name} does not have this file's name")
            stated[name] = file
        text = STATED.sub("", text)
        for name in CITED.findall(text):
            cited.setdefault(name, file)
        if file.startswith(STRICT):
            complaints += [f"{file}: cite {bare} with its file's name in front" for bare in BARE.findall(text)]
    complaints += [f"{cited[name]}: {name} is stated nowhere" for name in cited.keys() - stated.keys()]
    complaints += [f"{stated[name]}: {name} is cited nowhere" for name in stated.keys() - cited.keys()]
    return sorted(complaints)


MISTAKES = {
    "src/a/x.c": ("/*\n *   x.A1  one\n *   x.A2  two\n */\n/* x.A1b, AB-12 */ /* x.A2 */\n", None),
    "src/a/x_internal.h": ("/*\n *   x.A1  once more\n */\n", "x.A1 is stated in src/a/x.c, too"),
    "src/a/y.c": ("/*\n *   z.B1  of another file\n */\n/* z.B1 */\n", "z.B1 does not have this file's name"),
    "src/b/y.c": ("/*\n *   b/y.B2  two files have this name\n */\n/* b/y.B2 */\n", None),
    "src/a/u.c": ("/*\n *   u.C1  forgotten\n */\n", "u.C1 is cited nowhere"),
    "src/a/v.c": ("/* x.A9 */\nint A1;\n", "x.A9 is stated nowhere"),
    "src/a/w.c": ("/* see A2 */\n", "cite A2 with its file's name in front"),
    "docs/page.md": ("by x.A8, on an A4 sheet\n", "x.A8 is stated nowhere"),
    "src/a/b.c": ("x = ROTA__BUG(x.A7b, 1, 2);\n", "x.A7 is stated nowhere"),
}


def self_test():
    with tempfile.TemporaryDirectory() as name:
        for file, (text, _) in MISTAKES.items():
            (Path(name) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / file).write_text(text)
        found = set(check(Path(name)))
    planted = {f"{file}: {complaint}" for file, (_, complaint) in MISTAKES.items() if complaint}
    return [f"not found: {line}" for line in planted - found] + [f"for nothing: {line}" for line in found - planted]


if __name__ == "__main__":
    lines = self_test() if sys.argv[1:] == ["--self-test"] else check(Path(sys.argv[1] if sys.argv[1:] else "."))
    print("\n".join(lines) or "ok")
    sys.exit(1 if lines else 0)
