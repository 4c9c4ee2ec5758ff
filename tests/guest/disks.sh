#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# disks.sh SOURCE BUILD: what `ssdprobe check` says of each kind of disk of
# devices.sh, and what --write-cache and a run do to it.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"

# Serial number, then what the report says: model, firmware ('?': whatever the
# emulated disk is called), bus and driver, write cache, USB, health.
table='
sata|QEMU HARDDISK|1.0|sata, driver sd|write back||SMART says that it is healthy, 31 C, on for 1 h
sata-through|QEMU HARDDISK|?|sata, driver sd|write through||SMART says that it is healthy, 31 C, on for 1 h
usb|QEMU HARDDISK|?|usb, driver sd|write back|usb-storage at 5000 Mb/s, 46f4:0001 QEMU USB HARDDRIVE|SMART does not answer
usb-through|QEMU HARDDISK|?|usb, driver sd|write through|usb-storage at 5000 Mb/s, 46f4:0001 QEMU USB HARDDRIVE|SMART does not answer
uas|Maker Disk|2.0|usb, driver sd|write back|uas at 5000 Mb/s, 46f4:0003 QEMU USB Attached SCSI HBA|SMART does not answer
nvme|QEMU NVMe Ctrl|?|nvme, driver nvme|write back||its health log says that it is healthy (0 % spare, 0 % of its life used, 50 C)
nvme-through|QEMU NVMe Ctrl|?|nvme, driver nvme|write through||its health log says that it is healthy (0 % spare, 0 % of its life used, 50 C)
'

# fact LABEL WORDS: a line of the report; no words, no line.
fact()
{
    local found
    found=$(sed -n "s/^  $1   *//p" /tmp/report)
    if [[ $2 == '?' ]]; then
        [[ -n $found ]]
    else
        echo "'$found'" && [[ $found == "$2" ]]
    fi
}
sentence()
{
    tr -s ' \n' ' ' </tmp/report | grep -F -- "Health: $1"
}

while IFS='|' read -r serial model firmware bus cache usb health; do
    [[ -n $serial ]] || continue
    disk=$(disk_of "$serial")
    check "$serial: it may be probed" sh -c \
        "COLUMNS=400 ssdprobe check '$disk' >/tmp/report"
    check "$serial: model" fact Model "$model"
    check "$serial: serial number" fact "Serial number" "$serial"
    check "$serial: firmware" fact Firmware "$firmware"
    check "$serial: bus" fact Bus "$bus"
    check "$serial: write cache" fact "Write cache" "$cache"
    check "$serial: USB" fact USB "$usb"
    check "$serial: SMART in one sentence" sentence "$health"
done <<<"$table"

# Programs that know nothing of us.
says() # WORDS COMMAND...
{
    local words=$1
    shift
    "$@" >/tmp/said 2>&1
    # An exit status of smartctl is about the drive's past as well.
    cat /tmp/said
    grep -qE -- "$words" /tmp/said
}
sata=$(disk_of sata) nvme=$(disk_of nvme)
check "hdparm -I tells the model" says 'Model Number: *QEMU HARDDISK' \
    hdparm -I "$sata"
check "and the serial number" grep -q 'Serial Number: *sata *$' /tmp/said
check "hdparm -t reads" says 'disk reads:.* MB in .* seconds = .* MB/sec' \
    hdparm -t "$sata"
check "smartctl finds a SATA disk healthy" says 'test result: PASSED' \
    smartctl -i -H -A "$sata"
check "and tells its temperature" grep -qE 'Temperature_Cel.* 31' /tmp/said
check "smartctl finds an NVMe disk healthy" says 'test result: PASSED' \
    smartctl -i -H -A "$nvme"
check "and its serial number" grep -q 'Serial Number: *nvme$' /tmp/said
check "smartctl tells who a UAS disk is" says 'Product: *Disk' \
    smartctl -i -d scsi "$(disk_of uas)"
check "nvme id-ctrl tells the model" says 'mn *: QEMU NVMe Ctrl' \
    nvme id-ctrl "$nvme"
check "nvme smart-log finds nothing wrong" says 'critical_warning\s*: 0' \
    nvme smart-log "$nvme"

# A run, short: few writes, but with all that a run does. Its exit status says
# whether something is inconclusive, which matters little here.
run() # SERIAL OPTION...
{
    run_on "$(disk_of "$1")" "$@"
}
run_on() # DISK SERIAL OPTION...
{
    local disk=$1 serial=$2
    shift 2
    ssdprobe run basic "$disk" --confirm="$serial" -v \
        --region=0,32MiB --time-limit=2s --output-dir="/tmp/run-$((++runs))" \
        --json=/tmp/json "$@" >/tmp/report 2>/tmp/messages
    local status=$?
    ((status == 0 || status == 5))
}
runs=0
cache_of()
{
    local disk
    disk=$(disk_of "$1")
    case $disk in
        *nvme*) ssdprobe check "$disk" | sed -n 's/^  Write cache   *//p' ;;
        *) cat "/sys/block/${disk#/dev/}"/device/scsi_disk/*/cache_type ;;
    esac
}

for serial in sata uas nvme; do
    check "$serial: a run with its write cache off" run "$serial" \
        --write-cache=off
    check "$serial: it was off during the run" fact 'Write cache' 'write through'
    check "$serial: nothing was refused" sh -c '! grep -q switched /tmp/messages'
    check "$serial: and is on again" test "$(cache_of "$serial")" = 'write back'
done
for serial in sata-through nvme-through; do
    check "$serial: a run with its write cache on" run "$serial" \
        --write-cache=on
    check "$serial: it was on during the run" fact 'Write cache' 'write back'
    check "$serial: and is off again" \
        test "$(cache_of "$serial")" = 'write through'
done
check "the run says what its health was afterwards" \
    eval "tr -s ' \n' ' ' </tmp/report | grep -q 'Health after .* C'"
check "so does its document" grep -q '"when": "after"' /tmp/json
check "with the hours it was on" grep -q '"power_on_hours": [0-9]' /tmp/json

# Interrupted: put back all the same.
is_off() { [[ $(cache_of sata) == 'write through' ]]; }
ssdprobe "$(disk_of sata)" --confirm=sata --write-cache=off \
    --output-dir=/tmp/run-interrupted >/tmp/report 2>/tmp/messages &
check "a run switches the cache off" soon 30 is_off
kill -INT $!
wait $!
check "interrupted, it exits with 130" test $? -eq 130
check "and has put the cache back" test "$(cache_of sata)" = 'write back'

# Pulled out of its port while it is measured, and plugged in again.
contents()
{
    dd if="$1" bs=1M count=16 iflag=direct 2>/dev/null | md5sum
}
pull_out() # SERIAL
{
    local disk port status was run=/tmp/pulled-$1
    disk=$(disk_of "$1")
    port=$(realpath "/sys/block/${disk#/dev/}")
    port=${port%%:1.0/*}
    port=${port%/*}
    dd if=/dev/urandom of="$disk" bs=64k count=8 oflag=direct 2>/dev/null
    # By what is behind the region it is known again.
    dd if=/dev/urandom of="$disk" bs=1M seek=16 count=112 oflag=direct \
        2>/dev/null
    was=$(contents "$disk")
    (soon 60 test -s "$run/state.json" && echo 0 >"$port/authorized") &
    ssdprobe run basic "$disk" -q --confirm="$1" --region=0,16MiB --preserve \
        --tune=safe --output-dir="$run" >/tmp/report 2>/tmp/messages
    status=$?
    check "$1: pulled out, it ends in 7, not in $status" test "$status" = 7
    check "$1: and says why: $(cat /tmp/messages)" grep -q \
        'failed: No such device; the device has disappeared' /tmp/messages
    check "$1: and what to do" grep -q \
        "plug it in again and run 'ssdprobe restore $run'" /tmp/messages
    check "$1: what it measured is a document" grep -q inconclusive \
        "$run/report.json"
    echo 1 >"$port/authorized"
    soon 30 disk_of "$1"
    disk=$(disk_of "$1")
    ssdprobe restore "$run" >/tmp/report 2>/tmp/messages
    status=$?
    check "$1: plugged in, restore finds it: $(cat /tmp/messages)" \
        test "$status" = 0
    check "$1: its contents are back" test "$(contents "$disk")" = "$was"
}
pull_out usb
pull_out uas

# What cannot be switched is measured as it is.
truncate -s 64M /tmp/file
loop=$(losetup -f)
losetup "$loop" /tmp/file
check "a disk that refuses is probed all the same" \
    run_on "$loop" "$loop" --write-cache=off --allow-virtual
check "with a warning" grep -q \
    'does not allow its write cache to be switched.*write back' /tmp/messages
losetup -d "$loop"
summary
