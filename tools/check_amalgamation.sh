#!/bin/sh
# SPDX-License-Identifier: MIT
# check_amalgamation.sh ROOT - makes rota.c and rota.h, and builds and runs programs that have them beside
# themselves (tests/consumers/amalgamation): C, with clang, too, where that is, and C++. What a shared library
# made of them exports is what rota.map lists.
set -eu
root=$(cd "$1" && pwd)
CC=${CC:-cc} CXX=${CXX:-c++}
warnings='-Wall -Wextra -Werror'
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

say() { printf -- '-- %s\n' "$*"; }

say twice the same
python3 "$root/tools/amalgamate.py" "$tmp/again"
python3 "$root/tools/amalgamate.py" "$tmp/user"
cmp "$tmp/again/rota.h" "$tmp/user/rota.h"
cmp "$tmp/again/rota.c" "$tmp/user/rota.c"
cp "$root"/tests/consumers/amalgamation/program.* "$tmp/user"
cd "$tmp/user"

# The flags are split on purpose, here and below.
# shellcheck disable=SC2086
{
    say "$CC, by one line"
    "$CC" -O2 -fexceptions $warnings program.c rota.c -o program -pthread
    ./program

    say "$CC, without optimisation, C11, POSIX threads alone, checked"
    "$CC" -std=c11 -fexceptions -Wpedantic $warnings -DROTA_OS_POSIX=1 -DROTA_CHECKED=1 program.c rota.c -o program -pthread
    ./program

    if command -v clang >/dev/null; then
        say clang
        clang -std=gnu11 -fexceptions $warnings program.c rota.c -o program -pthread
        ./program
    fi

    say "a shared library, and $CXX"
    "$CC" -fPIC -fexceptions $warnings -c rota.c
    "$CC" -shared rota.o -o librota.so -pthread
    sh "$root/tools/check_symbols.sh" "$root/include" "$root/rota.map" librota.so
    "$CXX" -std=c++17 -Wpedantic $warnings program.cpp rota.o -o program_cpp -pthread
    ./program_cpp
}
