#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test_results.sh SOURCE BUILD: what other tools measured is read with the right
# values; what it cannot tell is said; what is damaged is refused.
# shellcheck disable=SC2016 # what bash -c is given, it expands itself
set -u

source_dir=$(cd -- "$1" && pwd)
ssdprobe=$(cd -- "$2" && pwd)/ssdprobe
results=$source_dir/tests/recordings/results
# shellcheck source=tests/checks.sh
. "$source_dir/tests/checks.sh"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1

# 'parameter=value@confidence;', or =? or =?>=least where it is open.
findings_of() # FILE...
{
    "$ssdprobe" infer --json "$@" 2>err | jq -r '.findings[] |
        "\(.parameter)=" + (if .verdict == "found"
            then "\(.value)@\(.confidence)"
            else "?" + (if .low then ">=\(.low)" else "" end) end) + ";"' |
        tr -d '\n'
}

says() # WANTED FILE...
{
    local wanted=$1 found
    shift
    found=$(findings_of "$@")
    [[ $found == "$wanted" ]] || { echo "$found" && cat err && return 1; }
}

# notes TEXT FILE...: exit status 0, and a note with the text.
notes()
{
    local text=$1
    shift
    "$ssdprobe" infer "$@" >out 2>err || { cat err && return 1; }
    cat err
    grep -F 'ssdprobe: note: ' err | grep -qF -- "$text" && ! grep -q -- --csv err
}

refused() # TEXT FILE...
{
    local text=$1 status
    shift
    "$ssdprobe" infer "$@" >out 2>err
    status=$?
    cat err
    ((status == 2)) && grep -qF -- "$text" err && ! grep -q -- --csv err
}

## What each result says, and with which confidence.
while IFS='|' read -r file wanted; do
    check "$file" says "$wanted" "$results/$file"
    tr -d '\r' <"$results/$file" | sed '1s/^/\xef\xbb\xbf/; s/$/\r/' >bom
    check "$file with BOM and CRLF" says "$wanted" bom
    check "$file through a pipe, compressed" bash -c \
        '[[ $(gzip -c "$2" | "$1" infer --json - | jq ".findings | length") == \
            "$3" ]]' _ "$ssdprobe" "$results/$file" \
        "$(grep -o ';' <<<"$wanted" | wc -l)"
done <<'END'
fio-980pro-4k-1.json|random_read=54017@0.9;nand_type=TLC@0.75;
fio-980pro-4k-8.json|random_read_rate=?>=95526;
fio-980pro-4k-128.json|random_read_rate=373014@0.9;
fio-sync.json|fua_time=884243@0.9;
fio-text.txt|random_read_rate=?>=30600;
fio-jobs.txt|random_read_rate=?>=57100;random_read=79830@0.6;
fio-lat.log|random_read=76910@0.6;
f3probe.txt|capacity_kind=genuine@0.95;real_capacity=16106127360@0.95;
f3probe-fake.txt|capacity_kind=drops@0.99;real_capacity=8053063680@0.99;
f3read.txt|capacity_kind=?;real_capacity=?>=1073741824;sequential_read_rate=295635517@0.9;
f3read-fake.txt|capacity_kind=wraps@0.99;real_capacity=1073741824@0.9;sequential_read_rate=19860029@0.9;
f3write.txt|sequential_write_rate=635353170@0.9;
h2testw.txt|capacity_kind=genuine@0.95;sequential_read_rate=19188941@0.9;sequential_write_rate=9458156@0.9;
h2testw-fake.txt|capacity_kind=wraps@0.99;real_capacity=8589934592@0.9;sequential_read_rate=18350080@0.9;sequential_write_rate=12582912@0.9;
h2testw-deutsch.txt|capacity_kind=genuine@0.95;sequential_read_rate=19188941@0.9;sequential_write_rate=9458156@0.9;
h2testw-deutsch-fake.txt|capacity_kind=drops@0.99;real_capacity=8589934592@0.9;sequential_read_rate=18350080@0.9;sequential_write_rate=12582912@0.9;
capacitytester.txt|capacity_kind=genuine@0.95;
capacitytester-fake.txt|capacity_kind=drops@0.99;
pg_test_fsync.txt|fua_time=854288@0.75;
etcd.txt|fua_time=900000@0.75;
ioping.txt|random_read=100600@0.6;
iozone.txt|sequential_read_rate=41943040@0.9;sequential_write_rate=20971520@0.9;random_read=500000@0.9;random_write=976563@0.9;
dd.txt|sequential_write_rate=134217728@0.9;
hdparm.txt|sequential_read_rate=524288000@0.9;
crystaldiskmark.txt|sequential_read_rate=7100000000@0.9;sequential_write_rate=6000000000@0.9;random_read_rate=1000000@0.9;random_read=50000@0.9;random_write=16380@0.9;
kdiskmark.txt|sequential_read_rate=52429000@0.9;sequential_write_rate=83886000@0.9;random_read=10000000@0.9;
END
iconv -t UTF-16 "$results/crystaldiskmark.txt" >utf16
check "UTF-16, as CrystalDiskMark saves it" says \
    "$(findings_of "$results/crystaldiskmark.txt")" utf16

## What a format cannot tell is said by its name.
while IFS='|' read -r file text; do
    check "$file: $text" notes "$text" "$results/$file"
    check "$file: no finding" says '' "$results/$file"
done <<'END'
fio-terse.txt|terse output does not say whether requests were random
iostat.txt|iostat has averages of a second or longer
smart-log.txt|smart-log says how worn and how warm a drive is (3 % of its life
smartctl.json|smartctl says how worn and how warm a drive is (3 % of its life
END
while IFS='|' read -r file change text; do
    sed -- "$change" "$results/$file" >other
    check "$file with $change" notes "$text" other
    check "and no finding" says '' other
done <<'END'
fio-980pro-4k-1.json|s/randread/randrw/|mixes kinds of requests (randrw)
fio-980pro-4k-1.json|s/"error" : 0/"error" : 5/|ended with an error
fio-980pro-4k-1.json|s/"direct" : "1"/"direct" : "0"/|it went through the page cache
fio-980pro-4k-1.json|/"direct" : "1"/d|it went through the page cache
fio-980pro-4k-1.json|s/"direct" : "1"/"rate_iops" : "900"/|held back, by its option rate_iops
fio-980pro-4k-1.json|s/io_uring/null/|held back, by its option ioengine
fio-lat.log|s/, [0-9]*, 0$//|does not say where requests were (log_offset=1
fio-lat.log|10q|fewer than 20
ioping.txt|/<<</d|ioping was quiet (-q)
ioping.txt|s/<<</>>>/|whether its writes were synced (-Y)
iozone.txt|/Output is in/d|iozone's unit is not there
dd.txt|1d|whether past the page cache it does not say
dd.txt|s/oflag=direct//|whether past the page cache it does not say
hdparm.txt|/disk reads/d|hdparm -T reads from memory alone
capacitytester-fake.txt|/Verification/d|ended without comparing data
f3probe.txt|/Good news/,$d|it may be cut off
END
sed '/O_DIRECT/d' "$results/iozone.txt" >cached
check "iozone through the page cache: no finding" says '' cached
sed 's/"direct" : "1"/"direct" : "0"/' "$results/fio-980pro-4k-1.json" >cached
check "fio through the page cache: no finding" says '' cached
sed 's/Only 31450 of/Only 4461 of/' "$results/h2testw.txt" >part
check "a part of a drive says nothing of all of it" says \
    'capacity_kind=?;real_capacity=?>=4677697536;sequential_read_rate=19188941@0.9;sequential_write_rate=9458156@0.9;' \
    part
sed 's/^Free space: 230.02 GB/Free space: 0.00 Byte/' "$results/f3write.txt" \
    >filled
check "f3write filled it, f3read read it" says \
    'capacity_kind=genuine@0.95;sequential_read_rate=295635517@0.9;sequential_write_rate=635353170@0.9;' \
    filled "$results/f3read.txt"
check "a test that lost data outweighs one that did not" bash -c \
    '"$1" infer "$2/h2testw.txt" "$2/f3read-fake.txt"; (($? == 9))' _ \
    "$ssdprobe" "$results"

## As other versions print it.
while IFS='|' read -r file change wanted; do
    sed -E -- "$change" "$results/$file" >version
    check "$file with $change" says "$wanted" version
done <<'END'
f3probe-fake.txt|s/Usable/Real/|capacity_kind=drops@0.99;real_capacity=8053063680@0.99;
crystaldiskmark.txt|/Mix/,$d;/1MiB/d;s/SEQ  128KiB.*:/Sequential :/;s/RND.*Q= 32.*:/Random 4KB (QD=32) :/;s/RND.*:/Random 4KB (QD=1) :/|sequential_read_rate=7100000000@0.9;random_read_rate=1000000@0.9;random_read=50000@0.9;random_write=16380@0.9;
dd.txt|s/copied/kopiert/|sequential_write_rate=134217728@0.9;
iozone.txt|s/ +/ /g|
iozone.txt|s/8192/    /;s/8200/    /;s/40960/     /;s/40970/     /|sequential_write_rate=20971520@0.9;random_read=500000@0.9;random_write=976563@0.9;
fio-sync.json|s/"lat_ns": /"old_ns": /|fua_time=887018@0.9;
END
{ echo 'fio: a warning' && cat "$results"/fio-980pro-4k-{1,8,64,128}.json; } >all
check "documents behind each other" says \
    'random_read_rate=373014@0.9;read_parallelism=64@0.9;random_read=54017@0.9;nand_type=TLC@0.75;' \
    all

## Damaged results.
while IFS='|' read -r file change text; do
    sed -- "$change" "$results/$file" >hurt
    check "$file with $change" refused "$text" hurt
done <<'END'
fio-980pro-4k-1.json|60,$d|hurt:60: fio's document is damaged or cut off
fio-980pro-4k-1.json|s/"jobs"/"jops"/|fio's document has no list of jobs
fio-text.txt|1d|has no line with 'rw='
fio-text.txt|/IOPS=/d|has no rate; it may be cut off
fio-lat.log|9s/, 0, /, 7, /|hurt:9: expected TIME, LATENCY
f3probe-fake.txt|/Announced/d|f3probe's sizes in blocks are missing
f3probe-fake.txt|s/15728640 blocks/95728640 blocks/|do not fit each other
f3read.txt|s/(2097152 sectors)//|f3read's counts of sectors are missing
h2testw-fake.txt|/DATA LOST/d|h2testw's counts of sectors are missing
pg_test_fsync.txt|s/ops.sec/x/|rates of one 8 kB write are missing
etcd.txt|s/} 960/} 700/|etcd's buckets must rise
etcd.txt|/_sum/d|etcd's histogram has no _sum
ioping.txt|s/avg.max.mdev = .*/avg\/max\/mdev = 5/|expected 'min/avg/max/mdev
crystaldiskmark.txt|s/7000.000 MB.s/x/|hurt:9: expected 'MB/s'
dd.txt|s/67108864 bytes/x bytes/|expected dd's
hdparm.txt|s/= 500.00/=/|expected hdparm's
END

## fio's logs have one form: only their names say what they are.
for name in a_slat.1 a_bw.1 a_iops.1 b_lat.1 b_lat.2; do
    cp "$results/fio-lat.log" "$name.log"
done
check "submission latencies" notes 'it is of the submission alone' a_slat.1.log
check "bandwidths" notes 'averages of many requests' a_bw.1.log
check "IOPS" notes 'averages of many requests' a_iops.1.log
check "one of several jobs" notes 'other jobs ran at the same time' b_lat.1.log
awk -F, -v OFS=, '{ $2 = " " int($2 / 20) } 1' "$results/fio-lat.log" >short
check "values that are no latencies" notes 'no latencies of requests' short
awk -F, -v OFS=, '{ $2 = " " int($2 / 1000) } 1' "$results/fio-lat.log" >us
check "us, as fio 2 logs them" bash -c \
    '"$1" infer --json us | jq -e ".findings[0].value > 75000"' _ "$ssdprobe"

# Read in a time that grows with its length: else it takes minutes.
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "%d, %d, 0, 4096, %d, 0\n",
    i / 12, 80000 + i % 7000, (i * 7919 % 100000) * 4096 }' >long
check "a long log" timeout 30 "$ssdprobe" infer long

"$ssdprobe" run basic sim:ssd-a -q --csv=own.csv >out 2>&1
check "samples through a pipe are not eaten" bash -c \
    '[[ $("$1" infer --json <(cat own.csv) | jq ".findings | length") -gt 3 ]]' _ \
    "$ssdprobe"

check "nor are results, which are read from there likewise" bash -c \
    '"$1" infer --json <(cat "$2") >out && "$1" infer --json "$2" >file &&
        cmp <(jq .findings out) <(jq .findings file)' _ \
    "$ssdprobe" "$results/fio-sync.json"

## A set of files is one drive.
check "depths together have a plateau" says \
    'random_read_rate=373014@0.9;read_parallelism=64@0.9;random_read=54017@0.9;nand_type=TLC@0.75;' \
    "$results"/fio-980pro-4k-{1,8,64,128}.json
mkdir folder
cp "$results"/fio-980pro-4k-* folder
echo x >folder/LICENSE
check "as has a folder" says \
    'random_read_rate=373014@0.9;read_parallelism=64@0.9;random_read=54017@0.9;nand_type=TLC@0.75;' \
    folder
check "what else is in it is counted" notes '1 of 5 files in folder are no' \
    folder
sed 's/nvme5n1/sdb/' "$results/fio-980pro-4k-8.json" >another
check "other devices among them are said" bash -c \
    '"$1" infer "$2" another 2>&1 | grep -q "files name different devices"' _ \
    "$ssdprobe" "$results/fio-980pro-4k-1.json"
mkdir nothing
check "a folder without results" refused 'holds no result of a tool' nothing
# Kinds of pages, as often as a cell of so many bits has them; a cache before them,
# as an 860 PRO's; what noise blurs, and what the percentiles do not tell.
while IFS='|' read -r wanted times; do
    jq --arg times "$times" '.jobs[0].read.clat_ns.percentile = ([
        ["1", "5", "10", "20", "30", "40", "50", "60", "70", "80", "90", "95",
        "99"], ($times | split(" ") | map(tonumber * 1000))] | transpose |
        map(select(.[1] > 0) | {(.[0] + ".000000"): .[1]}) | add)' \
        "$results/fio-980pro-4k-1.json" >pages
    check "times of $times us: ${wanted:-no kind of cell}" says \
        "random_read=54017@0.9;$wanted" pages
done <<'END'
nand_type=MLC@0.75;|48 53 90 90 91 93 95 106 107 108 109 110 112
nand_type=TLC@0.75;|60 60 60 60 61 61 61 61 70 70 71 71 71
nand_type=TLC@0.75;|60 60 60 61 61 70 70 70 80 80 81 81 81
nand_type=QLC@0.75;|60 60 60 61 70 70 80 80 80 90 91 91 91
nand_type=QLC@0.75;|60 60 60 60 61 61 61 61 61 70 71 71 71
|60 60 60 70 70 70 71 71 71 71 72 72 72
|60 60 60 61 61 61 61 62 62 63 63 64 66
|60 0 0 0 60 0 61 0 0 70 71 0 71
|30 30 60 64 68 73 78 83 88 94 100 106 120
END
# Two kinds of reads of a 980 PRO, as anyone can see in its percentiles.
check "modes of latency" bash -c '"$1" infer -v "$2" | tr -s "\n " " " |
    grep -q "about 30 % take 20.4 us to 25.5 us and the others take 59.1 us"' _ \
    "$ssdprobe" "$results/fio-980pro-4k-1.json"

## Two results beside each other: one drive on a slower host, and another drive.
# compares TEXT OTHER: what diff says of it and of the folder
compares()
{
    "$ssdprobe" diff folder "$2" >out 2>err || { cat err && return 1; }
    cat out && grep -qF -- "$1" out
}
mkdir slow lesser
for file in folder/*.json; do
    jq '.jobs[0].read |= (.iops = ([.iops, 150000] | min) |
        .bw_bytes = 4096 * .iops | .bw = 4 * .iops | .lat_ns.mean *= 1.05)' \
        "$file" >"slow/${file#*/}"
    jq '.jobs[0].read |= (.iops /= 2 | .bw_bytes /= 2 | .bw /= 2 |
        .lat_ns.mean *= 2)' "$file" >"lesser/${file#*/}"
done
check "what a slower host changes" compares 'different, 1/2.49 of it' slow
check "and it may be one model all the same" compares 'One model? Cannot tell: 90' slow
check "whose rates do not count" compares 'the hosts may have set them' slow
check "a slower drive is another one" compares 'One model? Unlikely' lesser
check "documents of both say the same" bash -c \
    'for i in folder slow; do "$1" infer --json=$i.json $i || exit; done
    cmp <("$1" diff folder slow) <("$1" diff folder.json slow.json)' _ \
    "$ssdprobe"
"$ssdprobe" infer --json=fake.json "$results/h2testw-fake.txt" >out 2>&1
check "a document that quotes a tool is no output of it" bash -c \
    '"$1" diff fake.json "$2" >out 2>&1 && [[ $(grep -c " same$" out) == 4 ]] &&
        cat out && ! grep -q "holds no result" out' _ \
    "$ssdprobe" "$results/h2testw-fake.txt"
check "what could not be read is said there, too" bash -c \
    '"$1" diff folder slow 2>&1 | grep -q "1 of 5 files in folder are no"' _ \
    "$ssdprobe"

## A figure of several depths: a line for each size, with its name.
for depth in 1 8 64; do
    for bytes in 16384 65536; do
        jq --argjson bytes "$bytes" --argjson depth "$depth" \
            '(.. | objects | select(has("bs"))).bs = "\($bytes)" |
            .jobs[0].read.bw_bytes = $depth * 2e8' \
            "$results/fio-980pro-4k-$depth.json" >"folder/$bytes-$depth.json"
    done
done
# drawn SIZE...: exactly these have a line, and all of it can be read.
drawn()
{
    "$ssdprobe" plot folder && python3 "$source_dir/tests/figures.py" \
        folder/figures/matrix.svg && [[ -s folder/figures/matrix.png ]] &&
        cmp <(grep -o 'read [0-9]* KiB' folder/figures/matrix.svg | sort -u) \
            <(printf 'read %d KiB\n' "$@" | sort)
}
if command -v gnuplot >/dev/null; then
    check "each size has a line in the figure" drawn 4 16 64
    check "a page of two has a line for each" bash -c \
        '"$1" diff folder slow --output=page.html >out 2>&1 &&
            grep -q "<svg" page.html && grep -q "Random requests by" page.html &&
            ! grep -q "no figures" out page.html' _ "$ssdprobe"
    rm folder/16384-{8,64}.json
    check "but for one of which one depth was tried" drawn 4 64
    check "figures in files are no results" says "$(findings_of folder)" folder
    "$ssdprobe" plot "$results/fio-sync.json" >out 2>err
    check "what has one depth has no figure, and says so" bash -c \
        '(($1 == 2)) && grep -q "random requests of two queue depths" err' _ $?
fi

## flashbench, where a comma is the decimal mark.
sed 's/\([0-9]\)\.\([0-9]\)/\1,\2/g' \
    "$source_dir/tests/recordings/flashbench-card5.txt" >comma
check "flashbench with decimal commas" cmp \
    <("$ssdprobe" infer -v comma) \
    <("$ssdprobe" infer -v "$source_dir/tests/recordings/flashbench-card5.txt")

## Numbers that no drive can have, and options without a value.
jq '.jobs[0].read.lat_ns.mean = 1e30 | .jobs[0].read.iops = 1e300' \
    "$results/fio-980pro-4k-1.json" >huge
check "a time that no drive can have" notes 'no drive can have' huge
jq '(.. | objects | select(has("bs"))).bs = null' \
    "$results/fio-980pro-4k-1.json" >null
check "an option without a value" "$ssdprobe" infer null
sed 's/([0-9]* blocks)/(99999999999999999 blocks)/' "$results/f3probe.txt" \
    >blocks
check "a size that no drive has" notes 'no drive holds' blocks
# Longer requests that take less, and a line that begins below nothing.
for times in '90e3 80e3 70e3 65e3' '10e3 30e3 70e3 150e3'; do
    mkdir -p sizes && rm -f sizes/*
    bytes=4096
    for time in $times; do
        jq --argjson bytes "$bytes" --argjson time "$time" \
            '(.. | objects | select(has("bs"))).bs = "\($bytes)" |
            .jobs[0].read.lat_ns.mean = $time' \
            "$results/fio-980pro-4k-1.json" >"sizes/$bytes"
        bytes=$((2 * bytes))
    done
    check "no cost of 4 KiB follows from times of $times ns" bash -c \
        '"$1" infer --json sizes | jq -e "[.findings[] | select(.parameter ==
            \"read_cost_4k\").verdict] == [\"inconclusive\"]"' _ "$ssdprobe"
done

## Bytes that nobody meant: no crash, no hang, a sentence or a report.
fuzz()
{
    python3 - "$results" "$ssdprobe" <<'PYTHON'
import glob, os, random, subprocess, sys

dice = random.Random(44)
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*"))):
    text = open(path, "rb").read()
    for _ in range(8):
        bytes_ = bytearray(text)
        for _ in range(dice.randrange(1, 8)):
            at = dice.randrange(len(bytes_))
            what = dice.randrange(4)
            if what == 0:
                bytes_[at] = dice.randrange(256)
            elif what == 1:
                del bytes_[at:at + dice.randrange(60)]
            elif what == 2:
                bytes_[at:at] = bytes_[at:at + 40] * dice.randrange(40)
            else:
                bytes_[at:at] = b"9" * dice.randrange(40)
            bytes_ = bytes_ or bytearray(b"x")
        with open("changed", "wb") as file:
            file.write(bytes_)
        run = subprocess.run([sys.argv[2], "infer", "--json", "changed"],
                             capture_output=True, timeout=60)
        if run.returncode not in (0, 2, 9):
            sys.exit("%s: %d %r %r" % (path, run.returncode, run.stderr,
                                       bytes(bytes_)))
PYTHON
}
check "changed bytes" fuzz

summary
