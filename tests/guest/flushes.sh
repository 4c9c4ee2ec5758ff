#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# flushes.sh SOURCE BUILD: of each kind of disk, which flush --flush=auto chooses,
# and what a drive gets to see of flushes: exactly one for each that the device
# layer sends. Needs the disks of devices.sh with write cache and without.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"

# disk: kind, then 'method chosen flushes forced' for each turn of one write. With
# no write cache QEMU forces each write, which tells nothing about the guest.
table='
sata
auto         ata      1 0
ata          ata      1 0
scsi         scsi     1 0
nvme         refused
sync         sync     1 0
none         none     0 0
fsync        -        1 0
fdatasync    -        1 0
BLKFLSBUF    -        0 0
sync(2)      -        0 0
O_DSYNC      -        2 0

sata-through
auto         ata      1 1
ata          ata      1 1
scsi         scsi     1 1
nvme         refused
sync         sync     0 1
none         none     0 1
fsync        -        0 1
fdatasync    -        0 1
BLKFLSBUF    -        0 1
sync(2)      -        0 1
O_DSYNC      -        0 1

usb uas
auto         scsi     1 0
ata          refused
scsi         scsi     1 0
nvme         refused
sync         sync     1 0
none         none     0 0
fsync        -        1 0
fdatasync    -        1 0
BLKFLSBUF    -        0 0
sync(2)      -        0 0
O_DSYNC      -        2 0

usb-through uas-through
auto         scsi     1 1
ata          refused
scsi         scsi     1 1
nvme         refused
sync         sync     0 1
none         none     0 1
fsync        -        0 1
fdatasync    -        0 1
BLKFLSBUF    -        0 1
sync(2)      -        0 1
O_DSYNC      -        0 1

nvme
auto         nvme     1 0
ata          refused
scsi         refused
nvme         nvme     1 0
sync         sync     1 0
none         none     0 0
fsync        -        1 0
fdatasync    -        1 0
BLKFLSBUF    -        0 0
sync(2)      -        0 0
O_DSYNC      -        1 0

nvme-through
auto         nvme     1 1
ata          refused
scsi         refused
nvme         nvme     1 1
sync         sync     1 1
none         none     0 1
fsync        -        1 1
fdatasync    -        1 1
BLKFLSBUF    -        0 1
sync(2)      -        0 1
O_DSYNC      -        1 1
'

# compare KIND EXPECTED: a check for each row.
compare()
{
    local row
    guest_flushes "$(disk_of "$1")" "$(disk_of "counts-$1")" \
        >"/tmp/rows-$1" 2>&1
    while read -r row; do
        check "$1: $row" grep -qxF -- "$row" "/tmp/rows-$1"
    done <<<"$2"
    check "$1: nothing else" diff - "/tmp/rows-$1" <<<"$2"
}

kinds='' rows=''
while IFS= read -r line; do
    if [[ -n $line && -z $kinds ]]; then
        kinds=$line
    elif [[ -n $line ]]; then
        rows+=${rows:+$'\n'}$line
    elif [[ -n $kinds ]]; then
        for kind in $kinds; do
            compare "$kind" "$rows"
        done
        kinds='' rows=''
    fi
done <<<"$table"$'\n'

# flushes_of KIND COMMAND...: how many flushes the drive has received when it is
# done, not counting those for an earlier write.
flushes_of()
{
    local kind=$1 before
    shift
    before=$(count "$kind")
    dd if=/dev/zero of="$(disk_of "$kind")" bs=4k count=1 oflag=direct \
        conv=notrunc 2>/dev/null
    "$@" >/tmp/said 2>&1
    echo "$? $(($(count "$kind") - before))"
}
count()
{
    dd if="$(disk_of "counts-$1")" iflag=direct bs=4k count=1 2>/dev/null |
        sed 's/.*"flushes_count": \([0-9]*\).*/\1/'
}
cache_of() { cat /sys/block/"$(basename "$(disk_of "$1")")"/device/scsi_disk/*/cache_type; }

# What hdparm says of itself cannot be relied on.
check "hdparm -F flushes a SATA disk" \
    test "$(flushes_of sata hdparm -F "$(disk_of sata)")" = '0 1'
check "hdparm -F exits with 0 on USB, and nothing was flushed" \
    test "$(flushes_of usb hdparm -F "$(disk_of usb)")" = '0 0'
check "hdparm -W0 exits with 0 on USB" hdparm -W0 "$(disk_of usb)"
check "and the cache is on as before" test "$(cache_of usb)" = 'write back'
check "nvme flush flushes an NVMe disk" \
    test "$(flushes_of nvme nvme flush "$(disk_of nvme)")" = '0 1'
summary
