#!/bin/sh
# SPDX-License-Identifier: MIT
# sample.sh PROGRAM KIND COMMAND... - lets the program write its metrics, or what it recorded, to a file, and
# the command read that, which gets the file as its last word and as its input.
set -eu

program=$1 kind=$2
shift 2
file=$(mktemp)
trap 'rm -f "$file"' EXIT
"$program" "$file" "$kind"
"$@" "$file" < "$file"
