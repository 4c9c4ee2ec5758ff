# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# Programs that know nothing of us, on a served drive; sourced by suites of the
# host (loop) and of the guest (ublk), after what they share. The suite gives
#   start_drive SPEC [OPTION...]  serves it, fast; sets `device`
#   stop_drive, kill_drive        ends the server, well or with SIGKILL; when
#                                 they return the device is gone
# and `scratch`, a folder for contents, mounts and lists; and soon, as in both.

make_ext4() { mkfs.ext4 -q -F "$1"; }
look_ext4() { fsck.ext4 -f -n "$1"; }
make_xfs() { mkfs.xfs -q -f "$1"; }
look_xfs() { xfs_repair -n "$1"; }
make_btrfs() { mkfs.btrfs -q -f "$1"; }
look_btrfs() { btrfs check --readonly "$1"; }
make_f2fs() { mkfs.f2fs -q -f "$1"; }
look_f2fs() { fsck.f2fs --dry-run "$1"; }
make_vfat() { mkfs.vfat "$1"; }
look_vfat() { fsck.vfat -n "$1"; }
# What the others do when they are mounted, vfat has a program for: its journal
# is none. 1: something was put right.
mend_vfat() { fsck.vfat -a "$1" || (($? == 1)); }

at=$scratch/mount
mkdir -p -- "$at"

put_on() # KIND: mounts the device; what is deleted there is discarded
{
    mount -t "$1" -o discard "$device" "$at"
}
discarded() # MORE_THAN: so many requests
{
    sync -f "$at"
    (($(awk '{ print $12 }' "/sys/block/$name/stat") > $1))
}

random_file() # PATH KIB
{
    dd if=/dev/urandom of="$1" bs=1k count="$2" 2>/dev/null
}

# Mixed random writes, read back with their checksums.
client_fio() # SIZE LOOPS
{
    start_drive "ram-disk,timing=off" --size="$1"
    check "fio: $2 times $1 of random writes are read back as they were" \
        fio "${verified[@]}" --filename="$device" --size="$1" --loops="$2" \
        --direct=1 --ioengine=io_uring --iodepth=32 --fsync=64
    check "fio: what was discarded, then written with FUA, is read back" \
        fio --name=t --filename="$device" --rw=randtrimwrite --bs=16k \
        --size=32M --direct=1 --sync=dsync --ioengine=io_uring --iodepth=8 \
        --verify=crc32c --verify_fatal=1 --verify_state_save=0
    check "fio: the drive was told" test "$(
        awk '{ print $12 }' "/sys/block/$name/stat")" -gt 1000
    stop_drive
}

# Files of many sizes, in folders, and their sums in $scratch/sums.
fill()
{
    local i
    mkdir "$at/a" "$at/a/b" && random_file "$at/a/large" 24000 || return
    for i in 1 2 3 4 5 7 11 16 31 63 100 257 513 1000; do
        random_file "$at/a/b/$i" "$i" || return
    done
    truncate -s 3M "$at/a/hole" && (cd -- "$at" &&
        find . -type f -exec sha256sum {} +) >"$scratch/sums"
}
sums_hold()
{
    (cd -- "$at" && sha256sum -c "$scratch/sums")
}

# Something that is on the drive is deleted.
delete_some()
{
    sync -f "$at" && rm -r "$at/a/large" "$at/a/hole" && sed -i '/ [*]*[.].a.\(large\|hole\)$/d' \
        "$scratch/sums"
}

# mkfs, mount, write, delete, unmount, fsck, compare.
client_file_system() # KIND
{
    local kind=$1
    start_drive "ram-disk,timing=off" --size=512M
    check "$kind: it is made" "make_$kind" "$device"
    check "$kind: it is mounted" put_on "$kind"
    check "$kind: files are written" fill
    local before
    before=$(awk '{ print $12 }' "/sys/block/$name/stat")
    check "$kind: some are deleted" delete_some
    check "$kind: which is told to the drive" soon 40 discarded "$before"
    check "$kind: it is unmounted" umount "$at"
    # Another one may be looking at what is on it just now, such as udev.
    check "$kind: its own check finds nothing" soon 5 "look_$kind" "$device"
    check "$kind: it is mounted again" put_on "$kind"
    check "$kind: all files are as they were" sums_hold
    check "$kind: and unmounted again" umount "$at"
    stop_drive
}

# Writes files for ever; those that are safe, by fsync of file and folder, are
# listed in $scratch/sums. One more is always under way.
write_for_ever()
{
    local i
    : >"$scratch/sums"
    for ((i = 0; ; i++)); do
        random_file "$at/$i" 200 && sync "$at/$i" "$at" &&
            (cd -- "$at" && sha256sum "$i") >>"$scratch/sums" &&
            random_file "$at/unsafe-$i" 300 || return
        ((i == 0)) || rm "$at/unsafe-$((i - 1))" || return
    done
}
files_count()
{
    wc -l <"$scratch/sums"
}

# Until nothing more becomes safe: the drive has no power. Fails when it never
# had time for ten files.
wait_for_cut()
{
    local before=-1 tries
    for ((tries = 0; tries < 60; tries++)); do
        sleep 2
        (($(files_count) == before && before > 0)) && break
        before=$(files_count)
    done
    ((before >= 10))
}

# cut_under_load KIND FAULTS: a drive with that file system loses its power under
# load, and its server is killed. A slow machine gets more time before the cut.
cut_under_load()
{
    local kind=$1 after_s writer
    for after_s in 4 8 16 32 64; do
        : >"$scratch/sums"
        rm -f -- "$scratch/contents"
        start_drive "ram-disk,timing=off" --size=512M \
            --contents="$scratch/contents"
        "make_$kind" "$device" >/dev/null 2>&1
        stop_drive
        start_drive "ram-disk,direct_ns=100us,power_cut_at_ns=${after_s}s,power_back_ns=3600s$2" \
            --size=512M --contents="$scratch/contents"
        # Else the cut was too early.
        put_on "$kind" 2>/dev/null || {
            kill_drive
            continue
        }
        write_for_ever >/dev/null 2>&1 &
        writer=$!
        wait_for_cut
        status=$?
        kill_drive
        wait "$writer"
        umount "$at"
        ((status != 0)) || return 0
    done
    return 1
}

# After the cut: what was synced is there, on another server.
client_power_cut() # KIND
{
    local kind=$1
    cut_under_load "$kind" ''
    check "$kind: ten files and more are safe when the power goes" \
        test "$(files_count)" -ge 10
    start_drive "ram-disk,timing=off" --size=512M --contents="$scratch/contents"
    ! declare -F "mend_$kind" >/dev/null ||
        check "$kind: what it cannot mend itself is mended" \
            "mend_$kind" "$device"
    check "$kind: it is mounted after the cut" put_on "$kind"
    check "$kind: all $(files_count) files that were safe are as they were" \
        sums_hold
    check "$kind: it is unmounted after the cut" umount "$at"
    check "$kind: then its own check finds nothing" \
        soon 5 "look_$kind" "$device"
    stop_drive
    rm -f -- "$scratch/contents"
}

# The same, on a drive that says that it flushed and did not: what should have
# been safe is lost. So the check above can fail.
client_flush_lies() # KIND
{
    cut_under_load "$1" ,flush_lies=on
    check "a lying flush: ten files and more seem to be safe" \
        test "$(files_count)" -ge 10
    start_drive "ram-disk,timing=off" --size=512M --contents="$scratch/contents"
    if put_on "$1" 2>/dev/null; then
        check "a lying flush: they are not" eval '! sums_hold'
        umount "$at"
    else
        pass "a lying flush: not even the file system is there"
    fi
    stop_drive
    rm -f -- "$scratch/contents"
}

# Blocks that are written with FUA, one after the other, and one behind each that
# is not safe.
write_blocks()
{
    local i
    : >"$scratch/sums"
    for ((i = 0; i < 32768; i++)); do
        put_block "$i" dsync && echo "$i" >>"$scratch/sums" &&
            put_block $((65536 + i)) || return
    done
}
put_block() # NUMBER [FLAG]
{
    printf '%4096d' "$1" | dd of="$device" bs=4k count=1 iflag=fullblock \
        seek="$1" oflag="direct${2:+,$2}" conv=notrunc 2>/dev/null
}
block_holds() # NUMBER
{
    cmp -s <(printf '%4096d' "$1") \
        <(dd if="$device" bs=4k count=1 skip="$1" 2>/dev/null)
}
blocks_hold()
{
    local number
    while read -r number; do
        block_holds "$number" || {
            echo "block $number is another"
            return 1
        }
    done <"$scratch/sums"
}

# The power goes while such blocks are written. All that were done are there.
client_fua_cut()
{
    local after_s writer
    for after_s in 4 8 16 32 64; do
        rm -f -- "$scratch/contents"
        start_drive "ram-disk,direct_ns=100us,power_cut_at_ns=${after_s}s,power_back_ns=3600s" \
            --size=512M --contents="$scratch/contents"
        write_blocks &
        writer=$!
        wait_for_cut
        status=$?
        kill_drive
        wait "$writer"
        ((status != 0)) || break
    done
    check "FUA: ten blocks and more are safe when the power goes" \
        test "$(files_count)" -ge 10
    start_drive "ram-disk,timing=off" --size=512M --contents="$scratch/contents"
    check "FUA: all $(files_count) are as they were" blocks_hold
    stop_drive
    rm -f -- "$scratch/contents"
}

# f3probe, which looks for drives that claim more than they have. Its exit status
# is 0 for a real one. What wraps around it finds to be damaged.
client_f3probe()
{
    local spec status words
    while read -r spec status words; do
        start_drive "ram-disk,timing=off$spec" --size=512M
        check "f3probe says '$words' of ram-disk$spec" \
            f3probe_says "$status" "$words"
        stop_drive
    done <<'END_OF_TABLE'
,read_ahead_bytes=0 0 is the real thing
,real_capacity_bytes=128MiB,fake_capacity=drops 102 is a counterfeit of type limbo
,real_capacity_bytes=128MiB,fake_capacity=wraps 101 is damaged
END_OF_TABLE
}
f3probe_says()
{
    local said status
    said=$(f3probe --destructive --reset-type=2 "$device")
    status=$?
    echo "$status: $said"
    ((status == $1)) && [[ $said == *"$2"* ]]
}
