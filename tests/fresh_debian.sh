#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/fresh_debian.sh SOURCE_DIR: do the README's two commands work on a Debian
# 12 that has nothing but what every Debian has? Needs root, debootstrap and
# this machine's own package source. Slow: part of `./bootstrap test --long`.
set -u

source_dir=$(realpath -- "$1")
# shellcheck source=tests/fresh_root.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/fresh_root.sh"

# inside USER COMMAND: in the fresh Debian, in the clone.
inside()
{
    run_fresh "$1" "cd /ssdprobe && $2"
}

copy_tree()
{
    mkdir "$fresh/ssdprobe" &&
        (cd -- "$source_dir" && tar -cf - --exclude=./.git \
            --exclude='./build*' .) |
        tar -xf - --no-same-owner -C "$fresh/ssdprobe"
}

begin_fresh_debian
copy_tree
verdict "a copy of the tree in it" $?

inside someone './bootstrap probe' >"$work/output" 2>"$work/messages"
verdict "a user without sudo is told what root should install" \
    "$(grep -q 'apt-get install' "$work/messages"; echo $?)"

SECONDS=0
inside root './bootstrap probe' >"$work/output" 2>"$work/messages"
status=$?
verdict "./bootstrap probe from nothing: $SECONDS s, exit status $status" \
    $((status != 0))
((status == 0)) || tail -n 40 "$work/messages"
sed 's/^/    | /' "$work/output"
verdict "its report names the clustered page" \
    "$(grep -qi 'clustered.page' "$work/output"; echo $?)"

began_ns=$(date +%s%N)
inside root './bootstrap probe' >"$work/again" 2>/dev/null
status=$?
ended_ns=$(date +%s%N)
verdict "again, with nothing to do but the report: $((
    (ended_ns - began_ns) / 1000000)) ms" $((status != 0))

chroot "$fresh" chown -R someone /ssdprobe
inside someone './bootstrap probe' >"$work/output" 2>"$work/messages"
status=$?
verdict "then it works for a user without sudo, exit status $status" \
    $((status != 0))
((status == 0)) || tail -n 20 "$work/messages"
chroot "$fresh" chown -R root /ssdprobe

SECONDS=0
inside root './.ci/run' >"$work/output" 2>"$work/messages"
status=$?
verdict "./.ci/run there: $SECONDS s, $(tail -n 1 "$work/output")" \
    $((status != 0))
((status == 0)) || grep -vE '^(release|debug) .* 0 failed|\| ok ' \
    "$work/output" | tail -n 60

echo "$passed passed, $failed failed"
((failed == 0))
