#!/bin/sh
# SPDX-License-Identifier: MIT
# check_install.sh BUILD_DIR - installs into a temporary folder, looks at what is there, moves it, and builds
# and runs the projects of tests/consumers that use it: by pkg-config and by find_package, shared and static.
set -eu
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
export CC="${CC:-cc}" LC_ALL=C
CMAKE=${CMAKE:-cmake}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix

say() { printf -- '-- %s\n' "$*"; }
fail() { printf 'check_install.sh: %s\n' "$*" >&2; exit 1; }
quietly() { "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }; }

say install
quietly "$CMAKE" --install "$build" --prefix "$prefix"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rota.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir rota)
shared=$libdir/librota.so.0
static=$libdir/librota.a

say what is there
quietly pkg-config --validate rota
[ -e "$prefix/share/doc/rota/LICENSE" ] || fail "no licence in share/doc/rota"
(cd "$root/include" && find . -type f | sort) >"$tmp/public"
(cd "$prefix/include" && find . -type f | sort) >"$tmp/installed"
quietly diff "$tmp/public" "$tmp/installed"
readelf -d "$shared" >"$tmp/dynamic"
grep -q 'SONAME.*\[librota\.so\.0\]' "$tmp/dynamic" || fail "the name of the library is not librota.so.0"
! grep -E 'RPATH|RUNPATH|TEXTREL' "$tmp/dynamic" || fail "a distribution has no use for this"
! readelf -lW "$shared" | grep 'GNU_STACK.*RWE' || fail "the stack could be executed"
quietly nm --defined-only "$static"
grep -q ' T rota_future_get$' "$tmp/log" || fail "$static is empty"
! grep -E ' T rota__(fault|blocks_flush|clock_replace)' "$tmp/log" || fail "this is for tests alone"
! grep -E ' [A-Z] [^r]' "$tmp/log" | grep -v ' V DW\.ref\.' || fail "not a name of rota's"

say manual pages
man=$prefix/share/man
if grep -q '^ROTA_MAN:BOOL=ON' "$build/CMakeCache.txt"; then
    for name in $(sed -n 's/^ *\(rota_[a-z]\w*\);.*/\1/p' "$root/rota.map") rota_pool_options ROTA_MS; do
        [ -e "$man/man3/$name.3" ] || fail "no manual page of $name"
    done
    if command -v mandb >/dev/null; then # man-db's man, not a stand-in
        quietly man -M "$man" -w rota_submit ROTA_MS 7 rota rota-pool
    fi
fi

say moved
mv "$prefix" "$tmp/moved"
prefix=$tmp/moved
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rota.pc)")
libdir=$(pkg-config --variable=libdir rota)

say pkg-config
cp -R "$root/tests/consumers" "$tmp/consumers"
quietly make -C "$tmp/consumers/pkgconfig"
LD_LIBRARY_PATH=$libdir "$tmp/consumers/pkgconfig/user_shared"
"$tmp/consumers/pkgconfig/user_static"

say find_package
quietly "$CMAKE" -S "$tmp/consumers/cmake" -B "$tmp/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quietly "$CMAKE" --build "$tmp/build"
"$tmp/build/user_rota"
"$tmp/build/user_static"
sed -i 's/rota 0\.1 /rota 0.2 /' "$tmp/consumers/cmake/CMakeLists.txt"
! "$CMAKE" -S "$tmp/consumers/cmake" -B "$tmp/build2" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/log" 2>&1 ||
    fail "who asks for 0.2 gets 0.1"
grep -q 'requested version "0.2"' "$tmp/log" || { cat "$tmp/log"; exit 1; }
