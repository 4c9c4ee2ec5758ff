#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# interlocks.sh SOURCE BUILD: a disk that volumes, encryption and arrays are made
# of, and what the interlocks say: exit status, sentence, not a byte changed, and
# no flag that helps.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"

build=$2 disk=/dev/sda name=sda
# By what commands are run: in another root.
within=''
sectors=$(cat /sys/block/sda/size)

# What is on the disk, and how often it was written to or discarded.
state()
{
    # What was written through a volume is not in the cache of the disk.
    sync
    echo 3 >/proc/sys/vm/drop_caches
    md5sum <"$disk"
    awk '{ print $5, $12 }' "/sys/block/$name/stat"
}

# All flags at once; test_interlocks_disks.sh tries every set of them.
no_flag_helps()
{
    $within ssdprobe -q --force-signature --force-unhealthy --allow-virtual --yes \
        "--confirm=$name" --preserve "$1" >/tmp/out 2>/tmp/err </dev/null
    test $? = 3
}

# refused WHAT PATTERN [DEVICE]: by `check` and by a run, whatever the flags.
refused()
{
    local what=$1 pattern=$2 path=${3:-$disk} before status
    before=$(state)
    $within ssdprobe check --allow-virtual "$path" >/tmp/out 2>/tmp/err
    status=$?
    check "$what: check ends in 3, not in $status" test "$status" = 3
    check "$what: it says why: $(cat /tmp/err)" grep -qE "$pattern" /tmp/err
    check "$what: no flag starts a run" no_flag_helps "$path"
    check "$what: not a byte changed" test "$(state)" = "$before"
}

allowed()
{
    local status
    ssdprobe check "${2:-$disk}" >/tmp/out 2>/tmp/err
    status=$?
    check "$1: it may be probed: $(cat /tmp/err)" test "$status" -eq 0
}

# The kernel's half of `cryptsetup open` and `vgchange -ay`: the same names.
mapped()
{
    local what=$1 map=$2 uuid=$3 table=$4 pattern=$5 node
    dmsetup create "$map" --noudevsync --uuid "$uuid" --table "$table"
    check "$what: there is one" test -d "/sys/block/$name/holders/dm-0"
    refused "$what" "$pattern"
    node=/dev/dm-0
    [[ -b $node ]] || mknod "$node" b "$(dmsetup info -c --noheadings -o major "$map")" 0
    ssdprobe check --allow-virtual "$node" >/tmp/out 2>/tmp/err
    check "$what: itself it is refused: $(cat /tmp/err)" \
        grep -qE "made of other devices.*use $disk" /tmp/err
    mkfs.ext4 -q "$node"
    mkdir -p "/mnt/$map"
    mount -t ext4 -o ro "$node" "/mnt/$map"
    sync
    check "$what: mounted" grep -q " /mnt/$map " /proc/mounts
    refused "$what, mounted" "$pattern.*mounted on /mnt/$map"
    umount "/mnt/$map"
    dmsetup remove --noudevsync "$map"
}

# The kernel's half of `mdadm --build`.
array()
{
    local md=/sys/block/md127/md
    echo md127 >/sys/module/md_mod/parameters/new_array
    echo none >$md/metadata_version 2>/dev/null
    echo raid1 >$md/level
    echo 2 >$md/raid_disks
    echo $((sectors / 2 - 1024)) >$md/component_size
    cat "/sys/block/$name/dev" >$md/new_dev
    echo 0 >$md/dev-$name/slot
    echo active >$md/array_state
    check "an array: there is one: $(cat $md/array_state)" \
        test -e "/sys/block/$name/holders/md127"
    refused "a member of an array" 'is part of .*md127'
    echo clear >$md/array_state
}

# What real disks can be that loop devices cannot.
names()
{
    mknod /dev/renamed b 8 0
    ln -s /dev/renamed /tmp/link
    allowed "a node of another name" /dev/renamed
    dd if=/dev/urandom of="$disk" bs=1M count=1 2>/dev/null
    mkfs.ext4 -q "$disk"
    mkdir -p /boot
    mount -t ext4 -o ro "$disk" /boot
    refused "a link to a node of another name of the disk behind /boot" \
        'this machine runs from' /tmp/link
    umount /boot
    blank
    mkswap "$disk" >/dev/null
    swapon "$disk"
    check "swap is on" grep -q "^$disk" /proc/swaps
    refused "swap" "$disk is swap space in use, and no flag"
    swapoff "$disk"
    blank
}

blank()
{
    dd if=/dev/zero of="$disk" bs=1M count="${1-2}" 2>/dev/null
    sync
}

# Swap space on a partition: type 82h, from sector 2048 on, to the end but 1 MiB.
partitions()
{
    printf '\x82\0\0\0%b%b' '\x0\x8\x0\x0' "$(printf '\\x%x' \
        $((sectors - 4096 & 255)) $((sectors - 4096 >> 8 & 255)) \
        $((sectors - 4096 >> 16 & 255)) 0)" |
        dd of="$disk" bs=1 seek=450 conv=notrunc 2>/dev/null
    printf '\x55\xaa' | dd of="$disk" bs=1 seek=510 conv=notrunc 2>/dev/null
    sync
    blockdev --rereadpt "$disk"
    check "there is a partition" soon 5 test -b "${disk}1"
    mkswap "${disk}1" >/dev/null
    swapon "${disk}1"
    check "swap is on, on the partition" grep -q "^${disk}1" /proc/swaps
    refused "swap on a partition" "${disk}1 is swap space in use, and no flag"
    refused "the partition" "${disk}1 is a partition of $disk" "${disk}1"
    swapoff "${disk}1"
    sleep 300 <>"${disk}1" &
    refused "a disk to whose partition another writes" \
        "process $! \(.*\) has ${disk}1 open for writing"
    kill "$!"
    wait "$!" 2>/dev/null
    blank
    blockdev --rereadpt "$disk"
}

# Another process has a real disk, or a partition of it, open for writing.
writers()
{
    local writer
    sleep 300 <>"$disk" &
    writer=$!
    refused "a disk that another writes to" \
        "process $writer \(.*\) has $disk open for writing: end that first"
    kill "$writer"
    wait "$writer" 2>/dev/null
    # shellcheck disable=SC2217 # nothing is to be read
    sleep 300 <"$disk" &
    writer=$!
    allowed "a disk that another reads"
    kill "$writer"
    wait "$writer" 2>/dev/null
}

# Two loop devices on one file, the second alone, in a volume, and mounted.
one_file()
{
    local disk name second node=/dev/dm-0
    truncate -s 16M /tmp/one
    disk=$(losetup --find --show /tmp/one)
    second=$(losetup --find --show /tmp/one)
    name=${disk#/dev/}
    check "there are two loop devices on one file" \
        test -b "$disk" -a -b "$second" -a "$disk" != "$second"
    refused "beside a loop device on its file" \
        "$disk shares its file with $second: detach that first"
    dmsetup create twin --noudevsync --table "0 16384 linear $second 0"
    [[ -b $node ]] || mknod "$node" b \
        "$(dmsetup info -c --noheadings -o major twin)" 0
    refused "beside a volume on its file" \
        "with $second, which is part of dm-0 \(twin\)"
    mkfs.ext4 -q "$node"
    mkdir -p /mnt/twin
    mount -t ext4 -o ro "$node" /mnt/twin
    refused "beside a mounted volume on its file" \
        "is part of dm-0 \(twin\), which is mounted on /mnt/twin"
    umount /mnt/twin
    dmsetup remove --noudevsync twin
    losetup -d "$second"
    over_nbd
    rm /tmp/one
}

# The file of a loop device is served as an NBD disk, by a process that has both
# open.
start_nbd()
{
    guest_nbd /dev/nbd0 /tmp/one "$@" &
    server=$!
    check "there is an NBD disk" soon 10 test -e /sys/block/nbd0/pid
}
end_nbd()
{
    kill "$server"
    wait "$server" 2>/dev/null
    soon 10 test ! -e /sys/block/nbd0/pid
}
over_nbd()
{
    local server
    start_nbd
    refused "beside an NBD disk on its file" \
        "$disk is served as /dev/nbd0: disconnect that first"
    refused "an NBD disk whose file is a loop device's" \
        "/dev/nbd0 shares its file with $disk: detach that first" /dev/nbd0
    end_nbd
    start_nbd ro
    mount -t ext4 -o ro,noload /dev/nbd0 /mnt/twin
    refused "beside a mounted NBD disk that reads its file" \
        "$disk is served as /dev/nbd0, which is mounted on /mnt/twin"
    umount /mnt/twin
    losetup -d "$disk"
    ssdprobe check --allow-virtual --force-signature --read-only \
        /dev/nbd0 >/tmp/out 2>&1
    check "an NBD disk may be probed, though its client has it open" \
        grep -qE '^not in use +pass' /tmp/out
    end_nbd
}

# The disk that a system runs from, as that system sees it.
root()
{
    local root=/mnt/root folder status
    mkfs.ext4 -q "$disk"
    mkdir -p "$root"
    mount -t ext4 "$disk" "$root"
    for folder in usr proc sys dev tmp "${build#/}"; do
        mkdir -p "$root/$folder"
    done
    for folder in bin sbin lib lib64; do
        ln -s "usr/$folder" "$root/$folder"
    done
    mount -o remount,ro "$root"
    for folder in usr proc sys dev tmp "${build#/}"; do
        mount -o bind "/$folder" "$root/$folder"
    done
    within="chroot $root"
    refused "the disk behind /" "this machine runs from: $disk is mounted on /,"
    within=''
    for folder in "${build#/}" tmp dev sys proc usr; do
        umount "$root/$folder"
    done
    umount "$root"
    blank
}

allowed "a blank disk"
mapped "a volume of LVM" vg-lv LVM-0123456789abcdef0123456789abcdef \
    "0 24576 linear $disk 2048" 'is part of dm-0 \(vg-lv\)'
mapped "an open LUKS" luks CRYPT-LUKS2-0123456789abcdef-luks \
    "0 16384 crypt cipher_null-ecb - 0 $disk 8192" 'is part of dm-0 \(luks\)'
array
names
partitions
writers
one_file
root
blank 64
allowed "blank again"
summary
