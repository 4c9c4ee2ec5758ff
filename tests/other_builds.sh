#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/other_builds.sh SOURCE_DIR: clang builds all of it without a warning, tests
# too; ssdprobe builds without flashemu; and where the tree lies leaves no trace in
# what is shipped. Slow: part of `./bootstrap test --long`. What clang says of the
# programs test_quality.sh tells each time (tidy), of musl test_recipes.sh.
set -u

source_dir=$(realpath -- "$1")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# build SOURCE FOLDER OPTION...
build()
{
    cmake -G Ninja -S "$1" -B "$2" -DSSDPROBE_WERROR=ON "${@:3}" &&
        cmake --build "$2"
}

# copy FOLDER: the tree as it is.
copy()
{
    mkdir -p "$1" && (cd -- "$source_dir" &&
        tar -cf - --exclude=./.git --exclude='./build*' .) | tar -xf - -C "$1"
}

check "clang builds all of it" \
    build "$source_dir" with_clang -DCMAKE_C_COMPILER=clang
check "ssdprobe builds without flashemu" \
    build "$source_dir" alone -DFLASHEMU=OFF -DBUILD_TESTING=OFF
check "and probes" alone/ssdprobe -q run basic sim:ssd-a
check "flashemu is not there" test ! -e alone/flashemu
check "nor its library" eval '! ldd alone/ssdprobe | grep fuse'
check "one copy of the tree" copy here
check "another one elsewhere" copy quite/another/place
for place in here quite/another/place; do
    check "builds in $place" build "$place" "$place/build" -DBUILD_TESTING=OFF
done
for file in ssdprobe flashemu libssdprobe.a man/ssdprobe.8; do
    check "$file is the same in both" \
        cmp "here/build/$file" "quite/another/place/build/$file"
done
summary
