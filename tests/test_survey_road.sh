#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_survey_road.sh SOURCE_DIR BUILD_DIR: verify and scan on a real block
# device: a killed verify goes on, badblocks agrees, and scan writes nothing.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
disk=''
# shellcheck disable=SC2317,SC2329
finish() {
    [ -z "$disk" ] || losetup -d "$disk"
    rm -rf -- "$scratch"
}
trap finish EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"
ssdprobe=$build_dir/ssdprobe
options=(--allow-virtual --yes --progress=none --quiet)

truncate -s 1G image
disk=$(losetup --find --show image)
check "there is a loop device" test -b "$disk"

# ends STATUS SENTENCE COMMAND...
# shellcheck disable=SC2016
ends() {
    local status=$1 sentence=$2
    shift 2
    check "$sentence" bash -c 'status=$1; shift; "$@"; test $? -eq "$status"' - \
        "$status" "$@"
}

# rows TURNS: the settled rows of the run while so many probes are finished.
rows() {
    grep "\"turns\": $1," cut/state.json 2>/dev/null |
        grep -o '"rows": [0-9]*' | grep -o '[0-9]*'
}

# Is some of the survey settled, beyond what capacity left?
is_part_settled() {
    local now
    now=$(rows 1)
    [ -n "$now" ] || return 1
    first=${first:-$now}
    [ "$now" -gt "$first" ]
}

# Killed once a part of the marks is settled, however fast the machine is. One that
# was at its end before the signal came is tried again.
for _ in 1 2 3 4 5; do
    rm -rf cut
    first=''
    "$ssdprobe" verify "$disk" "${options[@]}" --output-dir=cut >/dev/null 2>&1 &
    pid=$!
    until is_part_settled || ! kill -0 $pid 2>/dev/null; do
        sleep 0.02
    done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ -e cut/report.html ] || break
done
check "a killed verify has no report" test ! -e cut/report.html
settled=$(rows 1)
check "a part of it is settled ($first, then $settled rows)" \
    test "$settled" -gt "$first"
ends 0 "and goes on" "$ssdprobe" --resume=cut "${options[@]}"
check "to its end" grep -q 'all 1 GiB give back' cut/report.txt
writes=$(samples cut | grep -c ',verify,write,')
check "each place is written once in its rows ($writes)" \
    test "$writes" -eq "$((1024 * 1048576 / $(samples cut |
        awk -F, '/,verify,write,/ { print $9; exit }')))"
check "badblocks agrees" sh -c "test -z \"\$(badblocks -b 4096 $disk)\""

before=$(sha256sum <image)
ends 0 "scan ends well" "$ssdprobe" scan "$disk" "${options[@]}" \
    --output-dir=scanned
check "and writes nothing" test "$before" = "$(sha256sum <image)"
check "it has read all" grep -q 'all 1 GiB can be read' scanned/report.txt
check "and draws its figure" test -s scanned/figures/scan.svg

# What a stick that holds a quarter of what it says returns.
ends 9 "verify tells a fake" "$ssdprobe" verify --quiet \
    sim:sd-card,capacity_bytes=1GiB,real_capacity_bytes=256MiB --output-dir=fake
check "with its places" grep -q '768 MiB at byte 0' fake/report.txt
check "and its figure" test -s fake/figures/verify.svg
ends 9 "verify goes on where capacity failed" "$ssdprobe" verify --quiet \
    sim:sd-card,capacity_bytes=256MiB,real_capacity_bytes=64MiB,fake_capacity=errors \
    --output-dir=errors
check "with all places" grep -q '192 MiB of 256 MiB do not give back' errors/report.txt
ends 4 "a drive that vanishes ends it" "$ssdprobe" scan --quiet \
    sim:sd-card,capacity_bytes=256MiB,vanish_at_ns=5s --output-dir=gone
check "and has no bad place" grep -q 'nothing bad was seen so far' gone/report.txt
ends 1 "verify has to write" "$ssdprobe" verify --read-only sim:sd-card
ends 5 "and says where it has no answer" "$ssdprobe" verify --quiet \
    sim:sd-card,capacity_bytes=256MiB --time-limit=2
ends 9 "scan tells what cannot be read" "$ssdprobe" scan --quiet \
    sim:sd-card,bad_place=fails,bad_offset_bytes=1MiB,bad_length_bytes=4KiB \
    --output-dir=fails
check "how to save the rest" grep -q 'ddrescue -d DEVICE' fails/report.html
ends 0 "scan tells what is slow" "$ssdprobe" scan --quiet \
    sim:sd-card,bad_place=slow,bad_ns=1s,bad_offset_bytes=1GiB,bad_length_bytes=64MiB \
    --output-dir=slow
check "and what to do" grep -q 'badblocks -nsv -b 4096 DEVICE' slow/report.html
summary
