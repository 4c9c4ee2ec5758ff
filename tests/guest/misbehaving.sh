#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# misbehaving.sh SOURCE BUILD PART...: disks that let a run down, as the kernel's
# own drivers show it. Every run ends by itself, says why in one sentence, keeps a
# valid partial result, and puts back contents and settings, at once or by
# `restore` when the disk is back.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
flashemu=$2/flashemu
shift 2
debug=/sys/bus/pseudo/drivers/scsi_debug
parameters=/sys/module/scsi_debug/parameters
mount -t debugfs none /sys/kernel/debug
hosts=1

# scsi_disk: another disk of scsi_debug; sets disk, name, address, errors (what its
# commands shall meet: KIND COUNT COMMAND, see the kernel's scsi_debug.c).
scsi_disk()
{
    [[ -z ${disk-} ]] || echo 1 >$debug/add_host
    soon 10 disk_of "$((hosts * 2000))"
    disk=$(disk_of "$((hosts * 2000))") name=${disk#/dev/}
    ((hosts += 1))
    address=$(basename "$(realpath "/sys/block/$name/device")")
    errors=/sys/kernel/debug/scsi_debug/$address/error
    check "a disk of its own: $disk" test -b "$disk"
    fill
    was=$(contents)
    set=$(settings)
}

# Some before and behind the region, too: by that a disk is known again.
fill()
{
    dd if=/dev/urandom of="$disk" bs=1M count=7 oflag=direct 2>/dev/null
    dd if=/dev/urandom of="$disk" bs=1M seek=25 oflag=direct 2>/dev/null
    dd if=/dev/urandom of="$disk" bs=1M seek=15 count=2 oflag=direct 2>/dev/null
}
contents()
{
    dd if="$disk" bs=1M skip=7 count=18 iflag=direct 2>/dev/null | md5sum
}
settings()
{
    (cd "/sys/block/$name/queue" && grep -s . scheduler nomerges rq_affinity \
        nr_requests wbt_lat_usec add_random)
}

# run NAME PROBE [OPTION...]: sets status, seconds; see /tmp/NAME.*
run()
{
    local run=$1 probe=$2 began
    shift 2
    began=$(date +%s)
    timeout 900 ssdprobe run "$probe" "$disk" --yes --allow-virtual --quiet \
        --region=8MiB,16MiB --write-budget=4GiB "--output-dir=/tmp/$run" \
        --json="/tmp/$run.json" "$@" >/tmp/report 2>"/tmp/$run.err" </dev/null
    status=$?
    seconds=$(($(date +%s) - began))
    echo "$run: $status after $seconds s"
    sed 's/^/    /' "/tmp/$run.err"
    jq -r '.findings[]?, .conditions.items[]? | select(.grade != "green") |
        [.parameter, .verdict, .value, .why, .name, .reason] | "    \(.)"' \
        "/tmp/$run.json"
}

# meanwhile NAME COMMAND...: shortly after that run has begun to measure.
meanwhile()
{
    local run=$1
    shift
    (soon 60 test -s "/tmp/$run/state.json" && sleep 0.1 && eval "$*") &
}

# ended NAME STATUS PATTERN: with this status and sentence, and a document of it;
# nobody waits for the disk.
ended()
{
    check "$1: it ends in $2, not in $status" test "$status" = "$2"
    check "$1: it says so: $(cat "/tmp/$1.err")" grep -qE "$3" "/tmp/$1.err"
    check "$1: the document says the same" jq -e \
        ".ssdprobe.exit_status == $2 and (.findings | length) > 0" \
        "/tmp/$1.json"
    check "$1: its samples can be read" tells "/tmp/$1/samples.csv"*
}
tells() # SAMPLES
{
    ssdprobe infer -q "$1"
    case $? in 0 | 5) ;; *) false ;; esac
}
nothing_found() # NAME
{
    check "$1: nothing is found that was not measured" jq -e \
        '[.findings[].verdict] | index("found") == null' "/tmp/$1.json"
}
graded() # NAME ITEM PATTERN
{
    # shellcheck disable=SC2016 # these are variables of jq
    check "$1: the grade is red, and '$2' says why" jq -e --arg name "$2" \
        --arg pattern "$3" '.conditions.grade == "red" and
        any(.conditions.items[]; .name == $name and .grade == "red" and
            (.reason | test($pattern)))' "/tmp/$1.json"
}
all_back() # NAME
{
    check "$1: the settings are back" test "$(settings)" = "$set"
    check "$1: the contents are back" test "$(contents)" = "$was"
    check "$1: nothing is left to be put back" \
        test ! -e "/tmp/$1/journal" -a ! -e "/tmp/$1/settings"
}
restore() # NAME
{
    ssdprobe restore "/tmp/$1" >/tmp/report 2>/tmp/restored
    status=$?
}
restored() # NAME
{
    restore "$1"
    check "$1: restore puts the rest back: $(cat /tmp/restored)" \
        test "$status" = 0
    all_back "$1"
}

# The kernel resets the disk after half a minute, and all is well again.
resets()
{
    scsi_disk
    # An abort that fails as well makes it a reset.
    meanwhile resets "echo '3 -1 0x28' >$errors; echo '0 -1 0x28' >$errors"
    run resets basic --preserve --tune=max
    ended resets 0 'has not answered for 1[0-9]\.[0-9] s; waiting for up to five'
    graded resets 'kernel log' 'Power-on or device reset occurred'
    graded resets silence 'stalled for up to 3[0-9]\.'
    all_back resets
}

# The kernel gives it up after some resets.
fails()
{
    scsi_disk
    meanwhile fails "echo '0 1 0x28' >$errors"
    run fails basic --preserve --tune=max
    ended fails 7 'could not be restored'
    nothing_found fails
    graded fails silence 'stalled for up to 9'
    graded fails 'kernel log' "I/O error, dev $name"
    check "fails: the settings are back" test "$(settings)" = "$set"
    echo '- 0 0x28' >"$errors"
    echo running >"/sys/block/$name/device/state"
    restored fails
}

# No driver has a limit here: it is the program's own.
silent()
{
    serve plain-disk --via=ublk
    disk=$device
    fill
    was=$(contents)
    set=$(settings)
    meanwhile silent kill -STOP "$server"
    run silent basic --preserve --tune=max
    ended silent 7 'not answered for minutes'
    nothing_found silent
    graded silent silence 'did not answer for 30[0-9] s, so the run gave up'
    check "silent: it ended after five minutes, not $seconds s" \
        test "$seconds" -ge 300 -a "$seconds" -lt 330
    check "silent: how to go on is said" grep -q 'restore /tmp/silent' \
        /tmp/silent.err
    kill -CONT "$server"
    check "silent: what waited for the disk ends with that" \
        soon 20 not pgrep -x ssdprobe
    restored silent
    end_server TERM
}

# Asked to end while it waits for a read, and for a flush.
asked_to_end()
{
    local what
    serve plain-disk --via=ublk
    disk=$device
    for what in patient impatient; do
        meanwhile "$what" "kill -STOP $server; sleep 2; pkill -INT -x ssdprobe;
            sleep 2; [[ $what == patient ]] || pkill -INT -x ssdprobe"
        run "$what" basic
        ended "$what" 130 'not answered for .*, and the run stops waiting'
        nothing_found "$what"
        kill -CONT "$server"
    done
    end_server TERM
}

# A sector that cannot be read: first met by the run, then by another process,
# once and all the time.
medium()
{
    local reader
    scsi_disk
    echo 36000 >$parameters/medium_error_start
    echo 8000 >$parameters/medium_error_count
    meanwhile medium "echo 2 >$debug/opts"
    run medium basic --tune=max
    ended medium 4 'a read of 4 KiB at offset [0-9]+ failed: .*can no longer read'
    nothing_found medium
    graded medium 'kernel log' "critical medium error, dev $name"
    check "medium: the settings are back" test "$(settings)" = "$set"
    echo 60000 >$parameters/medium_error_start
    echo 8 >$parameters/medium_error_count
    meanwhile reported "dd if=$disk of=/dev/null bs=4k skip=7500 count=1 iflag=direct"
    run reported basic
    ended reported 0 ''
    graded reported 'kernel log' "critical medium error, dev $name"
    while :; do
        dd if="$disk" of=/dev/null bs=4k skip=7500 count=1 iflag=direct
        sleep 0.3
    done 2>/dev/null &
    reader=$!
    run spoilt basic
    kill "$reader"
    echo 0 >$debug/opts
    ended spoilt 5 ''
    nothing_found spoilt
    graded spoilt 'kernel log' "critical medium error, dev $name"
    check "spoilt: each finding names the cause" jq -e '[.findings[].why |
        test("again when it was repeated: the kernel reports .*medium error")] |
        all' /tmp/spoilt.json
}

# It takes no more writes: its own doing, and the kernel's.
read_only()
{
    scsi_disk
    meanwhile protected "echo 1 >$parameters/wp"
    run protected basic --preserve --tune=max
    ended protected 7 'a write of .* failed: .*accept no more writes'
    nothing_found protected
    echo 0 >$parameters/wp
    restored protected
    meanwhile frozen "blockdev --setro $disk"
    run frozen basic --preserve --tune=max
    ended frozen 7 'a write of .* failed: .*accepts no more writes'
    nothing_found frozen
    blockdev --setrw "$disk"
    restored frozen
}

# Pulled out, and back under another name; then another disk has its name.
pulled()
{
    local old first_address first_was first_serial
    scsi_disk
    old=$name first_serial=$(((hosts - 1) * 2000))
    meanwhile pulled "echo 1 >/sys/block/$name/device/delete"
    run pulled basic --preserve --tune=max
    ended pulled 7 'failed: No such device; the device has disappeared'
    nothing_found pulled
    check "pulled: how to go on is said" grep -q \
        "plug it in again and run 'ssdprobe restore /tmp/pulled'" \
        /tmp/pulled.err
    restore pulled
    check "pulled: without the disk nothing is put back" test "$status" = 7
    check "and what to do is said: $(cat /tmp/restored)" \
        grep -q 'is not connected; plug it in' /tmp/restored
    # The name goes to another disk.
    first_address=$address first_was=$was
    scsi_disk
    check "pulled: another disk has the name" test "$name" = "$old"
    restore pulled
    check "pulled: that one is not taken for it: $(cat /tmp/restored)" \
        test "$status" = 7
    check "pulled: not a byte of that one is changed" \
        test "$(contents)" = "$was"
    echo "${first_address#*:}" | tr : ' ' \
        >"/sys/class/scsi_host/host${first_address%%:*}/scan"
    soon 10 disk_of "$first_serial"
    disk=$(disk_of "$first_serial") name=${disk#/dev/} was=$first_was
    check "pulled: it is back under another name, $name" test "$name" != "$old"
    restored pulled
}

# Others hold the disk up: a limit for the process, which it has from the start or
# gets, and a process that writes as well.
held_up()
{
    local writer group=/sys/fs/cgroup/slow limit
    serve plain-disk,contents=off --via=ublk
    disk=$device
    run free basic
    ended free 0 ''
    mount -t cgroup2 none /sys/fs/cgroup
    echo +io >/sys/fs/cgroup/cgroup.subtree_control
    mkdir -p $group/below
    for limit in 10 200; do
        echo "$(cat "/sys/block/$name/dev") riops=$limit wiops=$limit" \
            >$group/io.max
        echo $$ >$group/below/cgroup.procs
        run "limited-$limit" basic --time-limit=30s
        echo $$ >/sys/fs/cgroup/cgroup.procs
        ended "limited-$limit" 5 ''
        nothing_found "limited-$limit"
        graded "limited-$limit" 'control group' \
            "riops=$limit wiops=$limit. delayed requests by"
    done
    meanwhile caught "for process in \$(pgrep -x ssdprobe); do
        echo \$process >$group/below/cgroup.procs; done"
    run caught basic
    graded caught 'control group' 'delayed requests'
    nothing_found caught
    umount /sys/fs/cgroup
    while :; do
        dd if=/dev/zero of="$disk" bs=4k count=64 seek=9000 oflag=direct
        sleep 0.05
    done 2>/dev/null &
    writer=$!
    run written basic
    kill "$writer"
    ended written 5 ''
    nothing_found written
    graded written 'writes of others' 'another process wrote .* to the disk'
    end_server TERM
}

# It slows down by itself.
slows_down()
{
    local spec
    for spec in drift_share=0.3,drift_period_ns=1s \
        throttle_heat_ns=200ms,throttle_factor=2; do
        serve "plain-disk,contents=off,$spec" --via=ublk
        disk=$device
        run "${spec%%_*}" basic
        ended "${spec%%_*}" 5 ''
        nothing_found "${spec%%_*}"
        graded "${spec%%_*}" baseline 'the same reads took .* time .* throttles'
        end_server TERM
    done
}

for part; do
    "$part"
done
summary
