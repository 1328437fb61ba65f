#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the library as two files, rota.c and rota.h, to be dropped into a project.

amalgamate.py OUT_DIR
amalgamate.py --self-test

rota.h is the public headers, each once, in the order in which they need one another. rota.c is the internal
headers, likewise, and the sources that tools/sources.py finds, in the order of src/LAYERS:

- What only the explorer of tests/explore defines is taken for not defined, and goes with its #if.
- What a source has for itself, static or a type, goes by <module>_<file>_<name> if another file has that
  name for anything, or POSIX for a function. A small tokenizer tells names from members, comments and
  strings; a local variable of that name is renamed with it, which does no harm. Names with rota_ are
  everybody's, and stay.
- The macros of a source are undefined after it.
- Internal headers are declared hidden, as the build has them. What they include of the system comes first:
  it is not ours to hide.
- What an internal header defines for a public one comes before that.

The same sources give the same files, byte by byte.
"""
import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is left in tools/
from sources import sources, version

SPDX = "/* SPDX-License-Identifier: MIT */"
EXPLORER = {"ROTA_EXPLORE", "ROTA_NARROW"}
ON_LINUX = "#if defined(__linux__) && !defined(ROTA_OS_POSIX)"

ABOUT_HEADER = """
rota {version}: thread pools, scheduled pools, fork/join, futures, composition and queues.
All public headers of rota in one, in the order in which they need one another. Each begins with a comment
that shows its use. Made by tools/amalgamate.py: changes belong into include/rota.
"""

ABOUT_SOURCE = """
rota {version}: all sources in one. It needs rota.h beside it, gcc or clang, C11, and POSIX threads:

    cc -O2 -fexceptions -c rota.c
    cc -O2 program.c rota.o -pthread

or all at once: cc -O2 -fexceptions program.c rota.c -pthread. With glibc rota.c needs -fexceptions: cleanup
handlers, which run if a task ends its thread (pthread_exit, pthread_cancel), are safe and cheap only with it.
In a shared library (-fPIC) it exports what rota.h declares and nothing else; link that with -Wl,-z,nodelete
if it may be unloaded, as threads of rota may still be inside.

    -DROTA_CHECKED=1         internal checks; what a program must not do ends it, with a message
    -DROTA_NO_TASK_CACHE=1   freed tasks go back at once, for tools that watch the memory
    -DROTA_OS_POSIX=1        no futexes, also on Linux: POSIX threads alone
    -DROTA_USDT=1            probes for bpftrace and others; needs <sys/sdt.h>

Made by tools/amalgamate.py: changes belong into src.
"""

HEAD = """
#ifdef __cplusplus
#error "rota.c is C: compile it as such; rota.h may be included from C++"
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
"""

UNDER = """
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* inline functions, to clang, when not in a header */
"""

OVER = """
#pragma GCC diagnostic pop
#pragma GCC visibility pop
"""

# -- Tokens --------------------------------------------------------------------------------------

TOKEN = re.compile(r"""
    (?P<space> \s+ | \\\n | /\*.*?\*/ | //[^\n]* )
  | (?P<text>  "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \.?\d(?:[eEpP][+-]|[\w.])* )
  | (?P<name>  [A-Za-z_]\w* )
  | (?P<mark>  -> | \.\.\. | . )
""", re.DOTALL | re.VERBOSE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:/\*.*?\*/|\\\n|[^\n])*", re.DOTALL | re.MULTILINE)

NOT_DECLARED = {"__attribute__", "_Alignas", "_Atomic", "_Static_assert"}  # though a parenthesis follows
BRACKETS = {")": "(", "]": "[", "}": "{"}


def tokens(text):
    return [(match.lastgroup, match[0]) for match in TOKEN.finditer(text)]


def with_next(text):
    """Each token but spaces and comments, and the two after it."""
    code = [token for kind, token in tokens(text) if kind != "space"] + ["", ""]
    return zip(code, code[1:], code[2:])


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


class Brackets:
    """Which are open, each as [itself, the two tokens before it, the commas in it]."""

    def __init__(self):
        self.open = []
        self.before = ("", "")

    def step(self, token):
        if token in BRACKETS.values():
            self.open.append([token, self.before, 0])
        elif token in BRACKETS:
            if not self.open or self.open.pop()[0] != BRACKETS[token]:
                raise ValueError(f"a {token} too many")
        elif token == "," and self.open:
            self.open[-1][2] += 1
        self.before = (self.before[1], token)

    def brace(self):
        """What stands before the innermost brace."""
        return next((before for mark, before, _ in reversed(self.open) if mark == "{"), ("", ""))

    def in_body_of(self, *kinds):
        return any(word in kinds for word in self.brace())


# -- What a file declares ------------------------------------------------------------------------

def declared(text):
    """The names of a file at file scope, but for those with rota_, and macros."""
    names, brackets, is_value = set(), Brackets(), False
    for this, *after in with_next(DIRECTIVE.sub("", text)):
        if not brackets.open and this in ("=", ",", ";"):
            is_value = this == "="
        if is_name(this) and not is_value and declares(brackets, this, *after):
            names.add(this)
        brackets.step(this)
    if brackets.open:
        raise ValueError("a bracket is not closed")
    return {name for name in names if not name.lower().startswith("rota_")}


def declares(brackets, this, after, then):
    """Is `this` a name at file scope, of a function, an object, a type, a tag or a constant?"""
    before = brackets.before[1]
    if not brackets.open:
        if before in ("struct", "union", "enum"):
            return after == "{"
        is_type = after == "(" and then == "*"  # static int (*name)(void)
        return after in ("(", "=", ";", ",", "[") and not is_type and this not in NOT_DECLARED
    if len(brackets.open) > 1:
        return False
    if brackets.in_body_of("enum"):
        return before in ("{", ",")
    return brackets.before == ("(", "*") and after == ")"


def macros(text):
    """Those that it defines, but for defaults of what the system or the user may define."""
    lines = text.split("\n")
    names = []
    for before, line in zip([""] + lines, lines):
        found = re.match(r"#define (\w+)", line)
        if found and before != f"#ifndef {found[1]}" and found[1] not in names:
            names.append(found[1])
    return names


# -- Renaming ------------------------------------------------------------------------------------

# What the C library declares in headers that another source may have included.
OF_POSIX = set("""accept bind close connect index link listen open pause pipe poll read remove rename select
    send signal sleep stat sync time times truncate wait write""".split())

MEMBER_ARGUMENT = {"offsetof": 1, "ROTA__CONTAINER": 2, "ROTA__CONST_CONTAINER": 2}


def is_member(brackets, after):
    """Is a name at this place one of a struct's member?"""
    before = brackets.before[1]
    if before in (".", "->"):
        return True
    if brackets.open and brackets.open[-1][0] == "(":
        _, (_, macro), commas = brackets.open[-1]
        if MEMBER_ARGUMENT.get(macro) == commas:
            return True
    return (brackets.in_body_of("struct", "union") and after in (";", ",", "[", ":", ")")
            and before not in ("struct", "union", "enum", "[", ":"))


def renamed(text, names):
    """The text with other names: a dict."""
    parts = tokens(text)
    code = [index for index, (kind, _) in enumerate(parts) if kind != "space"]
    out = [token for _, token in parts]
    brackets = Brackets()
    for index, following in zip(code, code[1:] + [None]):
        kind, token = parts[index]
        after = parts[following][1] if following is not None else ""
        if kind == "name" and token in names and not is_member(brackets, after):
            out[index] = names[token]
        brackets.step(token)
    return "".join(out)


def used(text):
    """The names in a file, but for those of members."""
    names, brackets = set(), Brackets()
    for this, after, _ in with_next(text):
        if is_name(this) and not is_member(brackets, after):
            names.add(this)
        brackets.step(this)
    return names


def rename_all(files):
    """Gives what a source declares and another file uses a name of the source's own."""
    uses = Counter(OF_POSIX) + Counter(name for text in files.values() for name in used(text))
    for path, text in files.items():
        if path.endswith(".h"):
            continue
        prefix = "_".join(Path(path).with_suffix("").parts)
        new = {name: f"{prefix}_{name}" for name in declared(text) if uses[name] > 1}
        for name in uses.keys() & new.values():
            raise ValueError(f"{path}: {name} is there already")
        files[path] = renamed(text, new)


# -- Lines ---------------------------------------------------------------------------------------

INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.MULTILINE)
CONDITION = re.compile(r"#\s*(ifdef|ifndef|if|else|elif|endif)\b\s*(\w*)")


def unexplored(text):
    """Without what the explorer alone defines, and the conditions that ask for it."""
    out, kept = [], []  # for each open #if: None, or whether its lines stay
    for line in text.split("\n"):
        found = CONDITION.match(line)
        word, name = found.groups() if found else ("", "")
        ours = bool(kept) and kept[-1] is not None
        if word.startswith("if"):
            ours = name in EXPLORER
            kept.append(word == "ifndef" if ours else None)
        elif word == "else" and ours:
            kept[-1] = not kept[-1]
        elif word == "endif":
            kept.pop()
        if not (word and ours) and False not in kept:
            out.append(line)
    return "\n".join(out)


def without_lines(text, drop):
    lines = [line for line in text.split("\n") if not drop(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def is_folded(line):
    """Has it no place in one file? Our includes, and what the head says for all."""
    found = INCLUDE.match(line)
    return (line == SPDX or line.startswith("#define _GNU_SOURCE")
            or bool(found) and (found[1] == '"' or found[2].startswith("rota/")))


def of_system(text):
    """The lines with which a header includes what is not ours, always."""
    depth, lines = 0, []
    for line in text.split("\n"):
        found = CONDITION.match(line)
        if found:
            depth += {"else": 0, "elif": 0, "endif": -1}.get(found[1], 1)
        if depth == 1 and line.startswith("#include <") and not is_folded(line):
            lines.append(line)
    return lines


def for_public(text):
    """What a header defines for the public ones: the lines, and the internal headers they need."""
    head, found, _ = text.partition("#include <rota/")
    lines = [line for line in head.split("\n") if line.startswith("#define") and not line.endswith("_H")]
    return (lines, included(head)) if found and lines else ([], [])


def included(text):
    return [found[2] for found in INCLUDE.finditer(text) if is_folded(found[0])]


# -- The files -----------------------------------------------------------------------------------

def in_order(files, paths):
    """These and all that they include, each after what it includes."""
    done = []

    def add(path):
        if path in files and path not in done:
            for other in included(files[path]):
                add(other)
            done.append(path)

    for path in paths:
        add(path)
    return done


def read(root, folder, pattern):
    return {path.relative_to(root / folder).as_posix(): unexplored(path.read_text(encoding="utf-8"))
            for path in sorted((root / folder).glob(pattern))}


def comment(*texts):
    lines = "\n\n".join(text.strip("\n") for text in texts).split("\n")
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def banner(path):
    return f"\n/* {path} {'=' * max(0, 94 - len(path))} */\n\n"


def whole_header(root, lists):
    files = read(root, "include", "rota/*.h")
    order = [path for path in in_order(files, ["rota/rota.h"]) if path != "rota/rota.h"]
    if len(order) + 1 != len(files):
        raise ValueError("rota/rota.h does not include them all")
    parts = [SPDX + "\n", comment(ABOUT_HEADER.format(version=version(lists)), licence(root))]
    for path in order:
        parts += [banner(path), without_lines(files[path], is_folded)]
    return "".join(parts)


def licence(root):
    return (root / "LICENSE").read_text(encoding="utf-8")


def source_part(files, path):
    """A source, under its name, with an end to its macros."""
    text = without_lines(files[path], is_folded)
    undefs = "".join(f"#undef {name}\n" for name in macros(text))
    return banner("src/" + path) + text + (undefs and "\n" + undefs)


def all_sources(files, root):
    """First those that depend on the platform."""
    linux, posix = ([path[len("src/"):] for path in sources(root, os)] for os in ("linux", "posix"))

    def parts(paths):
        return "".join(source_part(files, path) for path in paths)

    yield f"\n{ON_LINUX}\n"
    yield parts(path for path in linux if path not in posix)
    yield "\n#else\n"
    yield parts(path for path in posix if path not in linux)
    yield "\n#endif /* ROTA_OS_POSIX */\n"
    yield parts(path for path in linux if path in posix)


def internal_headers(files):
    """Those for the public header, that, and the others."""
    paths = in_order(files, sorted(path for path in files if path.endswith(".h")))
    system = sorted({line for path in paths for line in of_system(files[path])})
    defines, first = [], []
    for path in paths:
        lines, needed = for_public(files[path])
        defines += lines
        first += in_order(files, needed)

    def part(path):
        return banner("src/" + path) + without_lines(
            files[path], lambda line: is_folded(line) or line in system or line in defines)

    yield "\n" + "\n".join(system) + "\n"
    yield from (part(path) for path in first)
    yield "\n/* Not inline here, and what others read at the same time is atomic. */\n"
    yield "\n".join(defines) + '\n#include "rota.h"\n'
    yield UNDER
    yield from (part(path) for path in paths if path not in first)
    yield OVER


def whole_source(root, lists):
    files = read(root, "src", "*/*.[ch]")
    rename_all(files)
    head = [SPDX + "\n", comment(ABOUT_SOURCE.format(version=version(lists)), licence(root)), HEAD]
    return "".join([*head, *internal_headers(files), *all_sources(files, root)])


# -- The self-test -------------------------------------------------------------------------------

ONE = """#define TWICE(x) take(x) /* take */
typedef struct reader {
    struct reader *next;
    int take, room[ROOM];
    void (*run)(void *arg);
} reader;
enum { NONE, ROOM = 4 };
static _Atomic(int) count = NONE, total;
static int (*hook)(int first);
static const kind own = {.take = take, .run = "take"};
__attribute__((unused)) static int take(reader *from) { return from->take + from.run; }
static reader *of(int *room) { return ROTA__CONTAINER(room, reader, take); }
#ifndef ROTA_EXPLORE
int rota__one(void) { return take(0); }
#else
int rota__two(void);
#endif
"""

OTHER = """#define _GNU_SOURCE
static int take, write, run;
struct reader;
"""


def self_test():
    names = {"reader", "NONE", "ROOM", "count", "total", "hook", "own", "take", "of"}
    assert declared(ONE) == names, declared(ONE) ^ names
    assert macros(ONE) == ["TWICE"]
    one = unexplored(ONE)
    assert "rota__one" in one and "rota__two" not in one and "#if" not in one
    files = {"x/one.c": one, "x/other.c": OTHER}
    rename_all(files)
    expected = one
    for old, new in ((" take(", " x_one_take("), ("= take", "= x_one_take"), ("reader", "x_one_reader")):
        expected = expected.replace(old, new)
    assert files["x/one.c"] == expected, files["x/one.c"]
    assert "x_other_take, x_other_write, run" in files["x/other.c"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        sys.exit(self_test())
    root, out = Path(__file__).resolve().parent.parent, Path(sys.argv[1])
    lists = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    (out / "rota.h").write_text(whole_header(root, lists), encoding="utf-8")
    (out / "rota.c").write_text(whole_source(root, lists), encoding="utf-8")


if __name__ == "__main__":
    main()
