#!/bin/sh
# SPDX-License-Identifier: MIT
# check_symbols.sh INCLUDE_DIR MAP LIBRARY - the functions that the public headers declare, those
# that the version script lists and those that the library exports are the same.
set -eu
include=$1 map=$2 library=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat "$include"/rota/*.h | grep -v '^#include <rota/' |
    "${CC:-cc}" -std=c11 -DROTA_NO_INLINE -E -P -I"$include" -x c - |
    tr '\n' ' ' | tr ';{}' '[\n*]' | grep -v -E '\<(typedef|static)\>' |
    grep -o -E '\<rota_[a-z0-9_]+ *(\(|__attribute__)' | grep -o -E '^rota_[a-z0-9_]*[a-z0-9]' |
    sort -u >"$tmp/declared"
sed -n 's/^ *\(rota_[a-z0-9_]*\);.*/\1/p' "$map" | sort >"$tmp/listed"
# The version node is a symbol, too: absolute, hence the A.
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort >"$tmp/exported"

failed=0
# each LESS MORE TEXT - complains of each line in MORE that LESS has not.
each() {
    comm -13 "$tmp/$1" "$tmp/$2" >"$tmp/extra"
    while read -r name; do
        echo "$name: $3" >&2
        failed=1
    done <"$tmp/extra"
}
each listed declared "declared in a public header; add it to rota.map"
each declared listed "in rota.map, but no public header declares it"
each exported listed "in rota.map, but the library does not export it"
each listed exported "exported, but not in rota.map"
uniq -d "$tmp/listed" >"$tmp/twice"
while read -r name; do
    echo "$name: twice in rota.map" >&2
    failed=1
done <"$tmp/twice"

[ -s "$tmp/listed" ] || { echo "$map: no symbols found" >&2; failed=1; }
[ $failed -eq 0 ] && echo "$(wc -l <"$tmp/listed") symbols agree"
exit $failed
