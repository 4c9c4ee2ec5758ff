#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# controls.sh SOURCE BUILD: block devices without flash. ssdprobe runs to its end
# on each of them, says what requests cost, and finds nothing else.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
source=$1

# All that a drive of flash may have. What is found to be false is not there.
flash='clustered_page read_modify_write clustered_block nand_type read_buffer
smallest_request write_buffer log_block log_list segment_groups group_switch
content_dependence content_unit'

answered() # PARAMETER
{
    grep -E "^$1 (absent|inconclusive|skipped|found false) " /tmp/findings
}

control() # DEVICE
{
    local before parameter status
    check "$1 is a block device" test -b "$1" || return
    before=$(date +%s)
    ssdprobe "$1" --yes --allow-virtual --progress=none --write-budget=64G \
        --output-dir="/tmp/run${1//\//-}" --json="/results/${1##*/}.json" \
        >/tmp/report 2>/tmp/messages
    status=$?
    echo "$1: $(($(date +%s) - before)) s of this machine's time"
    check "$1: the run ends well ($(tail -n 1 /tmp/messages))" \
        test "$status" -eq 0 -o "$status" -eq 5
    awk -f "$source/tests/guest/findings.awk" "/results/${1##*/}.json" |
        tee /tmp/findings
    check "$1: it says what a read costs" \
        grep -qE '^random_read found [0-9]+ ' /tmp/findings
    for parameter in $flash; do
        check "$1: there is no $parameter" answered "$parameter"
    done
}

control /dev/nullb0
control /dev/ram0
control "$(disk_of 2000)"
truncate -s 256M /tmp/file
loop=$(losetup -f)
losetup "$loop" /tmp/file
control "$loop"
losetup -d "$loop"
summary
