#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the documents say: names, files and options that they use exist, links lead somewhere, C in
them compiles and runs, or is what an example says. Checks the examples, too: each is listed, and short. The
examples in the public headers compile as well; tests/conformance/examples.h declares the names that they use.

check_docs.py ROOT LIBRARY    LIBRARY: librota.so, to link programs with
check_docs.py --self-test     plants one mistake of each kind and looks whether it is found

A block of C with a main is a program: it is run, and must end with 0. Any other block is compiled as the
rest of a file that includes <rota/rota.h>. A comment right before the block can say more:
<!-- not run -->        of a program: it is only compiled
<!-- before: CODE -->   what the block needs, and the reader does not
<!-- inside: CODE -->   the same, and the block is the body of a function
<!-- needs: WORDS -->   options of the compiler, and packages that pkg-config knows, or it is left out
<!-- from: FILE -->     lines of this file, which the tests build; more or less indented, all of them
"""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True

from manual.comments import Code  # noqa: E402
from manual.headers import read_header  # noqa: E402

WARNINGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function",
            "-Wno-unused-variable"]
BLOCK = re.compile(r"(?:<!-- (?P<how>not run|before:|inside:|needs:|from:)(?P<extra>(?:(?!-->).)*?)-->\n)?"
                   r"```(?P<language>c|cpp)\n(?P<code>.*?)\n```", re.S)
FENCE = re.compile(r"^ *(?:```|~~~)(.*)\n(?:.*\n)*? *(?:```|~~~)$", re.M)
LANGUAGES = {"c", "cpp", "java", "sh"}
LINK = re.compile(r"\]\(([^)#]*)(#[^)]*)?\)")
QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?<![\w-])(?:rota|ROTA)_[A-Za-z]\w*")
INNER_NAME = re.compile(r"(?:\w+\.|\.)?([a-z]\w*_\w+)(?:\(\)| = .*)?")  # in quotes; also a field
OPTION = re.compile(r"-D(ROTA_\w+)")
FOLDERS = ("bench", "cmake", "debian", "docs", "examples", "include", "src", "tests", "tools", "tour")
INTERNAL = re.compile(r"\brota__\w+|\bsrc/\w+/\w+\.[ch]\b")  # for pages in src/: a rename changes nothing else
FILE = re.compile(r"(?<![\w/.-])(?:" + "|".join(FOLDERS) + r")/[\w./-]*\w(?![\w<*])")
LONGEST_EXAMPLE = 80  # lines
DEFINITION = re.compile(r"^(?:static [^;{]*\n\{.*?^\}\n?|struct \w+ \{[^\n]*\};\n)", re.M | re.S)
NOT_IN_HEADERS = {"ROTA_SEED", "ROTA_TEST_PUBLIC"}  # of the tests
NOT_OURS = ("g_", "uv_")  # what the guide tells of other libraries
A_PATTERN = "NN_name"  # of the files that CONTRIBUTING tells how to name


def documents(root):
    found = sorted(root.glob("*.md"))
    for folder in ("docs", "examples", "src"):
        found += sorted(root.glob(folder + "/**/*.md"))
    return found


def text_of(root, *patterns):
    return "\n".join(path.read_text(errors="replace") for pattern in patterns for path in root.glob(pattern)
                     if path.is_file() and path.suffix != ".md")


class Known:
    """What there is to speak of."""

    def __init__(self, root):
        self.root = root
        self.public = set(NAME.findall(text_of(root, "include/rota/*.h"))) | NOT_IN_HEADERS
        self.words = set(re.findall(r"\w+", text_of(root, *(folder + "/**/*.*" for folder in (
            "include", "src", "tests", "examples")))))
        built = text_of(root, "CMakeLists.txt", "cmake/*", "*/CMakeLists.txt")
        self.options = set(re.findall(r"ROTA_\w+", built))

    def is_inner(self, name):
        return name in self.words or name.startswith(NOT_OURS)

    def is_file(self, name):
        return A_PATTERN in name or (self.root / name).exists()


def check_names(path, text, known):
    prose = FENCE.sub("", text)
    quoted = QUOTED.findall(prose)
    inner = {found[1] for found in map(INNER_NAME.fullmatch, quoted) if found}
    missing = set(NAME.findall(text)) - known.public
    missing |= {name for name in inner if not NAME.fullmatch(name) and not known.is_inner(name)}
    missing |= set(OPTION.findall(text)) - known.options
    missing |= {name for words in quoted for name in FILE.findall(words) if not known.is_file(name)}
    return [f"{path}: there is no {name}" for name in sorted(missing)]


def check_internals(root, path, text):
    found = set() if path.is_relative_to(root / "src") else set(INTERNAL.findall(text))
    return [f"{path}: only pages in src/ name {name}" for name in sorted(found)]


def anchors_of(text):
    """How a heading is linked to."""
    headings = re.findall(r"^#+ +(.*)$", FENCE.sub("", text), re.M)
    return {"#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(path, link, anchor):
    if "://" in link or link.startswith("mailto:"):
        return True
    target = path.parent / link if link else path
    if not target.exists():
        return False
    return not anchor or target.suffix != ".md" or anchor in anchors_of(target.read_text())


def check_links(path, text):
    links = LINK.findall(FENCE.sub("", text))
    return [f"{path}: the link {link}{anchor} leads nowhere" for link, anchor in links
            if not leads_somewhere(path, link, anchor)]


def check_fences(path, text):
    return [f"{path}: {language or 'nothing'} is no language of a block" for language in FENCE.findall(text)
            if language not in LANGUAGES]


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


def is_quoted(code, source):
    """Are these lines of the source, one after the other?"""
    code, lines = textwrap.dedent(code), source.split("\n")
    count = code.count("\n") + 1
    return any(textwrap.dedent("\n".join(lines[at:at + count])) == code for at in range(len(lines)))


def check_quotes(root, path, text):
    complaints = []
    for block in BLOCK.finditer(text):
        line, name = text.count("\n", 0, block.start("code")) + 1, (block["extra"] or "").strip()
        if block["how"] != "from:":
            if block["language"] == "cpp":
                complaints.append(f"{path}:{line}: C++ must be quoted from an example")
        elif not (root / name).exists():
            complaints.append(f"{path}:{line}: there is no {name}")
        elif not is_quoted(block["code"], (root / name).read_text()):
            complaints.append(f"{path}:{line}: this is not in {name}")
    return complaints


def check_examples(root):
    complaints, index = [], root / "examples/README.md"
    listed = index.read_text() if index.exists() else ""
    for path in sorted(root.glob("examples/*.c")) + sorted(root.glob("examples/*.cpp")):
        lines = path.read_text().count("\n")
        if path.name not in listed:
            complaints.append(f"{index}: does not list {path.name}")
        if lines > LONGEST_EXAMPLE:
            complaints.append(f"{path}: has {lines} lines, more than {LONGEST_EXAMPLE}")
    return complaints


def check_code(root, library, path, text):
    complaints = []
    for block in BLOCK.finditer(text):
        if block["how"] == "from:" or block["language"] != "c":
            continue
        line, options = text.count("\n", 0, block.start("code")) + 1, options_of(block)
        if options is None:
            print(f"{path}:{line}: left out, as {block['extra'].strip()} is not there", file=sys.stderr)
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


def examples_in(header):
    """The blocks of code in its comments."""
    blocks = header.blocks + [block for group in header.groups for block in group.blocks + group.notes]
    return [block.text for block in blocks if isinstance(block, Code)]


def as_function(code, name):
    """Definitions that begin a line stay outside; the other lines are the body of a function."""
    code = re.sub(r"^ *\.\.\.$", "", code, flags=re.M)
    outside = DEFINITION.findall(code)
    return "\n".join([*outside, f"void {name}(void);", f"void {name}(void)", "{", DEFINITION.sub("", code), "}"])


def check_headers(root):
    """Compiles the examples of all headers."""
    parts, context = ["#include <rota/rota.h>"], root / "tests/conformance/examples.h"
    if context.exists():
        parts.append(context.read_text())
    for path in sorted(root.glob("include/rota/*.h")):
        for number, code in enumerate(examples_in(read_header(path))):
            parts += [f'#line 1 "{path.name}, example {number + 1}"', as_function(code, f"{path.stem}_{number}")]
    with tempfile.TemporaryDirectory() as work:
        source = Path(work, "examples.c")
        source.write_text("\n".join(parts) + "\n")
        done = subprocess.run([os.environ.get("CC", "cc"), *WARNINGS, "-I", str(root / "include"), "-fsyntax-only",
                               str(source)], capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"include/rota: an example does not compile\n{done.stderr}"]


def check(root, library):
    known, complaints = Known(root), check_examples(root) + check_headers(root)
    for path in documents(root):
        text = path.read_text()
        complaints += check_names(path, text, known) + check_links(path, text)
        complaints += check_internals(root, path, text)
        complaints += check_fences(path, text) + check_quotes(root, path, text)
        if library is not None:
            complaints += check_code(root, library, path, text)
    return complaints


CLEAN = {
    "include/rota/rota.h": "",
    "library.c": "",
    "examples/01.c": "int f(void)\n{\n    return 1;\n}\n",
    "examples/README.md": "01.c",
    "README.md": "<!-- from: examples/01.c -->\n```c\nreturn 1;\n```\n",
}
PLANTED = [
    ("README.md", "call `rota_nothing`", "there is no rota_nothing"),
    ("README.md", "the field `.no_field`", "there is no no_field"),
    ("README.md", "the hook `hooks.no_hook`", "there is no no_hook"),
    ("README.md", "build with `-DROTA_NOTHING=ON`", "there is no ROTA_NOTHING"),
    ("README.md", "run `sh tools/nothing.sh`", "there is no tools/nothing.sh"),
    ("src/README.md", "call `rota__nothing`", "there is no rota__nothing"),
    ("README.md", "rota__nothing does it", "only pages in src/ name rota__nothing"),
    ("docs/page.md", "see src/pool/worker.c", "only pages in src/ name src/pool/worker.c"),
    ("README.md", "see [that](nowhere.md)", "leads nowhere"),
    ("README.md", "see [that](#nowhere)", "leads nowhere"),
    ("README.md", "see [that](examples/README.md#nowhere)", "leads nowhere"),
    ("README.md", "\n```C\nint f(void);\n```\n", "C is no language"),
    ("README.md", "\n```\nint f(void);\n```\n", "nothing is no language"),
    ("README.md", "\n```c\nint f(void) { return x; }\n```\n", "does not compile"),
    ("README.md", "\n```c\nint main(void) { return 3; }\n```\n", "ends with 3"),
    ("README.md", "\n<!-- from: examples/01.c -->\n```c\nreturn 2;\n```\n", "this is not in examples/01.c"),
    ("README.md", "\n<!-- from: examples/01.c -->\n```c\nint f(void)\n    return 1;\n```\n", "this is not in"),
    ("README.md", "\n<!-- from: examples/02.c -->\n```c\nreturn 1;\n```\n", "there is no examples/02.c"),
    ("README.md", "\n```cpp\nint f();\n```\n", "C++ must be quoted"),
    ("include/rota/a.h", "/*\n * rota/a.h - a.\n *\n *     x = 1;\n */\n", "an example does not compile"),
    ("examples/02.cpp", "int f();\n", "does not list 02.cpp"),
    ("examples/01.c", CLEAN["examples/01.c"] + "\n" * 77, "has 81 lines, more than 80"),
]


def complaints_about(files):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        library = root / "librota.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-o", library, root / "library.c"], check=True)
        return check(root, library)


def self_test():
    if complaints_about(CLEAN):
        return [f"nothing is wrong; found: {complaints_about(CLEAN)}"]
    for path, text, expected in PLANTED:
        found = complaints_about({**CLEAN, path: text})
        if len(found) != 1 or expected not in found[0]:
            return [f"planted: {expected}; found: {found}"]
    return []


def main():
    complaints = self_test() if sys.argv[1:] == ["--self-test"] else check(Path(sys.argv[1]), sys.argv[2])
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


main()
