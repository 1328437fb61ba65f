#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes src/ in small ways, one at a time, and sees whether the tests notice.

mutate.py [--sample N] [--seed S] [--only TEXT] [--changed COMMIT] [--orders] [--jobs N] BUILD
    BUILD     a build with tests (cmake --preset dev), which stays as it is
    --sample  so many of all, by chance; 0: all
    --only    of those whose path, function or line contains TEXT
    --changed of files that differ from that commit
    --orders  weaker memory orders, which only the explorer can notice, in place of the rest
    --list    shows them and does nothing

A change that compiles to the same code does not count. One that no test notices is printed, and
makes the run fail, unless tests/mutation/survivors.txt has it below a reason why none can: as
"path: function: line -> what becomes of it". Those are not tried again.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
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
SURVIVORS = ROOT / "tests/mutation/survivors.txt"

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
NOT_CODE = [  # comments, strings, the preprocessor; and checks, which change nothing
    re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S),
    re.compile(r"^#(?:.*\\\n)*.*$", re.M),
    re.compile(r"\b(?:ROTA__ASSERT|_Static_assert)\([^;]*;"),
]
HEAD = re.compile(r"(?:__attribute__\(\(.*?\)\) )?[A-Za-z_][^=;(]*?\b(\w+)\(")


class Mutant:
    def __init__(self, path, lines, number, after, name):
        self.path, self.lines, self.number, self.after = path, lines, number, after
        self.name = name

    def text(self):
        return "\n".join(self.lines[:self.number - 1] + [self.after] + self.lines[self.number:])


def code_of(text):
    """The same length, without what is not code."""
    for pattern in NOT_CODE:
        text = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return text


def changes(code, line, rules):
    """What may become of a line."""
    for pattern, replacements in rules:
        for match in re.finditer(pattern, code.rstrip()):
            for replacement in replacements:
                yield line[:match.start()] + match.expand(replacement) + line[match.end():]


def mutants_of(path, rules):
    """Their names stay the same as long as the line and its function do."""
    text = (ROOT / path).read_text()
    lines = text.split("\n")
    function = ""
    seen = collections.Counter()
    for number, code in enumerate(code_of(text).split("\n")):
        head = HEAD.match(code)
        function = head[1] if head else function
        for after in changes(code, lines[number], rules):
            name = f"{path}: {function}: {lines[number].strip()} -> {after.strip()}"
            seen[name] += 1
            again = f" ({seen[name]})" if seen[name] > 1 else ""
            yield Mutant(path, lines, number + 1, after, name + again)


# -- Building ---------------------------------------------------------------------------------

class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        commands = json.loads((self.folder / "compile_commands.json").read_text())
        self.compile = {"rota_testing": {}, "rota_objects": {}}
        for entry in commands:
            library = re.search(r"CMakeFiles/(rota_testing|rota_objects)\.dir", entry["command"])
            if library:
                path = str(pathlib.Path(entry["file"]).relative_to(ROOT))
                self.compile[library[1]][path] = shlex.split(entry["command"])
        self.originals = {}
        self.times = {}
        self.links = {}
        self.symbols = {}
        self.lock = threading.Lock()

    def object_of(self, library, path, source, out, *flags):
        """Compiles `source` as if it were `path`."""
        out.unlink(missing_ok=True)
        command = list(self.compile[library][path])
        command[command.index("-o") + 1] = str(out)
        command[command.index("-c") + 1] = str(source)
        command += ["-g0", "-w", "-Wno-error", *flags]
        return subprocess.run(command, cwd=self.folder, capture_output=True,
                              check=False).returncode == 0

    def code_of(self, path, text, folder):
        """What a compiler that optimises makes of it, or None."""
        source, out = folder / "code.c", folder / "code.o"
        source.write_text(text)
        if not self.object_of("rota_testing", path, source, out, "-O2"):
            return None
        return hashlib.sha1(out.read_bytes()).hexdigest()

    def original(self, path, folder):
        if path not in self.originals:
            self.originals[path] = self.code_of(path, (ROOT / path).read_text(), folder)
        return self.originals[path]

    def link_command(self, test):
        with self.lock:
            if test not in self.links:
                lines = subprocess.run(
                    ["ninja", "-C", str(self.folder), "-t", "commands", self.program(test).name],
                    capture_output=True, text=True, check=True).stdout
                self.links[test] = lines.strip().split("\n")[-1]
            return self.links[test]

    def link(self, test, changed, out):
        command = re.sub(r"-o \S+", f"{changed} -o {out}", self.link_command(test), count=1)
        return subprocess.run(command, shell=True, cwd=self.folder, capture_output=True,
                              check=False).returncode == 0

    def program(self, test):
        return self.folder / "tests" / ("test_" + re.sub(r"\W", "_", test))

    def functions(self, file, kinds):
        if file not in self.symbols:
            lines = subprocess.run(["nm", str(file)], capture_output=True, text=True, check=True)
            self.symbols[file] = set(re.findall(rf" [{kinds}] (\w+)", lines.stdout))
        return self.symbols[file]

    def contains(self, test, path):
        """Is the file linked into the test?"""
        part = self.folder / f"CMakeFiles/rota_testing.dir/{path}.o"
        return not self.functions(part, "T").isdisjoint(self.functions(self.program(test), "Tt"))

    def normal_time(self, test):
        if test not in self.times:
            start = time.monotonic()
            if run(self.program(test), 120) != 0:
                sys.exit(f"{test} fails without any change")
            self.times[test] = time.monotonic() - start
        return self.times[test]


def run(program, seconds):
    """How it ended; None: it did not. Nothing that it started is left."""
    with subprocess.Popen([str(program)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, start_new_session=True,
                          env=dict(os.environ, ROTA_ROUNDS="200")) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


# -- Tests ------------------------------------------------------------------------------------

def all_tests(build):
    """Each with the library that it is linked to."""
    tests = {}
    for path in sorted((ROOT / "tests").glob("*/test_*.c")):
        test = f"{path.parent.name}.{path.stem[len('test_'):]}"
        head = "\n".join(path.read_text().split("\n")[:5])
        if build.program(test).exists():
            tests[test] = "rota_objects" if "ROTA_TEST_PUBLIC" in head else "rota_testing"
    return tests


def tests_for(path, tests, build):
    """Short ones first, and of these those most likely to notice."""
    module, unit = pathlib.Path(path).parts[1], pathlib.Path(path).stem
    layers = [line.split()[0] for line in (ROOT / "src/LAYERS").read_text().split("\n")
              if line and not line.startswith("#")]

    def distance(test):
        folder, name = test.split(".", 1)
        if folder == module:
            return 0 if name in unit or unit in name else 1
        if folder in ("contract", "fault"):
            return 2 if module in name or folder == "contract" else 3
        if folder == "stress":
            return 4 if module in name else 9
        above = layers.index(folder) - layers.index(module) if folder in layers else 0
        return 5 + above / 100 if above > 0 else 8
    return sorted((test for test in tests if build.contains(test, path)),
                  key=lambda test: (build.normal_time(test) > 1, distance(test), test))


def explored(path, text, folder):
    """Does the explorer notice? With a copy of the tree; files that have not changed are links."""
    tree = pathlib.Path(folder) / "tree"
    if not tree.exists():
        tree.mkdir()
        subprocess.run(["cp", "-as", ROOT / "src", ROOT / "include", tree], check=True)
    changed = tree / path
    changed.unlink()
    changed.write_text(text)
    build = pathlib.Path(folder) / "explore"
    subprocess.run(["cmake", "-S", str(ROOT / "tests/explore"), "-B", str(build), "-G", "Ninja",
                    f"-DROTA_ROOT={tree}"], capture_output=True, check=True)
    built = subprocess.run(["ninja", "-C", str(build), "explore"], capture_output=True, check=False)
    noticed = built.returncode == 0 and explore(build)
    changed.write_text((ROOT / path).read_text())  # newer than what was built: no link
    return noticed


def explore(build):
    try:
        return subprocess.run([str(build / "explore"), "--seconds", "0.1", "--exhaust", "0.1"],
                              capture_output=True, timeout=300, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


# -- One change -------------------------------------------------------------------------------

places = threading.local()


def work_folder(top):
    if not hasattr(places, "folder"):
        places.folder = pathlib.Path(tempfile.mkdtemp(dir=top))
    return places.folder


def killer(mutant, build, tests, folder):
    """The test that notices, or None."""
    source, program = folder / "changed.c", folder / "program"
    source.write_text(mutant.text())
    objects = {library: folder / f"{library}.o" for library in build.compile}
    for library, changed in objects.items():
        build.object_of(library, mutant.path, source, changed)
    for test in tests_for(mutant.path, tests, build):
        if not build.link(test, objects[tests[test]], program):
            sys.exit(f"{test} cannot be linked")
        if run(program, 10 + 20 * build.normal_time(test)) != 0:
            return test
    return None


def try_one(mutant, build, tests, options):
    """same, invalid, killed (by what) or survived."""
    folder = work_folder(options.folder)
    code = build.code_of(mutant.path, mutant.text(), folder)
    if code is None:
        return "invalid", None
    if code == build.original(mutant.path, folder):
        return "same", None
    test = None if options.orders else killer(mutant, build, tests, folder)
    if test is None and not mutant.path.startswith("src/os/"):
        test = "explore" if explored(mutant.path, mutant.text(), folder) else None
    return ("killed" if test else "survived"), test


# -- All --------------------------------------------------------------------------------------

def read_list():
    if not SURVIVORS.exists():
        return set()
    return {line.strip() for line in SURVIVORS.read_text().split("\n") if line.startswith(" ")}


def everything(rules):
    paths = [str(p.relative_to(ROOT)) for p in sorted((ROOT / "src").glob("*/*.c"))]
    return [mutant for path in paths for mutant in mutants_of(path, rules)]


def chosen(options, known):
    mutants = everything(ORDERS if options.orders else FUNCTIONAL)
    others = everything(FUNCTIONAL if options.orders else ORDERS)
    for name in known - {mutant.name for mutant in mutants + others}:
        sys.exit(f"{SURVIVORS}: there is no such change: {name}")
    if options.only:
        mutants = [m for m in mutants if options.only in m.name]
    if options.changed:
        diff = subprocess.run(["git", "-C", str(ROOT), "diff", "--name-only", options.changed],
                              capture_output=True, text=True, check=True).stdout.split()
        mutants = [m for m in mutants if m.path in diff]
    if options.sample and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    return mutants


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--changed")
    parser.add_argument("--orders", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("build")
    return parser.parse_args()


def try_all(mutants, known, options):
    """How many had which outcome."""
    build = Build(options.build)
    tests = all_tests(build)
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        mutants = [m for m in mutants if m.path in build.compile["rota_objects"]]  # is shipped
        counts["known"] = sum(m.name in known for m in mutants)
        futures = {pool.submit(try_one, m, build, tests, options): m
                   for m in mutants if m.name not in known}
        for done in concurrent.futures.as_completed(futures):
            mutant, (outcome, test) = futures[done], done.result()
            counts[outcome] += 1
            print(f"{outcome:<9}{mutant.name}  (line {mutant.number}{', by ' + test if test else ''})",
                  flush=True)
    return counts


def main():
    options = parse()
    known = read_list()
    mutants = chosen(options, known)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.name}  (line {mutant.number})")
        return
    with tempfile.TemporaryDirectory(prefix="mutate-") as options.folder:
        counts = try_all(mutants, known, options)
    counted = counts["killed"] + counts["survived"]
    share = 100 * counts["killed"] / counted if counted else 100
    print(f"{counted} changes, {counts['killed']} noticed ({share:.1f} %), {counts['survived']} not; "
          f"{counts['known']} are known to make no difference, {counts['same']} gave the same code, "
          f"{counts['invalid']} did not compile (seed {options.seed})")
    sys.exit(1 if counts["survived"] else 0)


if __name__ == "__main__":
    main()
