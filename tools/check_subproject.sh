#!/bin/sh
# SPDX-License-Identifier: MIT
# check_subproject.sh cmake|meson - builds and runs a project of tests/consumers that has rota as a part of it;
# that of Meson is also installed, looked at, and used by pkg-config. 77: there is no meson.
set -eu
kind=$1
root=$(cd "$(dirname "$0")/.." && pwd)
export CC="${CC:-cc}" LC_ALL=C
CMAKE=${CMAKE:-cmake}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

quietly() { "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }; }
no_warnings() { ! grep -E -A 5 'warning:|WARNING' "$tmp/log" || exit 1; }

cp -R "$root/tests/consumers" "$tmp/consumers"
case $kind in
cmake)
    quietly "$CMAKE" -S "$tmp/consumers/cmake-subproject" -B "$tmp/build" -G Ninja -DROTA_SOURCE="$root"
    no_warnings
    quietly "$CMAKE" --build "$tmp/build"
    no_warnings
    "$tmp/build/user_rota"
    "$tmp/build/user_static"
    ;;
meson)
    command -v meson >/dev/null || exit 77
    project=$tmp/consumers/meson
    cp "$tmp/consumers/user.c" "$project" # Meson wants all files of a project below it
    mkdir "$project/subprojects"
    ln -s "$root" "$project/subprojects/rota"
    quietly meson setup "$tmp/build" "$project" --force-fallback-for=rota -Ddefault_library=both \
        --prefix "$tmp/prefix" --libdir lib
    no_warnings
    quietly ninja -C "$tmp/build"
    no_warnings
    "$tmp/build/user"
    quietly meson install -C "$tmp/build"
    sh "$root/tools/check_symbols.sh" "$root/include" "$root/rota.map" "$tmp/prefix/lib/librota.so.0"
    export PKG_CONFIG_PATH="$tmp/prefix/lib/pkgconfig"
    quietly make -C "$tmp/consumers/pkgconfig"
    LD_LIBRARY_PATH=$tmp/prefix/lib "$tmp/consumers/pkgconfig/user_shared"
    "$tmp/consumers/pkgconfig/user_static"
    ;;
*)
    echo "check_subproject.sh: cmake or meson?" >&2
    exit 2
    ;;
esac
