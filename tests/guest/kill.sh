#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kill.sh SOURCE BUILD: a server of a ublk device that is killed under load. The
# next one of the same contents takes the device up, and a client that writes and
# verifies sees nothing but a pause; without one the device goes, the client gets
# errors, and what was flushed is in the contents.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
flashemu=$2/flashemu
drive=('plain-disk,direct_ns=2ms' --size=48M --via=ublk --contents=/tmp/contents)
mib=$((1 << 20))

nothing_left()
{
    [[ ! -e $device && ! -e /dev/ublkc${name#ublkb} && ! -e /run/flashemu ]] &&
        ! pgrep flashemu
}

# Writes all over the first 12 MiB, then reads it back; in the background. Other
# contents each time: what an earlier one left is no proof.
load() # SEED
{
    fio "${verified[@]}" --filename="$device" --size=12M --direct=1 \
        --ioengine=io_uring --iodepth=16 --fsync=32 --randseed="$1" \
        >/tmp/fio 2>&1 &
    client=$!
}
requests() # of the device so far
{
    awk '{ print $1 + $5 }' "/sys/block/$name/stat"
}
busy() # FROM: has the device been asked for more than a hundred since?
{
    (($(requests) > $1 + 100))
}
ended()
{
    [[ ! -e /proc/$1 ]] || grep -q '^State:.*Z' "/proc/$1/status"
}

echo '# with a successor'
serve "${drive[@]}"
first=$device
load 7
for turn in 1 2 3 4; do
    check "turn $turn: the client is at work" soon 20 busy "$(requests)"
    kill -KILL "$server"
    wait "$server"
    check "turn $turn: the device stays" test -b "$first"
    check "turn $turn: the client waits" not ended "$client"
    serve "${drive[@]}"
    check "turn $turn: it is the same device" test "$device" = "$first"
    check "turn $turn: and it says so" \
        grep -q 'taken over from a killed server' /tmp/said
done
wait "$client"
check "the client saw no error, and read back all that it wrote" test $? -eq 0
check "it wrote all" grep -qE 'WRITE:.*io=12.0MiB' /tmp/fio
check "and read all" grep -qE 'READ:.*io=12.0MiB' /tmp/fio
end_server TERM
check "SIGTERM ends the last server well" test $? -eq 0
check "and nothing is left behind" soon 20 nothing_left
check "the contents are in their file" test "$(stat -c %b /tmp/contents)" -gt 8192

echo '# without one'
dd if=/dev/urandom of=/tmp/random bs=1M count=8 2>/dev/null
serve "${drive[@]}"
check "what is flushed" dd if=/tmp/random of="$device" bs=256k \
    seek=$((40 * mib))B oflag=direct conv=fsync,notrunc
load 8
check "the client is at work" soon 20 busy "$(requests)"
kill -KILL "$server"
wait "$server"
check "the client gets an error in the end" soon 60 ended "$client"
wait "$client"
check "an error, not success" test $? -ne 0
check "the device goes, wedged by nobody" soon 60 nothing_left
serve "${drive[@]}"
check "what was flushed is there for the next server" \
    cmp -n $((8 * mib)) /tmp/random "$device" 0 $((40 * mib))
load 9
wait "$client"
check "which serves as well as any" test $? -eq 0
end_server TERM
check "it ends well" test $? -eq 0
check "and leaves nothing behind" soon 20 nothing_left
summary
