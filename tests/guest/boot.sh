#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# boot.sh SOURCE BUILD MACHINE: what the other cases build on.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
build=$2 machine=$3

check "the control device of ublk is there" test -c /dev/ublk-control
check "the programs of the build run" "$build/flashemu" --version
check "a program of this machine runs" timeout 1 true
if [[ $machine == icount ]]; then
    before=$(date +%s)
    sleep 600
    check "ten minutes pass" test $(($(date +%s) - before)) -ge 600
else
    check "a disk is a block device" test -b /dev/sda
    check "there is a disk of libata" grep -q ATA /sys/block/sd*/device/vendor
fi
summary
