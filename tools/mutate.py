#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes src/ in small ways, one at a time, and sees whether the tests notice.

mutate.py [--sample N] [--seed S] [--only TEXT] [--changed COMMIT] [--orders] [--jobs N] BUILD
    BUILD     a build with tests (cmake --preset dev), which stays as it is
    --sample  so many of all, by chance; 0: all
    --only    of files whose path contains TEXT
    --changed of files that differ from that commit
    --orders  weaker memory orders, which only the explorer can notice, in place of the rest
    --list    shows them and does nothing

A change that compiles to the same code does not count. One that no test notices is printed, and
makes the run fail unless tests/mutation/survivors.txt has it, with the reason.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
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
NOT_CODE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'", re.S)


class Mutant:
    def __init__(self, path, line, before, after):
        self.path, self.line, self.before, self.after = path, line, before, after

    def name(self):
        """The same after the file has moved on, as long as the line has not."""
        return f"{self.path}: {self.before.strip()} -> {self.after.strip()}"


def code_of(text):
    """The same length, without comments, strings and lines of the preprocessor."""
    text = NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return re.sub(r"^#(?:.*\\\n)*.*$", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M)


def mutants_of(path, rules):
    text = (ROOT / path).read_text()
    lines = text.split("\n")
    for number, code in enumerate(code_of(text).split("\n")):
        for pattern, replacements in rules:
            for match in re.finditer(pattern, code.rstrip()):
                for replacement in replacements:
                    new = match.expand(replacement)
                    line = lines[number]
                    after = line[:match.start()] + new + line[match.end():]
                    if after != line:
                        yield Mutant(path, number + 1, line, after)


# -- Building ---------------------------------------------------------------------------------

class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        commands = json.loads((self.folder / "compile_commands.json").read_text())
        self.compile = {}
        for entry in commands:
            if "rota_testing.dir" in entry["command"]:
                path = pathlib.Path(entry["file"]).relative_to(ROOT)
                self.compile[str(path)] = shlex.split(entry["command"])
        self.originals = {}
        self.times = {}
        self.links = {}
        self.lock = threading.Lock()

    def object_of(self, path, source, out):
        """Compiles `source` as if it were `path`: its code's hash, or None."""
        command = list(self.compile[path])
        command[command.index("-o") + 1] = str(out)
        command[command.index("-c") + 1] = str(source)
        command += ["-g0", "-w", "-Wno-error", f"-I{(ROOT / path).parent}"]
        if subprocess.run(command, cwd=self.folder, capture_output=True, check=False).returncode:
            return None
        dump = subprocess.run(["objcopy", "-O", "binary", "--only-section=.text*",
                               "--only-section=.rodata*", "--only-section=.data*", str(out),
                               str(out) + ".bin"], check=False)
        if dump.returncode:
            return None
        relocations = subprocess.run(["readelf", "-rW", str(out)], capture_output=True, check=True)
        code = pathlib.Path(str(out) + ".bin").read_bytes()
        return hashlib.sha1(code + relocations.stdout).hexdigest()

    def original(self, path, folder):
        with self.lock:
            if path not in self.originals:
                copy = pathlib.Path(folder) / "original.c"
                copy.write_text((ROOT / path).read_text())
                self.originals[path] = self.object_of(path, copy, pathlib.Path(folder) / "o.o")
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

    def normal_time(self, test):
        if test not in self.times:
            start = time.monotonic()
            if run(self.program(test), 120) != 0:
                sys.exit(f"{test} fails without any change")
            self.times[test] = time.monotonic() - start
        return self.times[test]


def run(program, seconds):
    """How it ended; None: it did not."""
    try:
        return subprocess.run([str(program)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, timeout=seconds, check=False,
                              env=dict(os.environ, ROTA_ROUNDS="200")).returncode
    except subprocess.TimeoutExpired:
        return None


# -- Tests ------------------------------------------------------------------------------------

def all_tests(build):
    for path in sorted((ROOT / "tests").glob("*/test_*.c")):
        test = f"{path.parent.name}.{path.stem[len('test_'):]}"
        head = "\n".join(path.read_text().split("\n")[:5])
        if "ROTA_TEST_PUBLIC" not in head and build.program(test).exists():
            yield test


def tests_for(path, tests):
    """Those most likely to notice first."""
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
    return sorted(tests, key=lambda test: (distance(test), test))


def explored(path, text, folder):
    """Does the explorer notice? With a copy of the tree, whose other files are links."""
    tree = pathlib.Path(folder) / "tree"
    if not tree.exists():
        tree.mkdir()
        subprocess.run(["cp", "-as", ROOT / "src", ROOT / "include", tree], check=True)
    changed = tree / path
    target = changed.resolve()
    changed.unlink()
    changed.write_text(text)
    build = pathlib.Path(folder) / "explore"
    subprocess.run(["cmake", "-S", str(ROOT / "tests/explore"), "-B", str(build), "-G", "Ninja",
                    f"-DROTA_ROOT={tree}"], capture_output=True, check=True)
    built = subprocess.run(["ninja", "-C", str(build), "explore"], capture_output=True, check=False)
    noticed = built.returncode == 0 and explore(build)
    changed.unlink()
    changed.symlink_to(target)
    return noticed


def explore(build):
    try:
        return subprocess.run([str(build / "explore"), "--seconds", "0.1", "--exhaust", "0.1"],
                              capture_output=True, timeout=300, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


# -- One change -------------------------------------------------------------------------------

places = threading.local()


def work_folder():
    if not hasattr(places, "folder"):
        places.folder = tempfile.mkdtemp(prefix="mutate-")
    return places.folder


def try_one(mutant, build, tests, orders):
    """same, invalid, killed (by what) or survived."""
    folder = pathlib.Path(work_folder())
    lines = (ROOT / mutant.path).read_text().split("\n")
    lines[mutant.line - 1] = mutant.after
    source, changed = folder / "changed.c", folder / "changed.o"
    source.write_text("\n".join(lines))
    code = build.object_of(mutant.path, source, changed)
    if code is None:
        return "invalid", None
    if code == build.original(mutant.path, folder):
        return "same", None
    if not orders:
        for test in tests_for(mutant.path, tests):
            usual = build.normal_time(test)
            if not build.link(test, changed, folder / "program"):
                return "invalid", None
            if run(folder / "program", 10 + 5 * usual) != 0:
                return "killed", test
    if not mutant.path.startswith("src/os/") and explored(mutant.path, "\n".join(lines), folder):
        return "killed", "explore"
    return "survived", None


# -- All --------------------------------------------------------------------------------------

def reasons():
    if not SURVIVORS.exists():
        return {}
    found = {}
    reason = ""
    for line in SURVIVORS.read_text().split("\n"):
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found


def chosen(options):
    rules = ORDERS if options.orders else FUNCTIONAL
    paths = [str(p.relative_to(ROOT)) for p in sorted((ROOT / "src").glob("*/*.c"))]
    if options.only:
        paths = [p for p in paths if options.only in p]
    if options.changed:
        diff = subprocess.run(["git", "-C", str(ROOT), "diff", "--name-only", options.changed],
                              capture_output=True, text=True, check=True).stdout.split()
        paths = [p for p in paths if p in diff]
    mutants = [m for path in paths for m in mutants_of(path, rules)]
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


def main():
    options = parse()
    mutants = chosen(options)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.path}:{mutant.line}: {mutant.before.strip()} -> {mutant.after.strip()}")
        return
    build = Build(options.build)
    mutants = [m for m in mutants if m.path in build.compile]
    tests = list(all_tests(build))
    known = reasons()
    counts = {"same": 0, "invalid": 0, "killed": 0, "survived": 0, "known": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(try_one, m, build, tests, options.orders): m for m in mutants}
        for done in concurrent.futures.as_completed(futures):
            mutant, (outcome, test) = futures[done], done.result()
            if outcome == "survived" and mutant.name() in known:
                outcome = "known"
            counts[outcome] += 1
            if outcome in ("killed", "survived"):
                print(f"{outcome:<9}{mutant.path}:{mutant.line}: {mutant.before.strip()} -> "
                      f"{mutant.after.strip()}{'   by ' + test if test else ''}", flush=True)
    noticed = counts["killed"]
    counted = noticed + counts["survived"] + counts["known"]
    share = 100 * noticed / counted if counted else 100
    print(f"{counted} changes, {noticed} noticed ({share:.1f} %), {counts['known']} that make no "
          f"difference, {counts['survived']} not noticed; {counts['same']} gave the same code, "
          f"{counts['invalid']} did not compile (seed {options.seed})")
    sys.exit(1 if counts["survived"] else 0)


if __name__ == "__main__":
    main()
