#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What other builds need to know of CMake's: how things are compiled is written there, once, and read here.

sources.py version          the version, as in CMakeLists.txt
sources.py sources OS       the sources of a platform, linux or posix, one per line
sources.py hardening        the flags of cmake/hardening.cmake for compiling
sources.py --self-test
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version(text):
    return re.search(r"^project\(\w+ VERSION (\S+)", text, re.M)[1]


def sources(root, platform):
    """src/<module>/*.c, in the order of src/LAYERS; in src/os without those of the other platform."""
    other = {"linux": "src/os/posix", "posix": "src/os/linux"}[platform]
    modules = re.findall(r"^[a-z]+", (root / "src/LAYERS").read_text(), re.M)
    files = [path.relative_to(root).as_posix()
             for module in modules for path in sorted((root / "src" / module).glob("*.c"))]
    return [file for file in files if not file.startswith(other)]


def hardening(text):
    return re.findall(r"^\s+(-f[\w=-]+)\)?$", text, re.M)


def self_test():
    assert version("project(x VERSION 1.2.3 LANGUAGES C)\n") == "1.2.3"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("os/z.c", "os/linux.c", "os/linux_y.c", "os/posix.c", "base/b.h", "base/b.c", "base/linux.c"):
            (root / "src" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "src" / name).touch()
        (root / "src/LAYERS").write_text("# module\nos\nbase os\n")
        common = ["src/os/z.c", "src/base/b.c", "src/base/linux.c"]
        assert sources(root, "linux") == ["src/os/linux.c", "src/os/linux_y.c", *common]
        assert sources(root, "posix") == ["src/os/posix.c", *common]
    assert hardening("foreach(flag\n    -fone\n    -ftwo=x-y)\n  target(-fthree z)\n") == ["-fone", "-ftwo=x-y"]


def main(words):
    if words == ["version"]:
        print(version((ROOT / "CMakeLists.txt").read_text()))
    elif words in (["sources", "linux"], ["sources", "posix"]):
        print(*sources(ROOT, words[1]), sep="\n")
    elif words == ["hardening"]:
        print(*hardening((ROOT / "cmake/hardening.cmake").read_text()), sep="\n")
    elif words == ["--self-test"]:
        self_test()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
