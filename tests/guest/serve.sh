#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# serve.sh SOURCE BUILD [OPTION...]: a drive through ublk, with these options,
# keeps what is written and leaves nothing behind.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
flashemu=$2/flashemu
shift 2

nothing_left()
{
    [[ ! -e $device && ! -e /dev/ublkc${name#ublkb} && ! -e /run/flashemu ]] &&
        ! pgrep flashemu
}

serve ram-disk,request_limit_bytes=128KiB --size=96M --via=ublk "$@"
check "the size is what was asked for" \
    test "$(blockdev --getsize64 "$device")" -eq $((96 << 20))
check "the logical block is 512 bytes" \
    test "$(blockdev --getss "$device")" -eq 512
check "the request limit is the drive's" test "$(queue max_sectors_kb)" -eq 128
check "and it says so" grep -q 'requests up to 128 KiB' /tmp/said
check "it has a volatile cache" grep -q 'write back' <(queue write_cache)
check "it takes writes that are safe at once" test "$(queue fua)" -eq 1
for word in "$@"; do
    case $word in
        --without=*user-copy*)
            check "there is no user copy" not grep -q 'user copy' /tmp/said
            ;;&
        --without=*encoding*)
            check "command numbers are plain" grep -q 'plain' /tmp/said
            ;;
        --queues=*)
            check "it has as many queues as processors" test "$(find \
                "/sys/block/$name/mq" -mindepth 1 -maxdepth 1 | wc -l)" -eq \
                "$(nproc)"
            ;;
    esac
done
dd if=/dev/urandom of=/tmp/random bs=1M count=24 2>/tmp/log
check "a write works" \
    dd if=/tmp/random of="$device" bs=1M seek=8 oflag=direct conv=notrunc
check "what was written is read back" \
    cmp -n $((24 << 20)) /tmp/random "$device" 0 $((8 << 20))
dd if=/dev/urandom of=/tmp/sector bs=512 count=1 2>/tmp/log
check "a single sector is written" \
    dd if=/tmp/sector of="$device" bs=512 seek=20001 oflag=direct conv=notrunc
check "a single sector is read back" \
    cmp -n 512 /tmp/sector "$device" 0 $((20001 * 512))
check "its neighbour is untouched" cmp -n 512 /tmp/random "$device" \
    $(((20002 * 512) - (8 << 20))) $((20002 * 512))
check "a flush passes" \
    dd if=/tmp/sector of="$device" bs=512 seek=3 conv=fsync,notrunc
check "a write that is safe at once passes" \
    dd if=/tmp/sector of="$device" bs=512 seek=4 oflag=direct,dsync conv=notrunc
check "a discard passes" blkdiscard -o $((16 << 20)) -l $((1 << 20)) "$device"
check "discarded blocks read as zeros" \
    cmp -n $((1 << 20)) /dev/zero "$device" 0 $((16 << 20))
check "zeroing passes" \
    fallocate -z -n -o $((20 << 20)) -l $((3 << 20)) "$device"
check "zeroed blocks read as zeros" \
    cmp -n $((3 << 20)) /dev/zero "$device" 0 $((20 << 20))
check "what follows is untouched" cmp -n $((1 << 20)) /tmp/random "$device" \
    $((15 << 20)) $((23 << 20))
check "32 requests at once keep their contents" fio \
    "${verified[@]}" --filename="$device" --size=8M --direct=1 \
    --ioengine=io_uring --iodepth=32
end_server TERM
check "SIGTERM ends it well" test $? -eq 0
check "it leaves nothing behind" soon 5 nothing_left
serve ram-disk --size=8M --via=ublk "$@"
exec 9<"$device"
end_server INT
check "SIGINT ends it well, though somebody has it open" test $? -eq 0
exec 9<&-
check "it leaves nothing behind" soon 5 nothing_left
mounted()
{
    serve ram-disk --size=8M --via=ublk "$@"
    mkfs.ext4 -q "$device"
    mount -t ext4 "$device" /mnt
}
says_mounted() { grep -q "$device is mounted on /mnt: unmount it" /tmp/said; }
mounted "$@"
kill -INT "$server"
check "interrupted while its device is mounted, it says so" soon 20 says_mounted
head -c 1048576 /tmp/random >/mnt/a
check "it goes on: what is written arrives" sync -f /mnt/a
umount /mnt
check "unmounted, it ends well" wait "$server"
check "it leaves nothing behind" soon 5 nothing_left
mounted "$@"
kill -TERM "$server"
check "terminated while its device is mounted, it says so" soon 20 says_mounted
end_server TERM
check "a second signal ends it well" test $? -eq 0
umount /mnt
check "it leaves nothing behind" soon 20 nothing_left
serve ram-disk --size=8M --via=ublk "$@"
kill -KILL "$server"
check "a killed server's device goes" soon 20 nothing_left
serve plain-disk,direct_ns=5s --size=8M --via=ublk "$@"
dd if="$device" of=/dev/null bs=4k count=1 iflag=direct 2>/tmp/log &
reader=$!
sleep 1
kill -TERM "$server"
sleep 1
before=$(date +%s)
end_server TERM
check "a second signal does not wait for the drive" \
    test $(($(date +%s) - before)) -le 5
check "what was under way fails" not wait "$reader"
check "it leaves nothing behind" soon 5 nothing_left
summary
