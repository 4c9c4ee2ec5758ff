#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_install.sh SOURCE_DIR BUILD_DIR: is all there that an
# installed copy needs?
set -u

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
prefix=$scratch/prefix
passed=0 failed=0

# expect WHAT COMMAND...
expect()
{
    local what=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        echo "ok   $what"
        ((passed += 1))
    else
        echo "FAIL $what"
        sed 's/^/    | /' "$scratch/said"
        ((failed += 1))
    fi
}

# same_files FOLDER ENDING FOLDER
same_files()
{
    diff <(find "$1" -name "*$2" -printf '%f\n' | sort) \
        <(find "$3" -name "*$2" -printf '%f\n' | sort)
}

cmake --install "$build_dir" --prefix "$prefix" >/dev/null
expect "ssdprobe is installed" "$prefix/bin/ssdprobe" --version
expect "flashemu is installed" "$prefix/bin/flashemu" --version
expect "the emulated drives are installed" same_files \
    "$source_dir/lib/flash/drives" ini "$prefix/share/ssdprobe/drives"
expect "the plots are installed" same_files \
    "$source_dir/plots" gp "$prefix/share/ssdprobe/plots"
expect "the schema of the output is installed" \
    test -s "$prefix/share/ssdprobe/ssdprobe.schema.json"

for program in "$build_dir"/ssdprobe-*; do
    [[ -e $program ]] || continue
    name=$(basename -- "$program")
    expect "$name is a command" "$prefix/bin/$name" --version
done

echo "$passed passed, $failed failed"
((failed == 0))
