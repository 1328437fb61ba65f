#!/bin/sh
# SPDX-License-Identifier: MIT
# check_headers.sh ROOT - every header compiles alone: the public ones as C11 and as C++17, those in src as
# C11. All public ones, as C11 to C23 and C++11 to C++20, by clang, too, where that is, give no warning that a
# strict project may have asked for.
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
    alone C11 "\"${header#src/}\"" "$CC" -x c -std=c11 -fexceptions -Isrc
done

strict='-Wconversion -Wsign-conversion -Wundef -Wshadow -Wcast-qual -Wcast-align -Wredundant-decls'
use='#include <rota/rota.h>
int main(void) { return ROTA_US(1) + ROTA_MS(0.5) + ROTA_SEC(1) + ROTA_MINUTES(1) < ROTA_HOURS(1) ? 0 : 1; }'
# strictly WHAT COMPILER...
# shellcheck disable=SC2086
strictly() {
    what=$1
    shift
    if ! echo "$use" | "$@" $flags $strict -; then
        echo "<rota/rota.h> gives warnings as $what by $1" >&2
        failed=1
    fi
}
compilers="$CC:$CXX"
[ "$CC" = clang ] || ! command -v clang++ >/dev/null || compilers="$compilers clang:clang++"
for pair in $compilers; do
    for language in c11 gnu11 c17 c2x; do
        strictly $language "${pair%:*}" -x c -std=$language -Wstrict-prototypes -Wmissing-prototypes
    done
    for language in c++11 c++14 c++17 c++20; do
        strictly $language "${pair#*:}" -x c++ -std=$language -Wold-style-cast
    done
done
exit $failed
