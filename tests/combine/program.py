# SPDX-License-Identifier: MIT
"""program.py - makes one C program from the choices of a row.

It takes the functions, types and variables that the row needs from the C files beside this one, in their order, and
adds a `main`. The program includes only <rota/...> and headers of the system.
"""
import re
from pathlib import Path

import rows

HERE = Path(__file__).resolve().parent
FILES = ["combine.h", "faults.c", "jobs.c", "executors.c", "works.c", "bodies.c", "waiters.c", "events.c", "harness.c"]

MAIN = """int main(void)
{{
{choices}
    row_is("{place}", "{wait}");
    return row_run();
}}
"""


def code_of(text):
    """The text without comments and strings."""
    return re.sub(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"', " ", text, flags=re.S)


def items(text):
    """Splits a file into its top-level items. A comment belongs to the item below it."""
    found, lines = [], []
    for line in text.splitlines():
        if not line.strip() and (not lines or re.match(r"/\* --|/\*$|/\* SPDX", lines[0])):
            lines = []  # a comment about a part of the file
            continue
        lines.append(line)
        code = code_of("\n".join(lines)).rstrip()
        if line.startswith("#"):
            ends = not line.endswith("\\")
        else:
            ends = code.endswith((";", "}")) and code.count("{") == code.count("}")
        if ends and "/*" not in code:
            found.append("\n".join(lines))
            lines = []
    return found


def names(item):
    """The names that an item defines."""
    code = code_of(item).strip()
    if code.startswith("#define"):
        return re.findall(r"#define (\w+)", code)
    head = re.split(r"[{=]", code)[0]
    if code.startswith(("enum", "static enum")):
        return re.findall(r"\b\w+\b", code)[1:]
    if code.startswith("typedef"):
        return re.findall(r"(\w+)(?:\(job \*self\))?;$", code) + re.findall(r"^typedef struct (\w+)", code)
    if re.match(r"(struct|union) \w+\s*$", head):
        return [head.split()[1]]
    if "(" in head:
        return re.findall(r"(\w+)\(", head)[:1] if "Atomic" not in head else re.findall(r"(\w+);?$", head.strip())
    variables = re.sub(r"\[.*?\]", "", head).rstrip(" ;").split(",")
    return [variable.split()[-1].lstrip("*") for variable in variables if variable.split()]


def is_prototype(item):
    return "\n" not in item and item.endswith(");")


def needed(all_items, roots):
    """The items that the roots use, directly or not."""
    by_name = {}
    for index, item in enumerate(all_items):
        for name in names(item):
            by_name.setdefault(name, []).append(index)
    chosen, todo = set(), [i for root in roots for i in by_name.get(root, [])]
    while todo:
        index = todo.pop()
        if index not in chosen:
            chosen.add(index)
            code = re.sub(r"(\.|->)\w+", "", code_of(all_items[index]))  # without fields
            todo += [i for word in set(re.findall(r"\w+", code)) for i in by_name.get(word, [])]
    return [all_items[i] for i in sorted(chosen)]


def of(row, lines):
    """Returns the program of a row. `lines` say what is wrong with it."""
    texts = [(HERE / name).read_text() for name in FILES]
    includes = sorted(set(re.findall(r"^#include <.*>$", "".join(texts), re.M)))
    all_items = [item for text in texts for item in items(text) if not item.lstrip().startswith("#include")
                 and not re.search(r"^#(if|endif|define (COMBINE_H|_GNU_SOURCE))", item, re.M)]
    functions = [f"{name}_{choice}" for name, choice in zip(rows.LISTS, row)]
    body = needed(all_items, ["row_run", "row_is", "row", *functions])
    chosen = dict(zip(rows.LISTS, row))
    main = MAIN.format(choices="\n".join(f"    row.{name} = {name}_{choice};" for name, choice in chosen.items()), **chosen)
    wrong = "".join(f" * {line}\n" for line in lines)
    head = f"/*\n * {' '.join(row)}\n{wrong} *\n * cc FILE.c $(pkg-config --cflags --libs rota) -pthread\n */\n"
    text = "".join(item + ("\n" if is_prototype(item) else "\n\n") for item in body)
    return head + "#define _GNU_SOURCE\n" + "\n".join(includes) + "\n\n" + text + main
