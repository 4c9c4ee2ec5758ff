#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test_replay.sh SOURCE BUILD: flashemu replay, random and bench as a user
# calls them.
# shellcheck disable=SC2016 # what bash -c is given, it expands itself
set -u

flashemu=$2/flashemu
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
passed=0 failed=0

# check NAME COMMAND...: the command must succeed.
check()
{
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        ((passed += 1))
    else
        ((failed += 1))
        printf 'FAILED: %s\n' "$name"
        sed 's/^/    /' "$work/log"
    fi
}

# value FILE PATH: of a JSON document, such as response.read.count.
value()
{
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
at = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    at = at[key]
print(at)
PYTHON
}

# is FILE PATH VALUE
is()
{
    local found
    found=$(value "$1" "$2")
    [[ $found == "$3" ]] || { echo "$2 is $found, not $3" && return 1; }
}

# ends STATUS TEXT COMMAND...: exit status, and what it says on stderr.
ends()
{
    local status=$1 text=$2 found
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    found=$?
    cat "$work/err"
    ((found == status)) || { echo "exit status $found" && return 1; }
    [[ -z $text ]] || grep -qF -- "$text" "$work/err"
}

# traces COUNT NAME: the same requests in every format. Half of them are read.
traces()
{
    awk -v count="$1" -v name="$work/$2" 'BEGIN {
        print "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime" \
            > (name ".msr")
        for (i = 0; i < count; i++) {
            seed = (seed * 1103515245 + 12345) % 2147483648
            block = int(seed / 256) % 6000000 * 8
            blocks = 8 * (1 + seed % 7)
            read = int(seed / 65536) % 2
            us = i * 20000
            printf "%d.%03d 0 %d %d %d\n", us / 1000, us % 1000, block,
                blocks, read > (name ".disksim")
            printf "0,%d,%d,%s,%d.%06d\n", block, blocks * 512,
                read ? "R" : "w", us / 1000000, us % 1000000 > (name ".spc")
            printf "1281663%010d0,h,0,%s,%.0f,%d,9\n", us, \
                read ? "Read" : "Write", block * 512, blocks * 512 \
                > (name ".msr")
            printf "  8,16   1 %8d %5d.%06d000  41  Q  %s %d + %d [fio]\n", i,
                us / 1000000, us % 1000000, read ? "R" : "WS", block,
                blocks > (name ".blkparse")
            printf "  8,16   1 %8d %5d.%06d900  41  C  %s %d + %d [0]\n", i,
                us / 1000000, us % 1000000, read ? "R" : "WS", block,
                blocks > (name ".blkparse")
        }
        print "CPU0 (8,16):\n Reads Queued: 7, 28KiB" > (name ".blkparse")
    }'
}

replay()
{
    "$flashemu" replay "$@"
}

# ---- formats: one answer, whatever the trace is written in ----------------

traces 2000 small
for format in disksim spc msr blkparse; do
    # Five columns of numbers do not say the unit of their times.
    [[ $format != disksim ]] || asked=--time-unit=ms
    replay ssd-a "$work/small.$format" ${asked-} --json >"$work/$format.json" \
        2>/dev/null
    unset asked
    check "$format is recognised" is "$work/$format.json" trace.format "$format"
    check "$format has all requests" is "$work/$format.json" trace.requests 2000
    check "$format told to be $format" replay ssd-a "$work/small.$format" \
        --format=$format
    for what in response.all.mean_ns response.read.p99_ns \
        response.write.max_ns queue.all.mean_ns drive.blocks_erased; do
        check "$format: $what" is "$work/$format.json" $what \
            "$(value "$work/disksim.json" $what)"
    done
done
check 'reads and writes apart' test \
    $(($(value "$work/spc.json" response.read.count) + \
        $(value "$work/spc.json" response.write.count))) = 2000
check 'a pipe is a trace when its format is named' \
    bash -c '"$1" replay ssd-a /dev/stdin --format=spc <"$2"' _ "$flashemu" \
    "$work/small.spc"

# ---- times: exactly what the drive file says -------------------------------

# 2 us a request, 1 us a command, 4096 bytes at 5 GB/s and at 8 GB/s: 4331 ns.
printf '0,0,4096,R,0.0\n0,8,4096,R,1.5\n0,16,4096,W,3.0\n' >"$work/three.spc"
replay ram-disk "$work/three.spc" --json >"$work/three.json"
check 'an unloaded response is exact' is "$work/three.json" \
    response.all.max_ns 4331
check 'nothing waits' is "$work/three.json" queue.all.max_ns 0
check 'it lasts as long as the trace' is "$work/three.json" duration_ns \
    3000004331
replay ram-disk "$work/three.spc" --speed=1000 --json >"$work/fast.json"
check 'a thousand times as fast' is "$work/fast.json" duration_ns 3004331
printf '0,0,4096,R,0.0\n0,8,4096,R,0.0\n0,16,4096,R,0.0\n' >"$work/burst.spc"
replay ram-disk,queue_depth_count=1 "$work/burst.spc" --json >"$work/burst.json"
check 'the third of a burst waits for two' is "$work/burst.json" \
    queue.all.max_ns 8662
replay ram-disk "$work/three.spc" --depth=1 --json >"$work/closed.json"
check 'a closed loop follows at once' is "$work/closed.json" duration_ns 12993
check 'a closed loop at depth 2' is "$work/closed.json" loop closed

# ---- what lies beyond the end, or is damaged -------------------------------

printf '0,0,4096,R,0.0\n0,1953125000,4096,W,0.1\n' >"$work/beyond.spc"
replay ssd-a "$work/beyond.spc" --json >"$work/beyond.json"
check 'beyond the end is left out and counted' is "$work/beyond.json" \
    trace.beyond_end 1
check 'and not sent' is "$work/beyond.json" response.all.count 1
replay ssd-a "$work/beyond.spc" --wrap --json >"$work/wrap.json"
check '--wrap folds it back' is "$work/wrap.json" trace.wrapped 1
check 'and sends it' is "$work/wrap.json" response.all.count 2
tail -n 1 "$work/beyond.spc" >"$work/far.spc"
check 'nothing on the drive is an error' ends 2 '--wrap' replay ssd-a \
    "$work/far.spc"

{ head -n 3 "$work/small.spc" && echo '0,1,x,R,9' &&
    tail -n 3 "$work/small.spc"; } >"$work/bad.spc"
check 'a damaged line is named' ends 2 "$work/bad.spc:4: expected ASU" \
    replay ssd-a "$work/bad.spc"
check '--lenient goes on' replay ssd-a "$work/bad.spc" --lenient --json
replay ssd-a "$work/bad.spc" --lenient --json >"$work/lenient.json"
check 'and counts it' is "$work/lenient.json" trace.malformed 1
check 'and sends the others' is "$work/lenient.json" trace.requests 6
printf '0,18446744073709551615,4096,R,0.0\n' >"$work/huge.spc"
check 'an impossible offset is a damaged line' ends 2 'huge.spc:1' \
    replay ssd-a "$work/huge.spc" --format=spc
printf '0,0,4096,R,5.0\n0,8,4096,R,4.0\n' >"$work/back.spc"
replay ssd-a "$work/back.spc" --json >"$work/back.json"
check 'time that runs back is counted' is "$work/back.json" \
    trace.out_of_order 1
printf '0 0 1 8 1\n1.5 1 9 8 0\n3 0 17 8 1\n' >"$work/two.disksim"
replay ssd-a "$work/two.disksim" --format=disksim --json >"$work/two.json"
check 'devices are counted' is "$work/two.json" trace.devices 2
replay ssd-a "$work/two.disksim" --format=disksim --device=1 --json >"$work/one.json"
check '--device chooses' is "$work/one.json" trace.requests 1
printf 'h,0,4096\n' >"$work/none.txt"
check 'an unknown format' ends 2 'blkparse' replay ssd-a "$work/none.txt"
: >"$work/empty.txt"
check 'an empty trace' ends 2 'empty' replay ssd-a "$work/empty.txt"
check 'no trace' ends 2 'cannot open' replay ssd-a "$work/missing"
check 'no drive' ends 2 'no-such' replay no-such "$work/small.spc"
check 'no speed' ends 1 '--speed=0' replay ssd-a "$work/small.spc" --speed=0
check 'speed or depth' ends 1 '--depth' replay ssd-a "$work/small.spc" \
    --speed=2 --depth=2
check 'an error is a document' bash -c \
    '"$1" replay ssd-a "$2" --json 2>/dev/null | python3 -m json.tool' _ \
    "$flashemu" "$work/missing"

# ---- rows, text, repetition -------------------------------------------------

replay ssd-a "$work/small.spc" --csv="$work/rows.csv" --json >"$work/rows.json"
check 'a row for each request' test \
    "$(grep -vc '^#' "$work/rows.csv")" = 2001
check 'a header with units' grep -q '^index,.*response_ns,queue_ns' \
    "$work/rows.csv"
check 'rows agree with the mean' test "$(awk -F, '!/^[#i]/ { sum += $7 }
    END { printf "%d", sum / 2000 }' "$work/rows.csv")" = \
    "$(value "$work/rows.json" response.all.mean_ns)"
check 'csv on stdout is nothing but rows' bash -c \
    '"$1" replay ssd-a "$2" --csv | cmp - "$3"' _ "$flashemu" \
    "$work/small.spc" "$work/rows.csv"
check 'csv and json want one stdout' ends 1 'standard output' replay ssd-a \
    "$work/small.spc" --csv --json
for run in 1 2; do
    replay ssd-a,noise=realistic "$work/small.spc" --csv=- >"$work/csv.$run"
    replay ssd-a,noise=realistic "$work/small.spc" >"$work/text.$run"
done
check 'two runs, the same rows' cmp "$work/csv.1" "$work/csv.2"
check 'two runs, the same text' cmp "$work/text.1" "$work/text.2"
check 'no blank at the end of a line' bash -c '! grep -n " $" "$1"' _ \
    "$work/text.1"
check 'no progress unless on a terminal' ends 0 '' replay ssd-a \
    "$work/small.spc"
check 'stderr is empty then' test ! -s "$work/err"

# ---- why: what each request spent its time on -------------------------------

# adds_up FILE: each row's parts are its response time, to the nanosecond.
adds_up()
{
    awk -F, '!/^[#i]/ { sum = 0; rows++
            for (i = 6; i <= NF; i++) sum += $i
            if (sum != $5) { print "row " $1 ": " sum ", not " $5; bad = 1 } }
        END { exit bad || rows != 2000 }' "$1"
}

for drive in ssd-a ssd-b,noise=hostile ssd-d,scheduler=read-first \
    usb-unknown-1g jasmine-64g,spare_permille=60 kasi-two-level \
    ssd-a,request_limit_bytes=4KiB ram-disk; do
    replay "$drive" "$work/small.spc" --why="$work/why.csv" --wrap \
        --csv="$work/with.csv" --json >"$work/why.json"
    check "$drive: the parts add up" adds_up "$work/why.csv"
    replay "$drive" "$work/small.spc" --wrap --csv="$work/without.csv" \
        >"$work/text"
    check "$drive: asking changes nothing" cmp "$work/with.csv" \
        "$work/without.csv"
    check "$drive: the document has the sums" test "$(awk -F, '
        /^index/ { for (i = 1; i <= NF; i++) if ($i == "wait_ns") at = i }
        / *,read,/ { sum += $at } END { printf "%.0f", sum }' \
        "$work/why.csv")" = "$(value "$work/why.json" why.read.wait_ns)"
done
check 'why and csv want one stdout' ends 1 'standard output' replay ssd-a \
    "$work/small.spc" --csv --why
check 'why says so' ends 2 'cannot be written' replay ssd-a "$work/small.spc" \
    --why=/no/such/folder/why.csv
replay ssd-a "$work/small.spc" --why="$work/why.csv" >"$work/text"
check 'the report says where the time went' grep -q '^where the time went' \
    "$work/text"
# Both of a burst wait for the bank; the read is served before the write.
printf '0,0,4096,R,0.0\n0,8,4096,W,0.0\n0,16,4096,R,0.0\n' >"$work/turn.spc"
replay ram-disk,queue_depth_count=1,scheduler=read-first "$work/turn.spc" \
    --csv="$work/turn.csv" >/dev/null
check 'queue times follow the scheduler' test \
    "$(awk -F, '/^2,/ { print $8 }' "$work/turn.csv") $(awk -F, \
        '/^1,/ { print $8 }' "$work/turn.csv")" = '4331 8662'

# shares FILE: each bank's, they are those of the drive.
shares()
{
    python3 - "$1" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
banks = document["banks"]
assert len(banks) == 32, len(banks)
for key in "pages_read", "pages_programmed":
    assert sum(bank[key] for bank in banks) == document["drive"][key], key
assert all(bank["channel"] == bank["bank"] % 4 for bank in banks)
PYTHON
}
replay ssd-a "$work/small.spc" --json >"$work/banks.json"
check 'bank shares' shares "$work/banks.json"
check 'bank shares as text' grep -q '^31 .* %$' "$work/text"
check '--json=FILE' replay ssd-a "$work/small.spc" --json="$work/file.json"
check 'nothing is left for standard output' test ! -s "$work/log"
check 'it is the same document' test \
    "$(value "$work/file.json" response.all.mean_ns)" = \
    "$(value "$work/banks.json" response.all.mean_ns)"
check 'a failure is a document in the file' bash -c \
    '! "$1" show no-such --json="$2" 2>/dev/null &&
     python3 -m json.tool "$2" >/dev/null && grep -q no-such "$2"' _ \
    "$flashemu" "$work/fail.json"
check 'a file that cannot be written is said' ends 4 'cannot be written' \
    "$flashemu" list --json=/no/such/folder/list.json

# ---- ten times the trace: ten times the time, no more memory ---------------

# cost TRACE: processor seconds, KiB.
cost()
{
    python3 - "$flashemu" "$1" <<'PYTHON'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "replay", "ssd-a", sys.argv[2]], check=True,
               stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.3f %d" % (used.ru_utime + used.ru_stime, used.ru_maxrss))
PYTHON
}

traces 30000 once
traces 300000 tenfold
read -r once_s once_kib < <(cost "$work/once.spc")
read -r ten_s ten_kib < <(cost "$work/tenfold.spc")
printf 'once %s s %s KiB, ten times %s s %s KiB\n' "$once_s" "$once_kib" \
    "$ten_s" "$ten_kib"
check 'no more memory' test $((ten_kib * 100)) -le $((once_kib * 110))
gzip -k "$work/once.spc" "$work/tenfold.spc"
read -r _ once_kib < <(cost "$work/once.spc.gz")
read -r _ ten_kib < <(cost "$work/tenfold.spc.gz")
check 'nor where it is compressed' test \
    $((ten_kib * 100)) -le $((once_kib * 110))
check 'ten times as long' awk -v once="$once_s" -v ten="$ten_s" \
    'BEGIN { exit !(ten < 15 * once + 0.2) }'

# Counted, not timed: the instructions of a whole run.
instructions()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$flashemu" \
        replay ram-disk "$1" 2>&1 >/dev/null | awk '/Collected/ { print $NF }'
}

counted=()
for count in 500 2000 20000; do
    traces $count "counted.$count"
    counted+=("$(instructions "$work/counted.$count.spc")")
done
printf 'instructions: %s\n' "${counted[*]}"
check 'ten times the trace is ten times the work' awk \
    -v a="${counted[0]}" -v b="${counted[1]}" -v c="${counted[2]}" 'BEGIN {
        each = (b - a) / 1500; more = (c - b) / 18000
        exit !(each > 100 && more < 1.05 * each && more > 0.95 * each) }'

# ---- random ------------------------------------------------------------------

"$flashemu" random --seed=17 >"$work/17.ini"
"$flashemu" random --seed=17 >"$work/17b.ini"
check 'one seed, one file' cmp "$work/17.ini" "$work/17b.ini"
check 'it loads' "$flashemu" show "$work/17.ini"
for kind in ssd usb sd emmc card stick; do
    "$flashemu" random --seed=3 --kind=$kind >"$work/$kind.ini"
    check "$kind says so" grep -q "^name = $kind-3$" "$work/$kind.ini"
    check "$kind replays" replay "$work/$kind.ini" "$work/small.spc" --wrap
done
check 'a seed is needed' ends 1 '--seed' "$flashemu" random
check 'a seed is a number' ends 1 'whole number' "$flashemu" random --seed=x
check 'kinds are named' ends 1 'emmc' "$flashemu" random --seed=1 --kind=tape
check 'as a document' bash -c \
    '"$1" random --seed=1 --json | python3 -m json.tool' _ "$flashemu"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
