#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs on served drives that must leave no trace: reading only, put back however
# they end, disturbed by others, on drives that misbehave.
# SSDPROBE_TEST_LONG=1: 200 ends in place of 20, ten hours of faults.
#   test_safety.sh SOURCE_DIR BUILD_DIR
set -u
export LC_ALL=C
sources=$(realpath "$1")
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
serve_seconds=${SSDPROBE_TEST_LONG:+3000}
serve_seconds=${serve_seconds:-300}
# shellcheck source=tests/serving.sh
. "$sources/tests/serving.sh"

cat >valid.py <<'END'
"""The document is valid; prints its findings, a line each, then its grade."""
import json
import sys

import jsonschema

d = json.load(open(sys.argv[1]))
jsonschema.validate(d, json.load(open(sys.argv[2])))
for f in d["findings"]:
    print(f["parameter"], f["verdict"], f["value"], f["why"])
print("grade", (d["conditions"] or {}).get("grade"))
for item in (d["conditions"] or {}).get("items", []):
    if item["grade"] != "green":
        print(item["grade"], item["name"], item["reason"])
END
says() { python3 valid.py "$1" "$sources/lib/report/ssdprobe.schema.json"; }

# Completed writes, discards and flushes, as the kernel counts them.
changes() { awk '{ print $5, $7, $12, $16 }' "/sys/block/$name/stat"; }
# What is on the disk, past every cache.
contents() {
    dd if="$device" bs=1M count=96 iflag=direct status=none | sha256sum
}
settings() {
    (cd "/sys/block/$name/queue" && grep -s . scheduler nomerges rq_affinity \
        nr_requests wbt_lat_usec add_random read_ahead_kb max_sectors_kb)
}
# A loop device keeps what an earlier user of it has set.
fresh_settings() {
    echo mq-deadline >"/sys/block/$name/queue/scheduler" 2>/dev/null
    echo 0 >"/sys/block/$name/queue/nomerges"
}
on_device() { # FILE ARGUMENT...
    local file=$1
    shift
    timeout -k 5 100 "$ssdprobe" "$@" --yes --allow-virtual --progress=none \
        --json="$file" "$device" >out 2>err
    status=$?
}

reading_only() {
    local before
    serve ssd-a --via loop
    before=$(changes)
    on_device read.json --read-only --output-dir=read --time-limit=85s
    check "reading only: it ends well, not in $status" \
        test "$status" -eq 0 -o "$status" -eq 5
    says read.json >read.says
    check "reading only: no write, discard or flush reached the disk" \
        test "$(changes)" = "$before"
    check "reading only: what writes is skipped: $(cat read.says)" \
        grep -q '^clustered_page skipped .*only reads' read.says
    check "reading only: something is learnt all the same: $(cat read.says)" \
        grep -q 'found' read.says
    check "reading only: under which conditions is told, item by item" test \
        "$(jq -r '.conditions.items[].name' read.json | grep -cxE \
            'scheduler|merges|request limit|queue depth|requests queued|clock source|virtual machine|load|processor idle|requests of others|requests merged|processor stolen|baseline')" \
            -ge 11
    check "reading only: how many requests were split is told" \
        jq -e '.cost.requests_split >= 0' read.json
    check "reading only: the disk is opened for reading" bash -c "
        strace -f -e trace=openat -o trace '$ssdprobe' -q --read-only --yes \
            --allow-virtual --time-limit=1ms --output-dir=traced \
            run read-buffer '$device' >/dev/null 2>&1
        grep -q '\"$device\".*O_RDONLY' trace &&
            ! grep -q '\"$device\".*O_RDWR' trace"
    kill -INT "$server"
    check "reading only: the server ends" soon 10 is_dead "$server"
}

# A disk that lets a run down, with contents and settings to be put back: what
# the run says of it, and that it ends at all.
let_down() { # WHAT STATUS SENTENCE_PATTERN [PROBE]
    local what=$1 expected=$2 pattern=$3
    on_device "$what.json" --preserve --tune=max --region=8MiB,64MiB \
        "--output-dir=$what" --time-limit=20s run "${4:-clustered-page}"
    check "$what: it ends in $expected, not in $status" \
        test "$status" -eq "$expected"
    check "$what: a valid document" says "$what.json"
    check "$what: nothing is found that was not measured" \
        eval "! says '$what.json' | grep -q '^[a-z_]* found'"
    check "$what: a sentence says why: $(grep '^ssdprobe: /' err)" \
        grep -qE "$pattern" err
    check "$what: the settings are back" test "$(settings)" = "$set" \
        -a ! -e "$what/settings"
}

# Ends the server without its help, and waits until the disk is free of it.
kill_server() {
    kill -KILL -- "-$group"
    soon 10 is_dead "$server"
}

failing() {
    local set spec what expected pattern waker
    while IFS='|' read -r what spec expected pattern; do
        serve "ssd-a,$spec" --via loop
        set=$(settings)
        let_down "$what" "$expected" "$pattern"
        if [ "$expected" = 7 ]; then
            check "$what: the copy is kept" test -s "$what/journal"
            check "$what: how to go on is said" grep -q 'restore' err
        else
            check "$what: nothing is left to be put back" \
                test ! -e "$what/journal"
        fi
        kill -INT "$server"
        check "$what: its server ends" soon 10 is_dead "$server"
    done <<'END'
vanishes|vanish_at_ns=6s|7|could not be put back.*the copy stays|has gone
takes-no-writes|read_only_at_ns=6s|7|could not be put back.*the copy stays
fails-a-write|write_error_share=0.001|4|a write of .* at offset [0-9]+ failed
loses-power|power_cut_at_ns=6s,power_back_ns=1s|4|a (write|read|flush).* failed
END
    serve ssd-a --via loop
    set=$(settings)
    (soon 30 test -e pulled/state.json && sleep 1 && kill_server) &
    waker=$!
    let_down pulled 7 'could not be put back|has gone'
    wait "$waker"
    check "pulled: the copy is kept" test -s pulled/journal

    serve ssd-a --via loop
    (soon 30 test -e stops/state.json && kill -STOP "$attendant" "$server" &&
        sleep 22 && kill -CONT "$attendant" "$server") &
    waker=$!
    on_device stops.json run basic --tune=max --output-dir=stops
    wait "$waker"
    says stops.json >stops.says
    check "stops: the run goes on and ends in 0 or 5, not in $status" \
        test "$status" -eq 0 -o "$status" -eq 5
    check "stops: the grade is red and says it: $(cat stops.says)" \
        grep -qE '^red silence the drive stopped for up to [0-9.]+ s' stops.says
    check "stops: the second attempt is not disturbed by the first" \
        eval "! grep -q 'another process' stops.says"
    kill -INT "$server"
    check "the server of the failing ends" soon 10 is_dead "$server"
}

# Contents and settings are as before, at once or after `restore`.
ended() { # NUMBER SIGNAL STATUS
    local expected
    case $2 in INT) expected=130 ;; TERM) expected=143 ;; HUP) expected=129 ;;
    *) expected=137 ;; esac
    check "end $1: status $3 after SIG$2: $(tail -n 1 err)" \
        test "$3" -eq "$expected" -o "$3" -eq 5 -o "$3" -eq 0
    if [ "$2" = KILL ]; then
        "$ssdprobe" restore --progress=none "run$1" >out 2>err
        check "end $1: restored after SIGKILL, or never begun" \
            eval "test $? -eq 0 -o ! -e 'run$1/log' || { cat err; false; }"
        cat err >>restored
    elif [ -s "run$1/report.json" ]; then
        check "end $1: a valid document" says "run$1/report.json"
    fi
    check "end $1: SIG$2 leaves the contents" test "$(contents)" = "$was"
    check "end $1: SIG$2 leaves the settings" test "$(settings)" = "$set"
    check "end $1: nothing is left to be put back" \
        test ! -e "run$1/journal" -a ! -e "run$1/settings"
}

# A run that copies, writes, puts back; the same every time.
change_much() { # NUMBER
    exec "$ssdprobe" --yes --allow-virtual --progress=none --seed="$1" \
        --preserve --tune=max --time-limit=1500ms --write-budget=4GiB \
        --region=8MiB,64MiB --output-dir="run$1" run clustered-page "$device" \
        >out 2>err
}

# From its start until all is put back.
span_ms() {
    local began probing
    began=$(date +%s%3N)
    change_much 0 &
    probing=$!
    until grep -qs 'tune: put back' run0/log || is_dead "$probing"; do
        sleep 0.01
    done
    echo $(($(date +%s%3N) - began))
    wait "$probing"
}

# What was found, without the intervals: another attempt measures anew.
found() { jq -c '.findings[] | [.parameter, .verdict, .value]' "$1"; }
# A run that goes on after it was cut has the findings of one that was not.
resumed() { # NUMBER
    local status
    "$ssdprobe" -q --json=late.json --resume="$1" "${2-$resume_drive}" >late 2>err
    status=$?
    check "resumed $1: the status is $whole_status, not $status" \
        eval "test $status -eq $whole_status || { cat err; false; }"
    check "resumed $1: a valid document" says late.json
    check "resumed $1: the same findings" \
        diff <(found whole.json) <(found late.json)
    "$ssdprobe" -q --json=again.json infer "$1/samples.csv" >/dev/null 2>&1
    check "resumed $1: its samples tell the same" \
        diff <(jq -c .findings late.json) <(jq -c .findings again.json)
    check "resumed $1: no probe ran twice" eval "! uniq <(
        grep -v '^#' '$1/samples.csv' | cut -d, -f3 | uniq) | sort | uniq -d |
        grep ."
    check "resumed $1: the cost is that of the whole" \
        test "$(jq .cost.bytes_written late.json)" \
            -ge "$(jq .cost.bytes_written whole.json)"
}

resume() {
    local i probing whole_status resume_drive=sim:usb-pny-2g was began span options
    began=$(date +%s%3N)
    "$ssdprobe" -q --json=whole.json "$resume_drive" >whole 2>err
    whole_status=$?
    span=$(($(date +%s%3N) - began))
    for i in 20s 70s 200s; do
        "$ssdprobe" -q --time-limit="$i" --output-dir="cut$i" "$resume_drive" \
            >out 2>err
        check "a run that is cut at $i says how it can go on" \
            grep -q "with --resume=cut$i" err
        resumed "cut$i"
    done
    RANDOM=7
    for i in 1 2 3 4; do
        "$ssdprobe" -q --output-dir="killed$i" "$resume_drive" >out 2>err &
        probing=$!
        soon 10 test -s "killed$i/state.json"
        sleep "0.$(printf %03d $((RANDOM % (span < 1000 ? span : 999))))"
        kill -KILL "$probing"
        wait "$probing" 2>/dev/null
        if [ "$(jq .turns "killed$i/state.json")" -lt 10 ]; then
            resumed "killed$i"
        fi
    done
    check "some were killed in between" grep -q resume: killed*/log

    cp -r killed1 edited && sed -i '40s/1,0$/2,0/' edited/samples.csv
    cp cut20s/state.json edited/
    "$ssdprobe" -q --resume=edited "$resume_drive" >out 2>err
    check "samples that were changed are refused: $(cat err)" \
        grep -q 'samples.csv is not as the run left it' err
    "$ssdprobe" -q --resume=cut20s "$resume_drive" >out 2>err
    check "a run that has ended is not begun again: $(cat err)" \
        grep -q 'nothing to continue' err
    "$ssdprobe" -q --time-limit=20s --output-dir=other "$resume_drive" \
        >out 2>err
    "$ssdprobe" -q --resume=other sim:usb-unknown-1g >out 2>err
    status=$?
    check "another drive is refused, in 3, not $status: $(cat err)" \
        test "$status" -eq 3 -a -n "$(grep 'not the device of the run' err)"

    serve plain-disk --via loop
    dd if=/dev/urandom of="$device" bs=1M count=96 oflag=direct status=none
    fresh_settings
    was=$(contents)
    for i in --output-dir=parts --resume=parts; do
        options=()
        [ "$i" = --resume=parts ] ||
            options=(--preserve --tune=safe "--region=8MiB,64MiB")
        on_device parts.json "$i" --time-limit=1s "${options[@]}"
        check "in parts: $i ends in 5, not in $status" test "$status" -eq 5
        check "in parts: $i leaves the contents" test "$(contents)" = "$was"
    done
    check "in parts: contents and settings are kept again" test \
        "$(grep -c 'preserve: copied' parts/log) $(grep -c 'nomerges: 0 -> 2' \
            parts/log)" = "2 2"
    on_device parts.json --resume=parts --preserve
    check "in parts: what was chosen is not chosen anew" \
        grep -q -- '--preserve cannot be chosen anew' err
    touch parts/journal
    on_device parts.json --resume=parts
    check "in parts: what is not put back comes first" \
        grep -q "'ssdprobe restore parts' first" err
    kill -INT "$server"
    check "the server of the parts ends" soon 10 is_dead "$server"
}

ends() {
    local was set i pause signal probing span cut=0
    local count=20 signals=(INT KILL TERM KILL HUP)
    [ -z "${SSDPROBE_TEST_LONG-}" ] || count=200
    serve plain-disk --via loop
    dd if=/dev/urandom of="$device" bs=1M count=96 oflag=direct status=none
    fresh_settings
    was=$(contents)
    set=$(settings)
    span=$(span_ms)
    : >restored
    RANDOM=6
    for i in $(seq "$count"); do
        signal=${signals[i % 5]}
        pause=$(((RANDOM * 32768 + RANDOM) % span))
        (change_much "$i") &
        probing=$!
        sleep "$((pause / 1000)).$(printf %03d $((pause % 1000)))"
        kill "-$signal" "$probing" 2>/dev/null
        wait "$probing" 2>/dev/null
        status=$?
        [ "$status" -lt 128 ] || cut=$((cut + 1))
        ended "$i" "$signal" "$status"
        rm -rf "run$i/figures" "run$i/samples.csv"
    done
    # Runs take longer or shorter than the first: more than a few must be cut.
    check "runs were cut short: $cut of $count" \
        test "$cut" -ge $((count / 3))
    check "the runs did change something in between" \
        bash -c "cat run*/log | grep -q 'nomerges: 0 -> 2' &&
            cat run*/log | grep -q 'contents put back'"
    check "after SIGKILL something had to be written" \
        grep -qE 'as they were; [1-9][^;]* had to be written' restored
    kill -INT "$server"
    check "the server of the ends ends" soon 10 is_dead "$server"
}

disturbed() {
    local writer
    serve ssd-a --via loop
    (while :; do
        dd if=/dev/zero of="$device" bs=4096 seek=1000 count=64 oflag=direct \
            conv=notrunc status=none
        sleep 0.2
    done) &
    writer=$!
    on_device disturbed.json run basic --output-dir=disturbed
    kill "$writer"
    wait "$writer" 2>/dev/null
    says disturbed.json >disturbed.says
    check "disturbed: it ends in 5, not in $status" test "$status" -eq 5
    check "disturbed: nothing is found: $(cat disturbed.says)" \
        eval "! grep -q ' found ' disturbed.says"
    check "disturbed: the finding names the cause" \
        grep -q 'random_read inconclusive .*another process wrote' \
        disturbed.says
    check "disturbed: the grade is red and names it" \
        grep -q '^red writes of others another process wrote' disturbed.says
    "$ssdprobe" -q --json=again.json infer disturbed/samples.csv >out 2>&1
    check "disturbed: the samples are those of one attempt, and tell of it" \
        diff <(jq -c .findings disturbed.json) <(jq -c .findings again.json)
    on_device again.json run basic --output-dir=again
    check "undisturbed again, it ends in 0 or 5, not in $status" \
        test "$status" -eq 0 -o "$status" -eq 5
    says again.json >again.says
    # This machine's other work may have slowed it down, which is no disturbance.
    check "undisturbed: it is measured: $(cat again.says)" grep -qE \
        'random_read (found|inconclusive .*did not keep its speed)' again.says
    kill -INT "$server"
    check "the server of the disturbed ends" soon 10 is_dead "$server"
}

# A drive that slows down: right or inconclusive, and the grade says so.
throttled() {
    local spec
    for spec in throttle_heat_ns=1s,throttle_factor=1.4 \
        throttle_heat_ns=3s,throttle_factor=2; do
        rm -rf hot
        "$ssdprobe" -q --json=hot.json --output-dir=hot \
            run basic,clustered-page,read-buffer "sim:ssd-a,$spec" >out 2>err
        says hot.json >hot.says
        check "throttled ($spec): no time is stated: $(cat hot.says)" test \
            "$(grep -cE '^(random_read|random_write) inconclusive .*did not keep its speed' \
                hot.says)" -eq 2
        "$ssdprobe" -q --json=again.json infer hot/samples.csv >out 2>&1
        check "throttled ($spec): the samples tell of it" \
            diff <(jq -c .findings hot.json) <(jq -c .findings again.json)
        check "throttled ($spec): red, and why: $(cat hot.says)" \
            grep -q '^red baseline the same reads took .* at one time and .* at another: .*throttles' \
            hot.says
        check "throttled ($spec): no wrong page" \
            eval "! grep '^clustered_page found' hot.says | grep -qv ' 16384 '"
        check "throttled ($spec): no wrong buffer" \
            eval "! grep '^read_buffer found' hot.says | grep -qv ' 262144 '"
        "$ssdprobe" -q --strict run read-buffer "sim:ssd-a,$spec" >out 2>err
        check "throttled ($spec): --strict ends in 6" test $? -eq 6
    done
    # A slow change of 30 %: of a quarter of a period, the baseline tells.
    for spec in 60 240; do
        "$ssdprobe" -q --json=hot.json --time-limit=15s run clustered-page \
            "sim:ssd-a,drift_share=0.3,drift_period_ns=${spec}s" >out 2>err
        says hot.json >hot.says
        check "drift in ${spec} s: no wrong page" \
            eval "! grep '^clustered_page found' hot.says | grep -qv ' 16384 '"
    done
    "$ssdprobe" -q --json=hot.json run clustered-page,read-buffer,write-buffer \
        "sim:ssd-a,drift_share=0.3" >out 2>err
    says hot.json >hot.says
    check "drift: red, and why: $(cat hot.says)" \
        grep -q '^red baseline the same reads took .* at one time and .*something else' \
        hot.says
    check "drift: the findings are right all the same" test \
        "$(grep -cE '^(clustered_page found 16384|read_buffer found 262144|write_buffer found 261120) ' \
            hot.says)" -eq 3
}

faulty() {
    local seconds=0
    [ -z "${SSDPROBE_TEST_LONG-}" ] || seconds=36000
    check "drives with faults: a clear end and no unearned number" \
        eval "python3 '$sources/tests/faults.py' '$ssdprobe' '$flashemu' \
            '$sources/lib/report/ssdprobe.schema.json' $seconds >faulty.says ||
            { cat faulty.says; false; }"
    head -1 faulty.says
}

if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || [ ! -e /dev/loop-control ]
then
    fail "these tests need root, /dev/fuse and /dev/loop-control"
    summary
    exit 1
fi
for part in ${SSDPROBE_TEST_PARTS:-throttled faulty reading_only failing resume ends disturbed}
do
    began=$SECONDS
    "$part"
    echo "$part: $((SECONDS - began)) s"
done
summary
