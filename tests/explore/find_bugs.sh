#!/bin/sh
# SPDX-License-Identifier: MIT
# find_bugs.sh ROOT WORK - puts each deliberate bug of bugs/ into a copy of the sources, and has the
# explorer find it. Prints how many schedules that took; fails if one is not found.
set -eu
root=$(cd "$1" && pwd)
work=$2

rm -rf "$work"
mkdir -p "$work/tree"
cp -R "$root/src" "$root/include" "$work/tree"
cmake -S "$root/tests/explore" -B "$work/build" -G Ninja -DCMAKE_C_COMPILER="${CC:-gcc}" \
    -DROTA_ROOT="$work/tree" >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }

# Without a bug it must find nothing, or what follows says nothing.
if ! cmake --build "$work/build" >"$work/log" 2>&1 ||
    ! "$work/build/explore" --first --seconds 0.2 --exhaust 0 >"$work/log" 2>&1; then
    cat "$work/log"
    exit 1
fi

# found - what the explorer's log says of it
found() {
    sed -n 's/^after \([0-9]*\) schedules: FOUND in [a-z_0-9]*: \(.*\)/\1 schedules: \2/p' "$work/log"
}

status=0
for bug in "$root"/tests/explore/bugs/*.patch; do
    name=$(basename "$bug" .patch)
    scenario=$(sed -n 's/^Found by: //p' "$bug")
    if ! patch -s -d "$work/tree" -p1 <"$bug" >"$work/log" 2>&1 ||
        ! cmake --build "$work/build" >>"$work/log" 2>&1; then
        echo "$name: the patch does not apply or build any more"
        cat "$work/log"
        exit 1
    fi
    "$work/build/explore" --first --seconds 8 "$scenario" >"$work/log" 2>&1 || true
    if grep -q FOUND "$work/log"; then
        printf '%s\n    found by %s\n    after %s\n' "$name" "$scenario" "$(found | sed "s|$work/tree/||")"
    else
        printf '%s\n    NOT FOUND by %s\n' "$name" "$scenario"
        cat "$work/log"
        status=1
    fi
    patch -s -R -d "$work/tree" -p1 <"$bug"
done
exit $status
