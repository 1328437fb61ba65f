#!/bin/sh
# SPDX-License-Identifier: MIT
# check_install.sh BUILD_DIR - installs into a temporary folder, then builds and runs a user's
# program against that: by pkg-config, shared and static, and by find_package.
set -eu
build=$1
CC=${CC:-cc} CMAKE=${CMAKE:-cmake}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix

say() { printf -- '-- %s\n' "$*"; }

cat >"$tmp/user.c" <<'END'
#include <rota/rota.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    int value = 7;
    void *result = NULL;
    rota_future *promise;

    if (rota_promise_new(&promise) != ROTA_OK)
        return 1;
    if (!rota_promise_complete(promise, &value))
        return 2;
    if (rota_future_get(promise, &result) != ROTA_OK || result != &value)
        return 3;
    rota_future_unref(promise);
    printf("rota %s\n", rota_version());
    return strcmp(rota_version(), VERSION) == 0 ? 0 : 4;
}
END
cat >"$tmp/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(rota 0.1 CONFIG REQUIRED)
foreach(library IN ITEMS rota static)
    add_executable(user_${library} user.c)
    target_compile_definitions(user_${library} PRIVATE VERSION="${rota_VERSION}")
    target_link_libraries(user_${library} PRIVATE rota::${library})
endforeach()
END

say install
"$CMAKE" --install "$build" --prefix "$prefix" >"$tmp/log" || { cat "$tmp/log"; exit 1; }
pc=$(find "$prefix" -name rota.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir rota)
version=$(pkg-config --modversion rota)
cc() { "$CC" -std=c11 -Wall -Wextra -Werror "-DVERSION=\"$version\"" "$@"; }

# pkg-config's words are split on purpose.
# shellcheck disable=SC2046
{
    say pkg-config, shared
    cc "$tmp/user.c" -o "$tmp/shared" $(pkg-config --cflags --libs rota)
    LD_LIBRARY_PATH=$libdir "$tmp/shared"

    say pkg-config, static
    cc "$tmp/user.c" -o "$tmp/static" -static $(pkg-config --static --cflags --libs rota)
    "$tmp/static"
}

say find_package
{
    "$CMAKE" -S "$tmp" -B "$tmp/build" -G Ninja -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_PREFIX_PATH="$prefix" && "$CMAKE" --build "$tmp/build"
} >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
"$tmp/build/user_rota"
"$tmp/build/user_static"
