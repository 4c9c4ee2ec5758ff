#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How late does a served drive answer, beyond what a drive of zero latency
# served the same way costs? Goal: 25 us at the median, 100 us at p99.
#   serve_latency.sh SOURCE_DIR BUILD_DIR [PAUSE]
set -u
source_dir=$1
build_dir=$2
pause=${3:-}
goal_p50_us=25
goal_p99_us=100
work=$(mktemp -d)
servers=()

finish() {
    for server in "${servers[@]}"; do kill "$server" 2>/dev/null; done
    wait
    rm -rf "$work"
}
trap finish EXIT

# Sets `device` and `server`.
serve() { # SPEC
    rm -f "$work/out"
    timeout --foreground 300 "$build_dir/flashemu" serve "$1" --size=64M \
        >"$work/out" 2>"$work/err" &
    server=$!
    servers+=("$server")
    for _ in $(seq 100); do
        [ -s "$work/out" ] && break
        sleep 0.05
    done
    device=$(cat "$work/out")
    if [ ! -b "$device" ]; then
        echo "serve_latency: no device for $1: $(cat "$work/err")" >&2
        exit 2
    fi
}

${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -I"$source_dir" \
    "$source_dir/tests/bench/serve_latency.c" \
    "$source_dir"/lib/base/{random,units}.c -lm -o "$work/client" || exit 2

serve ram-disk,direct_ns=0us
zero=$device
echo "target      zero p50    zero p99    late p50    late p99  verdict"
met=0
missed=0
for row in 50us:6000 100us:6000 200us:4000 500us:2000 1ms:1500 2ms:1000 \
    5ms:600 10ms:500 20ms:500; do
    target=${row%:*}
    serve "ram-disk,direct_ns=$target"
    figures=$("$work/client" "$zero" "$device" "$target" "${row#*:}" \
        ${pause:+"$pause"}) ||
        exit 4
    kill "$server"
    wait "$server"
    if echo "$figures" | awk -v goal_p50=$goal_p50_us -v goal_p99=$goal_p99_us \
        -v target="$target" '{
            late_p50 = ($3 - $1) / 1e3
            late_p99 = ($4 - $2) / 1e3
            good = late_p50 <= goal_p50 && late_p99 <= goal_p99
            printf "%-8s %8.1f us %8.1f us %+8.1f us %+8.1f us  %s\n",
                target, $1 / 1e3, $2 / 1e3, late_p50, late_p99,
                good ? "met" : "MISSED"
            exit !good }'; then
        met=$((met + 1))
    else
        missed=$((missed + 1))
    fi
done
echo "late: than the latency asked for, beyond the zero drive's same quantile;"
echo "goal: at most $goal_p50_us us at p50, $goal_p99_us us at p99"
echo "$met met, $missed missed"
[ "$missed" -eq 0 ]
