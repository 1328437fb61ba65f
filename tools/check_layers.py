#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the code keeps to the layers that src/LAYERS draws.

check_layers.py [ROOT]        prints one line for each offence: file:line: what to do
check_layers.py --self-test   plants one offence of each kind and looks whether it is found
"""
import re
import sys
import tempfile
from pathlib import Path

# -- What may be used where ----------------------------------------------------------------------
# Each rule: a pattern of code, the files it is allowed in, and what to do instead.

CALL = r"(?<![\w.])(?<!->)(?:%s)\s*\("  # a call of a function, not of a member with its name

USES = [
    (r"<stdatomic\.h>|\b_Atomic\b|\batomic_\w+|\b__atomic_|\b__sync_",
     r"src/os/.*|src/base/atomic\.h",
     "use base/atomic.h"),
    (r"<pthread\.h>|\bpthread_\w+",
     r"src/os/.*",
     "only src/os knows pthreads: go through base"),
    (CALL % r"syscall|clock_gettime|nanosleep|clock_nanosleep|usleep|sleep",
     r"src/os/.*",
     "only src/os calls the system: go through base"),
    (CALL % r"malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strn?dup",
     r"src/os/.*|src/base/alloc\.c",
     "use base/alloc.h: the user chooses the memory"),
    (r"\b_Thread_local\b|\b__thread\b|\bthread_local\b",
     r"src/base/thread\.[ch]|src/forkjoin/worker\.c",  # there: the word that inline functions read
     "keep it in the thread's record (base/thread.h)"),
    (CALL % r"exit|_exit|_Exit|quick_exit",
     r"",
     "a library does not exit: return a status"),
    (CALL % r"v?f?printf|f?puts|f?putc|putchar|perror",
     r"src/base/check\.c",
     "a library does not print: return a status"),
    (CALL % r"abort|assert",
     r"src/base/check\.c",
     "use base/check.h"),
]

PLATFORM = re.compile(
    r"\b(?:__linux(?:__)?|linux|__APPLE__|__MACH__|__GLIBC__|__GLIBC_PREREQ|__MUSL__|__ANDROID__"
    r"|_WIN32|_WIN64|__CYGWIN__|__(?:Free|Net|Open)BSD__|__DragonFly__|__sun|__unix(?:__)?"
    r"|__x86_64__|__i386__|__aarch64__|__arm__|__riscv|__powerpc(?:64)?__|__s390x?__)\b")
PLATFORM_FILES = re.compile(r"src/os/.*|src/base/compiler\.h|include/rota/forkjoin\.h")  # inline

# Where the explorer of tests/explore takes the place of atomic operations.
BACK_END = ("src/base/atomic.h", "explore_atomic.h")

# Headers that others may include besides <module>_internal.h.
OPEN = {
    "base": re.compile(r"base/\w+\.h"),
    "os": re.compile(r"os/(?:os|fault|tick)\.h"),
    "queue": re.compile(r"queue/(?:queue_internal|locked)\.h"),  # a container becomes a queue
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blank(text):
    """As many lines as text has, and nothing in them."""
    return " " + "\n" * text.count("\n")


def without_comments(text):
    return TOKENS.sub(lambda m: blank(m[0]) if m[0].startswith("/") else m[0], text)


def without_strings(text):
    """For code that has no comments left."""
    return TOKENS.sub('""', text)


# -- The checks ----------------------------------------------------------------------------------

class Checker:
    def __init__(self, root):
        self.root = Path(root)
        self.layers = {}
        self.offences = []

    def complain(self, file, line, what):
        self.offences.append(f"{file}:{line}: {what}")

    def run(self):
        self.read_layers()
        for folder, check in (("src", self.check_source), ("include", self.check_public),
                              ("examples", self.check_user), ("bench", self.check_user)):
            for path in sorted((self.root / folder).rglob("*.[ch]")):
                name = path.relative_to(self.root).as_posix()
                code = without_comments(path.read_text(encoding="utf-8"))
                check(name, code.split("\n"))
        return self.offences

    def read_layers(self):
        name = "src/LAYERS"
        for number, line in enumerate((self.root / name).read_text().split("\n"), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            module, below = words[0], words[1:]
            if module in self.layers:
                self.complain(name, number, f"{module} is listed twice")
            if not (self.root / "src" / module).is_dir():
                self.complain(name, number, f"there is no src/{module}: remove the line")
            for other in below:
                if other not in self.layers:
                    self.complain(name, number, f"{other} must have its line above {module}'s")
            self.layers[module] = below

    def check_source(self, name, lines):
        parts = name.split("/")
        if len(parts) != 3 or parts[1] not in self.layers:
            self.complain(name, 1, "move it into a module, src/<module>/, that src/LAYERS lists")
            return
        self.check_includes(name, parts[1], lines)
        self.check_platform(name, lines)
        code = [INCLUDE.match(line) and line or without_strings(line) for line in lines]
        for pattern, allowed, what in USES:
            if re.fullmatch(allowed, name):
                continue
            for number, line in enumerate(code, 1):
                found = re.search(pattern, line)
                if found:
                    self.complain(name, number, f"{found[0].rstrip('( ')}: {what}")

    def check_includes(self, name, module, lines):
        first = None
        for number, kind, header in includes(lines):
            top = header.split("/")[0]
            first = first or top
            if (name, header) == BACK_END:
                continue
            if kind == "<":
                if top in self.layers:
                    self.complain(name, number, f'write it as "{header}"')
            elif top == "rota":
                self.complain(name, number, f"write it as <{header}>")
            elif header.count("/") != 1 or top not in self.layers:
                self.complain(name, number, f'"{header}": write it as "<module>/<file>.h"')
            elif top != module:
                self.check_arrow(name, number, module, header)
            elif name.endswith(".c") and first != module:
                self.complain(name, number, f'"{header}": a header of its own module comes first')

    def check_arrow(self, name, number, module, header):
        top = header.split("/")[0]
        if top not in self.layers[module]:
            self.complain(name, number, f"{module} may not include {top}: see src/LAYERS")
        elif not OPEN.get(top, re.compile(rf"{top}/{top}_internal\.h")).fullmatch(header):
            self.complain(name, number, f'"{header}" is private to {top}: '
                          f"what others need belongs into {top}_internal.h")

    def check_platform(self, name, lines):
        if PLATFORM_FILES.fullmatch(name):
            return
        for number, line in enumerate(lines, 1):
            found = PLATFORM.search(line)
            if found and re.match(r"\s*#\s*(?:el)?if", line):
                self.complain(name, number, f"{found[0]}: platforms differ in src/os alone "
                              "(compilers in base/compiler.h)")

    def check_public(self, name, lines):
        self.check_platform(name, lines)
        for number, kind, header in includes(lines):
            if kind == '"' or header.split("/")[0] in self.layers:
                self.complain(name, number, f"{header}: a public header includes only "
                              "<rota/...> and the standard library's")

    def check_user(self, name, lines):
        folder = (self.root / name).parent
        for number, kind, header in includes(lines):
            beside = kind == '"' and "/" not in header and (folder / header).exists()
            if header.split("/")[0] in self.layers or kind == '"' and not beside:
                self.complain(name, number, f"{header}: examples and benchmarks are users: "
                              "include <rota/...>")


def includes(lines):
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found[1], found[2]


# -- The self-test -------------------------------------------------------------------------------

LAYERS = "os\nbase os\ntask base\nfuture base task\n"
CLEAN = {
    "src/LAYERS": LAYERS,
    "src/os/os.h": "#include <rota/base.h>\n#include <stdatomic.h>\n#ifdef __linux__\n#endif\n",
    "src/os/linux.c": '#include "os/os.h"\n#include "os/cgroup.h"\nint f(void) { syscall(1); }\n',
    "src/os/cgroup.h": "",
    "src/base/compiler.h": "#if defined(__x86_64__)\n#endif\n",
    "src/base/atomic.h": "#include <stdatomic.h>\n",
    "src/base/alloc.c": '#include "base/list.h"\n#include "os/fault.h"\nvoid f(void) { free(p); }\n',
    "src/base/thread.c": "static _Thread_local int self;\n",
    "src/base/check.c": "void f(void) { fputs(s, stderr); abort(); }\n",
    "src/task/task_internal.h": '#include "base/list.h"\n#ifdef __cplusplus\n#endif\n',
    "src/task/task.c": '#include "task/task_internal.h"\n#include <rota/task.h>\n'
                       "// malloc(1), pthread_self()\n/* abort();\n   exit(1); */\n"
                       'const char *s = "printf(\\"free(x)\\")";\n'
                       "void f(void) { a->free(x); a.free(x); rota__free(x); snprintf(b); }\n",
    "src/future/get.c": '#include "future/future_internal.h"\n\n'
                        '#include "task/task_internal.h"\n#include "future/future_state.h"\n',
    "include/rota/base.h": "#include <stdint.h>\n",
    "examples/01.c": "#include <rota/rota.h>\n#include <stdio.h>\nint main(void) { puts(s); }\n",
    "bench/bench.h": "",
    "bench/submit.c": '#include <rota/rota.h>\n#include "bench.h"\n',
}
# What is planted: the file, its text, and the complaint that must follow.
PLANTED = [
    ("src/LAYERS", "os\nbase os\nbase os\ntask base\nfuture base task\n", "LAYERS:3: base is listed"),
    ("src/LAYERS", LAYERS + "pool base\n", "LAYERS:5: there is no src/pool"),
    ("src/LAYERS", "os\ntask base\nbase os\nfuture task\n", "LAYERS:2: base must have its line above"),
    ("src/stray.c", "", "stray.c:1: move it into a module"),
    ("src/pool/pool.c", "", "pool.c:1: move it into a module"),
    ("src/task/a.c", '#include "future/future_internal.h"\n', "a.c:1: task may not include future"),
    ("src/task/a.c", '#include "os/os.h"\n', "a.c:1: task may not include os"),
    ("src/base/a.c", '#include "os/cgroup.h"\n', 'a.c:1: "os/cgroup.h" is private to os'),
    ("src/future/a.c", '\n#include "task/run.h"\n', 'a.c:2: "task/run.h" is private to task'),
    ("src/task/a.c", '#include "rota/base.h"\n', "a.c:1: write it as <rota/base.h>"),
    ("src/task/a.c", "#include <base/list.h>\n", 'a.c:1: write it as "base/list.h"'),
    ("src/task/a.c", '#include "task_internal.h"\n', 'a.c:1: "task_internal.h": write it as'),
    ("src/task/a.c", '#include "../base/list.h"\n', 'a.c:1: "../base/list.h": write it as'),
    ("src/task/a.c", '#include "base/list.h"\n#include "task/task_internal.h"\n', "a.c:2: \"task/"),
    ("src/task/a.c", "#include <stdatomic.h>\n", "a.c:1: <stdatomic.h>: use base/atomic.h"),
    ("src/task/a.c", "int f(void) { return atomic_load(&x); }\n", "a.c:1: atomic_load: use base"),
    ("src/task/a.c", "static _Atomic int x;\n", "a.c:1: _Atomic: use base/atomic.h"),
    ("src/base/a.c", "int f(void) { __atomic_load_n(&x, 0); }\n", "a.c:1: __atomic_: use base"),
    ("src/base/a.c", "#include <pthread.h>\n", "a.c:1: <pthread.h>: only src/os"),
    ("src/base/a.c", "/*\n*/ pthread_mutex_t m;\n", "a.c:2: pthread_mutex_t: only src/os"),
    ("src/base/a.c", "long f(void) { return syscall(1); }\n", "a.c:1: syscall: only src/os"),
    ("src/base/a.c", "void f(void) { clock_gettime(0, 0); }\n", "a.c:1: clock_gettime: only"),
    ("src/base/a.c", "void f(void) { nanosleep(0, 0); }\n", "a.c:1: nanosleep: only src/os"),
    ("src/base/a.c", "void f(void) { usleep(1); }\n", "a.c:1: usleep: only src/os"),
    ("src/base/a.c", "void *f(void) { return malloc(1); }\n", "a.c:1: malloc: use base/alloc.h"),
    ("src/task/a.c", "void *f(void) { return calloc(1, 1); }\n", "a.c:1: calloc: use base/alloc"),
    ("src/task/a.c", "void *f(void) { return realloc(p, 1); }\n", "a.c:1: realloc: use base/"),
    ("src/task/a.c", "void f(void) { free (p); }\n", "a.c:1: free: use base/alloc.h"),
    ("src/task/a.c", "static _Thread_local int x;\n", "a.c:1: _Thread_local: keep it in the thread"),
    ("src/os/a.c", "static __thread int x;\n", "a.c:1: __thread: keep it in the thread's record"),
    ("src/os/a.c", 'void f(void) { printf("x"); }\n', "a.c:1: printf: a library does not print"),
    ("src/task/a.c", 'void f(void) { fprintf(e, "x"); }\n', "a.c:1: fprintf: a library does not"),
    ("src/task/a.c", 'void f(void) { puts("x"); }\n', "a.c:1: puts: a library does not print"),
    ("src/task/a.c", "void f(void) { exit(1); }\n", "a.c:1: exit: a library does not exit"),
    ("src/task/a.c", "void f(void) { abort(); }\n", "a.c:1: abort: use base/check.h"),
    ("src/task/a.c", "#if 1 && defined(__linux__)\n#endif\n", "a.c:1: __linux__: platforms differ"),
    ("src/task/a.c", "#ifdef __APPLE__\n#endif\n", "a.c:1: __APPLE__: platforms differ in src/os"),
    ("src/base/a.c", "#if 0\n#elif __GLIBC__ > 1\n#endif\n", "a.c:2: __GLIBC__: platforms differ"),
    ("include/rota/a.h", "#ifndef _WIN32\n#endif\n", "a.h:1: _WIN32: platforms differ in src/os"),
    ("include/rota/a.h", '#include "base/list.h"\n', "a.h:1: base/list.h: a public header includes"),
    ("examples/02.c", '#include "base/list.h"\n', "02.c:1: base/list.h: examples and benchmarks"),
    ("examples/02.c", "#include <base/list.h>\n", "02.c:1: base/list.h: examples and benchmarks"),
    ("bench/a.c", '#include "../src/base/list.h"\n', "a.c:1: ../src/base/list.h: examples and bench"),
]


def check_tree(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Checker(root).run()


def self_test():
    failed = 0
    for offence in check_tree(CLEAN):
        failed += 1
        print(f"wrong alarm: {offence}")
    for name, text, expected in PLANTED:
        offences = check_tree({**CLEAN, name: text})
        if not any(expected in offence for offence in offences):
            failed += 1
            print(f"missed in {name}: {text!r}\n  expected {expected!r}, got {offences}")
        elif len(offences) > 1:
            failed += 1
            print(f"more than one complaint of {name}: {offences}")
    print(f"{len(PLANTED) + 1} cases, {failed} wrong")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent
    offences = Checker(root).run()
    print("\n".join(offences) or "The layers are kept.")
    sys.exit(1 if offences else 0)


if __name__ == "__main__":
    main()
