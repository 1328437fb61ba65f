#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the pages of docs/design name invariants as the source does.

check_invariants.py [ROOT]

A line "- **P2** ..." of a page belongs to the file of src/ that was linked last before it, which must state
P2 at its head; a page that has one of a file's invariants has all. The README's table has every file.
"""
import re
import sys
from pathlib import Path

STATED = re.compile(r"^ \*   ([A-Z]\d)  ", re.M)
NAMED = re.compile(r"\.\./\.\./(src/[\w./]+\.[ch])\)|^- \*\*([A-Z]\d)\*\*", re.M)
ROW = re.compile(r"^\| ([A-Z])1(?: to \1(\d))? \| \[[^]]*\]\(\.\./\.\./(src/[\w./]+)\)", re.M)


def named_in(text):
    named, file = {}, None
    for link, number in NAMED.findall(text):
        if link:
            file = link
        else:
            named.setdefault(file, []).append(number)
    return named


def main(root):
    stated = {str(path.relative_to(root)): STATED.findall(path.read_text()) for path in root.glob("src/*/*.[ch]")}
    stated = {file: numbers for file, numbers in stated.items() if numbers}
    tables = {"README.md": {file: [f"{letter}{i + 1}" for i in range(int(last or 1))]
                            for letter, last, file in ROW.findall((root / "docs/design/README.md").read_text())}}
    complaints = [f"README.md: its table does not have {file}" for file in set(stated) - set(tables["README.md"])]
    tables |= {page.name: named_in(page.read_text()) for page in root.glob("docs/design/[a-z]*.md")}
    complaints += [f"{page}: {file} has {stated.get(file)}, the page {numbers}"
                   for page in tables for file, numbers in tables[page].items() if stated.get(file) != numbers]
    print("\n".join(f"docs/design/{complaint}" for complaint in sorted(complaints)))
    return 1 if complaints else 0


sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
