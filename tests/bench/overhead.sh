#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What does our own timing add to a read? Random 4 KiB reads at depth 1 of one
# loop disk, in interleaved pairs: lib/device (tests/bench/overhead_read.c) and
# fio with io_uring. A request's time runs from before it is sent until it is
# back, which is fio's `lat`; `clat` leaves out the system call that sends it
# (`slat`), so it is shown but not judged.
#   overhead.sh SOURCE_DIR BUILD_DIR [PAIRS [READS]]
# Goal: the 95 % bound of the median ratio of medians is at most 1.02.
set -u
build_dir=$2
pairs=${3:-61}
reads=${4:-2000}
goal=1.02
size_mib=256
work=$(mktemp -d /var/tmp/overhead.XXXXXX)
disk=

finish() {
    [ -n "$disk" ] && losetup -d "$disk"
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for program in fio python3 losetup; do
    if ! command -v $program >"$work/where"; then
        echo "overhead: $program is missing: apt-get install $program" >&2
        exit 2
    fi
done
if [ ! -x "$build_dir/bench_overhead" ]; then
    echo "overhead: build it first: ninja -C $build_dir bench_overhead" >&2
    exit 2
fi
dd if=/dev/urandom of="$work/disk" bs=1M count=$size_mib conv=fsync \
    status=none || exit 2
disk=$(losetup --find --show --direct-io=on "$work/disk") || exit 2
if [ ! -b "$disk" ]; then
    echo "overhead: no loop disk" >&2
    exit 2
fi

# Both print: median p99, in ns; fio those of clat as well.
ours() { # SEED
    "$build_dir/bench_overhead" "$disk" "$reads" "$1" | cut -d' ' -f1,2
}
theirs() { # SEED
    fio --name=read --filename="$disk" --readonly --ioengine=io_uring \
        --direct=1 --rw=randread --bs=4k --iodepth=1 --randseed="$1" \
        --number_ios="$reads" --lat_percentiles=1 --clat_percentiles=1 \
        --percentile_list=50:99 --output-format=json |
        python3 -c 'import json, sys
read = json.load(sys.stdin)["jobs"][0]["read"]
print(*[read[kind]["percentile"][share] for kind in ("lat_ns", "clat_ns")
        for share in ("50.000000", "99.000000")])'
}

ours 0 >"$work/warm" && theirs 0 >>"$work/warm" || exit 2
printf '%4s %10s %10s %10s %10s %8s %8s %8s\n' pair 'ours p50' 'fio p50' \
    'ours p99' 'fio p99' p50 p99 'p50/clat'
for pair in $(seq "$pairs"); do
    # Who goes first alternates, so that a drift favours neither.
    if [ $((pair % 2)) = 0 ]; then
        us=$(ours "$pair") && them=$(theirs "$pair") || exit 2
    else
        them=$(theirs "$pair") && us=$(ours "$pair") || exit 2
    fi
    echo "$pair $us $them" >>"$work/pairs"
    echo "$pair $us $them" | awk '{ printf \
        "%4d %7.1f us %7.1f us %7.1f us %7.1f us %8.3f %8.3f %8.3f\n",
        $1, $2 / 1e3, $4 / 1e3, $3 / 1e3, $5 / 1e3, $2 / $4, $3 / $5, $2 / $6 }'
done

# The median of n ratios, and the interval of order statistics that holds it
# with at least 95 %: no assumption on their distribution.
interval() { # NAME EXPRESSION
    awk "{ printf \"%.6f\\n\", $2 }" "$work/pairs" | sort -n |
        awk -v name="$1" '
        { ratio[NR] = $1 }
        END {
            p = 0.5 ^ NR
            below = 0
            rank = 0
            while (below + p <= 0.025) {
                below += p
                rank++
                p *= (NR - rank + 1) / rank
            }
            middle = NR % 2 ? ratio[(NR + 1) / 2] \
                            : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
            if (rank == 0) { print name, middle, "-", "-"; exit }
            print name, middle, ratio[rank], ratio[NR + 1 - rank]
        }'
}

interval 'p50/lat' '$2 / $4' >"$work/p50"
interval 'p99/lat' '$3 / $5' >>"$work/p50"
interval 'p50/clat' '$2 / $6' >>"$work/p50"
awk '{ printf "%-9s median %.3f, 95 %% between %s and %s\n", $1, $2, $3, $4 }' \
    "$work/p50"
bound=$(awk 'NR == 1 { print $4 }' "$work/p50")
if [ "$bound" = - ]; then
    echo "overhead: too few pairs for a bound: 6 or more" >&2
    exit 2
fi
if awk -v bound="$bound" -v goal=$goal 'BEGIN { exit !(bound <= goal) }'; then
    echo "met: bound $bound, goal $goal"
else
    echo "missed: bound $bound, goal $goal"
    exit 1
fi
