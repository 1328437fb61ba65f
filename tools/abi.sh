#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs that are linked to the shared library depend on; LIBRARY is one with debug information.
#
# abi.sh LIBRARY              compares it with tests/abi and debian/librota0.symbols; 77: there is no abidiff
# abi.sh --update LIBRARY     writes tests/abi/librota.abi and debian/librota0.symbols
# abi.sh --self-test LIBRARY  shows that changes are found
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Of types, only what the public headers show.
dump() {
    abidw --headers-dir "$root/include" --suppressions "$root/tests/abi/system.abignore" --drop-private-types \
        --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
        --no-parameter-names --type-id-style hash "$1" | sed "s|path='$root/|path='|"
}

# debian/librota0.symbols: the names of rota.map, each since the release that its node is named after.
symbols() {
    echo 'librota.so.0 librota0 #MINVER#'
    echo '* Build-Depends-Package: librota-dev'
    awk '/^ROTA_/ { node = $1; since = substr(node, 6); print " " node "@" node " " since }
         /^ +rota_.*;/ { sub(/;.*/, ""); print " " $1 "@" node " " since }' "$1" | sort
}

# compare DUMP DUMP INCLUDE SYMBOLS - what is known, and what there is. abidiff is not given the library: it
# would take every type of a dump, which has no locations, for a private one.
compare() {
    failed=0
    "${CC:-cc}" -std=c11 -fsyntax-only -I"$3" "$root/tests/abi/compiled_in.c" || failed=1
    symbols "$root/rota.map" | diff "$4" - || failed=1
    abidiff "$1" "$2" || failed=1
    return $failed
}

check() {
    dump "$1" >"$tmp/now"
    compare "$root/tests/abi/librota.abi" "$tmp/now" "$root/include" "$root/debian/librota0.symbols" && return
    echo
    echo "The binary interface has changed. An addition is taken over by:"
    echo "    tools/abi.sh --update $1"
    echo "Any other change breaks programs: it needs another SOVERSION."
    return 1
}

update() {
    dump "$1" >"$root/tests/abi/librota.abi"
    symbols "$root/rota.map" >"$root/debian/librota0.symbols"
}

# found WHAT - the last change of a copy must have been.
found() {
    if compare "$tmp/dump" "$tmp/now" "$tmp/include" "$tmp/symbols" >/dev/null 2>&1; then
        echo "not found: $1" >&2
        exit 1
    fi
    fresh
}

fresh() {
    cp "$root/tests/abi/librota.abi" "$tmp/dump"
    cp "$root/debian/librota0.symbols" "$tmp/symbols"
    rm -rf "$tmp/include"
    cp -R "$root/include" "$tmp/include"
}

# edit FILE COMMAND - by sed; it has to change something.
edit() {
    sed "$2" "$1" >"$tmp/edited"
    ! cmp -s "$1" "$tmp/edited" || { echo "no change: $2" >&2; exit 1; }
    cp "$tmp/edited" "$1"
}

self_test() {
    dump "$1" >"$tmp/now"
    fresh
    compare "$tmp/dump" "$tmp/now" "$tmp/include" "$tmp/symbols" || { echo "a fresh copy differs" >&2; exit 1; }
    edit "$tmp/dump" "/class-decl name='rota_pool_stats'/s/size-in-bits='[0-9]*'/size-in-bits='512'/"
    found "a structure of another size"
    edit "$tmp/dump" "/class-decl name='rota_allocator'/,/class-decl>/{s/'64'/'?'/; s/'128'/'64'/; s/'?'/'128'/}"
    found "two members that changed places"
    edit "$tmp/dump" "s/name='ROTA_TERMINATED' value='4'/name='ROTA_TERMINATED' value='5'/"
    found "another number behind a name"
    edit "$tmp/dump" "s/rota_version/rota_versions/g"
    found "a function of another name"
    edit "$tmp/dump" "/elf-symbol name='rota_version'/d; /function-decl name='rota_version'/,/function-decl>/d"
    found "a function that is new"
    size_t=$(sed -n "s/.*typedef-decl name='size_t'.* id='\([^']*\)'.*/\1/p" "$tmp/dump")
    function="/function-decl name='rota_cpu_count'/,/function-decl>/"
    edit "$tmp/dump" "${function}s/return type-id='.*'/return type-id='$size_t'/"
    found "a function that returns something else"
    edit "$tmp/symbols" "/rota_version@/d"
    found "a symbol that the package does not know"
    edit "$tmp/include/rota/base.h" "s/ROTA_EIO = -14/ROTA_EIO = -15/"
    found "another number behind a status"
    edit "$tmp/include/rota/forkjoin.h" "s/ top; /?/; s/ limit; / top; /; s/?/ limit; /"
    found "another layout behind the inline functions"
}

case ${1-} in
--update) update "$2" ;;
--self-test | /* | [!-]*)
    library=$1
    [ "$1" != --self-test ] || library=$2
    if ! command -v abidiff >/dev/null || ! readelf -h "$library" | grep -q 'X86-64' ||
        ! readelf -S "$library" | grep -q '\.debug_info'; then
        echo "skipped: this needs abidiff, and a library for x86-64 with debug information"
        exit 77
    fi
    if [ "$1" = --self-test ]; then self_test "$library"; else check "$library"; fi
    ;;
*)
    sed -n '3,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
