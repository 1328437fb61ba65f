#!/bin/sh
# SPDX-License-Identifier: MIT
# check_debian.sh - builds the Debian packages from a copy of the tracked files, has lintian look at them,
# unpacks them, and builds and runs the projects of tests/consumers that use what is installed.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset CC CFLAGS LDFLAGS MAKEFLAGS

say() { printf -- '-- %s\n' "$*"; }
fail() { printf 'check_debian.sh: %s\n' "$*" >&2; exit 1; }
quietly() { "$@" >"$tmp/log" 2>&1 || { tail -n 200 "$tmp/log"; exit 1; }; }

say build
mkdir "$tmp/rota"
(cd "$root" && git ls-files -z | tar --null -T - -cf -) | tar -x -C "$tmp/rota"
cd "$tmp/rota"
version=$(python3 tools/sources.py version)
[ "$(dpkg-parsechangelog -S Version)" = "$version" ] || fail "debian/changelog is not about $version"
quietly dpkg-buildpackage -us -uc "-j$(nproc)"
grep '^100% tests passed' "$tmp/log" || fail "no tests were run"
! grep 'warning:' "$tmp/log" || fail "warnings"

say lintian
lintian --allow-root --fail-on error,warning "$tmp"/rota_*.changes

say unpack
for package in "$tmp"/*.deb; do
    dpkg-deb -x "$package" "$tmp/system"
done
folder=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
libdir=$tmp/system$folder
export PKG_CONFIG_LIBDIR="$libdir/pkgconfig"
[ "$(pkg-config --cflags --libs rota)" = "-lrota " ] || fail "flags that the compiler knows: $(pkg-config --cflags --libs rota)"

say pkg-config
export PKG_CONFIG_SYSROOT_DIR="$tmp/system" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
quietly make -C tests/consumers/pkgconfig
LD_LIBRARY_PATH=$libdir tests/consumers/pkgconfig/user_shared
tests/consumers/pkgconfig/user_static

say find_package
quietly cmake -S tests/consumers/cmake -B "$tmp/build" -G Ninja -DCMAKE_PREFIX_PATH="$tmp/system/usr"
quietly cmake --build "$tmp/build"
"$tmp/build/user_rota"
"$tmp/build/user_static"
