#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tour as a user would, but shorter, and looks at what it leaves.

smoke.py TOUR CASE   where CASE is one of the functions below
"""
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_trace  # noqa: E402 - it lies beside this file

PATIENCE = 100  # seconds, for a run of two


def fail(why):
    sys.exit(f"FAILED: {why}")


def run(tour, *words, **options):
    return subprocess.run([tour, *words], capture_output=True, text=True, timeout=PATIENCE, **options)


def check_report(path):
    text = path.read_text(encoding="utf-8")
    if not text.startswith("<!DOCTYPE html>\n"):
        fail("the report is no HTML")
    page = xml.fromstring(text.split("\n", 1)[1])  # it is well-formed XML, too
    if len(list(page.iter("figure"))) < 12:
        fail("figures are missing")
    for svg in page.iter("svg"):
        if svg.get("viewBox") is None and not svg.get("aria-label"):
            fail("a picture does not say what it shows")
    if any(element.tag in ("script", "link", "img", "iframe") for element in page.iter()):
        fail("the report needs something beside itself")
    if re.search(r"\b(nan|inf)\b", text):
        fail("the report has numbers that are none")


def check_metrics(path):
    sample = re.compile(r'[a-zA-Z_:][\w:]*(\{.*\})? [-+.\dA-Za-z]+$')
    lines = path.read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line and not line.startswith("#") and not sample.match(line):
            fail(f"no Prometheus text: {line}")
    if not any('"web"' in line for line in lines):
        fail("the metrics do not know the web pool")


def check_files(out):
    check_report(out / "tour.html")
    check_metrics(out / "tour.metrics.txt")
    faults = check_trace.check((out / "tour.trace.json").read_text(encoding="utf-8"))
    if faults:
        fail("the trace: " + "; ".join(faults[:5]))


# -- Cases ---------------------------------------------------------------------------------------

def whole(tour):
    """It ends well, says so, and its files are what they should be."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        result = run(tour, "--seconds", "2", "--out", str(out))
        if result.returncode != 0 or result.stderr:
            fail(f"status {result.returncode}: {result.stderr}{result.stdout}")
        if "What happened" not in result.stdout or "\033" in result.stdout:
            fail("the summary is missing, or has escapes where no terminal is:\n" + result.stdout)
        check_files(out)


def refusals(tour):
    """What cannot be is told in a sentence, with a status of its own."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        file = Path(folder) / "file"
        file.write_text("")
        for status, words in [(1, ["--port", port, "--out", folder]), (1, ["--out", f"{file}/out"]),
                              (1, ["--load", "1"]), (2, ["--seconds", "no"]), (2, ["--what"])]:
            result = run(tour, *words)
            sentence = result.stderr.strip()
            if result.returncode != status or not sentence or "\n" in sentence:
                fail(f"{words}: status {result.returncode}, {sentence!r}")


def stopped(tour):
    """On a terminal, Ctrl-C ends it at once, together with its second process."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            pid, terminal = pty.fork()
        except OSError as problem:  # a root of its own, without /dev/pts
            print(f"skipped: {problem}")
            sys.exit(77)
        if pid == 0:
            environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
            environment["TERM"] = "xterm"
            os.execve(tour, [tour, "--out", folder], environment)
        signal.alarm(PATIENCE)
        seen = b""
        while b"requests/s" not in seen:
            seen += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        try:
            while chunk := os.read(terminal, 4096):
                seen += chunk
        except OSError:  # what Linux says at the end of a terminal
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status != 130 or b"Stopped" not in seen or b"\033[" not in seen:
            fail(f"status {status}: {seen!r}")


if __name__ == "__main__":
    {"whole": whole, "refusals": refusals, "stopped": stopped}[sys.argv[2]](sys.argv[1])
