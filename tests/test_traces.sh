#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test_traces.sh SOURCE BUILD: each format of trace is read with the right values;
# a copy in another unit, or a damaged one, is refused or asked about.
# shellcheck disable=SC2016 # what bash -c is given, it expands itself
set -u

source_dir=$(cd -- "$1" && pwd)
flashemu=$(cd -- "$2" && pwd)/flashemu
traces=$source_dir/tests/recordings/traces
# shellcheck source=tests/checks.sh
. "$source_dir/tests/checks.sh"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1

# rows FILE [OPTION...]: 'operation offset length time;' of all requests in their
# order, or what was said.
rows()
{
    "$flashemu" replay ram-disk,capacity_bytes=256GiB "$@" --wrap --csv 2>err | grep '^[0-9]' |
        sort -t, -k1n | awk -F, '{ printf "%s %s %s %s;", $2, $3, $4, $5 }'
    cat err
}

reads_as() # WANTED FILE [OPTION...]
{
    local wanted=$1 found
    shift
    found=$(rows "$@")
    [[ $found == "$wanted" ]] || { echo "$found" && return 1; }
}

# refused TEXT FILE [OPTION...]: exit status 2 and a sentence with the text.
refused()
{
    local text=$1 status
    shift
    "$flashemu" replay ram-disk,capacity_bytes=256GiB "$@" --csv >out 2>err
    status=$?
    cat err
    ((status == 2)) && grep -qF -- "$text" err
}

counted() # KEY COUNT FILE [OPTION...]
{
    local key=$1 count=$2 found
    shift 2
    found=$("$flashemu" replay ram-disk,capacity_bytes=256GiB "$@" --wrap --json | jq -c ".trace.$key")
    [[ $found == "$count" ]] || { echo "$key is $found" && return 1; }
}

## What each format says: file, format as recognised, options, requests.
while IFS='|' read -r file format options wanted; do
    read -r -a options <<<"$options"
    check "$file" reads_as "$wanted" "$traces/$file" "${options[@]}"
    check "$file is $format" counted format "\"$format\"" "$traces/$file" \
        "${options[@]}"
done <<'END'
blkparse.txt|blkparse||flush 0 0 0;write 22416361984 8704 0;read 1048576 131072 110000;discard 2097152 268435456 120000;flush 0 0 130000;discard 0 268435456 140000;write 0 4096 150000;
blkparse-issued.txt|blkparse||write 1048576 4096 0;flush 0 0 10000;flush 0 0 20000;
blkparse-complete.txt|blkparse||read 1048576 4096 0;write 2097152 12288 190000;
blkparse-stacked.txt|blkparse||write 3145728 4096 0;
ftrace.txt|ftrace||flush 0 0 0;write 398848 8192 100000;
perf.txt|ftrace||read 62976 4096 0;write 398848 8192 1000000;
biosnoop.txt|biosnoop||write 26634162176 225280 0;read 25096257536 65536 183000;
fio-v3.iolog|iolog||write 0 16384 0;read 65536 4096 210000;flush 0 0 310000;flush 0 0 410000;discard 1048576 65536 510000;
fio-v2.iolog|iolog||write 0 4096 0;write 1073741824 4096 250000;read 2147483648 8192 250000;
msr.csv|msr||read 383496192 32768 0;write 10737418240 4096 10000;write 4096 512 100000;
alibaba.csv|alibaba||write 8792731648 16384 0;read 4096 4096 100000;
tencent.csv|tencent||read 6610407424 65536 0;write 3154148864 4096 1000000000;
systor17.csv|systor17||read 8796093440 8192 0;write 4096 512 300000;
fiu.txt|fiu||write 463134720 4096 0;read 524288 8192 10000;
spc.txt|spc||write 155426304 3584 0;read 28462080 3072 26214000;
five-ns.txt|mqsim|--format=mqsim|write 135536145408 8192 0;write 101156131840 8192 315000;
five-ns.txt|disksim|--time-unit=ns --block-unit=sector|write 135536145408 8192 0;write 101156131840 8192 315000;
five-ns.txt|disksim|--format=disksim|write 135536145408 8192 0;write 101156131840 8192 315000000000;
five-byte.txt|heimdall|--format=heimdall --time-unit=ms --block-unit=byte|write 200626176 4096 0;
END
check "blkparse -f" reads_as "write 1048576 4096 0;read 2097152 8192 250000;" \
    "$traces/blkparse-f.txt" '--blkparse-format=%T.%t %a %d %S %n\n'
# shellcheck disable=SC2016
check "a FUA write" counted fua 1 "$traces/blkparse.txt"
check "zones that a drive lacks" counted zones 2 "$traces/blkparse.txt"
check "and what has no counterpart" counted zones_left_out 1 \
    "$traces/blkparse.txt"
check "a device above another one" counted stacked_left_out 1 \
    "$traces/blkparse-stacked.txt"
# Device mapper above device mapper, which share a major number.
sed -e '1s/^253,0/253,2/; 1p; 1s/.*/  253,0 1 4 0.000000500 900 A WS 4096 + 8 <- (253,2) 2048\n253,0 1 5 0.000000700 900 Q WS 4096 + 8 [fio]/' \
    "$traces/blkparse-stacked.txt" >two-levels
check "two devices above each other, and a disk" \
    reads_as "write 3145728 4096 0;" two-levels
check "two of three lines are left out" counted stacked_left_out 2 two-levels
# A partition is no device above: old kernels name its disk, new ones itself.
for line in '8,16 1 2 0.000001000 900 A WS 6144 + 8 <- (8,17) 4096
8,16' '8,17 1 2 0.000001000 900 A WS 6144 + 8 <- (8,17) 4096
8,17'; do
    printf '%s 1 3 0.000002000 900 Q WS 6144 + 8 [fio]\n' "$line" >partition
    check "a partition of ${line:0:4}" reads_as "write 3145728 4096 0;" \
        partition
    check "which is left out nowhere" counted stacked_left_out 0 partition
done
check "two disks of two hosts" counted devices 2 "$traces/msr.csv"
check "one of them" reads_as "write 10737418240 4096 0;" "$traces/msr.csv" \
    --device=prn,0
check "one that is not there" refused 'its devices: hm,0 prn,0' \
    "$traces/msr.csv" --device=0
check "times of completion are said" counted notes \
    '["each request is sent when it was recorded as complete: when it began is not there"]' \
    "$traces/blkparse-complete.txt"
check "as are files without a place" counted 'notes|length' 1 \
    "$traces/fio-v2.iolog"

## As other versions print it.
while IFS='|' read -r file change wanted; do
    sed -- "$change" "$traces/$file" >version
    check "$file with $change" reads_as "$wanted" version
done <<'END'
biosnoop.txt|1iTracing... Ctrl-C to end|write 26634162176 225280 0;read 25096257536 65536 183000;
biosnoop.txt|s/ 0.03$/ 0.01 0.03/|write 26634162176 225280 0;read 25096257536 65536 183000;
perf.txt|s/block:block_rq/block_rq/;s/issue: /issue:        /;s/ \[my/ be,0,4 [my/|read 62976 4096 0;write 398848 8192 1000000;
blkparse-issued.txt|1s/2048 + 8/36 (12 01 00 00 24)/|flush 0 0 0;flush 0 0 10000;
blkparse-issued.txt|1s/$/\n  8,16 1 9 0.000003000 0 m N cfq4162S \/ alloced/|write 1048576 4096 0;flush 0 0 10000;flush 0 0 20000;
END

## However a trace is kept.
wanted=$(rows "$traces/spc.txt")
gzip -c "$traces/spc.txt" >spc.gz
zstd -qc "$traces/spc.txt" >spc.any
{ gzip -c "$traces/spc.txt" && gzip -c "$traces/spc.txt"; } >twice.gz
sed '1s/^/\xef\xbb\xbf/' "$traces/spc.txt" >bom
sed 's/$/\r/' "$traces/spc.txt" >crlf
printf %s "$(cat "$traces/spc.txt")" >endless
for file in spc.gz spc.any bom crlf endless; do
    check "$file" reads_as "$wanted" $file
done
check "- is the standard input" bash -c \
    '[[ $("$1" replay ssd-a - --csv <"$2" | grep -c "^[0-9]") == 2 ]]' _ \
    "$flashemu" spc.gz
check "a pipe" bash -c \
    '[[ $(cat "$2" | "$1" replay ssd-a - --csv | grep -c "^[0-9]") == 2 ]]' _ \
    "$flashemu" spc.any
check "two members of gzip" counted requests 4 twice.gz
awk 'BEGIN { for (i = 0; i < 40000; i++)
    printf "0,%d,4096,R,%.6f\n", (i * 7919) % 50000 * 8, i / 1000 }' >long
gzip -c long >long.gz
head -c 60000 long.gz >cut.gz
{ head -c -8 long.gz && head -c 8 /dev/zero; } >hurt.gz
check "a long one" counted requests 40000 long.gz
check "one that is cut off" refused 'is cut off' cut.gz
check "one that is damaged" refused 'is damaged' hurt.gz
iconv -f UTF-8 -t UTF-16 "$traces/spc.txt" >utf16
check "UTF-16" refused 'iconv' utf16
printf '\x07tae12345678' >blktrace.0
check "what blktrace wrote" refused 'blkparse -i' blktrace.0
printf 'PERFILE2xxxx' >perf.data
check "what perf wrote" refused 'perf script' perf.data

## In another unit: copies of each format, made longer where it takes more.
more() # FORMAT: 20 rows of it, in order
{
    awk -v format="$1" 'BEGIN { for (i = 0; i < 20; i++) {
        o = 8 * (i * 7919 % 100003); l = 8 * (1 + i % 4); us = i * 1500
        if (format == "blkparse")
            printf "8,16 1 %d 0.%09d 41 Q R %d + %d [x]\n", i, us * 1000, o, l
        if (format == "ftrace")
            printf "x-1 [000] .... 5.%06d: block_rq_issue: 8,0 R %d () %d + " \
                "%d [x]\n", us, l * 512, o, l
        if (format == "biosnoop")
            printf "0.%06d x 41 sda R %d %d 0.50\n", us, o, l * 512
        if (format == "iolog")
            printf "%s%d /dev/sda read %d %d\n",
                i ? "" : "fio version 3 iolog\n", us, o * 512, l * 512
        if (format == "msr")
            printf "%.0f,hm,0,Read,%d,%d,99\n", 128166372003061629 + us * 10,
                o * 512, l * 512
        if (format == "systor17")
            printf "1455592080.%06d,0.0001,R,2,%d,%d\n", us, o * 512, l * 512
        if (format == "alibaba")
            printf "419,R,%d,%d,%.0f\n", o * 512, l * 512, 1577808000000046 + us
        if (format == "tencent")
            printf "%d,%d,%d,0,1063\n", 1538323200 + i, o, l
        if (format == "fiu")
            printf "%.0f 41 x %d %d R 6 0 531e\n", 89966899909417 + us * 1000, o, l
        if (format == "spc")
            printf "0,%d,%d,R,%d.%06d\n", o, l * 512, us / 1000000, us % 1000000
        if (format == "disksim" || format == "heimdall")
            printf "%.6f 0 %d %d 1\n", us / 1000, o, l
        if (format == "mqsim")
            printf "%d 0 %d %d 1\n", us * 1000, o, l
    } }'
}
time_unit='--time-unit= says' block_unit='--block-unit=sector or'
while IFS='|' read -r format separator column factor text; do
    more "$format" >right
    check "$format: 20 rows" counted requests 20 right --format="$format"
    # The place and the length, or the time, are so many times as large.
    awk -v columns="$column" -v factor="$factor" -v s="$separator" 'BEGIN {
        FS = OFS = s; n = split(columns, column, " ") }
        NF < 3 || /^fio/ { print; next }
        { for (i = 1; i <= n; i++) {
            tail = $column[i] ~ /:$/ ? ":" : ""
            $column[i] = sprintf(factor < 1 || $column[i] ~ /[.]/ ? "%.3f" \
                : "%.0f", $column[i] * factor) tail
            if ($column[i] ~ /^[0-9]+[.]000$/ && s == ",") 
                sub(/[.]000$/, "", $column[i]) } print }' right >other
    check "$format, column $column times $factor" refused "$text" other \
        --format="$format"
done <<END
blkparse| |4|1000|expected MAJOR
blkparse| |8 10|512|$block_unit
ftrace| |4|1000|expected COMMAND
ftrace| |10 12|512|$block_unit
biosnoop| |1|1000|expected SECONDS
iolog| |1|1000|$time_unit
iolog| |4 5|0.001953125|expected
msr|,|1|0.1|$time_unit
msr|,|5 6|0.001953125|$block_unit
systor17|,|1|1000|$time_unit
systor17|,|5 6|0.001953125|$block_unit
alibaba|,|5|0.001|$time_unit
alibaba|,|5|1000|$time_unit
alibaba|,|3 4|0.001953125|$block_unit
tencent|,|1|1000|$time_unit
tencent|,|2 3|512|$block_unit
fiu| |1|0.001|$time_unit
fiu| |4 5|512|$block_unit
spc|,|5|1000|$time_unit
spc|,|2|512|$block_unit
disksim| |1|1000|$time_unit
disksim| |3 4|512|$block_unit
mqsim| |1|0.001|$time_unit
mqsim| |3 4|512|$block_unit
END
check "five columns are asked about" refused "$time_unit" \
    "$traces/five-byte.txt"
check "with all readings" refused \
    'in ms they last 315 s, in us they last 315 ms, in ns they last 315 us' \
    "$traces/five-ns.txt"
check "as are their places" refused "$block_unit" "$traces/five-byte.txt" \
    --time-unit=ms --format=heimdall
more disksim >right
check "six digits can only be of ms, and short requests of sectors" counted \
    notes '["times in ms (no other unit is possible), places in sectors (places and lengths are no multiples of 512 bytes)"]' right
printf '%s 0 1024 131072 1\n' 0 1 >long_request
check "no request is of 64 MiB" counted notes \
    '["times in ms (as --time-unit= says), places in bytes (requests are longer than 32 MiB)"]' \
    long_request --time-unit=ms
check "a simulator that has no unit of its own" refused "$block_unit" \
    "$traces/five-byte.txt" --format=heimdall --time-unit=ms
sed '/wait/d' "$traces/fio-v2.iolog" >timeless
check "no times at all" refused '--depth=N' timeless
check "which a closed loop does not need" counted requests 3 timeless --depth=2

## Damaged lines.
while IFS='|' read -r file change text; do
    sed -- "$change" "$traces/$file" >hurt
    check "$file with $change" refused "$text" hurt
done <<'END'
blkparse.txt|s/ Q  RA 2048 + 256/ Q  RA 2048 + x/|hurt:4: expected MAJOR,MINOR
blkparse.txt|s/ FWFSM / QQ /|hurt:2: expected
ftrace.txt|s/ 779 + 16/ 779 - 16/|hurt:7: expected
perf.txt|s/1234.924415/1234.92/|hurt:2: expected
biosnoop.txt|s/52019848/x/|hurt:3: expected
fio-v3.iolog|s/sync 0 0/fsync 0 0/|hurt:6: expected
fio-v3.iolog|s/version 3/version 4/|its first lines
fio-v2.iolog|s/srv.a read.*/srv\/c read 0 4096 9/|hurt:9: expected
msr.csv|s/4096,512/4096,-512/|hurt:3: expected
alibaba.csv|2s/R/X/|hurt:2: expected
tencent.csv|2s/,1,/,2,/|hurt:2: expected
systor17.csv|3s/W/0/|its first lines are not
fiu.txt|2s/ R / ? /|hurt:2: expected
spc.txt|2s/,r,/,x,/|hurt:2: expected
END

## What stays in the drive's buffer.
"$flashemu" replay ssd-a "$traces/msr.csv" >text
check "a full buffer is said" grep -q 'in the drive.s buffer alone (--drain' text
"$flashemu" replay ssd-a "$traces/msr.csv" --drain --json >drained.json
check "--drain waits for it" jq -e \
    '.drain_ns > 100000 and .buffered_bytes > 0 and .drive.pages_programmed > 0' \
    drained.json

## Bytes that nobody meant: no crash, no hang, a sentence or a report.
fuzz() # what each trace becomes with bytes changed, cut or doubled
{
    python3 - "$traces" "$flashemu" <<'PYTHON'
import glob, os, random, subprocess, sys

dice = random.Random(43)
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*"))):
    text = open(path, "rb").read()
    for _ in range(12):
        bytes_ = bytearray(text)
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(bytes_))
            what = dice.randrange(4)
            if what == 0:
                bytes_[at] = dice.randrange(256)
            elif what == 1:
                del bytes_[at:at + dice.randrange(20)]
            elif what == 2:
                bytes_[at:at] = bytes_[at:at + 40] * dice.randrange(40)
            else:
                bytes_[at:at] = b"18446744073709551615"
            bytes_ = bytes_ or bytearray(b"x")
        for options in [], ["--lenient", "--time-unit=us", "--block-unit=byte"]:
            run = subprocess.run(
                [sys.argv[2], "replay", "ram-disk", "-", "--wrap", *options],
                input=bytes(bytes_), capture_output=True, timeout=60)
            if run.returncode not in (0, 2) or (run.returncode == 2) != (
                    run.stderr != b""):
                sys.exit("%s: %d %r %r" % (path, run.returncode, run.stderr,
                                           bytes(bytes_)))
PYTHON
}
check "changed bytes" fuzz

summary
