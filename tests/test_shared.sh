#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk in use: --read-only reads it beside its user, and nothing else does.
#   test_shared.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
ssdprobe=$(realpath "$2/ssdprobe")
# shellcheck source=tests/checks.sh
. "$sources/tests/checks.sh"
work=$(mktemp -d)
device=''
finish()
{
    ! mountpoint -q "$work/mnt" || umount "$work/mnt"
    [ -z "$device" ] || losetup -d "$device" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
cd "$work" || exit 1

if [ "$(id -u)" -ne 0 ] || [ ! -e /dev/loop-control ]; then
    fail "these tests need root and /dev/loop-control"
    summary
    exit 1
fi
truncate -s 256M disk.img
# What ext4 would initialise later it shall do at once.
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 disk.img
device=$(losetup -f --show disk.img)
mkdir mnt
check "it is mounted" mount -o noatime "$device" mnt
sync

# What was written to and discarded from the disk so far.
written()
{
    awk '{ print $7, $14 }' "/sys/block/${device#/dev/}/stat"
}

"$ssdprobe" run basic --allow-virtual --yes --force-signature "$device" \
    >out 2>err
status=$?
check "a run that writes is refused: $status" test "$status" -eq 3
check "and says who has it: $(cat err)" grep -q "is mounted on" err

before=$(written)
"$ssdprobe" run basic,large-request --allow-virtual --read-only --json=said \
    "$device" >out 2>err
status=$?
check "one that only reads is let in: $status, $(tail -1 err)" \
    test "$status" -eq 5 -o "$status" -eq 0
check "nothing was written or discarded" test "$(written)" = "$before"
check "it says by whom the disk is used" \
    jq -e '.conditions.items[] | select(.name == "used by others") |
        .grade == "yellow" and (.value | test("mounted on"))' said
check "what writes would tell is skipped" \
    jq -e '[.findings[] | select(.verdict == "skipped") | .parameter] ==
        ["random_write", "sequential_write", "write_cost_4k"]' said
# Beside other work the times may be too unsteady to state.
check "reads are told, or why not" \
    jq -e '[.findings[] | select(.parameter | test("_read$|read_cost")) |
        select(.verdict == "found" or
            (.verdict == "inconclusive" and (.why | length) > 20))] |
        length == 3' said
"$ssdprobe" check --allow-virtual --read-only "$device" >out 2>err
check "check says that it may be read" grep -q "It is in use" out
summary
