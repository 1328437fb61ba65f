#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the code keeps to the layers that src/LAYERS draws.

A file that needs more than its module may use says so, with the reason:
/* layers: thread_local, inline functions read it */. A permission that is not used is an offence, too.

check_layers.py [ROOT]        prints one line for each offence: file:line: what to do
check_layers.py --self-test   plants one offence of each kind and looks whether it is found
"""
import re
import sys
import tempfile
from pathlib import Path

# -- What may be used where ----------------------------------------------------------------------
# Each use: its name in an allowance, a pattern of code, and what to do instead.

CALL = r"(?<![\w.])(?<!->)(?:%s)\s*\("  # a call of a function, not of a member with its name

USES = [
    ("atomics",
     r"<stdatomic\.h>|\b_Atomic\b|\batomic_\w+|\b__atomic_|\b__sync_",
     "use base/atomic.h"),
    ("pthreads",
     r"<pthread\.h>|\bpthread_\w+",
     "only src/os knows pthreads: go through base"),
    ("system",
     CALL % r"syscall|clock_gettime|nanosleep|clock_nanosleep|usleep|sleep",
     "only src/os calls the system: go through base"),
    ("memory",
     CALL % r"malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strn?dup",
     "use base/alloc.h: the user chooses the memory"),
    ("thread_local",
     r"\b_Thread_local\b|\b__thread\b|\bthread_local\b",
     "keep it in the thread's record (base/thread.h)"),
    ("exit",
     CALL % r"exit|_exit|_Exit|quick_exit",
     "a library does not exit: return a status"),
    ("printing",
     CALL % r"v?f?printf|f?puts|f?putc|putchar|perror",
     "a library does not print: return a status"),
    ("abort",
     CALL % r"abort|assert",
     "use base/check.h"),
]

PLATFORM = re.compile(
    r"\b(?:__linux(?:__)?|linux|__APPLE__|__MACH__|__GLIBC__|__GLIBC_PREREQ|__MUSL__|__ANDROID__"
    r"|_WIN32|_WIN64|__CYGWIN__|__(?:Free|Net|Open)BSD__|__DragonFly__|__sun|__unix(?:__)?"
    r"|__x86_64__|__i386__|__aarch64__|__arm__|__riscv|__powerpc(?:64)?__|__s390x?__)\b")

# What src/os is for, and no file there has to ask for.
USES_OF_OS = {"atomics", "pthreads", "system", "memory", "platform"}

# Allowances that are not uses: `explorer` includes a header of tests/explore, `open` is for a header that
# other modules include besides the one that bears the module's name.
ALLOWANCES = {use for use, _, _ in USES} | {"platform", "explorer", "open"}
ALLOWANCE = re.compile(r"/\*\s*layers:\s*(?:(\w+),\s*(\w.*?)\s*\*/)?", re.DOTALL)

SCOPE = re.compile(r"\bROTA__(?:CLEANUP|ON_UNWIND)_(BEGIN|END)\b")
JUMP = re.compile(r"\b(?:return|break|continue|goto)\b")

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
        self.numbers = {}     # of a module's line in src/LAYERS
        self.allowances = {}  # (file, what): the line that allows it
        self.used = set()     # permissions: (module, module below it) and (file, what)
        self.offences = []

    def complain(self, file, line, what):
        self.offences.append(f"{file}:{line}: {what}")

    def run(self):
        self.read_layers()
        checks = {"src": self.check_source, "include": self.check_public,
                  "examples": self.check_user, "bench": self.check_user}
        files = [(folder, path.relative_to(self.root).as_posix(), path.read_text(encoding="utf-8"))
                 for folder in checks for path in sorted((self.root / folder).rglob("*.[ch]"))]
        for folder, name, text in files:
            if folder in ("src", "include"):
                self.read_allowances(name, text)
        for folder, name, text in files:
            checks[folder](name, without_comments(text).split("\n"))
        self.check_permissions()
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
            self.numbers[module] = number

    def read_allowances(self, name, text):
        for comment in TOKENS.finditer(text):
            found = ALLOWANCE.match(comment[0])
            if not found:
                continue
            number = text.count("\n", 0, comment.start()) + 1
            if found[1] in ALLOWANCES:
                self.allowances[name, found[1]] = number
            else:
                self.complain(name, number, "write it as /* layers: WHAT, why */, where WHAT is one of "
                              + ", ".join(sorted(ALLOWANCES)))

    def may(self, name, what):
        """Asked only where the file needs it."""
        self.used.add((name, what))
        return (name, what) in self.allowances

    def check_permissions(self):
        for module, below in self.layers.items():
            for other in below:
                if other in self.layers and (module, other) not in self.used:
                    self.complain("src/LAYERS", self.numbers[module],
                                  f"{module} does not include {other}: remove it")
        for (name, what), number in self.allowances.items():
            if (name, what) not in self.used:
                self.complain(name, number, f"{what} is allowed, but not used: remove the comment")

    def check_source(self, name, lines):
        parts = name.split("/")
        if len(parts) != 3 or parts[1] not in self.layers:
            self.complain(name, 1, "move it into a module, src/<module>/, that src/LAYERS lists")
            return
        self.check_includes(name, parts[1], lines)
        self.check_platform(name, lines)
        self.check_scopes(name, lines)
        code = [INCLUDE.match(line) and line or without_strings(line) for line in lines]
        for use, pattern, what in USES:
            if parts[1] == "os" and use in USES_OF_OS:
                continue
            for number, line in enumerate(code, 1):
                found = re.search(pattern, line)
                if found and not self.may(name, use):
                    self.complain(name, number, f"{found[0].rstrip('( ')}: {what}")

    def check_includes(self, name, module, lines):
        first = None
        for number, kind, header in includes(lines):
            top = header.split("/")[0]
            first = first or top
            if kind == "<":
                if top in self.layers:
                    self.complain(name, number, f'write it as "{header}"')
            elif top == "rota":
                self.complain(name, number, f"write it as <{header}>")
            elif header.startswith("explore_") and self.may(name, "explorer"):
                continue
            elif header.count("/") != 1 or top not in self.layers:
                self.complain(name, number, f'"{header}": write it as "<module>/<file>.h"')
            elif top != module:
                self.check_arrow(name, number, module, header)
            elif name.endswith(".c") and first != module:
                self.complain(name, number, f'"{header}": a header of its own module comes first')

    def check_arrow(self, name, number, module, header):
        top = header.split("/")[0]
        self.used.add((module, top))
        if top not in self.layers[module]:
            self.complain(name, number, f"{module} may not include {top}: see src/LAYERS")
        elif (top != "base" and header not in (f"{top}/{top}_internal.h", f"{top}/{top}.h")
              and not self.may(f"src/{header}", "open")):
            self.complain(name, number, f'"{header}" is private to {top}: '
                          "what others need belongs into the header that bears its name")

    def check_platform(self, name, lines):
        if name.startswith("src/os/"):
            return
        for number, line in enumerate(lines, 1):
            found = PLATFORM.search(line)
            if found and re.match(r"\s*#\s*(?:el)?if", line) and not self.may(name, "platform"):
                self.complain(name, number, f"{found[0]}: platforms differ in src/os alone "
                              "(compilers in base/compiler.h)")

    def check_scopes(self, name, lines):
        """A cleanup scope is left through its END only (cleanup.U1)."""
        depth = 0
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("#"):
                continue
            for mark in SCOPE.finditer(line):
                depth += 1 if mark[1] == "BEGIN" else -1
            jump = JUMP.search(without_strings(line))
            if depth > 0 and jump:
                self.complain(name, number, f"{jump[0]}: leave a cleanup scope through its END only")

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

# A scope in a scope, and a statement in the outer one.
SCOPE_WITH = ("void f(void)\n{\n    ROTA__CLEANUP_BEGIN(end, a);\n    %s\n    ROTA__ON_UNWIND_BEGIN(end, b);\n"
              "    work();\n    ROTA__ON_UNWIND_END;\n    ROTA__CLEANUP_END;\n    return;\n}\n")
LAYERS = "os\nbase os\ntask base\nfuture task os\n"
CLEAN = {
    "src/LAYERS": LAYERS,
    "src/os/os.h": "#include <rota/base.h>\n#include <stdatomic.h>\n#ifdef __linux__\n#endif\n",
    "src/os/linux.c": '#include "os/os.h"\n#include "os/cgroup.h"\nint f(void) { syscall(1); }\n',
    "src/os/cgroup.h": "",
    "src/os/tick.h": "/* layers: open, it is inline */\n",
    "src/base/compiler.h": "#if defined(__x86_64__) /* layers: platform, why */\n#endif\n",
    "src/base/atomic.h": "/* layers: atomics, they\n * are here */\n/* layers: explorer, it is compiled against it */\n"
                         '#include <stdatomic.h>\n#include "explore_atomic.h"\n',
    "src/base/alloc.c": '#include "base/list.h"\n#include "os/os.h"\n/* layers: memory, why */\n'
                        "void f(void) { free(p); }\n",
    "src/base/thread.c": "/* layers: thread_local, why */\nstatic _Thread_local int self;\n",
    "src/base/check.c": "/* layers: printing, why */\n/* layers: abort, why */\n"
                        "void f(void) { fputs(s, stderr); abort(); }\n",
    "src/task/run.c": SCOPE_WITH % 'puts_no_more("return"); /* return */',
    "src/task/task_internal.h": '#include "base/list.h"\n#ifdef __cplusplus\n#endif\n',
    "src/task/task.c": '#include "task/task_internal.h"\n#include <rota/task.h>\n'
                       "// malloc(1), pthread_self()\n/* abort();\n   exit(1); */\n"
                       'const char *s = "printf(\\"free(x)\\")";\n'
                       "void f(void) { a->free(x); a.free(x); rota__free(x); snprintf(b); }\n",
    "src/future/get.c": '#include "future/future_internal.h"\n\n#include "os/tick.h"\n'
                        '#include "task/task_internal.h"\n#include "future/future_state.h"\n',
    "include/rota/base.h": "#include <stdint.h>\n",
    "include/rota/inline.h": "/* layers: platform, inline functions */\n#ifdef __GLIBC__\n#endif\n",
    "examples/01.c": "#include <rota/rota.h>\n#include <stdio.h>\nint main(void) { puts(s); }\n",
    "bench/bench.h": "",
    "bench/submit.c": '#include <rota/rota.h>\n#include "bench.h"\n',
}
# What is planted: the file, its text, and the complaint that must follow.
PLANTED = [
    ("src/LAYERS", "os\nbase os\nbase os\ntask base\nfuture task os\n", "LAYERS:3: base is listed"),
    ("src/LAYERS", LAYERS + "pool\n", "LAYERS:5: there is no src/pool"),
    ("src/LAYERS", "os\ntask base\nbase os\nfuture task os\n", "LAYERS:2: base must have its line above"),
    ("src/LAYERS", "os\nbase os\ntask os base\nfuture task os\n", "LAYERS:3: task does not include os"),
    ("src/task/a.c", "/* layers: memory, why */\n", "a.c:1: memory is allowed, but not used"),
    ("src/task/a.c", "\n/* layers: platform, why */\n", "a.c:2: platform is allowed, but not used"),
    ("src/task/a.c", "/* layers: explorer, why */\n", "a.c:1: explorer is allowed, but not used"),
    ("src/os/a.c", "/* layers: pthreads, why */\nint x = pthread_self();\n", "a.c:1: pthreads is allowed, but"),
    ("src/os/cgroup.h", "/* layers: open, why */\n", "cgroup.h:1: open is allowed, but not used"),
    ("src/task/a.c", "/* layers: memory */\n", "a.c:1: write it as /* layers: WHAT, why */"),
    ("src/task/a.c", "/* layers: wings, why */\n", "a.c:1: write it as /* layers: WHAT, why */"),
    ("src/task/a.c", "/* layers: printing, why */\nvoid f(void) { puts(s); exit(1); }\n", "a.c:2: exit: a lib"),
    ("src/task/a.c", '#include "explore_atomic.h"\n', 'a.c:1: "explore_atomic.h": write it as'),
    ("include/rota/a.h", "/* layers: platform, why */\n", "a.h:1: platform is allowed, but not used"),
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
    ("src/task/a.c", SCOPE_WITH % "return;", "a.c:4: return: leave a cleanup scope through its END"),
    ("src/task/a.c", SCOPE_WITH % "if (x)\n        break;", "a.c:5: break: leave a cleanup scope"),
    ("src/task/a.c", SCOPE_WITH % "continue;", "a.c:4: continue: leave a cleanup scope through its END"),
    ("src/task/a.c", SCOPE_WITH % "goto end;", "a.c:4: goto: leave a cleanup scope through its END"),
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
