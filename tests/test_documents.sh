#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_documents.sh SOURCE_DIR BUILD_DIR: every output of every command is a
# document that its schema allows. As root: flashemu serve is among them.
set -u
export LC_ALL=C
source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# Debian's Python has the validator; another may come first in the path.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import jsonschema' 2>/dev/null && break
done
"$python" "$source_dir/tests/documents.py" "$build_dir" "$source_dir"
