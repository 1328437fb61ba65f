#!/bin/sh
# SPDX-License-Identifier: MIT
# sample.sh PROGRAM KIND COMMAND... - lets the program write its metrics, or what it recorded, to a file, and
# the command read that as its input. Where there is no such command: exit status 77.
set -eu

program=$1 kind=$2
shift 2
command -v "$1" > /dev/null || exit 77
file=$(mktemp)
trap 'rm -f "$file"' EXIT
"$program" "$file" "$kind"
"$@" < "$file"
