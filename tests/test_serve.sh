#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# flashemu serve, through the kernel: contents, queue depth, flush, discard,
# sizes, and that nothing is left behind however a server or client ends.
#   test_serve.sh SOURCE_DIR BUILD_DIR
set -u
flashemu=$2/flashemu
# shellcheck source=tests/serving.sh
. "$1/tests/serving.sh"
has_no_files() { ! has_files "$1"; }
has_no_mount() { ! grep -q "/run/flashemu/flashemu-$1-" /proc/self/mounts; }
backing_file() { cat "/sys/block/$name/loop/backing_file" 2>/dev/null; }
# Its loop device may be somebody else's by now.
is_down() { [[ $(backing_file) != */flashemu-$1-* && $(backing_file) != / ]]; }
nothing_left() {
    is_down "$server" && is_dead "$server" && is_dead "$attendant" &&
        has_no_files "$server" && has_no_mount "$server"
}
read_fails() {
    ! timeout 100 dd if="$device" of=/dev/null bs=4k count=1 iflag=direct
}

echo "# prerequisites"
for need in /dev/fuse /dev/loop-control "$flashemu"; do
    if [ "$(id -u)" -ne 0 ] || [ ! -e "$need" ]; then
        fail "this test needs root and $need"
        summary
        exit 1
    fi
done

echo "# contents and geometry"
serve ram-disk --size=96M
check "the size is what was asked for" \
    test "$(blockdev --getsize64 "$device")" -eq $((96 << 20))
check "the logical block is 512 bytes" test "$(blockdev --getss "$device")" -eq 512
check "the request limit is said" grep -q 'requests up to 512 KiB' "$work/messages"
check "the request limit is set" \
    test "$(cat "/sys/block/$name/queue/max_sectors_kb")" -eq 512
check "direct I/O is on" test "$(cat "/sys/block/$name/loop/dio")" -eq 1
dd if=/dev/urandom of="$work/random" bs=1M count=24 2>/dev/null
check "a write works" \
    dd if="$work/random" of="$device" bs=1M seek=8 oflag=direct
check "what was written is read back" \
    cmp -n $((24 << 20)) -i 0:$((8 << 20)) "$work/random" "$device"
dd if=/dev/urandom of="$work/sector" bs=512 count=1 2>/dev/null
check "a single sector is written" dd if="$work/sector" of="$device" bs=512 \
    seek=20001 oflag=direct
check "a single sector is read back" \
    cmp -n 512 -i 0:$((20001 * 512)) "$work/sector" "$device"
check "its neighbour is untouched" \
    cmp -n 512 -i $(((20002 * 512) - (8 << 20))):$((20002 * 512)) \
    "$work/random" "$device"
check "a flush passes" dd if="$work/sector" of="$device" bs=512 seek=3 \
    conv=fsync,notrunc
check "a discard passes" blkdiscard -o 16M -l 1M "$device"
check "discarded blocks read as zeros" \
    cmp -n $((1 << 20)) -i 0:$((16 << 20)) /dev/zero "$device"
check "zeroing passes" blkdiscard -z -o 20M -l 3M "$device"
check "zeroed blocks read as zeros" \
    cmp -n $((3 << 20)) -i 0:$((20 << 20)) /dev/zero "$device"
check "zeroing without unmapping passes" \
    fallocate -z -n -o $((24 << 20)) -l $((3 << 20)) "$device"
check "those blocks read as zeros" \
    cmp -n $((3 << 20)) -i 0:$((24 << 20)) /dev/zero "$device"
check "what follows is untouched" \
    cmp -n $((1 << 20)) -i $((19 << 20)):$((27 << 20)) "$work/random" "$device"
check "a read beyond the end stops there" test "$(dd if="$device" bs=1M \
    skip=95 count=4 iflag=direct 2>/dev/null | wc -c)" -eq $((1 << 20))
check "32 requests at once keep their contents" timeout 200 fio \
    "${verified[@]}" --filename="$device" --size=48M --direct=1 \
    --ioengine=libaio --iodepth=32

kill -TERM "$server"
check "SIGTERM removes everything" soon 5 nothing_left

serve ram-disk,request_limit_bytes=128KiB --size=16M
check "the drive's own request limit is set" \
    test "$(cat "/sys/block/$name/queue/max_sectors_kb")" -eq 128
kill -TERM "$server"
check "SIGTERM removes everything again" soon 5 nothing_left
check "the next user of the loop device has no such limit" \
    test "$(cat "/sys/block/$name/queue/max_sectors_kb")" -gt 512

echo "# queue depth: reads of 50 ms from many banks overlap"
serve ssd-a,read_ns=50ms
start=$(date +%s%N)
check "32 reads at once are answered" timeout 200 fio --name=q \
    --filename="$device" --rw=randread --bs=4k --number_ios=320 --size=32G \
    --direct=1 --ioengine=libaio --iodepth=32
took_ms=$((($(date +%s%N) - start) / 1000000))
check "320 of them do not wait for each other ($took_ms ms)" \
    test "$took_ms" -lt 8000
sleep 0.3
ticks() { awk '{print $14 + $15}' "/proc/$server/stat"; }
before=$(ticks)
sleep 1
check "an idle server burns no processor" test $(($(ticks) - before)) -le 2

echo "# signals"
kill -INT "$server"
check "SIGINT removes everything" soon 5 nothing_left
wait "$group"
check "SIGINT ends with status 0" test $? -eq 0
serve ram-disk --size=16M
# Dirty pages that have to be written back while the device is taken down.
dd if="$work/random" of="$device" bs=64k count=100 2>/dev/null
exec 9<"$device"
kill -TERM "$server"
check "SIGTERM ends a server whose device is open" soon 5 is_dead "$server"
check "then reads fail" read_fails
exec 9<&-
check "and the last close removes the rest" soon 5 nothing_left

echo "# interrupted while mounted"
mounted() {
    serve ram-disk --size=16M
    mkfs.ext4 -q "$device"
    mkdir -p "$work/mount"
    mount "$device" "$work/mount"
}
says_mounted() { grep -q "$device is mounted on $work/mount: unmount" "$work/messages"; }
mounted
kill -INT "$server"
check "an interrupted server says where its device is mounted" soon 5 says_mounted
head -c 3M "$work/random" >"$work/mount/a"
check "it goes on: what is written arrives" sync -f "$work/mount/a"
dd of="$work/mount/a" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
check "and is read back" cmp -n $((3 << 20)) "$work/mount/a" "$work/random"
umount "$work/mount"
check "unmounted, it ends and removes everything" soon 5 nothing_left
wait "$group"
check "well" test $? -eq 0
mounted
kill -TERM "$server"
check "a terminated server says it as well" soon 5 says_mounted
check "it is there" kill -0 "$server"
kill -TERM "$server"
check "a second signal ends it, mounted or not" soon 5 is_dead "$server"
umount "$work/mount"
check "and nothing is left once it is unmounted" soon 5 nothing_left

echo "# a killed server"
serve ram-disk,direct_ns=200ms --size=16M
timeout 200 dd if="$device" of=/dev/null bs=4k iflag=direct 2>"$work/dd" &
client=$!
sleep 0.4
kill -KILL "$server"
check "its client gets an error within seconds" soon 4 is_dead "$client"
wait "$client"
check "an error, not success" test $? -eq 1
check "its attendant removes the rest" soon 5 nothing_left

serve ram-disk --size=16M
kill -KILL "$attendant"
check "a server whose attendant was killed removes everything" soon 5 nothing_left
wait "$group"
check "and says so with status 4" test $? -eq 4

serve ram-disk,direct_ns=200ms --size=16M
timeout 200 dd if="$device" of=/dev/null bs=4k iflag=direct 2>"$work/dd" &
client=$!
sleep 0.4
kill -KILL -- "-$group"
check "with its attendant killed too the client still gets an error" \
    soon 4 is_dead "$client"
check "a killed group leaves its record" has_files "$server"
dead=$server
dead_name=$name
serve ram-disk --size=16M
first=$server
check "the next server clears its record away" has_no_files "$dead"
check "and its loop device" test "$dead_name" = "$name" -o \
    "$(cat "/sys/block/$dead_name/loop/backing_file" 2>/dev/null)" != /
first_name=$name
first_device=$device
serve ram-disk --size=16M
check "a living server is left alone" test -e \
    "/sys/block/$first_name/loop/backing_file" -a -d "/proc/$first"
check "and still answers" timeout 100 dd if="$first_device" of=/dev/null bs=4k \
    count=1 iflag=direct
kill -TERM "$server"
kill -TERM "$first"
check "one ends" soon 5 nothing_left
server=$first name=$first_name
check "the other ends" soon 5 nothing_left

echo "# a killed client"
serve ram-disk,direct_ns=50ms --size=16M
fio --name=k --filename="$device" --rw=randwrite --bs=4k --size=16M --direct=1 \
    --ioengine=libaio --iodepth=16 >/dev/null 2>&1 &
client=$!
sleep 0.5
kill -KILL "$client"
wait "$client" 2>/dev/null
check "the server survives its client" kill -0 "$server"
kill -TERM "$server"
check "SIGTERM after a killed client removes everything" soon 8 nothing_left

echo "# the command line"
status_of() { timeout 100 "$flashemu" "$@" >"$work/out" 2>"$work/err"; echo $?; }
check "no drive: exit 1" test "$(status_of serve)" -eq 1
check "unknown drive: exit 2" test "$(status_of serve no-such-drive)" -eq 2
check "unknown option: exit 1" test "$(status_of serve ram-disk --vai=loop)" -eq 1
check "no abbreviations: exit 1" test "$(status_of list --js)" -eq 1
check "no other way into the kernel" \
    test "$(status_of serve ram-disk --via=nbd)" -eq 1
check "what only ublk has is refused" \
    test "$(status_of serve ram-disk --via=loop --queues=2)" -eq 1
check "one line says why" test "$(wc -l <"$work/err")" -eq 1
check "trailing junk in a size: exit 1" \
    test "$(status_of serve ram-disk --size=1Mx)" -eq 1
for words in "list" "show ssd-a" "serve no-such-drive" "list --nonsense" \
    "serve ram-disk --size=0"; do
    # shellcheck disable=SC2086
    status_of $words --json >/dev/null
    check "$words --json prints one document" python3 -c \
        'import json,sys; json.load(open(sys.argv[1]))' "$work/out"
done
timeout -s TERM 3 "$flashemu" serve ram-disk --size=1M --json \
    >"$work/out" 2>/dev/null
check "serve --json prints one document" python3 -c '
import json, sys
device = json.load(open(sys.argv[1]))["device"]
assert device["path"].startswith("/dev/") and device["capacity_bytes"] == 1 << 20
' "$work/out"

summary
