#!/bin/sh
# SPDX-License-Identifier: MIT
# check_headers.sh ROOT - every header compiles alone: the public ones as C11 and as C++17, those
# in src as C11.
set -eu
cd "$1"
CC=${CC:-cc} CXX=${CXX:-c++}
flags='-Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude'
failed=0

# alone WHAT INCLUDE COMPILER... - twice, for the include guard. The flags are split on purpose.
# shellcheck disable=SC2086
alone() {
    what=$1 include=$2
    shift 2
    if ! printf '#include %s\n#include %s\n' "$include" "$include" | "$@" $flags -; then
        echo "$include does not compile alone as $what" >&2
        failed=1
    fi
}

for header in include/rota/*.h; do
    name=${header#include/}
    alone C11 "<$name>" "$CC" -x c -std=c11
    alone C++17 "<$name>" "$CXX" -x c++ -std=c++17
done
for header in src/*/*.h; do
    alone C11 "\"${header#src/}\"" "$CC" -x c -std=c11 -Isrc
done
exit $failed
