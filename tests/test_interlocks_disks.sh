#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The interlocks from the outside, on disks with all kinds of contents and users:
# exit status and sentence of `check` and of a run, and not a byte changed. Then
# every set of flags on disks in use: none of them starts a run.
#   test_interlocks_disks.sh SOURCE_DIR BUILD_DIR
set -u
export LC_ALL=C

# Mounts end with this script, however it ends.
if [ "${INTERLOCKS_UNSHARED-}" != yes ]; then
    INTERLOCKS_UNSHARED=yes \
        exec unshare --mount --propagation private "$BASH" "$0" "$@"
fi

ssdprobe=$2/ssdprobe
schema=$1/lib/report/ssdprobe.schema.json
work=$(mktemp -d -p /var/tmp interlocks.XXXXXX)
passed=0 failed=0 loops=() swaps=()

finish()
{
    local one
    for one in "${swaps[@]}"; do swapoff "$one" 2>/dev/null; done
    umount -R "$work"/mount* 2>/dev/null
    for ((one = ${#loops[@]} - 1; one >= 0; one--)); do
        # Partitions could outlive the disk that they are of.
        partx --delete "${loops[one]}" 2>/dev/null
        losetup -d "${loops[one]}" 2>/dev/null
    done
    rm -rf --one-file-system -- "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# check SENTENCE COMMAND...
check()
{
    local sentence=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $sentence"
        sed 's/^/    /' "$work/log" | head -n 20
    fi
}

# disk [LOSETUP_OPTION...]: a blank disk; sets `image`, `disk` and `name`.
disk()
{
    image=$work/${#loops[@]}.img
    truncate -s 128M "$image"
    attach "$@" "$image"
}

attach()
{
    disk=$(losetup --find --show "$@")
    name=${disk#/dev/}
    loops+=("$disk")
}

# The node of a partition, which is not made everywhere.
partition_node()
{
    local major minor
    if [ -b "${disk}p$1" ]; then
        echo "${disk}p$1"
        return
    fi
    IFS=: read -r major minor <"/sys/block/$name/${name}p$1/dev"
    mknod "$work/${name}p$1" b "$major" "$minor"
    echo "$work/${name}p$1"
}

partition_table()
{
    printf 'label: %s\nstart=2048, size=196608\n' "$1" |
        sfdisk -q --no-reread --no-tell-kernel "$disk"
    sync "$disk"
    partx --update "$disk" 2>/dev/null || blockdev --rereadpt "$disk"
}

# What is on the disk now, and how often it was written to. The kernel itself may
# swap at any time: then, how many sectors others wrote.
state()
{
    local written swapped
    sync -f "$image"
    if grep -q "^$disk " /proc/swaps; then
        swapped=$(awk '/^pswpout / { print $2 }' /proc/vmstat)
        written=$(awk '{ print $7 }' "/sys/block/$name/stat")
        echo $((written - swapped * $(getconf PAGESIZE) / 512))
        return
    fi
    cksum <"$image"
    awk '{ print $5, $12 }' "/sys/block/$name/stat"
}

cat >"$work/first.py" <<'END'
"""The document is valid; prints the first refusal and what the notes say."""
import json
import sys

import jsonschema

document = json.load(open(sys.argv[1]))
jsonschema.validate(document, json.load(open(sys.argv[2])))
rows = document["interlocks"]
names = [row["name"] for row in rows]
assert names[0] == "block device" and names[-1] == "confirmation", names
refusals = [row["text"] for row in rows if row["verdict"] == "refuse"]
errors = [m["text"] for m in document["ssdprobe"]["messages"]
          if m["severity"] == "error"]
assert errors == refusals[:1], (errors, refusals)
for text in refusals:
    assert text[-1] == "." and "\n" not in text, text
for row in rows:
    print(row["name"] + " " + row["verdict"] + ": " + row["text"])
END

# judged WHAT STATUS PATTERN [OPTION...]: `check` on $path (or $disk) ends in
# STATUS; a row (of it, or the first refusal) fits PATTERN; nothing changes.
judged()
{
    local what=$1 status=$2 pattern=$3 before got
    shift 3
    before=$(state)
    timeout 200 "$ssdprobe" check --json --allow-virtual "$@" \
        "${path:-$disk}" >"$work/out" 2>"$work/err"
    got=$?
    check "$what: check ends in $status, not $got" test "$got" = "$status"
    check "$what: its document" python3 "$work/first.py" "$work/out" "$schema"
    if [ "$status" = 3 ]; then
        check "$what: check says why: $(cat "$work/err")" \
            grep -qE -- "$pattern" "$work/err"
        timeout 200 "$ssdprobe" -q --yes --allow-virtual "$@" \
            "${path:-$disk}" >"$work/out" 2>"$work/again"
        got=$?
        check "$what: a run ends in 3, not $got" test "$got" = 3
        check "$what: a run says the same: $(cat "$work/again")" \
            cmp "$work/err" "$work/again"
    else
        python3 "$work/first.py" "$work/out" "$schema" >"$work/rows"
        check "$what: a row says '$pattern': $(cat "$work/rows")" \
            grep -qE -- "$pattern" "$work/rows"
    fi
    check "$what: not a byte changed" test "$(state)" = "$before"
}

## What is on a disk that nobody uses.
contents()
{
    disk
    judged "blank" 0 '^signatures pass: '
    judged "blank" 0 '^data pass: None of .* holds data'
    head -c 64M /dev/urandom | dd of="$disk" bs=1M conv=fsync status=none
    judged "data" 0 '^signatures pass: '
    judged "data" 0 '^data note: (4[0-9]|5[0-9])\.[0-9] % of .* hold data'

    disk
    mkfs.ext4 -q -L 'my data' "$disk"
    judged "ext4" 3 'ext4, "my data"\) at byte 1080 on .*--force-signature'
    judged "ext4, forced" 0 '^signatures note: .*--force-signature' \
        --force-signature
    judged "ext4, to be read" 0 '^signatures note: .*nothing is written' \
        --read-only
    judged "ext4, another question's answer" 3 'add --force-signature' \
        --force-unhealthy
    # The checksum of the superblock is its last word.
    printf 'bad!' | dd of="$disk" bs=1 seek=2044 conv=fsync status=none
    judged "ext4 with a damaged superblock" 3 'ext4.*at byte 1080'

    disk
    mkfs.vfat "$disk" >/dev/null
    judged "vfat" 3 'vfat'
    disk
    mkfs.exfat "$disk" >/dev/null
    judged "exfat" 3 'exfat'
    disk
    mkfs.btrfs -q "$disk"
    judged "btrfs" 3 'btrfs\) at byte 65600'
    disk
    mkswap "$disk" >/dev/null 2>&1
    judged "swap space that is off" 3 'swap'
    disk
    partition_table gpt
    judged "GPT" 3 'partition table \(gpt\) at byte 512'
    dd if=/dev/zero of="$disk" bs=512 count=2 conv=fsync status=none
    judged "GPT whose first copy is gone" 3 'partition table \(gpt\)'
    disk
    partition_table dos
    judged "DOS" 3 'partition table \(dos\) at byte 510'
    path=$work/by-id
    ln -s "$disk" "$path"
    judged "a link" 3 "$work/by-id, which a run would destroy"
    path=$(partition_node 1)
    judged "a partition" 3 "is a partition of $disk, .* use $disk"
    path=
}

# Signatures whose tools are not needed: what libblkid looks for is put there.
crafted()
{
    disk
    printf 'LUKS\xba\xbe\0\1' | dd of="$disk" conv=fsync status=none
    judged "LUKS" 3 'an encrypted volume \(crypto_LUKS\) at byte 0'
    disk
    printf 'LABELONE\1\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0LVM2 001' |
        dd of="$disk" bs=512 seek=1 conv=fsync status=none
    judged "LVM" 3 'a member of .* \(LVM2_member'
    disk
    printf '\xfc\x4e\x2b\xa9\1\0\0\0' |
        dd of="$disk" bs=4096 seek=1 conv=notrunc status=none
    printf '\x08' |
        dd of="$disk" bs=1 seek=$((4096 + 144)) conv=notrunc,fsync status=none
    judged "MD" 3 'a member of .* \(linux_raid_member'
    disk
    for slot in 0 1 2 3 4 5 6 7; do
        printf '\x0c\xb1\xba\0\0\0\0\0\x88\x13\0\0\0\0\0\0\1\0\0\0\0\0\0\0' |
            dd of="$disk" bs=1024 seek=$((128 + slot)) conv=notrunc,fsync \
                status=none
    done
    judged "ZFS" 3 'a member of .* \(zfs_member'
    # Two that contradict each other are both named.
    disk
    mkfs.ext4 -q "$disk"
    printf 'SWAPSPACE2' | dd of="$disk" bs=1 seek=4086 conv=fsync status=none
    printf '\1\0\0\0\0\0\0\0\xff\0\0\0' |
        dd of="$disk" bs=1 seek=1024 conv=notrunc,fsync status=none
    judged "something ambivalent" 3 '--force-signature'
}

# open_by PATH MODE: a process that has it open for reading (<), or for writing
# (<>); sets `holder`.
open_by()
{
    if [ "$2" = '<' ]; then
        # shellcheck disable=SC2217 # nothing is to be read
        sleep 300 <"$1" &
    else
        sleep 300 <>"$1" &
    fi
    holder=$!
}

# Others that have the disk open, which O_EXCL does not keep out.
held_open()
{
    local holder image_of=$image
    open_by "$disk" '<'
    judged "read by another" 0 \
        "^not in use note: .*process $holder \((sleep|bash)\) holds it"
    end_holder
    open_by "$disk" '<>'
    judged "open for writing elsewhere" 3 \
        "in use: process $holder \(sleep\) has $disk open for writing: end"
    no_flag_helps "open for writing elsewhere"
    end_holder
    open_by "$image_of" '<>'
    judged "its file open for writing elsewhere" 3 \
        "process $holder \(sleep\) has the file beneath $disk open for writing"
    end_holder
}

end_holder()
{
    kill "$holder"
    wait "$holder" 2>/dev/null
}

## Disks in a state in which they cannot be used.
states()
{
    disk --read-only
    judged "read-only" 3 'is read-only .*--setrw.*--read-only'
    judged "read-only, to be read" 0 '^writable note: ' --read-only
    check "a virtual disk is refused without its flag" \
        bash -c "'$ssdprobe' check '$disk' 2>&1 | grep -q 'add --allow-virtual'"

    disk
    python3 - "$disk" "$work/held" <<'END' &
import os
import signal
import sys

held = os.open(sys.argv[1], os.O_RDWR | os.O_EXCL)
open(sys.argv[2], "w").close()
signal.pause()
END
    local holder=$!
    until [ -e "$work/held" ]; do sleep 0.05; done
    judged "held by another" 3 "in use: process $holder \(python3?"
    kill "$holder"
    wait "$holder" 2>/dev/null
    held_open
    judged "no longer held" 0 '^not in use pass: '
}

## Disks in use, each also under every set of flags.
flags=(--allow-virtual --force-signature --force-unhealthy --yes --read-only
    --dry-run --confirm)

# no_flag_helps WHAT [SECOND_DISK]
no_flag_helps()
{
    local what=$1 set i before started='' arguments reads status
    before=$(state)
    for ((set = 0; set < 1 << ${#flags[@]}; set++)); do
        arguments=()
        for ((i = 0; i < ${#flags[@]}; i++)); do
            ((set >> i & 1)) || continue
            case ${flags[i]} in
                --confirm) arguments+=("--confirm=$name") ;;
                # None of these asks a question: they come along.
                --yes) arguments+=(--yes --preserve --tune=max --strict
                    --write-budget=1TiB --flush=sync
                    "--output-dir=$work/run") ;;
                *) arguments+=("${flags[i]}") ;;
            esac
        done
        # It goes with all but one of them. What only reads may run on some disks
        # in use (test_shared.sh), so here it is only judged.
        reads=''
        if [[ ${arguments[*]} == *--read-only* ]]; then
            reads=yes
            [[ ${arguments[*]} == *--dry-run* ]] || arguments+=(--dry-run)
        else
            arguments+=(--write-cache=off)
        fi
        timeout 200 "$ssdprobe" -q "${arguments[@]}" "${path:-$disk}" \
            >"$work/out" 2>"$work/err" </dev/null
        status=$?
        ((status == 3)) || { [[ $reads ]] && ((status == 0)); } || started+="${arguments[*]}: $(head -1 "$work/err"); "
    done
    check "$what: no set of flags starts a run that writes: $started" test -z "$started"
    check "$what: all flags together change nothing" \
        test "$(state)" = "$before"
}

in_use()
{
    mkdir "$work/mount" "$work/mount b"
    disk
    mkfs.ext4 -q "$disk"
    mount -o ro "$disk" "$work/mount b"
    judged "a mounted disk" 3 \
        "$disk is in use: $disk is mounted on $work/mount b: unmount it"
    no_flag_helps "a mounted disk"
    path=$work/link
    ln -s "$disk" "$path"
    judged "a link to a mounted disk" 3 "is mounted on"
    no_flag_helps "a link to a mounted disk"
    path=
    umount "$work/mount b"
    judged "no longer mounted" 0 '^not in use pass: ' --force-signature
    mount -o ro "$disk" /boot
    judged "the disk behind /boot" 3 \
        'machine runs from .*: .* is mounted on /boot. No option'
    check "there is no advice to unmount it" \
        bash -c "! grep -q 'unmount' '$work/err'"
    no_flag_helps "the disk behind /boot"
    umount /boot

    disk --partscan
    partition_table gpt
    mkfs.ext4 -q "$(partition_node 1)"
    mount -o ro "$(partition_node 1)" "$work/mount"
    judged "a mounted partition" 3 \
        "$disk is in use: ${disk}p1 is mounted on $work/mount: unmount it"
    no_flag_helps "a mounted partition"
    umount "$work/mount"

    disk
    mkswap "$disk" >/dev/null 2>&1
    if swapon -p 0 "$disk"; then
        swaps+=("$disk")
        judged "swap" 3 "$disk is swap space in use. No option"
        no_flag_helps "swap"
        swapoff "$disk"
    else
        echo "note: this machine lets nobody swap to a loop device"
    fi

    disk
    mkfs.ext4 -q "$disk"
    local lower=$disk lower_image=$image upper
    attach "$disk"
    upper=$disk disk=$lower name=${lower#/dev/} image=$lower_image
    judged "under a loop device" 3 "$lower lies under $upper: detach that"
    mount -o ro "$upper" "$work/mount"
    judged "under a mounted loop device" 3 \
        "lies under $upper, which is mounted on $work/mount"
    no_flag_helps "under a mounted loop device"
    path=$upper
    judged "a loop device over a disk" 3 "consists of other devices.*use $lower"
    no_flag_helps "a loop device over a disk"
    path=
    umount "$work/mount"
    losetup -d "$upper"
    one_file
    through_overlay "on one file system"
    # Layers of two file systems.
    mount -t tmpfs none "$work/mount o"
    through_overlay "on two file systems"
    umount "$work/mount o"
    same_number
}

# A file as the upper layer has it, below, and as it is shown,
# above; each under a loop device, of which one is in use. Their numbers differ.
through_overlay()
{
    local what=$1 layers="$work/mount o" lower below above made holder
    lower=$work/lower-${#loops[@]}
    mkdir -p "$work/mount" "$layers"/{upper,work,shown} "$lower"
    truncate -s 128M "$lower/image"
    mkfs.ext4 -qF "$lower/image"
    if ! mount -t overlay -o \
        "lowerdir=$lower,upperdir=$layers/upper,workdir=$layers/work" none \
        "$layers/shown"; then
        check "$what: there is an overlay file system" false
        return
    fi
    touch "$layers/shown/image"
    cp "$layers/shown/image" "$layers/shown/made"
    for made in image made; do
        image=$layers/upper/$made
        attach "$image"
        below=$disk
        attach "$layers/shown/$made"
        above=$disk disk=$below name=${below#/dev/}
        judged "$what, under an overlay, $made" 3 \
            "$below shares its file with $above: detach that first"
        mount -o ro,noload "$above" "$work/mount"
        judged "$what, under a mounted overlay, $made" 3 \
            "$below shares its file with $above, which is mounted on"
        no_flag_helps "$what, under a mounted overlay, $made"
        umount "$work/mount"
        disk=$above name=${above#/dev/}
        mount -o ro,noload "$below" "$work/mount"
        judged "$what, over a mounted layer, $made" 3 \
            "$above shares its file with $below, which is mounted on"
        umount "$work/mount"
        losetup -d "$above"
        disk=$below name=${below#/dev/}
        open_by "$layers/shown/$made" '<>'
        judged "$what, written to through an overlay, $made" 3 \
            "process $holder \(sleep\) has the file beneath $below open"
        end_holder
        judged "$what, alone under an overlay, $made" 0 \
            '^not in use pass: ' --force-signature
        losetup -d "$below"
    done
    umount "$layers/shown"
    rm -rf "$layers"/{upper,work,shown}
}

# Two files that have nothing in common but a number and a size.
same_number()
{
    local first second
    mkdir -p "$work/mount s" "$work/mount t"
    mount -t tmpfs none "$work/mount s"
    mount -t tmpfs none "$work/mount t"
    image="$work/mount s/image"
    truncate -s 128M "$image"
    # Times are as fine as a tick of the kernel.
    sleep 0.1
    truncate -s 128M "$work/mount t/image"
    check "they have one number" test "$(stat -c %i "$image")" = \
        "$(stat -c %i "$work/mount t/image")"
    attach "$image"
    first=$disk
    attach "$work/mount t/image"
    second=$disk disk=$first name=${first#/dev/}
    judged "beside an unrelated file of the same number" 0 '^not in use pass: '
    losetup -d "$first"
    losetup -d "$second"
    umount "$work/mount s" "$work/mount t"
}

# Two loop devices on one file, by two of its names: the kernel lets both write.
one_file()
{
    local first first_image second map=ssdprobe-twin-$$
    disk
    first=$disk first_image=$image
    mkfs.ext4 -q "$first"
    sync "$first"
    ln "$image" "$work/other name"
    attach "$work/other name"
    second=$disk disk=$first name=${first#/dev/} image=$first_image
    judged "beside a loop device on its file" 3 \
        "$first shares its file with $second: detach that first \(losetup -d"
    mount -o ro "$second" "$work/mount"
    judged "beside a mounted loop device on its file" 3 \
        "$first shares its file with $second, which is mounted on $work/mount"
    no_flag_helps "beside a mounted loop device on its file"
    umount "$work/mount"
    if dmsetup create "$map" --noudevsync --table \
        "0 65536 linear $second 0" 2>/dev/null; then
        judged "beside a device mapper on its file" 3 \
            "its file with $second, which is part of dm-[0-9]+ \($map\)"
        no_flag_helps "beside a device mapper on its file"
        dmsetup remove "$map"
    else
        echo "note: no device mapper in this kernel"
    fi
    losetup -d "$second"
    judged "alone on its file again" 0 '^not in use pass: ' --force-signature
}

# A run that was killed, and whose disk has been mounted since.
restore_of_mounted()
{
    local before run=$work/killed was process status tries=0
    mkdir -p "$work/mount"
    disk
    mkfs.ext4 -q "$disk"
    sync "$disk"
    was=$(cksum <"$image")
    timeout 200 "$ssdprobe" -q --yes --allow-virtual --force-signature --preserve \
        --write-budget=4GiB --region=32MiB,64MiB "--output-dir=$run" \
        run clustered-page "$disk" >"$work/out" 2>"$work/err" &
    process=$!
    until [ -s "$run/state.json" ] || ! kill -0 "$process" 2>/dev/null; do
        sleep 0.05
    done
    sleep 0.2
    kill -KILL "$(pgrep -o -P "$process")" "$process"
    wait "$process" 2>/dev/null
    check "killed: something is to be put back" test -s "$run/journal" \
        -a "$(sync "$disk"; cksum <"$image")" != "$was"
    # What the killed run had under way holds the disk for a moment.
    until mount -o ro,noload "$disk" "$work/mount" 2>/dev/null ||
        ((++tries > 200)); do
        sleep 0.05
    done
    before=$(state)
    timeout 200 "$ssdprobe" restore "$run" >"$work/out" 2>"$work/err"
    status=$?
    check "mounted since: restore ends in 3, not in $status" test "$status" = 3
    check "mounted since: it says why: $(cat "$work/err")" \
        grep -q "$disk is in use: $disk is mounted on $work/mount" "$work/err"
    check "mounted since: not a byte changed" test "$(state)" = "$before"
    umount "$work/mount"
    timeout 200 "$ssdprobe" restore "$run" >"$work/out" 2>"$work/err"
    status=$?
    check "no longer mounted: restore ends in 0, not in $status" \
        test "$status" = 0
    sync "$disk"
    check "and every byte is as it was" test "$(cksum <"$image")" = "$was"
}

# put_in IMAGE: as a card reader does, the same disk with another card.
put_in()
{
    losetup -d "$disk" && losetup "$disk" "$1" ||
        echo "FAILED: $1 cannot be put in $disk"
}

# refused WHAT ARGUMENT...: in 3, and the disk stays as it is.
refused()
{
    local what=$1 before status
    shift
    before=$(cksum <"$image")
    timeout 200 "$ssdprobe" "$@" >"$work/out" 2>"$work/err"
    status=$?
    check "$what ends in 3, not in $status" test "$status" = 3
    check "$what says why and what to do: $(cat "$work/err")" grep -q \
        "$disk may not be the disk.*if it is, add --confirm=$name" \
        "$work/err"
    sync "$disk"
    check "$what leaves every byte" test "$(cksum <"$image")" = "$before"
}

# A run that was killed, and another card in the reader since.
another_in_its_place()
{
    local run=$work/exchanged was first process status
    local probes=clustered-page,read-buffer,write-buffer
    local answers=(--yes --allow-virtual --force-signature)
    disk
    first=$image
    dd if=/dev/urandom of="$disk" bs=1M count=128 oflag=direct status=none
    was=$(cksum <"$first")
    timeout 200 "$ssdprobe" -q "${answers[@]}" --preserve --write-budget=4GiB \
        --region=16MiB,64MiB "--output-dir=$run" run "$probes" "$disk" \
        >"$work/out" 2>"$work/err" &
    process=$!
    until [ -s "$run/state.json" ] || ! kill -0 "$process" 2>/dev/null; do
        sleep 0.05
    done
    kill -KILL "$(pgrep -o -P "$process")" "$process"
    wait "$process" 2>/dev/null
    # Whether it wrote by then or not: what it would have.
    dd if=/dev/urandom of="$disk" bs=1M seek=33 count=4 oflag=direct status=none
    check "exchanged: something is to be put back" test -s "$run/journal"
    check "exchanged: nobody else may read it" test \
        "$(stat -c %a "$run" "$run/journal" "$run/state.json" | xargs)" = \
        "700 600 600"

    image=$work/other.img
    dd if=/dev/urandom of="$image" bs=1M count=128 status=none
    put_in "$image"
    refused "exchanged: restore" restore "$run"
    refused "exchanged: restore --yes" restore --yes "$run"
    put_in "$first"
    timeout 200 "$ssdprobe" restore "$run" >"$work/out" 2>"$work/err"
    status=$?
    check "exchanged: restore knows the first again: $(cat "$work/err")" \
        test "$status" = 0
    sync "$disk"
    check "and every byte is as it was" test "$(cksum <"$first")" = "$was"

    put_in "$image"
    refused "exchanged: --resume --yes" -q "${answers[@]}" "--resume=$run" \
        "$disk"
    # A tenth of it is used in the meantime.
    put_in "$first"
    dd if=/dev/urandom of="$disk" bs=1M seek=100 count=6 oflag=direct \
        status=none
    was=$(cksum <"$first")
    timeout 200 "$ssdprobe" -q "${answers[@]}" --time-limit=1s "--resume=$run" \
        "$disk" >"$work/out" 2>"$work/err"
    status=$?
    check "exchanged: the first is resumed, in 0 or 5, not $status: $(
        cat "$work/err")" test "$status" = 0 -o "$status" = 5
    sync "$disk"
    check "and every byte is as it was" test "$(cksum <"$first")" = "$was"
}

# Where contents tell nothing, and the kernel's number has changed.
blank_in_its_place()
{
    local run=$work/blank status
    disk
    timeout 200 "$ssdprobe" -q --yes --allow-virtual --write-budget=4GiB \
        --region=16MiB,64MiB "--output-dir=$run" --time-limit=1ms \
        run clustered-page,read-buffer,write-buffer "$disk" >"$work/out" \
        2>"$work/err"
    status=$?
    check "blank: the run is out of time, in 0, not in $status" \
        test "$status" = 0
    put_in "$image"
    refused "blank: --resume --yes" -q --yes --allow-virtual "--resume=$run" \
        "$disk"
}

cat >"$work/answer.py" <<'END'
"""answer.py ANSWER COMMAND PROGRAM...: runs PROGRAM at a terminal; when it asks,
runs COMMAND, then types ANSWER. Its errors go to stderr; ends in its status."""
import os
import pty
import subprocess
import sys

answer, command, program = sys.argv[1], sys.argv[2], sys.argv[3:]
ours, theirs = pty.openpty()
run = subprocess.Popen(program, stdin=theirs, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
os.close(theirs)
said = b""
while b" to go on: " not in said:
    read = os.read(run.stderr.fileno(), 4096)
    if not read:
        break
    said += read
else:
    subprocess.run(["bash", "-c", command], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.write(ours, answer.encode() + b"\n")
said += run.stderr.read()
sys.stderr.buffer.write(said)
sys.exit(run.wait())
END

# while_asked WHAT STATUS PATTERN COMMAND [OPTION...]: a run on $disk asks; then
# COMMAND happens; then the answer is yes. It ends in STATUS; where that is 3,
# nothing is written.
while_asked()
{
    local what=$1 status=$2 pattern=$3 command=$4 run=$work/asked before got
    shift 4
    rm -rf -- "$run"
    # What COMMAND itself writes comes before.
    before="sync -f $image; cksum <$image >$work/before"
    timeout 200 python3 "$work/answer.py" "$name" "$command; $before" \
        "$ssdprobe" --allow-virtual --region=16MiB,64MiB --time-limit=500ms \
        --write-budget=4GiB "--output-dir=$run" "$@" run clustered-page \
        "$disk" 2>"$work/err"
    got=$?
    check "$what: the run ends in $status, not in $got: $(tail -n 2 "$work/err")" \
        test "$got" = "$status"
    [ "$status" = 3 ] || return
    check "$what: it says why: $(tail -n 2 "$work/err")" \
        grep -qE "$pattern" "$work/err"
    sync "$disk"
    check "$what: nothing is written" \
        test "$(cksum <"$image")" = "$(cat "$work/before")"
    check "$what: there is nothing to put back" test ! -e "$run/journal"
}

# What happens while the question waits for its answer.
after_the_question()
{
    local second
    mkdir -p "$work/mount"
    disk
    while_asked "nothing happens" 0 '' true
    second=$(losetup --find)
    loops+=("$second")
    mkfs.ext4 -q "$disk"
    while_asked "mounted while it is asked" 3 \
        "$disk is in use: $disk shares its file with $second, which is mounted" \
        "losetup $second $image && mount -o ro,noload $second $work/mount" \
        --force-signature --preserve
    umount "$work/mount"
    losetup -d "$second"
    while_asked "opened for writing while it is asked" 3 \
        "$disk is in use: process [0-9]+ \(sleep\) has $disk open for writing" \
        "sleep 300 <>$disk 2>/dev/null & echo \$! >$work/opener" \
        --force-signature
    kill "$(cat "$work/opener")"
    while_asked "formatted while it is asked" 3 \
        "$disk has changed since .* it now holds .*swap" \
        "wipefs -qa $image; mkswap $image 2>/dev/null" --force-signature
    disk
    while_asked "formatted for the first time while it is asked" 3 \
        "$disk has changed since .* it now holds .*ext4" \
        "mkfs.ext4 -qF $image"
}

# kept_from WHAT PATTERN ARGUMENT...: ends in 2, and the disk stays as it is.
kept_from()
{
    local what=$1 pattern=$2 before status
    shift 2
    sync "$disk"
    before=$(cksum <"$image")
    timeout 200 "$ssdprobe" "$@" >"$work/out" 2>"$work/err"
    status=$?
    check "$what ends in 2, not in $status" test "$status" = 2
    check "$what says why: $(cat "$work/err")" grep -qE "$pattern" "$work/err"
    sync "$disk"
    check "$what leaves every byte" test "$(cksum <"$image")" = "$before"
}

# Who has the folder of a run could put a journal of his own there, which root
# would write to the disk.
foreign_folder()
{
    local folder=$work/foreign run=$work/foreign/run status
    local answers=(-q --yes --allow-virtual --preserve "--region=16MiB,16MiB"
        --write-budget=4GiB --time-limit=500ms "--output-dir=$run")
    disk
    mkdir -p "$run"
    chmod 755 "$work" # or nobody else could get there
    chown 65534 "$run"
    kept_from "a run in another user's folder" \
        "$run .*owner 65534.*--output-dir" "${answers[@]}" run clustered-page \
        "$disk"
    chown 0 "$run"
    chmod 777 "$folder"
    kept_from "a run below a folder of everybody" \
        "$folder .*mode 0777.*--output-dir" "${answers[@]}" run clustered-page \
        "$disk"
    chmod 1777 "$folder"
    timeout 200 "$ssdprobe" "${answers[@]}" run clustered-page "$disk" \
        >"$work/out" 2>"$work/err"
    status=$?
    check "in a sticky folder a run may go, in 0 or 5, not $status: $(
        cat "$work/err")" test "$status" = 0 -o "$status" = 5
    : >"$run/journal"
    chown -R 65534 "$run"
    kept_from "restore from another user's folder" \
        "$run .*owner 65534.*copy it" restore "$run"
    kept_from "a run that goes on in another user's folder" \
        "$run .*owner 65534.*copy it" -q --yes --allow-virtual \
        "--resume=$run" "$disk"
}

btrfs_of_two()
{
    if ! grep -qw btrfs /proc/filesystems; then
        echo "note: no btrfs in this kernel"
        return
    fi
    local one one_image
    disk
    one=$disk one_image=$image
    disk
    mkfs.btrfs -q "$one" "$disk"
    btrfs device scan "$one" "$disk" >/dev/null
    mount -o ro "$one" "$work/mount"
    judged "the second of a btrfs" 3 \
        "($disk shares a btrfs file system with $one, which |$disk )is mounted on"
    no_flag_helps "the second of a btrfs"
    disk=$one image=$one_image name=${one#/dev/}
    judged "the first of a btrfs" 3 "is mounted on $work/mount"
    umount "$work/mount"
    judged "an unmounted btrfs" 3 'btrfs\) at byte 65600'
}

# What is built from a disk. Where the kernel has neither, the guest does it.
built()
{
    local map=ssdprobe-test-$$
    disk
    if ! dmsetup create "$map" --noudevsync --table \
        "0 65536 linear $disk 0" 2>/dev/null; then
        echo "note: no device mapper in this kernel"
    else
        judged "under a device mapper" 3 "is part of dm-[0-9]+ \($map\)"
        no_flag_helps "under a device mapper"
        path=/dev/$(basename "$(grep -lx "$map" /sys/block/dm-*/dm/name |
            sed 's|/dm/name||')")
        judged "a device mapper" 3 "consists of other devices.*use $disk"
        path=
        dmsetup remove "$map"
    fi
    if ! [ -e /proc/mdstat ] || ! command -v mdadm >/dev/null; then
        echo "note: no md in this kernel, or no mdadm"
        return
    fi
    disk
    mdadm --build "/dev/md/$map" --force --level=linear --raid-devices=1 \
        "$disk" >/dev/null 2>&1
    judged "a member of an array" 3 'is part of .*md.*mdadm --stop'
    no_flag_helps "a member of an array"
    mdadm --stop "/dev/md/$map" >/dev/null 2>&1
}

# All disks at once.
list()
{
    disk
    mkfs.ext4 -q "$disk"
    local before
    before=$(state)
    "$ssdprobe" check --allow-virtual >"$work/out" 2>"$work/err"
    check "the list of disks ends in 0" test $? = 0
    check "it names a disk and what refuses it" \
        grep -qE "^$disk +128 MiB .*refused \(signatures\)$" "$work/out"
    "$ssdprobe" check --allow-virtual --force-signature --json >"$work/out"
    check "its document is valid, and tells who may be probed" \
        python3 - "$work/out" "$schema" "$disk" <<'END'
import json
import sys

import jsonschema

document = json.load(open(sys.argv[1]))
jsonschema.validate(document, json.load(open(sys.argv[2])))
disks = {disk["path"]: disk for disk in document["disks"]}
assert disks[sys.argv[3]]["verdict"] == "pass", disks
END
    "$ssdprobe" check >"$work/out"
    check "without --allow-virtual it leaves out virtual disks" \
        bash -c "! grep -q '^/dev/loop' '$work/out'"
    check "the list changes nothing" test "$(state)" = "$before"
}

if [ "$(id -u)" -ne 0 ] || [ ! -e /dev/loop-control ]; then
    echo "FAILED: these tests need root and /dev/loop-control"
    echo "0 passed, 1 failed"
    exit 1
fi
path=
contents
crafted
states
in_use
restore_of_mounted
another_in_its_place
blank_in_its_place
after_the_question
foreign_folder
btrfs_of_two
built
list
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
