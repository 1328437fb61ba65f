# SPDX-License-Identifier: MIT
"""Builds programs of users against an installed copy of rota, and runs several at once. For the `run` scripts of
tests/acceptance and tests/reports."""
import argparse
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPUS = len(os.sched_getaffinity(0))
OPTIONS = ["-std=gnu11", "-O2", "-g", "-Werror=implicit-function-declaration", "-pthread"]
SANITIZERS = {"asan": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], "tsan": ["-fsanitize=thread"]}


def arguments(about, jobs):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="NAME", help="only programs whose names contain one of these")
    parser.add_argument("--preset", default="release", help="the build of rota: release (the default), asan, tsan, "
                        "dev, or another preset of CMake; asan and tsan also compile the programs with that sanitizer")
    parser.add_argument("--cflags", default="", help="more options for compiling the programs")
    parser.add_argument("--jobs", type=int, default=jobs, help=f"how many programs run at once ({jobs})")
    parser.add_argument("--times", type=int, default=1, help="runs each program so often; one failure is a failure")
    return parser.parse_args()


class Run:
    """How a program ended: `status` is 0, an exit status, the negative number of a signal, or None after `limit`."""

    def __init__(self, status, output, seconds):
        self.status, self.output, self.seconds = status, output, seconds
        self.failed = status != 0

    def how(self):
        if self.status is None or self.status == -signal.SIGALRM:
            return "hangs"
        if self.status == 0:
            return "passes"
        return f"signal {-self.status}" if self.status < 0 else f"exit status {self.status}"


def summary(runs):
    """How the runs ended, and the seconds of the longest."""
    if not runs:
        return "does not compile"
    return f"{', '.join(sorted({run.how() for run in runs}))}, {max(run.seconds for run in runs):.1f} s"


class Installed:
    """An installed copy of rota in build/PRESET/installed, and the programs that were built against it."""

    def __init__(self, preset, cflags=""):
        self.folder = ROOT / "build" / preset / "installed"
        subprocess.run(["rm", "-rf", self.folder], check=True)
        for command in (["cmake", "--preset", preset],
                        ["cmake", "--build", "--preset", preset, "--target", "rota_shared", "rota_static", "rota_man"],
                        ["cmake", "--install", f"build/{preset}", "--prefix", self.folder]):
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        config = next(self.folder.rglob("rota.pc"))
        found = subprocess.run(["pkg-config", "--cflags", "--libs", "rota"], check=True, capture_output=True, text=True,
                               env={**os.environ, "PKG_CONFIG_PATH": str(config.parent)})
        self.before = OPTIONS + SANITIZERS.get(preset, []) + cflags.split()
        self.after = found.stdout.split()
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(config.parent.parent)}

    def build(self, source):
        """What the compiler complains of; None: the program is there."""
        program = self.program(source)
        program.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["gcc", *self.before, source, "-o", program, *self.after], capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C"})
        return done.stderr if done.returncode != 0 else None

    def program(self, source):
        return self.folder / "programs" / source.relative_to(ROOT / "tests").with_suffix("")

    def run(self, source, limit):
        start = time.monotonic()
        with open(self.program(source).with_suffix(".log"), "w+b") as log:
            # In a session of its own, so that its children end with it.
            process = subprocess.Popen([self.program(source)], cwd=self.folder, env=self.environment, stdout=log,
                                       stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            log.seek(0)
            output = log.read().decode(errors="replace")
        return Run(status, output, time.monotonic() - start)


def several(function, items, jobs):
    """function(item) of each, in order."""
    with ThreadPoolExecutor(jobs) as threads:
        yield from zip(items, threads.map(function, items))


def results(folder, options, limit, more=lambda name, runs: False):
    """Of each program below the folder: its name, what the compiler complains of, or None, and its runs. Each runs
    as often as the options say, and as long as more(name, runs) is true."""
    def name(source):
        return source.relative_to(folder).with_suffix("").as_posix()

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sources = [source for source in sorted(folder.glob("**/*.c"))
               if not options.words or any(word in name(source) for word in options.words)]
    if not sources:
        sys.exit(f"No program in {folder} is like {' or '.join(options.words)}.")
    rota = Installed(options.preset, options.cflags)
    complaints = dict(several(rota.build, sources, CPUS))

    def run(source):
        runs = []
        while complaints[source] is None and (len(runs) < options.times or more(name(source), runs)):
            runs.append(rota.run(source, limit))
        return runs

    for source, runs in several(run, sources, options.jobs):
        yield name(source), complaints[source], runs
