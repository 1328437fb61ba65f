#!/bin/sh
# SPDX-License-Identifier: MIT
# check_debian.sh [--all] - builds the Debian packages from a copy of the tracked files, has lintian look at
# them, unpacks them, and runs the test that goes with them: programs of users. With --all it leaves nothing
# out of that, and builds them again elsewhere: they must be the same.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
all=${1-}
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset CC CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS DEB_BUILD_OPTIONS

say() { printf -- '-- %s\n' "$*"; }
fail() { printf 'check_debian.sh: %s\n' "$*" >&2; exit 1; }
quietly() { "$@" >"$tmp/log" 2>&1 || { tail -n 60 "$tmp/log"; exit 1; }; }

# copy FOLDER - the sources, as they are now, into a new one.
(cd "$root" && git ls-files -z | tar --null -T - -cf "$tmp/sources.tar")
copy() {
    mkdir -p "$1"
    tar -x -f "$tmp/sources.tar" -C "$1"
}

say build
copy "$tmp/rota"
cd "$tmp/rota"
version=$(python3 tools/sources.py version)
[ "$(dpkg-parsechangelog -S Version)" = "$version" ] || fail "debian/changelog is not about $version"
[ -n "$all" ] || export ROTA_CHECK=example # the unit tests are run often enough
quietly dpkg-buildpackage -us -uc "-j$(nproc)"
grep '^100% tests passed' "$tmp/log" || fail "no tests were run"
! grep 'warning:' "$tmp/log" | grep -v '/tests/' || fail "warnings" # in optimised tests gcc sees ghosts

say lintian # mandoc has seen the manual pages, tools/reference.py --check, in a tenth of the time
[ -n "$all" ] || leave_out='-X documentation/manual'
# Two words, or none.
# shellcheck disable=SC2086
lintian --allow-root ${leave_out-} --fail-on error,warning "$tmp"/rota_*.changes

if [ -n "$all" ]; then
    say build again, elsewhere
    copy "$tmp/another/folder/rota"
    cd "$tmp/another/folder/rota"
    export DEB_BUILD_OPTIONS=nocheck
    quietly dpkg-buildpackage -us -uc -b "-j$(nproc)"
    for package in "$tmp"/*.deb; do
        cmp "$package" "$tmp/another/folder/$(basename "$package")"
    done
fi

say use
for package in "$tmp"/*.deb; do
    dpkg-deb -x "$package" "$tmp/system"
done
libdir=$tmp/system/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
export PKG_CONFIG_LIBDIR="$libdir/pkgconfig"
flags=$(pkg-config --cflags --libs rota | sed 's/ *$//')
[ "$flags" = -lrota ] || fail "compilers know without being told: $flags"

# As autopkgtest does, but for where it is installed.
export PKG_CONFIG_SYSROOT_DIR="$tmp/system" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
export CMAKE_PREFIX_PATH="$tmp/system/usr" LD_LIBRARY_PATH="$libdir" AUTOPKGTEST_TMP="$tmp/users"
mkdir "$AUTOPKGTEST_TMP"
quietly debian/tests/consumers
grep '^rota ' "$tmp/log"
man=$(find "$tmp/system/usr/share/man" -name 'rota_submit.3.gz')
[ -n "$man" ] || fail "no manual page of rota_submit"
