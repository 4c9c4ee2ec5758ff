#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that know nothing of us on a served drive, behind a loop device: fio,
# file systems, power cuts, f3probe. File systems that this kernel lacks are the
# guest's (guest/clients.sh), which has all of them.
#   test_clients.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
# What is said is judged, and not how often its kind was right.
export SSDPROBE_UNCOUNTED=1
serve_seconds=300
# shellcheck source=tests/serving.sh
. "$sources/tests/serving.sh"
scratch=$work
PATH=$PATH:/usr/sbin:/sbin

gone() {
    is_dead "$server" && ! has_files "$server" &&
        [[ $(cat "/sys/block/$name/loop/backing_file" 2>/dev/null) != \
            */flashemu-$server-* ]]
}
start_drive() { serve "$@"; }
stop_drive() {
    kill -TERM "$server"
    check "the server ends and takes its device along" soon 20 gone
}
# Its device goes with the last that uses it.
kill_drive() {
    kill -KILL "$server"
    soon 20 is_dead "$server"
}

# A loop device cannot wait for another server: its clients get errors, it goes,
# and what was flushed is in the contents.
killed() {
    local drive=('ram-disk,direct_ns=1ms' --size=48M --contents="$work/kept")
    random_file "$work/random" 8192
    start_drive "${drive[@]}"
    check "what is flushed" dd if="$work/random" of="$device" bs=256k \
        seek=40M oflag=direct,seek_bytes conv=fsync,notrunc
    timeout 100 fio "${verified[@]}" --filename="$device" --size=32M \
        --loops=100 --direct=1 --ioengine=libaio --iodepth=16 \
        >"$work/fio" 2>&1 &
    local client=$!
    sleep 1
    check "a client is at work" kill -0 "$client"
    kill -KILL "$server"
    wait "$client"
    check "the client of a killed server gets an error" test $? -eq 1
    check "the device goes" soon 20 gone
    start_drive "${drive[@]}"
    check "what was flushed is there for the next server" \
        cmp -n $((8 << 20)) -i 0:$((40 << 20)) "$work/random" "$device"
    stop_drive
}
# shellcheck source=tests/clients.sh
. "$sources/tests/clients.sh"
trap 'umount -l "$at" 2>/dev/null; finish' EXIT

if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || [ ! -e /dev/loop-control ]
then
    fail "these tests need root, /dev/fuse and /dev/loop-control"
    summary
    exit 1
fi

size_of_fio=256M
kinds_cut=(ext4)
if [ -n "${SSDPROBE_TEST_LONG-}" ]; then
    size_of_fio=2G
    kinds_cut=(ext4 xfs btrfs)
fi
killed
client_fio "$size_of_fio" 1
client_f3probe
# Both fakes: f3probe and ssdprobe say the same of one device.
fakes()
{
    local fake kind status
    while read -r fake kind; do
        start_drive "$fake,timing=off"
        check "f3probe says of $fake that it is of type $kind, with 8 GiB" \
            f3probe_fixes "$kind"
        timeout 120 "$ssdprobe" run capacity "$device" --allow-virtual --yes -q \
            --output-dir="$work/$fake" >"$work/said" 2>&1
        status=$?
        check "ssdprobe says the same, and ends in 9, not $status" \
            eval "[ $status -eq 9 ] &&
                grep -q '^FAKE: sold as 64 GiB, holds 8 GiB; ' '$work/said'"
        stop_drive
    done <<'END_OF_TABLE'
fake-64g wraparound
fake-drop limbo
END_OF_TABLE
}
f3probe_fixes()
{
    local said
    said=$(f3probe --destructive --reset-type=2 "$device")
    echo "$said"
    [[ $said == *"counterfeit of type $1"* && $said == *--last-sec=16777215* ]]
}
fakes
for kind in ext4 xfs btrfs f2fs vfat; do
    if grep -qw "$kind" /proc/filesystems || modprobe -q "$kind"; then
        client_file_system "$kind"
    else
        echo "# this kernel has no $kind: see guest/clients.sh"
    fi
done
for kind in "${kinds_cut[@]}"; do
    check "this kernel has $kind" grep -qw "$kind" /proc/filesystems
    client_power_cut "$kind"
done
client_flush_lies ext4
client_fua_cut
summary
