#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The whole road: ssdprobe on real block devices, by the machine's own clock. The
# findings of a served ssd-a (five times in a row with the long tests), of ssd-c,
# and of three sticks.
#   test_road.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
serve_seconds=2000
run_seconds=500
# shellcheck source=tests/serving.sh
. "$sources/tests/serving.sh"
# shellcheck source=tests/runs.sh
. "$sources/tests/runs.sh"

# How often other work on this machine may keep a run from an answer.
tries=4

# nothing_wrong FINDING...: what is stated of these parameters is the findings.
nothing_wrong() {
    local finding
    for finding; do
        ! grep -E "^${finding%% *} (found|absent)" said |
            grep -vE "^$finding( |\$)" || return
    done
}
all_found() {
    local finding
    for finding; do grep -qE "^$finding( |\$)" said || return; done
}

# measure SEED PROBES FINDING...: what the probes say of the served drive is these.
# A wrong one fails at once; of what is left open there is another measurement.
measure() {
    local seed=$1 probes=$2 try
    shift 2
    for ((try = 1; try <= tries; try++)); do
        on_device found.json run "$probes" \
            --seed="$((seed + 100 * try))"
        says found.json >said
        check "run $seed on $drive, try $try, says nothing wrong: $(cat said)" \
            nothing_wrong "$@"
        ! all_found "$@" || break
    done
    check "run $seed on $drive ends well, not in $status: $(cat err)" \
        test "$status" -eq 0 -o "$status" -eq 5
    check "run $seed on $drive finds all: $(cat said)" all_found "$@"
}

# ssd DRIVE TIMES PAGE READ_BUFFER WRITE_BUFFER: found so often in a row, in bytes.
ssd() {
    local i drive=$1
    serve "$drive"
    for ((i = 1; i <= $2; i++)); do
        measure "$i" clustered-page,read-buffer,write-buffer \
            "clustered_page found $3" "read_buffer found $4" \
            "write_buffer found $5"
    done
    kill -TERM "$server"
    check "the server of $drive ends" soon 10 is_dead "$server"
}

# What Sun & Zhang found in three sticks (table 3): the groups; with the long
# tests, since merges take minutes of real time, the logs and the contents too.
stick() { # DRIVE GROUPS LOGS CONTENT_DEPENDENCE
    local drive=$1
    serve "$drive"
    if [ -n "${SSDPROBE_TEST_LONG-}" ]; then
        measure 1 log-list,inter-request-distance,content \
            "segment_groups found $2" "log_list found $3" \
            "content_dependence found $4"
    else
        measure 1 inter-request-distance "segment_groups found $2"
    fi
    kill -TERM "$server"
    check "the server of $drive ends" soon 10 is_dead "$server"
}

if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || [ ! -e /dev/loop-control ]
then
    fail "these tests need root, /dev/fuse and /dev/loop-control"
    summary
    exit 1
fi
times=1
[ -z "${SSDPROBE_TEST_LONG-}" ] || times=5
ssd ssd-a "$times" 16384 262144 261120
ssd ssd-c 1 4096 3145728 114688
stick usb-unknown-1g 4 3 True
stick usb-kingston-1g 2 4 False
stick usb-pny-2g 2 4 False
summary
