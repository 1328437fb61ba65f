#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the documents say: names that they use exist, links lead somewhere, C in them compiles and
runs.

check_docs.py ROOT LIBRARY    LIBRARY: librota.so, to link programs with
check_docs.py --self-test     plants one mistake of each kind and looks whether it is found

A block of C with a main is a program: it is run, and must end with 0. Any other block is compiled as the
rest of a file that includes <rota/rota.h>. A comment right before the block can say more:
<!-- not run -->        of a program: it is only compiled
<!-- before: CODE -->   what the block needs, and the reader does not
<!-- inside: CODE -->   the same, and the block is the body of a function
<!-- needs: WORDS -->   options of the compiler, and packages that pkg-config knows, or it is left out
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WARNINGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function",
            "-Wno-unused-variable"]
BLOCK = re.compile(r"(?:<!-- (?P<how>not run|before:|inside:|needs:)(?P<extra>(?:(?!-->).)*?)-->\n)?"
                   r"```c\n(?P<code>.*?)\n```", re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
NAME = re.compile(r"(?<![\w-])(?:rota|ROTA)_[A-Za-z]\w*")
NOT_IN_HEADERS = {"ROTA_SEED", "ROTA_TEST_PUBLIC"}  # of the tests


def documents(root):
    found = [root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    return [path for path in found if path.exists()] + sorted(root.glob("docs/**/*.md"))


def names_in(root):
    text = "".join(path.read_text() for path in root.glob("include/rota/*.h"))
    return set(NAME.findall(text)) | NOT_IN_HEADERS


def check_names(path, text, known):
    return [f"{path}: there is no {name}" for name in sorted(set(NAME.findall(text)) - known)]


def check_links(path, text):
    return [f"{path}: the link {link} leads nowhere" for link in LINK.findall(text)
            if "://" not in link and not link.startswith("mailto:")
            and not (path.parent / link).exists()]


def whole_file(block):
    code, extra = block["code"], block["extra"] or ""
    if block["how"] == "inside:":
        code = "static void block(void)\n{\n" + code + "\n}"
    return "#include <rota/rota.h>\n" + extra + "\n" + code + "\n"


def options_of(block):
    """What it needs; None: that is not there."""
    options = []
    for word in (block["extra"] or "").split() if block["how"] == "needs:" else []:
        if word.startswith("-"):
            options.append(word)
            continue
        asked = subprocess.run(["pkg-config", "--cflags", "--libs", word], capture_output=True, text=True)
        if asked.returncode != 0:
            return None
        options += asked.stdout.split()
    return options


def compile_block(root, library, block, options, work):
    source, program = work / "block.c", work / "block"
    is_program = re.search(r"\bint main\b", block["code"]) is not None
    source.write_text(block["code"] if is_program else whole_file(block))
    command = [os.environ.get("CC", "cc"), *WARNINGS, "-I", str(root / "include"), str(source)]
    command += ["-o", str(program), str(library), "-pthread"] if is_program else ["-c", "-o", str(program)]
    command += options
    return is_program, subprocess.run(command, capture_output=True, text=True)


def check_code(root, library, path, text):
    complaints = []
    for block in BLOCK.finditer(text):
        line, options = text.count("\n", 0, block.start("code")) + 1, options_of(block)
        if options is None:
            continue
        with tempfile.TemporaryDirectory() as work:
            is_program, done = compile_block(root, library, block, options, Path(work))
            if done.returncode != 0:
                complaints.append(f"{path}:{line}: does not compile\n{done.stderr}")
            elif is_program and block["how"] != "not run":
                environment = {**os.environ, "LD_LIBRARY_PATH": str(Path(library).resolve().parent)}
                ran = subprocess.run([Path(work) / "block"], capture_output=True, timeout=30, env=environment)
                if ran.returncode != 0:
                    complaints.append(f"{path}:{line}: ends with {ran.returncode}")
    return complaints


def check(root, library):
    known, complaints = names_in(root), []
    for path in documents(root):
        text = path.read_text()
        complaints += check_names(path, text, known) + check_links(path, text)
        if library is not None:
            complaints += check_code(root, library, path, text)
    return complaints


PLANTED = {
    "there is no rota_nothing": "call `rota_nothing`",
    "leads nowhere": "see [that](nowhere.md)",
    "does not compile": "\n```c\nint f(void) { return x; }\n```\n",
    "ends with 3": "\n```c\nint main(void) { return 3; }\n```\n",
}


def self_test():
    for expected, text in PLANTED.items():
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "include/rota").mkdir(parents=True)
            (root / "include/rota/rota.h").write_text("")
            (root / "README.md").write_text(text)
            (root / "library.c").write_text("")
            library = root / "librota.so"
            subprocess.run([os.environ.get("CC", "cc"), "-shared", "-o", library, root / "library.c"], check=True)
            found = check(root, library)
            if len(found) != 1 or expected not in found[0]:
                return [f"planted: {expected}; found: {found}"]
    return []


def main():
    complaints = self_test() if sys.argv[1:] == ["--self-test"] else check(Path(sys.argv[1]), sys.argv[2])
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


main()
