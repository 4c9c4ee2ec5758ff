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
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# same_files FOLDER ENDING FOLDER
same_files()
{
    diff <(find "$1" -name "*$2" -printf '%f\n' | sort) \
        <(find "$3" -name "*$2" -printf '%f\n' | sort)
}

cmake --install "$build_dir" --prefix "$prefix" >/dev/null
check "ssdprobe is installed" "$prefix/bin/ssdprobe" --version
check "flashemu is installed" "$prefix/bin/flashemu" --version
check "the emulated drives are installed" same_files \
    "$source_dir/lib/flash/drives" ini "$prefix/share/ssdprobe/drives"
check "the plots are installed" same_files \
    "$source_dir/plots" gp "$prefix/share/ssdprobe/plots"
for program in ssdprobe flashemu; do
    check "the schema of $program's output is installed" \
        test -s "$prefix/share/ssdprobe/$program.schema.json"
done

check "the plugin of nbdkit is installed, and loads" nbdkit --dump-plugin \
    "$(find "$prefix" -name nbdkit-flash-plugin.so)"

for program in "$build_dir"/ssdprobe-*; do
    [[ -e $program ]] || continue
    name=$(basename -- "$program")
    check "$name is a command" "$prefix/bin/$name" --version
done

summary
