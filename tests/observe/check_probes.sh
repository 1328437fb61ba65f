#!/bin/sh
# SPDX-License-Identifier: MIT
# check_probes.sh ROOT WORK - builds the library with probes, and compares those that are in it with those
# that docs/observe.md lists. 77: there is no <sys/sdt.h>.
set -eu
root=$1 work=$2

echo '#include <sys/sdt.h>' | "${CC:-cc}" -E - >/dev/null 2>&1 || exit 77
rm -rf "$work"
cmake -S "$root" -B "$work" -G Ninja -DROTA_USDT=ON -DROTA_WERROR=ON >"$work.log" 2>&1 &&
    cmake --build "$work" --target rota_shared >>"$work.log" 2>&1 || { cat "$work.log"; exit 1; }

readelf -n "$work/librota.so" | sed -n 's/^ *Name: //p' | sort -u >"$work/there"
sed -n 's/^| `\([a-z_]*\)` .*/\1/p' "$root/docs/observe.md" | sort -u >"$work/listed"
diff "$work/listed" "$work/there" >"$work/diff" && exit 0
sed -n 's/^< /listed, but not in the library: /p; s/^> /in the library, but not listed: /p' "$work/diff"
exit 1
