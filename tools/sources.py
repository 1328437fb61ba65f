#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What other builds need to know of CMake's: each thing is written there, once, and read here.

sources.py version          the version, as in CMakeLists.txt
sources.py sources OS       the sources of a platform, linux or posix, one per line
sources.py hardening        the flags of cmake/hardening.cmake for compiling
sources.py --self-test
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version(text):
    return re.search(r"^project\(\w+ VERSION (\S+)", text, re.M)[1]


def variables(text):
    """All set(NAME word...) of a CMakeLists.txt; those of one line count, too."""
    return {name: words.split() for name, words in re.findall(r"^set\((\w+)\s+([^()]*)\)", text, re.M)}


def sources(text, platform):
    lists = variables(text) | {"ROTA_OS": [platform]}

    def expand(word):
        word = re.sub(r"\$\{(\w+)\}(?=.)", lambda inner: " ".join(lists[inner[1]]), word)  # ${os_${ROTA_OS}}
        outer = re.fullmatch(r"\$\{(\w+)\}", word)
        return [name for part in lists[outer[1]] for name in expand(part)] if outer else [word]

    return expand("${rota_sources}")


def hardening(text):
    return re.findall(r"^\s+(-f[\w=-]+)\)?$", text, re.M)


def self_test():
    text = """project(x VERSION 1.2.3 LANGUAGES C)
set(os_linux
    l.c)
set(os_posix p.c q.c)
set(all
    ${os_${ROTA_OS}}
    z.c)
set(rota_sources
    ${all}
    y.c)
"""
    assert version(text) == "1.2.3"
    assert sources(text, "linux") == ["l.c", "z.c", "y.c"]
    assert sources(text, "posix") == ["p.c", "q.c", "z.c", "y.c"]
    assert hardening("foreach(flag\n    -fone\n    -ftwo=x-y)\n  target(-fthree z)\n") == ["-fone", "-ftwo=x-y"]


def main(words):
    lists = (ROOT / "CMakeLists.txt").read_text()
    if words == ["version"]:
        print(version(lists))
    elif words in (["sources", "linux"], ["sources", "posix"]):
        print(*sources(lists, words[1]), sep="\n")
    elif words == ["hardening"]:
        print(*hardening((ROOT / "cmake/hardening.cmake").read_text()), sep="\n")
    elif words == ["--self-test"]:
        self_test()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
