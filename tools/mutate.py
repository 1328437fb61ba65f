#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes src/ in small ways, one at a time, and sees whether the tests notice.

mutate.py [--sample N] [--seed S] [--only TEXT] [--changed COMMIT] [--again FILE] [--quick]
          [--without TEST]... [--json FILE] [--orders] [--list] [--jobs N] BUILD
mutate.py --compare BEFORE AFTER
    BUILD      a build with tests (cmake --preset dev); its folder `mutation` is the tool's
    --sample   so many of all, by chance; 0: all
    --only     those whose path, function or line contains TEXT
    --changed  those of files that differ from that commit
    --again    those of an earlier run; a mutant whose killer still takes part stays killed, and
               survivors are tried again unless tests are left out; with --sample, that sample, which
               goes on with a run that was stopped
    --quick    with the few tests that are most likely to notice; then try survivors with --again
    --without  leaves a test out, or all that match: stress.park_races, 'stress.*', explore
    --json     writes the outcome and the killer of each mutant
    --orders   weaker memory orders, which only the explorer can notice, in place of the rest
    --list     shows the mutants and does nothing
    --compare  fails if a mutant survived AFTER that was killed BEFORE

A mutant that compiles to the same code does not count. One that no test notices is printed, and
makes the run fail. If no test can notice, a comment in the source says why:

    while (is_locked(lock)) /* mutants: only how long it spins */

At the end of a line it excludes the line, alone on a line the next one, and in the comment before a
function the function. Memory orders are not excluded.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import functools
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

QUICK = 20  # tests, and as many scenarios

# What is replaced by what: a pattern, and the texts in its place.
FUNCTIONAL = [
    (r"==", ["!="]), (r"!=", ["=="]),
    (r"(?<![<>-])<(?![<=])", ["<="]), (r"(?<![<>-])>(?![>=])", [">="]),
    (r"(?<!<)<=", ["<"]), (r"(?<!>)>=", [">"]),
    (r"&&", ["||"]), (r"\|\|", ["&&"]),
    (r"!(?!=)", [""]),
    (r"(?<=\w) \+ (?=\w)", [" - "]), (r"(?<=\w) - (?=\w)", [" + "]),
    (r"\+\+", ["--"]), (r"--", ["++"]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"(?<![\w.\[])0(?![\w.])", ["1"]), (r"(?<![\w.\[])1(?![\w.])", ["0"]),
    (r"\bROTA_OK\b", ["ROTA_EFAILED"]),
    (r"^(    +)(?!return\b|break\b|continue\b|case\b|else\b|\})[^=;{}]*\([^;{}]*\);$", [r"\1;"]),
    (r"^(    +)[\w>.\[\]*()-]+ [+|&-]?= [^;{}]*;$", [r"\1;"]),
]
ORDERS = [
    (r"\brota__load_acquire\b", ["rota__load_relaxed"]),
    (r"\brota__store_release\b", ["rota__store_relaxed"]),
]
COMMENT_OR_STRING = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
NOT_CODE = [  # and the preprocessor; and checks, which change nothing
    COMMENT_OR_STRING,
    re.compile(r"^#(?:.*\\\n)*.*$", re.M),
    re.compile(r"\b(?:ROTA__ASSERT|_Static_assert)\([^;]*;"),
]
HEAD = re.compile(r"(?:__attribute__\(\(.*?\)\) )?[A-Za-z_][^=;(]*?\b(\w+)\(")
MARKER = re.compile(r"\bmutants:\s*(?:\*\s*)?(\w?)")

# -- Mutants ----------------------------------------------------------------------------------


class Mutant:
    def __init__(self, path, lines, number, after, function):
        self.path, self.lines, self.number, self.after = path, lines, number, after
        self.function = function
        self.name = f"{path}: {function.name}: {lines[number - 1].strip()} -> {after.strip()}"

    def text(self):
        """As if it were the file itself, for __FILE__."""
        lines = self.lines[:self.number - 1] + [self.after] + self.lines[self.number:]
        return "\n".join([f'#line 1 "{ROOT / self.path}"', *lines])


class Function:
    def __init__(self, name, first):
        self.name, self.first, self.last = name, first, first


def code_of(text):
    """The same length, without what is not code."""
    for pattern in NOT_CODE:
        text = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return text


def functions_of(code):
    """The function that each line of the code belongs to."""
    function = Function("", 1)
    for number, line in enumerate(code, 1):
        head = HEAD.match(line)
        if head:
            function = Function(head[1], number)
        function.last = number
        yield function


def excluded(path, text, code, functions):
    """The numbers of the lines that markers exclude."""
    numbers = set()
    for comment in COMMENT_OR_STRING.finditer(text):
        marker = MARKER.search(comment.group())
        if not comment.group().startswith("/*") or not marker:
            continue
        first = text.count("\n", 0, comment.start()) + 1
        last = text.count("\n", 0, comment.end()) + 1
        if not marker[1]:
            sys.exit(f"{path}:{first}: a marker without a reason")
        if code[first - 1].strip():
            numbers.add(first)
        elif text[comment.start() - 1] != "\n":  # indented
            numbers.add(last + 1)
        elif functions[last].first != last + 1:
            sys.exit(f"{path}:{first}: no function follows the marker")
        else:
            numbers.update(range(last + 1, functions[last].last + 1))
    return numbers


def changes(code, line, rules):
    """What may become of a line."""
    for pattern, replacements in rules:
        for match in re.finditer(pattern, code.rstrip()):
            for replacement in replacements:
                yield line[:match.start()] + match.expand(replacement) + line[match.end():]


def mutants_of(path, text, rules):
    """Their names stay the same as long as the line and its function do."""
    lines, code = text.split("\n"), code_of(text).split("\n")
    functions = list(functions_of(code))
    marked = excluded(path, text, code, functions)
    seen = collections.Counter()
    for number, line in enumerate(lines, 1):
        if number in marked and rules is FUNCTIONAL:
            continue
        for after in changes(code[number - 1], line, rules):
            mutant = Mutant(path, lines, number, after, functions[number - 1])
            seen[mutant.name] += 1
            if seen[mutant.name] > 1:
                mutant.name += f" ({seen[mutant.name]})"
            yield mutant


# -- Programs ---------------------------------------------------------------------------------

def output(*command, cwd=None):
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          check=True).stdout


def run(command, seconds, **environment):
    """Did it end well, in time? Nothing that it started is left."""
    limited = f"ulimit -c 0 -t {int(seconds) + 1}; exec {shlex.join(map(str, command))}"
    with subprocess.Popen(["sh", "-c", limited], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                          start_new_session=True, env=dict(os.environ, **environment)) as process:
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


class Objects:
    """The objects of one target of the build, which are compiled here, and its compilers."""

    def __init__(self, build, target, *flags):
        self.build, self.flags = build, flags
        self.commands, self.files = {}, {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            if f"CMakeFiles/{target}.dir" in entry["command"]:
                self.commands[entry["file"].removeprefix(f"{ROOT}/")] = entry["command"]

    def compile(self, path, source, out, *flags):
        out.unlink(missing_ok=True)
        command = shlex.split(self.commands[path])
        command[command.index("-o") + 1] = str(out)
        command[command.index("-c") + 1] = str(source)
        command += ["-g0", "-w", "-Wno-error", *self.flags, *flags]
        return subprocess.run(command, cwd=self.build, capture_output=True,
                              check=False).returncode == 0

    def compile_text(self, path, text, out):
        """Every text in a file of the same name, which the object contains."""
        source = out.parent / "mutant.c"
        source.write_text(text)
        return self.compile(path, source, out)

    def compile_all(self, pool, folder, *flags):
        folder.mkdir(parents=True, exist_ok=True)
        files = {path: folder / (path.replace("/", "_") + ".o") for path in self.commands}
        done = pool.map(lambda path: self.compile(path, ROOT / path, files[path], *flags), files)
        if not all(done):
            sys.exit(f"{self.build}: the sources cannot be compiled")
        return files


# The tests are linked to a shared library of the objects that they are linked to in the build: then
# a mutant is one object and one library, and no test is linked again. A test that passes only
# without the shared library, as it depends on the order of constructors, is linked to an archive.
class Library:
    NAME = "librota_mutant.so"

    def __init__(self, build, pool, folder):
        self.build, self.pool, self.folder = build, pool, folder
        self.objects = Objects(build, "rota_testing", "-fvisibility=default", "-O2")
        self.files = self.objects.compile_all(pool, folder / "objects")
        self.linked = {}  # the objects of the library in each folder
        self.original = folder / "original"
        self.link(self.files.values(), self.original)
        self.is_static = set()  # tests
        self.tests = all_tests(build)
        self.lock = threading.Lock()

    def link(self, files, folder):
        folder.mkdir(exist_ok=True)
        self.linked[folder] = list(files)
        subprocess.run(["cc", "-shared", f"-Wl,-soname,{self.NAME}", "-pthread", "-o",
                        folder / self.NAME, *files], check=True)

    def link_mutant(self, mutant, changed, folder):
        self.link([changed if path == mutant.path else file
                   for path, file in self.files.items()], folder)

    def link_test(self, test, library, out):
        """As the build does, but to the library."""
        command = output("ninja", "-t", "commands", self.tests[test][0], cwd=self.build)
        command = command.strip().split("\n")[-1]
        command = re.sub(r"\S*librota(_testing)?\.a\b", library, command)
        command = re.sub(r"-o \S+", f"-o {out}", command, count=1)
        subprocess.run(command, shell=True, cwd=self.build, check=True, capture_output=True)

    def run(self, test, folder, seconds, **environment):
        """With the library in the folder."""
        program = self.original / test
        if test in self.is_static:
            program, archive = folder / f"{test}.static", folder / f"{test}.archive"
            archive.unlink(missing_ok=True)
            subprocess.run(["ar", "rcs", archive, *self.linked[folder]], check=True)
            self.link_test(test, str(archive), program)
        with self.lock:
            if not program.exists():
                self.link_test(test, str(self.original / self.NAME), program)
        environment = {"LD_LIBRARY_PATH": str(folder), "CMOCKA_TEST_ABORT": "1",
                       "ROTA_ROUNDS": "200", **environment}
        return run([program, *self.tests[test][1:]], seconds, **environment)


class Explorer:
    """As the build has it, but for one object."""

    def __init__(self, build):
        self.build = build
        self.objects = Objects(build, "explore")
        command = output("ninja", "-t", "commands", "tests/explore/explore", cwd=build)
        self.command = command.strip().split("\n")[-1]
        self.program = build / "tests/explore/explore"
        self.scenarios = output(self.program, "--list").split()

    def link(self, changed, out, extra=""):
        """`changed`: objects by the path of their source."""
        words = shlex.split(self.command.removeprefix(": && ").removesuffix(" && :"))
        words = [str(changed.get(self.source(word), word)) for word in words]
        words[words.index("-o") + 1] = str(out)
        subprocess.run(words + shlex.split(extra), cwd=self.build, check=True, capture_output=True)

    def source(self, word):
        word = word.replace("__/__/", "").removesuffix(".o")
        return next((path for path in self.objects.commands if word.endswith(".dir/" + path)), word)


# -- What reaches what ------------------------------------------------------------------------

# Every block of code calls this, if it is compiled with -fsanitize-coverage=trace-pc.
NOTE = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
static char *reached;
__attribute__((constructor(101))) static void begin(void)
{
    enum { SIZE = 16 << 20 };
    const char *path = getenv("ROTA_REACHED");
    int fd = path != NULL ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (fd < 0 || ftruncate(fd, SIZE) != 0)
        return;
    reached = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}
void __sanitizer_cov_trace_pc(void)
{
    if (reached != NULL)
        reached[(const char *)__builtin_return_address(0) - __ehdr_start] = 1;
}
"""
TRACED = ("-g", "-O0", "-fsanitize-coverage=trace-pc")


def lines_of_blocks(binary):
    """The lines of each block, by the address behind its call of NOTE."""
    blocks = collections.defaultdict(set)
    place, block, calls = None, None, False
    for text in output("objdump", "-dl", "--no-show-raw-insn", binary).split("\n"):
        line = re.match(r"/.*?(src/\w+/\w+\.c):(\d+)", text)
        instruction = re.match(r" +([0-9a-f]+):\t", text)
        if line or re.match(r"/.*:\d+", text):
            place = f"{line[1]}:{line[2]}" if line else None
        elif re.match(r"[0-9a-f]+ <", text):
            block = None
        elif instruction:
            if calls:
                block = int(instruction[1], 16)
            calls = "<__sanitizer_cov_trace_pc" in text
            if block is not None and place and not calls:
                blocks[block].add(place)
    base = int(re.search(r"LOAD +\w+ (\w+)", output("readelf", "-lW", binary))[1], 16)
    return {address - base: lines for address, lines in blocks.items()}


def places_in(file, blocks):
    """The lines that the program reached which has written the file."""
    if not file.exists():
        return []
    addresses = (match.start() for match in re.finditer(b"\1", file.read_bytes()))
    file.unlink()
    return sorted(set().union(*(blocks.get(address, ()) for address in addresses)))


class Reach:
    """The lines that each test and scenario reaches, and its time; kept until a file changes."""

    def __init__(self, library, explorer, tests, pool):
        self.library, self.explorer, self.pool = library, explorer, pool
        kept = library.build / "mutation/reach.json"
        digest = self.digest(tests)
        if not kept.exists() or json.loads(kept.read_text())["digest"] != digest:
            runs = {**self.of_tests(tests), **self.of_scenarios()}
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(json.dumps({"digest": digest, "runs": runs,
                                        "static": sorted(library.is_static)}))
        known = json.loads(kept.read_text())
        assert any(places for _, places in known["runs"].values()), "no line was traced"
        library.is_static.update(known["static"])
        self.seconds, self.by_line = {}, collections.defaultdict(set)
        for name, (seconds, places) in known["runs"].items():
            self.seconds[name] = seconds
            for place in places:
                self.by_line[place].add(name)

    @staticmethod
    def digest(tests):
        digest = hashlib.sha1(repr(sorted(tests)).encode())
        for folder in ("include", "src", "tests"):
            for path in sorted((ROOT / folder).rglob("*.[ch]")):
                digest.update(str(path).encode() + path.read_bytes())
        return digest.hexdigest()

    def note(self, folder):
        source, out = folder / "note.c", folder / "note.o"
        source.write_text(NOTE)
        subprocess.run(["cc", "-O2", "-fPIC", "-c", source, "-o", out], check=True)
        return out

    def of_tests(self, tests):
        folder = self.library.folder / "traced"
        files = self.library.objects.compile_all(self.pool, folder, *TRACED)
        self.library.link([*files.values(), self.note(folder)], folder)
        blocks = lines_of_blocks(folder / self.library.NAME)

        def trace(test):
            """If it fails, as some do when they are traced, the lines until then count."""
            file, start, own = folder / test, time.monotonic(), blocks
            options = {"ROTA_REACHED": str(file), "CMOCKA_TEST_ABORT": "0"}
            if not (self.library.run(test, folder, 600, **options)
                    or self.library.run(test, self.library.original, 600)):
                self.library.is_static.add(test)
                file.unlink(missing_ok=True)
                self.library.run(test, folder, 600, **options)
                own = lines_of_blocks(folder / f"{test}.static")
            return time.monotonic() - start, places_in(file, own)
        return dict(zip(tests, self.pool.map(trace, tests)))

    def of_scenarios(self):
        folder = self.library.folder / "traced_explorer"
        files = self.explorer.objects.compile_all(self.pool, folder, *TRACED)
        files = {path: file for path, file in files.items() if path.startswith("src/")}
        program = folder / "explore"
        self.explorer.link(files, program, str(self.note(folder)))
        blocks = lines_of_blocks(program)

        def trace(scenario):
            file = folder / scenario
            run([program, "--seconds", "0.05", "--exhaust", "0.05", scenario], 60,
                ROTA_REACHED=str(file))
            return 0, places_in(file, blocks)
        scenarios = self.explorer.scenarios
        return dict(zip((f"explore {s}" for s in scenarios), self.pool.map(trace, scenarios)))

    def of(self, mutant):
        """What reaches the line; and what reaches its function besides."""
        function = mutant.function
        line = self.by_line.get(f"{mutant.path}:{mutant.number}", set())
        around = set().union(*(self.by_line.get(f"{mutant.path}:{number}", ())
                               for number in range(function.first, function.last + 1)))
        return line, around - line


# -- One mutant -------------------------------------------------------------------------------

class Laboratory:
    """All that is needed to try a mutant."""

    def __init__(self, options, pool):
        build = pathlib.Path(options.build).resolve()
        self.top = pathlib.Path(options.folder)
        self.explorer = Explorer(build)
        self.library = Library(build, pool, self.top)
        tests = list(self.library.tests)
        self.reach = Reach(self.library, self.explorer, tests, pool)
        self.tests = [test for test in tests if not is_left_out(test, options)]
        self.scenarios = [] if is_left_out("explore", options) else self.explorer.scenarios
        self.most = QUICK if options.quick else None
        self.kills = collections.Counter()
        self.sound = set()  # tests that have passed without a change
        self.failures = collections.Counter()  # of tests, without a change
        self.local = threading.local()

    def folder(self):
        if not hasattr(self.local, "folder"):
            self.local.folder = pathlib.Path(tempfile.mkdtemp(dir=self.top))
        return self.local.folder

    def likely_first(self, mutant, tests):
        """By how likely they are to notice, for the time that they take. With --quick, the likely ones."""
        def likelihood(test):
            return (1 / (1 + distance(mutant.path, test)) + self.kills[mutant.path, test]
                    + 5 * self.kills[mutant.path, mutant.function.name, test])

        def cost(test):
            return 0.05 + self.reach.seconds[test]
        tests = sorted(tests, key=lambda test: (-likelihood(test), cost(test)))[:self.most]
        return sorted(tests, key=lambda test: likelihood(test) / cost(test), reverse=True)

    @functools.lru_cache(maxsize=None)
    def original(self, path):
        """What its code is without a change."""
        out = self.folder() / "original.o"
        text = (ROOT / path).read_text()
        self.library.objects.compile_text(path, f'#line 1 "{ROOT / path}"\n{text}', out)
        return out.read_bytes()

    def outcome(self, mutant, orders):
        """same, invalid, killed (by what) or survived."""
        changed = self.folder() / "changed.o"
        original = self.original(mutant.path)
        if not self.library.objects.compile_text(mutant.path, mutant.text(), changed):
            return "invalid", None
        if changed.read_bytes() == original:
            return "same", None
        by = None if orders else self.killing_test(mutant, changed)
        by = by or self.killing_scenario(mutant)
        return ("killed" if by else "survived"), by

    def killing_test(self, mutant, changed):
        self.library.link_mutant(mutant, changed, self.folder())
        line, around = self.reach.of(mutant)
        names = (line or around).intersection(self.tests)
        for test in self.likely_first(mutant, names):
            if self.notices(test):
                self.kills[mutant.path, test] += 1
                self.kills[mutant.path, mutant.function.name, test] += 1
                return test
        return None

    def notices(self, test):
        """It fails or takes too long, and does not without a change. A busy machine can make a
        test fail: then a second run with more time passes, or one without the change fails."""
        seconds = 3 + 5 * self.reach.seconds[test]
        first = self.library.run(test, self.folder(), seconds)
        second = True if first else self.library.run(test, self.folder(), 2 * seconds)
        if second and first is not False:  # it passes, or did when it had more time
            return False
        runs = 3 if second else 0 if test in self.sound else 1  # 3: it may be a race
        for _ in range(runs):
            if not self.library.run(test, self.library.original, 2 * seconds):
                self.failures[test] += 1
                if self.failures[test] == 5:
                    print(f"{test} fails without any change, and is left out")
                    self.tests = [other for other in self.tests if other != test]
                return False
        self.sound.add(test)
        return True

    def killing_scenario(self, mutant):
        if mutant.path not in self.explorer.objects.commands:
            return None
        line, around = self.reach.of(mutant)
        scenarios = [s for s in self.scenarios if f"explore {s}" in (line or around)][:self.most]
        changed, program = self.folder() / "explored.o", self.folder() / "explore"
        if not scenarios or not self.explorer.objects.compile_text(mutant.path, mutant.text(),
                                                                   changed):
            return None
        self.explorer.link({mutant.path: changed}, program)
        plan = ["--first", "--seconds", "0.1", "--exhaust", "0.1"]
        return None if run([program, *plan, *scenarios], 60 + len(scenarios)) else "explore"


# -- Tests ------------------------------------------------------------------------------------

def all_tests(build):
    """The commands of the tests that are programs of the build with the library linked in."""
    linked = set(re.findall(r"^build (\S+): \w*EXECUTABLE_LINKER\S* .*\blibrota(?:_testing)?\.a\b",
                            (build / "build.ninja").read_text(), re.M))
    listed = json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]
    commands = {test["name"]: test.get("command", [""]) for test in listed}
    return {name: [program, *arguments] for name, (path, *arguments) in sorted(commands.items())
            if (program := path.removeprefix(f"{build}/")) in linked}


def is_left_out(test, options):
    return any(fnmatch.fnmatch(test, pattern) for pattern in options.without)


@functools.lru_cache(maxsize=None)
def layers():
    return [line.split()[0].rstrip(":") for line in (ROOT / "src/LAYERS").read_text().split("\n")
            if line and not line.startswith("#")]


def distance(path, test):
    """How far the test is from the file: 0 to 9."""
    module, unit = pathlib.Path(path).parts[1], pathlib.Path(path).stem
    folder, _, name = test.partition(".")
    if folder == module:
        return 0 if name in unit or unit in name else 1
    if folder in ("contract", "fault"):
        return 2 if module in name or folder == "contract" else 3
    if folder == "stress":
        return 4 if module in name else 9
    above = layers().index(folder) - layers().index(module) if folder in layers() else 0
    return 5 if above > 0 else 8


# -- All --------------------------------------------------------------------------------------

def everything(rules):
    paths = [str(p.relative_to(ROOT)) for p in sorted((ROOT / "src").glob("*/*.c"))]
    return [mutant for path in paths
            for mutant in mutants_of(path, (ROOT / path).read_text(), rules)]


def chosen(options):
    mutants = everything(ORDERS if options.orders else FUNCTIONAL)
    if options.only:
        mutants = [m for m in mutants if options.only in m.name]
    if options.changed:
        diff = output("git", "-C", ROOT, "diff", "--name-only", options.changed).split()
        mutants = [m for m in mutants if m.path in diff]
    if options.again and not options.sample:
        names = read_results(options.again)
        mutants = [m for m in mutants if m.name in names]
    if options.sample and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    return mutants


def write_results(results, options):
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


def read_results(path):
    """By the name of the mutant."""
    return {result["name"]: result for result in json.loads(pathlib.Path(path).read_text())}


def known_outcome(mutant, options):
    """What --again can tell without another try."""
    before = read_results_once(options.again).get(mutant.name) if options.again else None
    if before and before["outcome"] == "killed" and is_left_out(before["by"], options):
        return None
    if before and before["outcome"] == "survived" and not options.without:
        return None
    return (before["outcome"], before["by"]) if before else None


read_results_once = functools.lru_cache(maxsize=None)(read_results)


def try_one(mutant, laboratory, options):
    start = time.monotonic()
    outcome, by = laboratory.outcome(mutant, options.orders)
    return {"name": mutant.name, "line": mutant.number, "outcome": outcome, "by": by,
            "seconds": round(time.monotonic() - start, 2)}


def try_all(mutants, options):
    """A result for each mutant that is compiled into the library."""
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        laboratory = Laboratory(options, pool)
        for mutant in mutants:
            known = known_outcome(mutant, options)
            if known:
                results.append({"name": mutant.name, "line": mutant.number, "outcome": known[0],
                                "by": known[1], "seconds": 0})
        seen = {result["name"] for result in results}
        futures = [pool.submit(try_one, m, laboratory, options) for m in mutants
                   if m.name not in seen and m.path in laboratory.library.objects.commands]
        for done in concurrent.futures.as_completed(futures):
            if done.exception():
                pool.shutdown(wait=False, cancel_futures=True)
            result = done.result()
            results.append(result)
            by = f", by {result['by']}" if result["by"] else ""
            print(f"{result['outcome']:<9}{result['name']}  (line {result['line']}{by})",
                  flush=True)
            write_results(results, options)  # a run that is stopped can go on with --again
    return results


def report(results, options):
    counts = collections.Counter(result["outcome"] for result in results)
    counted = counts["killed"] + counts["survived"]
    share = 100 * counts["killed"] / counted if counted else 100
    used = os.times()
    print(f"{counted} changes, {counts['killed']} noticed ({share:.1f} %), "
          f"{counts['survived']} not; {counts['same']} gave the same code, "
          f"{counts['invalid']} did not compile (seed {options.seed}; "
          f"{used.children_user + used.children_system:.0f} CPU seconds)")
    sys.exit(1 if counts["survived"] else 0)


def compare(before, after):
    """Fails for each mutant that was killed before and is no longer."""
    lost = [name for name, result in after.items()
            if result["outcome"] == "survived" and before.get(name, {}).get("outcome") == "killed"]
    for name in lost:
        print(f"no longer noticed: {name}  (was noticed by {before[name]['by']})")
    print(f"{len(before)} mutants before, {len(after)} after, {len(before.keys() & after.keys())} "
          f"in both; {len(lost)} are no longer noticed")
    return 1 if lost else 0


# -- Self-test --------------------------------------------------------------------------------

SAMPLE = """\
/* Adds.
 * mutants: an estimate */
static int add(int a, int b)
{
    return a == 0 ? b : a + b;
}

static int spin(int n)
{
    while (n == 0) /* mutants: only how long it spins */
        n = look();
    /* mutants: the next line */
    n = n == 1;
    /* == is not code */
    return n == 2 && call("mutants: ==");
}
"""


def self_test():
    mutants = list(mutants_of("src/a/a.c", SAMPLE, FUNCTIONAL))
    assert {m.function.name for m in mutants} == {"spin"}, mutants
    assert {m.number for m in mutants} == {11, 15}, [m.name for m in mutants]
    assert "src/a/a.c: spin: n = look(); -> ;" in {m.name for m in mutants}
    assert all(m.text().count("\n") == SAMPLE.count("\n") + 1 for m in mutants)
    for text in ("int f(int a)\n{\n    return a == 0; /* mutants: */\n}\n",
                 "/* mutants: nothing follows */\n\nint a;\n"):
        try:
            list(mutants_of("src/a/a.c", text, FUNCTIONAL))
        except SystemExit:
            continue
        raise AssertionError(f"accepted: {text}")
    orders = "/* mutants: x */\nint f(int *a)\n{\n    return rota__load_acquire(a);\n}\n"
    assert len(list(mutants_of("src/a/a.c", orders, ORDERS))) == 1
    before = {"a": {"outcome": "killed", "by": "x.y"}, "b": {"outcome": "survived", "by": None}}
    with contextlib.redirect_stdout(io.StringIO()):
        assert compare(before, before) == 0
        assert compare(before, {"a": {"outcome": "survived", "by": None}}) == 1
    assert distance("src/base/wait.c", "base.wait") < distance("src/base/wait.c", "stress.x")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--changed")
    parser.add_argument("--again")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--json")
    parser.add_argument("--orders", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--compare", nargs=2)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("build", nargs="?", default="build/dev")
    return parser.parse_args()


def main():
    options = parse()
    if options.self_test:
        return self_test()
    if options.compare:
        sys.exit(compare(*map(read_results, options.compare)))
    mutants = chosen(options)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.name}  (line {mutant.number})")
        return None
    with tempfile.TemporaryDirectory(prefix="mutate-") as options.folder:
        results = try_all(mutants, options)
    write_results(results, options)
    return report(results, options)


if __name__ == "__main__":
    main()
