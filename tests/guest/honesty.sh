#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/guest/honesty.sh SOURCE BUILD HONESTY SERIAL...: what the flush probe says of disks
# whose flushes are of that HONESTY, over the driver of each. It may say nothing,
# for the guest's processor is emulated and busy, but not of all; and a wrong word
# is never said.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
source=$1 honesty=$3
shift 3

told=0
for serial; do
    ssdprobe run flush "$(disk_of "$serial")" --confirm="$serial" \
        --progress=none --seed=1 --output-dir="/tmp/run-$serial" \
        --json=/tmp/json >/tmp/report 2>/tmp/messages
    status=$?
    check "$serial: the probe ends" test "$status" -eq 0 -o "$status" -eq 5
    read -r _ verdict value _ _ why < <(awk -f \
        "$source/tests/guest/findings.awk" /tmp/json | grep '^flush_honesty ')
    echo "$serial: $verdict $value: $why"
    check "$serial: nothing but $honesty is said" test "$verdict" = \
        inconclusive -o "$verdict $value" = "found $honesty"
    [[ $verdict != found ]] || ((told++))
done
check "it is told of $told of $# disks" test "$told" -gt 0

summary
