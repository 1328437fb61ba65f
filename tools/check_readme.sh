#!/bin/sh
# SPDX-License-Identifier: MIT
# check_readme.sh README INCLUDE_DIR LIBRARY - the first C example of the README compiles and runs.
set -eu
readme=$1 include=$2 library=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

awk '/^```c$/ && !seen { inside = seen = 1; next } /^```/ { inside = 0 } inside' \
    "$readme" >"$tmp/readme.c"
[ -s "$tmp/readme.c" ] || { echo "$readme: no C example (a block that begins \`\`\`c)" >&2; exit 1; }

"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$include" -o "$tmp/readme" "$tmp/readme.c" \
    "$library" -Wl,-rpath,"$(dirname "$library")" -lpthread
"$tmp/readme"
