#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/other_builds.sh SOURCE_DIR: clang builds all of it without a warning,
# ssdprobe builds without flashemu, musl takes all but the servers, and where the tree lies leaves no trace in what
# is shipped. Slow: part of `./bootstrap test --long`.
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

# The libraries that it needs are not in Debian for musl, so nothing is linked. There
# ioctl takes an int, which its larger constants do not fit; the kernel sees the same.
cat >musl.py <<'END'
"""musl.py COMPILE_COMMANDS: compiles all but the servers against musl."""
import json, re, shlex, subprocess, sys
bad = 0
for row in json.load(open(sys.argv[1])):
    if re.search(r"/(serve|ublk|live|nbdkit|tests)/", row["file"]):
        continue
    words = [w for w in shlex.split(row["command"]) if not w.endswith("ccache")][1:]
    words.remove("-c")
    del words[words.index("-o"):words.index("-o") + 2]
    bad += subprocess.run(
        ["musl-gcc", "-fsyntax-only", "-idirafter", "/usr/include", "-idirafter",
         "/usr/include/x86_64-linux-gnu", *words, "-Wno-overflow"],
        cwd=row["directory"]).returncode != 0
sys.exit(bad)
END
check "musl takes all but the servers" \
    python3 musl.py here/build/compile_commands.json
summary
