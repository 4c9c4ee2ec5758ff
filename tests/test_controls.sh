#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is no flash: nothing is found on a RAM disk and on a loop device over an
# ordinary file, whatever else the machine does. More such are the guest's
# (guest/controls.sh).
#   test_controls.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
ssdprobe=$(realpath "$2/ssdprobe")
# shellcheck source=tests/checks.sh
. "$sources/tests/checks.sh"
work=$(mktemp -d)
device=''
finish()
{
    [ -z "$device" ] || losetup -d "$device" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
cd "$work" || exit 1
# shellcheck source=tests/runs.sh
. "$sources/tests/runs.sh"
three=clustered-page,read-buffer,write-buffer

"$ssdprobe" -q --json=ram.json --seed=1 run "$three" sim:ram-disk >out 2>err
says ram.json >ram.says
check "nothing is found on a RAM disk: $(cat ram.says)" \
    test "$(grep -c ' found ' ram.says)" -eq 0 -a -s ram.says

if [ "$(id -u)" -ne 0 ] || [ ! -e /dev/loop-control ]; then
    fail "these tests need root and /dev/loop-control"
    summary
    exit 1
fi
truncate -s 1G plain.img
device=$(losetup -f --show plain.img)
check "there is a loop device" test -b "$device"
# A run folder may come from anybody: restore sets only what --tune changes.
queue=$(realpath "/sys/block/${device#/dev/}/queue")
ahead=$(cat "$queue/read_ahead_kb")
merges=$(cat "$queue/nomerges")
mkdir foreign
touch foreign/log
printf '%s\t%s\n' "$queue/read_ahead_kb" $((ahead + 4)) \
    "$queue/nomerges" $((2 - merges)) >foreign/settings
"$ssdprobe" restore foreign >out 2>err
status=$?
check "restore of a foreign setting ends in 7, not in $status" \
    test "$status" -eq 7
check "and says why: $(cat err)" \
    grep -q "read_ahead_kb, which is no setting that ssdprobe changes" err
check "the foreign setting is as it was" \
    test "$(cat "$queue/read_ahead_kb")" = "$ahead"
check "the known one is put back all the same" \
    test "$(cat "$queue/nomerges")" = $((2 - merges))
check "the line can still be looked at" test -s foreign/settings
sed -i /read_ahead/d foreign/settings
check "without that line all is put back" "$ssdprobe" restore foreign
# On a busy machine a probe may look for long: what it has not found by then it may
# not state either.
timeout -k 5 800 "$ssdprobe" run "$three" --yes --allow-virtual --seed=1 \
    --time-limit=40s --progress=none --json=plain.json "$device" >out 2>err
says plain.json >plain.says
# The file system under it writes blocks of 4 KiB. On a quiet machine that shows.
# The host's memory takes its writes, and on some hosts takes short ones quicker.
check "nothing but its blocks is found on a plain file: $(cat plain.says)" \
    eval "! grep -v -e '^clustered_page found 4096 ' \
        -e '^read_modify_write ' -e '^write_buffer ' plain.says |
        grep -q ' found '"
check "every parameter has a verdict" test \
    "$(jq '.findings | length' plain.json)" -eq 4
summary
