#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The nbdkit plugin: an emulated drive behind NBD. Contents, what reaches the
# drive, times, requests side by side, its words.
#   test_nbdkit.sh SOURCE_DIR BUILD_DIR
set -u
plugin=$(realpath -- "$2")/nbdkit-flash-plugin.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/checks.sh
. "$1/tests/checks.sh"
comes_first

# served SPEC... -- COMMAND: a shell runs it beside a server of the drive, with
# $uri and $unixsocket.
served() {
    local spec=()
    while [ "$1" != -- ]; do
        spec+=("$1")
        shift
    done
    WORK=$work timeout -k 5 100 nbdkit -U - -P "$work/pid" "$plugin" "${spec[@]}" --run "$2"
}
refused() { # WORDS SPEC...: it does not start, and says so.
    local words=$1
    shift
    ! served "$@" -- true && grep -q -- "$words" "$checks_log"
}

# The client of the rest: `h` is connected to the drive.
cat >"$work/client.py" <<'END'
import errno, json, nbd, os, statistics, sys, time
socket = os.environ["unixsocket"]
def connect(export=""):
    handle = nbd.NBD()
    handle.set_export_name(export)
    # What is wrong is to be seen by the server.
    handle.set_strict_mode(0)
    handle.connect_unix(socket)
    return handle
def counts():
    return json.loads(connect("statistics").pread(4096, 0))["received"]
def fails(code, call, *arguments):
    try:
        call(*arguments)
    except nbd.Error as error:
        assert error.errnum == code, error
    else:
        raise AssertionError("it passed")
def seconds(call, *arguments):
    begin = time.monotonic()
    call(*arguments)
    return time.monotonic() - begin
h = connect()
END
client() { # SENTENCE SPEC... <PYTHON
    local sentence=$1
    shift
    cat "$work/client.py" - >"$work/script.py"
    # shellcheck disable=SC2016
    check "$sentence" served "$@" -- \
        'unixsocket=$unixsocket /usr/bin/python3 $WORK/script.py'
}

echo "# prerequisites"
for need in nbdkit nbdcopy fio; do
    check "there is a $need" command -v "$need"
done
check "the plugin was built" test -e "$plugin"
check "there is a library for NBD" /usr/bin/python3 -c 'import nbd'
if [ "$failed" -gt 0 ]; then
    summary
    exit 1
fi

echo "# contents"
client "size and abilities are the drive's" ssd-a request_limit_bytes=128KiB \
    <<'END'
assert h.get_size() == 64 * 10**9
assert h.get_block_size(nbd.SIZE_MINIMUM) == 512
assert h.get_block_size(nbd.SIZE_MAXIMUM) == 128 << 10
assert h.can_flush() and h.can_fua() and h.can_trim() and h.can_zero()
assert h.can_multi_conn() and not h.is_read_only() and not h.is_rotational()
END
dd if=/dev/urandom of="$work/random" bs=1M count=24 2>/dev/null
# shellcheck disable=SC2016
check "what was copied there comes back" served ram-disk capacity_bytes=24MiB \
    timing=off -- 'set -e
nbdcopy --connections=4 "$WORK/random" "$uri"
nbdcopy --connections=4 "$uri" "$WORK/back"
cmp "$WORK/random" "$WORK/back"'
client "zeros and discards read as zeros, their neighbours stay" ssd-a <<'END'
h.pwrite(b"\xa5" * (4 << 20), 1 << 20)
h.zero(1 << 20, 1 << 20, nbd.CMD_FLAG_NO_HOLE)
h.zero(4096, 3 << 20)
h.trim(512, (3 << 20) + 8192)
back = h.pread(4 << 20, 1 << 20)
assert back[:1 << 20] == bytes(1 << 20)
assert back[1 << 20:2 << 20] == b"\xa5" * (1 << 20)
rest = back[2 << 20:]
assert rest[:4096] == bytes(4096) and rest[4096:8192] == b"\xa5" * 4096
assert rest[8192:8704] == bytes(512)
assert rest[8704:] == b"\xa5" * (len(rest) - 8704)
END
client "what is crooked or beyond the end fails, the rest goes on" ssd-a <<'END'
fails(errno.EINVAL, h.pread, 512, 1)
fails(errno.EINVAL, h.pwrite, b"x" * 100, 0)
fails(errno.EINVAL, h.pread, 512, h.get_size())
assert len(h.pread(512, h.get_size() - 512)) == 512
END
client "a drive's faults are the client's errors" ram-disk \
    read_error_share=1 <<'END'
fails(errno.EIO, h.pread, 512, 0)
h.pwrite(bytes(512), 0)
END
check "requests side by side keep their contents" served ssd-a --threads=16 -- \
    "fio ${verified[*]} --ioengine=nbd --uri=\"\$uri\" --size=24M --iodepth=16"

echo "# what reaches the drive"
client "each request is counted once" ssd-a <<'END'
assert set(counts().values()) == {0}
h.pwrite(bytes(8192), 0)
h.pwrite(bytes(512), 0, nbd.CMD_FLAG_FUA)
h.flush()
h.flush()
h.pread(4096, 0)
h.trim(1 << 20, 1 << 20)
h.zero(2 << 20, 0, nbd.CMD_FLAG_NO_HOLE)
expected = dict(reads_count=1, writes_count=2, zeros_count=1, discards_count=1,
                flushes_count=2, fua_count=1, read_bytes=4096,
                written_bytes=8192 + 512 + (2 << 20))
assert counts() == expected, counts()
END
client "the counts can only be read" ssd-a <<'END'
other = connect("statistics")
assert other.is_read_only() and other.get_size() == 4096
fails(errno.EPERM, other.pwrite, bytes(512), 0)
fails(errno.ENOENT, connect, "no-such-export")
END
client "a flush waits for what the buffer holds, and so does a forced write" \
    ssd-a program_ns=1s write_buffer_bytes=256KiB <<'END'
# Nobody's processor keeps a request for most of a second.
assert seconds(h.pwrite, bytes(16384), 0) < 0.8
assert seconds(h.flush) >= 1
assert seconds(h.pwrite, bytes(16384), 0, nbd.CMD_FLAG_FUA) >= 1
END

echo "# times"
client "answers come when they are due" ram-disk direct_ns=5ms <<'END'
took = [seconds(h.pread, 4096, 0) for i in range(60)]
assert min(took) > 0.0049, min(took)
# Beside other work many are late, but not all.
assert sorted(took)[15] < 0.0065, sorted(took)
END
client "reads of many banks overlap" ssd-a read_ns=10ms --threads=16 <<'END'
begin = time.monotonic()
waiting = [h.aio_pread(nbd.Buffer(4096), i * (65536 + 4096))
           for i in range(160)]
while waiting:
    h.poll(-1)
    waiting = [cookie for cookie in waiting
               if not h.aio_command_completed(cookie)]
took = time.monotonic() - begin
assert 0.1 < took < 0.8, took
END
client "timing=off answers at once" ssd-a read_ns=100ms timing=off <<'END'
assert statistics.median(seconds(h.pread, 4096, 0) for i in range(9)) < 0.02
END
client "noise and seed are the drive's" ram-disk direct_ns=1ms noise=hostile \
    seed=3 <<'END'
took = [seconds(h.pread, 4096, 0) for i in range(100)]
assert max(took) > 0.003, max(took)
END
client "an idle server burns no processor" ssd-a <<'END'
with open(os.environ["WORK"] + "/pid") as file:
    server = int(file.read())
def ticks():
    with open(f"/proc/{server}/stat") as file:
        return sum(int(word) for word in file.read().split()[13:15])
h.pwrite(bytes(65536), 0)
time.sleep(0.1)
before = ticks()
time.sleep(0.5)
assert ticks() - before <= 1, ticks() - before
END

echo "# a killed server"
uri="nbd+unix:///?socket=$work/socket"
serve() { # sets `server`, whose contents outlive it
    rm -f "$work/socket"
    (cd "$work" && exec timeout -k 5 100 nbdkit --foreground -U "$work/socket" \
        -P "$work/pid" "$plugin" ram-disk capacity_bytes=48MiB direct_ns=1ms \
        contents-file=contents) 2>"$work/said" &
    for _ in $(seq 100); do
        [ -S "$work/socket" ] && [ -s "$work/pid" ] && break
        sleep 0.05
    done
    server=$(cat "$work/pid")
    rm "$work/pid"
}
load() { # [TIMES], all over the first 32 MiB
    timeout 100 fio "${verified[@]}" --ioengine=nbd --uri="$uri" --size=32M \
        --iodepth=16 --loops="${1:-1}"
}
flushed() { # PYTHON: about the last 8 MiB
    /usr/bin/python3 -c "import nbd
h = nbd.NBD()
h.connect_unix('$work/socket')
data = open('$work/random', 'rb').read(8 << 20)
$1"
}
serve
check "8 MiB are written and flushed" flushed 'h.pwrite(data, 40 << 20)
h.flush()'
load 100 >"$work/fio" 2>&1 &
client=$!
sleep 1
check "a client is at work" kill -0 "$client"
kill -KILL "$server"
wait "$client"
check "it gets an error, and does not hang" test $? -eq 1
wait
serve
check "what was flushed is there for the next server" \
    flushed 'assert h.pread(8 << 20, 40 << 20) == data'
check "which serves as well as any" load
check "a second server of the same contents is refused" refused \
    "another server keeps" ram-disk capacity_bytes=48MiB \
    contents-file="$work/contents"
kill "$server"
wait
check "contents of another drive are refused" refused \
    "as long as the drive" ram-disk contents-file="$work/contents"

echo "# words"
check "no drive is refused" refused "Give drive=NAME"
check "an unknown drive is refused" refused "no drive 'no-such'" no-such
check "an unknown key is refused" refused "unknown key 'nokey'" ssd-a nokey=1
check "a value out of range is refused" refused "out of range" ssd-a \
    read_ns=99s
check "an impossible drive is refused" refused "nbdkit: error" ssd-a \
    capacity_bytes=1
printf '[drive]\nname = mine\ncapacity_bytes = 8MiB\n' >"$work/mine.ini"
client "a file is a drive" "$work/mine.ini" <<'END'
assert h.get_size() == 8 << 20
END
check "the help tells the keys" sh -c \
    "nbdkit '$plugin' --help | grep -q 'drive=NAME'"

summary
