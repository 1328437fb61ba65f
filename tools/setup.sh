#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh [coverage] [clang] [ci] [night] [bench] - installs what is missing to build and test rota; with
# words, also what these need. Does nothing, at once, when all is there.
set -eu

missing= foreign=
# need PACKAGE COMMAND... - the package is missing when the command fails.
need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

need cmake command -v cmake
need ninja-build command -v ninja
need gcc command -v gcc
need g++ command -v g++
need libc6-dev test -e /usr/include/stdio.h
need pkg-config command -v pkg-config
need libcmocka-dev pkg-config --exists cmocka
need python3 command -v python3
need patch command -v patch
need make command -v make
for word; do
    case $word in
    coverage)
        need gcovr command -v gcovr
        ;;
    clang)
        need clang command -v clang
        need libclang-rt-14-dev sh -c 'ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*'
        ;;
    ci)
        need clang command -v clang
        need clang-format command -v clang-format
        need clang-tidy command -v clang-tidy
        need cppcheck command -v cppcheck
        need musl-tools command -v musl-gcc
        need libclang-rt-14-dev sh -c 'ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*'
        need mandoc command -v mandoc
        need strace command -v strace
        need stress-ng command -v stress-ng
        need systemtap-sdt-dev sh -c 'echo "#include <sys/sdt.h>" | gcc -E -'
        need wrk command -v wrk
        need libglib2.0-dev pkg-config --exists glib-2.0
        need libuv1-dev pkg-config --exists libuv
        need libevent-dev pkg-config --exists libevent
        need abigail-tools command -v abidiff
        need meson command -v meson
        need debhelper command -v dh
        need build-essential dpkg -s build-essential
        need lintian command -v lintian
        need spin command -v spin
        ;;
    night)
        for architecture in arm64 i386; do
            dpkg --print-foreign-architectures 2>/dev/null | grep -q "^$architecture$" ||
                foreign="$foreign $architecture"
        done
        need prometheus command -v promtool
        need valgrind command -v valgrind
        need qemu-user command -v qemu-aarch64
        need gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
        need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/lib/crt1.o
        need libcmocka-dev:arm64 test -e /usr/lib/aarch64-linux-gnu/libcmocka.so
        need gcc-i686-linux-gnu command -v i686-linux-gnu-gcc
        need libc6-dev-i386-cross test -e /usr/i686-linux-gnu/lib/crt1.o
        need libcmocka-dev:i386 test -e /usr/lib/i386-linux-gnu/libcmocka.so
        ;;
    bench)
        need libglib2.0-dev pkg-config --exists glib-2.0
        need libuv1-dev pkg-config --exists libuv
        need libevent-dev pkg-config --exists libevent_core
        need libev-dev test -e /usr/include/ev.h
        need libaprutil1-dev pkg-config --exists apr-util-1
        need libtbb-dev test -e /usr/include/tbb/concurrent_queue.h
        need openjdk-17-jdk-headless command -v javac
        need clang command -v clang
        need libomp-dev sh -c 'ls /usr/lib/llvm-*/lib/libomp.so'
        need cargo command -v cargo
        need librust-rayon-dev sh -c 'ls -d /usr/share/cargo/registry/rayon-1*'
        ;;
    *)
        echo "setup.sh: '$word'? It knows coverage, clang, ci, night and bench." >&2
        exit 2
        ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root='sudo '
if ! command -v apt-get >/dev/null 2>&1; then
    echo "Please install these (by their Debian names):$missing" >&2
    exit 1
elif [ -n "$as_root" ] && ! sudo -n true 2>/dev/null; then
    how='Please type'
    command -v sudo >/dev/null 2>&1 || how='Please type as root' as_root=
    echo "Some tools are missing. $how:" >&2
    for architecture in $foreign; do
        echo "    ${as_root}dpkg --add-architecture $architecture" >&2
    done
    echo "    ${as_root}apt-get update && ${as_root}apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi
echo "Installing$missing ..." >&2
# Both are split into words on purpose.
# shellcheck disable=SC2086
{
    for architecture in $foreign; do
        ${as_root}dpkg --add-architecture "$architecture"
    done
    ${as_root}apt-get update -qq || echo 'Going on with the lists that there are.' >&2
    ${as_root}env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
} >/dev/null # what goes wrong is said all the same
