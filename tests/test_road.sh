#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The whole road: ssdprobe on real block devices. The findings of a served ssd-a
# (five times in a row with the long tests) and of ssd-c; none on a plain file; a
# drive that vanishes, and interruption at twenty random moments, leave a valid
# document and nothing else.
#   test_road.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
serve_seconds=550
run_seconds=500
# shellcheck source=tests/serving.sh
. "$1/tests/serving.sh"

three=clustered-page,read-buffer,write-buffer

# run FILE ARGUMENT...: the three probes on $device; sets `status`.
run() {
    local file=$1
    shift
    timeout -k 5 "$run_seconds" "$ssdprobe" run "$three" --yes --allow-virtual \
        --progress=none --json="$file" "$@" "$device" \
        >"$work/report" 2>"$work/stderr"
    status=$?
}

# says FILE: 'parameter verdict value', a line each.
says() {
    python3 - "$1" <<'PYTHON'
import json
import sys

for f in json.load(open(sys.argv[1]))["findings"]:
    why = "" if f["verdict"] == "found" else " (%s)" % f["why"]
    print(f["parameter"], f["verdict"], f["value"], end=why + "\n")
PYTHON
}

is_valid() {
    python3 - "$1" "$schema" <<'PYTHON'
import json
import sys

import jsonschema

jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))
PYTHON
}
schema=$sources/lib/report/ssdprobe.schema.json

# ssd DRIVE TIMES PAGE READ_BUFFER WRITE_BUFFER: found so often in a row, in bytes.
# Where other work on this machine kept a run from an answer, there is another.
ssd() {
    local i seed drive=$1 times=$2
    local right="clustered_page found $3|read_buffer found $4|write_buffer found $5"
    serve "$drive" --via loop
    for ((i = 1; i <= times; i++)); do
        for seed in "$i" "10$i"; do
            run "$work/found.json" --seed="$seed"
            says "$work/found.json" >"$work/found"
            check "run $i on $drive says nothing wrong: $(cat "$work/found")" \
                eval "! grep -E '^(clustered_page|(read|write)_buffer) found' \
                    '$work/found' | grep -qvxE '$right'"
            [ "$status" -eq 5 ] || break
        done
        check "run $i on $drive ends well: $(cat "$work/stderr")" \
            test "$status" -eq 0
        check "run $i on $drive finds all: $(cat "$work/found")" \
            test "$(grep -cxE "$right" "$work/found")" -eq 3
    done
    check "the document of a real disk is valid" is_valid "$work/found.json"
    kill -TERM "$server"
    check "the server of $drive ends" soon 10 is_dead "$server"
}

# What Sun & Zhang found in three sticks (table 3): the groups; with the long
# tests, since merges take minutes of real time, the logs and the contents too.
stick() {
    local three=inter-request-distance
    [ -z "${SSDPROBE_TEST_LONG-}" ] || three=log-list,$three,content
    serve "$1" --via loop
    run "$work/stick.json" --seed=1
    says "$work/stick.json" >"$work/found"
    check "$1 has $2 groups: $(cat "$work/found")" \
        grep -qx "segment_groups found $2" "$work/found"
    if [ -n "${SSDPROBE_TEST_LONG-}" ]; then
        check "$1 has a log list of $3" grep -qx "log_list found $3" \
            "$work/found"
        check "content matters to $1: $4" \
            grep -qx "content_dependence found $4" "$work/found"
    fi
    kill -TERM "$server"
    check "the server of $1 ends" soon 10 is_dead "$server"
}

# A loop device over an ordinary file shows nothing of flash.
plain_file() {
    truncate -s 1G "$work/plain.img"
    device=$(losetup -f --show "$work/plain.img")
    check "there is a loop device" test -b "$device"
    run "$work/plain.json" --seed=1
    losetup -d "$device"
    check "nothing is found on a plain file: $(says "$work/plain.json")" \
        eval "! says '$work/plain.json' | grep -q ' found '"
    check "every parameter has a verdict" \
        test "$(says "$work/plain.json" | wc -l)" -eq 4
    rm -f "$work/plain.img"
}

ram_disk() {
    device=sim:ram-disk
    run "$work/ram.json" --seed=1
    check "nothing is found on a RAM disk: $(says "$work/ram.json")" \
        eval "! says '$work/ram.json' | grep -q ' found '"
}

vanishing() {
    local probing
    serve ssd-a --via loop
    timeout -k 5 60 "$ssdprobe" run "$three" --yes --allow-virtual \
        --progress=none --json="$work/gone.json" "$device" \
        >"$work/report" 2>"$work/stderr" &
    probing=$!
    sleep 2
    kill -KILL "$server"
    wait "$probing"
    status=$?
    check "a vanished device ends in status 4 (it was $status)" \
        test "$status" -eq 4
    check "one sentence says so: $(cat "$work/stderr")" \
        grep -q "$device.*failed" "$work/stderr"
    check "its document is valid" is_valid "$work/gone.json"
    check "no finding came of it" \
        eval "! says '$work/gone.json' | grep -q ' found '"
    check "the helper goes as well" soon 20 is_dead "$attendant"
}

# SIGINT while probes write to a served drive.
interrupted() {
    local i probing pause
    serve ssd-a --via loop
    RANDOM=20
    for i in $(seq 20); do
        pause=$(printf '0.%03d' $((RANDOM % 1000)))
        rm -f "$work/partial.json"
        "$ssdprobe" run "$three" --yes --allow-virtual --progress=none \
            --json="$work/partial.json" --seed="$i" "$device" \
            >"$work/report" 2>"$work/stderr" &
        probing=$!
        sleep "$pause"
        # Not before it can catch the signal: exec and a look at the tables.
        soon 5 grep -q '^SigCgt:.*[2367abef]$' "/proc/$probing/status"
        kill -INT "$probing"
        wait "$probing"
        status=$?
        check "SIGINT after $pause s ends in 130 (it was $status)" \
            test "$status" -eq 130
        check "SIGINT after $pause s leaves a valid document" \
            is_valid "$work/partial.json"
    done
    kill -INT "$server"
    check "the server ends after SIGINT" soon 10 is_dead "$server"
    check "the loop device is gone" \
        eval "! losetup -l -n -O NAME | grep -qx '$device'"
    check "no file of the server is left" eval "! has_files '$server'"
}

if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || [ ! -e /dev/loop-control ]
then
    fail "these tests need root, /dev/fuse and /dev/loop-control"
    summary
    exit 1
fi
ram_disk
plain_file
vanishing
interrupted
times=1
[ -z "${SSDPROBE_TEST_LONG-}" ] || times=5
ssd ssd-a "$times" 16384 262144 261120
ssd ssd-c 1 4096 3145728 114688
stick usb-unknown-1g 4 3 True
stick usb-kingston-1g 2 4 False
stick usb-pny-2g 2 4 False
summary
