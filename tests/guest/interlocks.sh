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
# Terminals of its own, to ask at.
mkdir -p /dev/pts
mount -t devpts none /dev/pts

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
        grep -qE "consists of other devices.*use $disk" /tmp/err
    mkfs.ext4 -q "$node"
    mkdir -p "/mnt/$map"
    mount -t ext4 -o ro "$node" "/mnt/$map"
    sync
    check "$what: mounted" grep -q " /mnt/$map " /proc/mounts
    refused "$what, mounted" "$pattern.*mounted on /mnt/$map"
    umount "/mnt/$map"
    dmsetup remove --noudevsync "$map"
}

# The kernel's half of `mdadm --build`, on the disk sda or another.
start_array() # NAME
{
    local md=/sys/block/md127/md
    echo md127 >/sys/module/md_mod/parameters/new_array
    echo none >$md/metadata_version 2>/dev/null
    echo raid1 >$md/level
    echo 2 >$md/raid_disks
    echo $(($(cat "/sys/block/$1/size") / 2 - 1024)) >$md/component_size
    cat "/sys/block/$1/dev" >$md/new_dev
    echo 0 >"$md/dev-$1/slot"
    echo active >$md/array_state
}
end_array()
{
    echo clear >/sys/block/md127/md/array_state
}
array()
{
    start_array "$name"
    check "an array: there is one" test -e "/sys/block/$name/holders/md127"
    refused "a member of an array" 'is part of .*md127'
    end_array
}

# What is built on a disk, here on a loop device.
kinds='dm-linear LVM LUKS md nbd zram'
build_on() # KIND DISK
{
    case $1 in
        dm-linear)
            dmsetup create built --noudevsync --table "0 8192 linear $2 2048"
            ;;
        LVM)
            dmsetup create built --noudevsync --table "0 8192 linear $2 2048" \
                --uuid LVM-0123456789abcdef0123456789abcdef
            ;;
        LUKS)
            dmsetup create built --noudevsync --table \
                "0 8192 crypt cipher_null-ecb - 0 $2 8192" \
                --uuid CRYPT-LUKS2-0123456789abcdef-built
            ;;
        md) start_array "${2#/dev/}" ;;
        nbd)
            guest_nbd /dev/nbd0 "$2" >/dev/null 2>&1 &
            server=$!
            soon 10 test -e /sys/block/nbd0/pid
            ;;
        zram)
            echo "$2" >/sys/block/zram0/backing_dev
            echo 8M >/sys/block/zram0/disksize
            ;;
    esac
}
take_down() # KIND
{
    case $1 in
        md) end_array ;;
        nbd) end_nbd ;;
        zram) echo 1 >/sys/block/zram0/reset ;;
        *) dmsetup remove --noudevsync built ;;
    esac
}

# A file of an overlay's upper layer under a loop device, and the same file as the
# overlay shows it under another, of which something is built.
overlay()
{
    local disk name second kind
    mkdir -p /mnt/layers
    mount -t tmpfs none /mnt/layers
    mkdir /mnt/layers/{lower,upper,work,shown}
    truncate -s 16M /mnt/layers/lower/one
    mount -t overlay -o \
        lowerdir=/mnt/layers/lower,upperdir=/mnt/layers/upper,workdir=/mnt/layers/work \
        none /mnt/layers/shown
    touch /mnt/layers/shown/one
    disk=$(losetup --find --show /mnt/layers/upper/one)
    second=$(losetup --find --show /mnt/layers/shown/one)
    name=${disk#/dev/}
    refused "under an overlay" \
        "$disk shares its file with $second: detach that first"
    for kind in $kinds; do
        build_on "$kind" "$second"
        refused "under an overlay, with $kind" "$disk shares its file with $second"
        take_down "$kind"
    done
    losetup -d "$second"
    sleep 300 <>/mnt/layers/shown/one &
    refused "written to through an overlay" \
        "process $! \(.*\) has the file beneath $disk open for writing"
    kill "$!"
    wait "$!" 2>/dev/null
    losetup -d "$disk"
    umount /mnt/layers/shown
    umount /mnt/layers
}

# while_asked WHAT PATTERN COMMAND...: a run asks, COMMAND happens, the answer is
# yes: it ends in 3, and nothing is written.
while_asked()
{
    local what=$1 pattern=$2 run status before answer
    shift 2
    rm -rf /tmp/asked /tmp/said
    mkfifo /tmp/answer
    script -qec "ssdprobe --allow-virtual --region=4MiB,8MiB --time-limit=2s \
        --force-signature --output-dir=/tmp/asked run clustered-page $disk" \
        /dev/null </tmp/answer >/tmp/said 2>&1 &
    run=$!
    exec 8>/tmp/answer
    check "$what: it asks" soon 60 grep -q ' to go on: ' /tmp/said
    "$@"
    before=$(state)
    # The end of the serial number, or the name where there is none.
    answer=$(tr -d '\r' </tmp/said | sed -nE 's/^  serial +(.*)/\1/p')
    if [[ $answer == - ]]; then
        answer=$name
    else
        answer=${answer: -4}
    fi
    echo "$answer" >&8
    exec 8>&-
    wait "$run"
    status=$?
    rm /tmp/answer
    check "$what: it ends in 3, not in $status" test "$status" = 3
    check "$what: it says why: $(grep -a '^ssdprobe:' /tmp/said)" \
        grep -qE "$pattern" /tmp/said
    check "$what: not a byte changed" test "$(state)" = "$before"
}

# On the file of the disk that is asked about.
come_with()
{
    losetup "$second" /tmp/one
    build_on "$1" "$second"
}
writer_comes()
{
    sleep 300 <>"$disk" &
    writer=$!
}
formatted()
{
    mkfs.ext4 -qF /tmp/one
}
after_the_question()
{
    local disk name second kind server writer
    truncate -s 16M /tmp/one
    disk=$(losetup --find --show /tmp/one)
    second=$(losetup --find)
    name=${disk#/dev/}
    for kind in $kinds; do
        while_asked "with $kind while it is asked" \
            "$disk shares its file with $second" come_with "$kind"
        take_down "$kind"
        losetup -d "$second"
    done
    while_asked "formatted while it is asked" \
        "$disk has changed since .* it now holds .*ext4" formatted
    losetup -d "$disk"
    # Disks themselves.
    truncate -s 32M /tmp/one
    guest_nbd /dev/nbd0 /tmp/one &
    server=$!
    soon 10 test -e /sys/block/nbd0/pid
    echo 32M >/sys/block/zram0/disksize
    for disk in /dev/sda /dev/nbd0 /dev/zram0; do
        name=${disk#/dev/}
        while_asked "$disk, written to while it is asked" \
            "process [0-9]+ \(.*\) has $disk open for writing" writer_comes
        kill "$writer"
        wait "$writer" 2>/dev/null
    done
    end_nbd
    rm /tmp/one
    zram
}

# A disk in memory, and what may be beneath it.
zram()
{
    local disk=/dev/zram0 name=zram0
    mkfs.ext4 -q "$disk"
    mkdir -p /mnt/zram
    mount -t ext4 -o ro "$disk" /mnt/zram
    refused "a mounted zram" "$disk is mounted on /mnt/zram: unmount it"
    umount /mnt/zram
    mkswap "$disk" >/dev/null
    swapon "$disk"
    check "swap is on, on zram" grep -q "^$disk" /proc/swaps
    refused "zram as swap space" "$disk is swap space in use. No option"
    swapoff "$disk"
    echo 1 >/sys/block/zram0/reset
    disk=/dev/sda name=sda
    build_on zram "$disk"
    check "it is beneath a zram" grep -q "$disk" /sys/block/zram0/backing_dev
    refused "beneath a zram" "$disk is in use"
    take_down zram
    allowed "no longer beneath a zram"
}

# Who has the folder of a run could put a journal of his own there.
foreign_folder()
{
    local before status words owner mode folder
    for words in 65534:755:/tmp/foreign/run 0:777:/tmp/foreign; do
        IFS=: read -r owner mode folder <<<"$words"
        mkdir -p /tmp/foreign/run
        chown "$owner" "$folder"
        chmod "$mode" "$folder"
        before=$(state)
        ssdprobe -q --yes --preserve --region=4MiB,8MiB \
            --output-dir=/tmp/foreign/run run clustered-page "$disk" \
            >/tmp/out 2>/tmp/err
        status=$?
        check "a run in a folder of others ends in 2, not in $status" \
            test "$status" = 2
        check "it says why: $(cat /tmp/err)" grep -qE \
            "$folder \(owner $owner, mode 0$mode\).*--output-dir" /tmp/err
        check "a run in a folder of others: not a byte changed" \
            test "$(state)" = "$before"
        rm -r /tmp/foreign
    done
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
        'This machine runs from' /tmp/link
    umount /boot
    blank
    mkswap "$disk" >/dev/null
    swapon "$disk"
    check "swap is on" grep -q "^$disk" /proc/swaps
    refused "swap" "$disk is swap space in use. No option"
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
    refused "swap on a partition" "${disk}1 is swap space in use. No option"
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
    refused "the disk behind /" "This machine runs from $disk: $disk is mounted on /\."
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
overlay
after_the_question
foreign_folder
root
blank 64
allowed "blank again"
summary
