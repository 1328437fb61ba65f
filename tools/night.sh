#!/bin/bash
# SPDX-License-Identifier: MIT
# night.sh [--minutes N] - the long versions of all checks, in about so many minutes (480), and one
# table of what came out. Every step runs, also after one that failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
exec </dev/null
export LC_ALL=C

minutes=480
if [[ ${1-} == --minutes && ${2-} =~ ^[1-9][0-9]*$ && $# -eq 2 ]]; then
    minutes=$2
elif (($#)); then
    sed -n '3,4s/^# //p' "$0" >&2
    exit 2
fi

out=$PWD/build/night
mkdir -p "$out"
begun=$SECONDS
rows=()
failed=0

# step TITLE COMMAND... - its last line is its figure in the table.
step() {
    local title=$1 log start=$SECONDS result=ok
    log=$out/${title//[^a-z0-9]/_}.log
    shift
    printf '=== %s\n' "$title"
    if ! "$@" >"$log" 2>&1; then
        result=FAILED
        ((failed++))
        tail -n 30 "$log"
    fi
    rows+=("$(printf '| %-24s | %-6s | %5d s | %s |' "$title" "$result" $((SECONDS - start)) \
        "$(grep -v '^ *$' "$log" | tail -n 1 | cut -c 1-150)")")
    echo "${rows[-1]}"
}

# share N - so many seconds: N hundredths of what is left after the steps that take what they take.
share() {
    local rest=$((minutes * 60 - fixed))
    echo $((rest > 600 ? rest * $1 / 100 : 6 * $1))
}

# Each scenario for as long, without and with all schedules of few switches.
explore() {
    local program=build/dev/tests/explore/$1 count
    count=$("$program" --list | wc -l)
    python3 -c 'import sys; print(int(sys.argv[1]) / 2 / max(1, int(sys.argv[2])))' "$2" "$count" >"$out/each"
    "$program" --seconds "$(cat "$out/each")" --exhaust "$(cat "$out/each")" --bound 4
}

sweep_pairs() {
    build/dev/tests/fault/sweep/sweep --pairs
}

step "setup" sh tools/setup.sh coverage clang ci night
step "tests" ./test
step "tests, as shipped" ./test release unit contract fault stress
step "races, by clang" ./test tsan-clang unit contract fault
step "uninitialised memory" ./test msan unit contract fault
step "memcheck" ./test memcheck unit
step "32 bits" ./test i386 unit contract fault
step "64-bit ARM" ./test arm64 unit
step "coverage" ./test coverage
step "acceptance, sanitized" tests/acceptance/run --preset asan
step "reports" tests/reports/run --times 5
step "reports, sanitized" tests/reports/run --preset asan
step "debian package" sh tools/check_debian.sh --all
fixed=$((SECONDS - begun))
step "codes are returned" python3 tools/returned.py build/dev
step "two faults at once" sweep_pairs
step "every schedule" explore explore "$(share 25)"
step "narrow counters" explore explore_narrow "$(share 5)"
step "fuzzing" tests/fuzz/run --build build/fuzz --seconds $(($(share 20) / 4))
step "soak" build/release/tests/soak/soak --seconds "$(share 25)"
step "combinations" ./test combine --strict --seed random --minutes $(($(share 5) / 60 + 1))
step "hostile hosts" tests/host/run --seconds $(($(share 5) / 20 + 3))
step "the tour, in a browser" sh -c './run --seconds 10 >/dev/null && sh tests/tour/screenshot.sh out'
step "changes are noticed" python3 tools/mutate.py --sample $(($(share 20) / 3 + 1)) \
    --seed "$(date +%j)" build/dev

printf '\n| %-24s | %-6s | %7s | %s |\n|---|---|---|---|\n' check result time figures
printf '%s\n' "${rows[@]}"
printf '\n%d minutes on %d CPUs, %d of %d failed\n' $(((SECONDS - begun) / 60)) "$(nproc)" \
    "$failed" ${#rows[@]}
((failed == 0))
