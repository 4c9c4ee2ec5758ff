#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_speed.sh SOURCE_DIR BUILD_DIR: what a request costs the model, in
# instructions, which other load does not change: 5 million random reads and 2
# million random writes a second, and 64 GB written in order in 0.2 s, leave a
# processor of 3 GHz 600, 1500 and 38 cycles for each read, write and page. It
# does two instructions in one of them, and nearly three in the loop of a fill.
set -u

build_dir=$(realpath -- "$2")
passed=0 failed=0

# verdict WHAT MEASURED MOST
verdict()
{
    if awk -v got="$2" -v most="$3" 'BEGIN { exit !(got > 0 && got <= most) }'
    then
        echo "ok   $1: $2, at most $3"
        ((passed += 1))
    else
        echo "FAIL $1: $2, at most $3"
        ((failed += 1))
    fi
}

# instructions DRIVE WHAT BEFORE COUNT
instructions()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$build_dir/model_cost" "$@" 2>&1 >/dev/null |
        awk '/Collected/ { print $NF }'
}

# each DRIVE WHAT BEFORE COUNT: instructions of one of the COUNT requests.
each()
{
    local without with
    without=$(instructions "$1" "$2" "$3" 0)
    with=$(instructions "$@")
    awk -v a="${without:-0}" -v b="${with:-0}" -v n="$4" \
        'BEGIN { printf "%.0f\n", (b - a) / n }'
}

# The drive of `flashemu bench`, cut so that it is soon written over.
drive=bench-64g,capacity_bytes=128MiB
verdict 'a random read of 4 KiB' "$(each $drive read 0 50000)" 1100
# 1.4 times its pages: cleaning has settled.
verdict 'a random write of 4 KiB, cleaning included' \
    "$(each $drive write 60000 30000)" 1700
# Banks with queues: each read is four events of its bank. A write is also read
# and programmed again by the cache of flash and by cleaning.
verdict 'a random read of 4 KiB, die queues' "$(each nvme-tlc read 0 20000)" 3200
verdict 'a random write of 4 KiB, die queues' \
    "$(each nvme-tlc,capacity_bytes=8GiB write 60000 10000)" 14100
fill=$(each $drive,initial_state=fresh fill 0 128)
verdict 'a page of a fill' "$((fill / 256))" 105
verdict 'bytes of memory a page' \
    "$("$build_dir/model_cost" bench-64g read 0 1)" 8

echo "$passed passed, $failed failed"
((failed == 0))
