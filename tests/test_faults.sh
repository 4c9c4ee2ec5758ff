#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs on emulated drives within the process, so in the drive's own time: drives
# that slow down, that fail in every way, and runs that are cut and go on.
# SSDPROBE_TEST_LONG=1: a hundred hours of faults.
#   test_faults.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
# shellcheck source=tests/checks.sh
. "$sources/tests/checks.sh"
flashemu=$(realpath "$flashemu")
ssdprobe=$(realpath "$ssdprobe")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/runs.sh
. "$sources/tests/runs.sh"

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
        "$ssdprobe" -q --json=again.json infer hot/samples.csv* >out 2>&1
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

# What a cache of flash took in is read faster until it lets it go: that is the
# place, not the drive.
cached() {
    "$ssdprobe" -q --json=cached.json run basic,clustered-page,clustered-block \
        sim:tlc-pseudo-slc >out 2>err
    says cached.json >cached.says
    check "cached: the drive keeps its speed: $(cat cached.says)" \
        grep -q '^grade green' cached.says
    check "cached: times are stated" grep -q '^random_read found ' cached.says
}

# A drive that was never written: what rests on pages that are not there is not
# stated, and the grade says so.
unwritten() {
    "$ssdprobe" -q --json=new.json --output-dir=new --fill=no \
        "sim:ssd-a,initial_state=fresh" >out 2>err
    says new.json >new.says
    check "unwritten: nothing is stated but what contents tell: $(cat new.says)" \
        eval "! grep -qE ' (absent|found) ' <(
            grep -vE '^(real_capacity|capacity_kind|trim_[a-z]*) ' new.says)"
    check "unwritten: what contents tell is right" test \
        "$(grep -cE '^(real_capacity found 64000000000|trim_reads found zeros) ' \
            new.says)" -eq 2
    check "unwritten: red, and why" grep -q \
        '^red written .* places that this run did not write hold the same byte' \
        new.says
    "$ssdprobe" -q --json=again.json infer new/samples.csv* >out 2>&1
    check "unwritten: the samples tell of it" \
        diff <(jq -c .findings new.json) <(jq -c .findings again.json)
    "$ssdprobe" -q --json=part.json --write-budget=4GiB run \
        capacity,read-buffer "sim:ssd-a,initial_state=fresh" >out 2>err
    check "unwritten: a part is filled, and all of it is offered: $(cat err)" \
        grep -q -e '; 1344 MiB of it .* --write-budget=[0-9]*MiB$' err
    says part.json >part.says
    check "unwritten: what is filled is measured: $(cat part.says)" test \
        "$(grep -cE '^(real_capacity found 64000000000|read_buffer found 262144) ' \
            part.says)" -eq 2
    "$ssdprobe" -q --json=part.json --write-budget=600MiB run \
        clustered-page "sim:ssd-a,initial_state=fresh" >out 2>err
    check "unwritten: where not even a part fits, a fill is offered: $(cat err)" \
        grep -q -e '--write-budget=[0-9]*MiB, or choose' err
}

# The same drive, where the budget allows it to be written first: all is found, and
# the samples say the same.
filled() {
    # Also what was wrong too often on other drives to be stated.
    local -x SSDPROBE_UNCOUNTED=1
    "$ssdprobe" -q --json=full.json --output-dir=full --write-budget=200GB \
        "sim:ssd-a,capacity_bytes=8GB,initial_state=fresh" >out 2>err
    # Whether they can be answered depends on how a drive cleans and stripes.
    check "filled: everything else has an answer" jq -e '[.findings[] |
        select(.verdict == "inconclusive").probe] -
        ["stripe", "steady-state", "hot-cold"] == []' full.json
    says full.json >full.says
    check "filled: as of a drive in use" test \
        "$(grep -cE '^(clustered_page found 16384|clustered_block found 4194304|read_buffer found 262144|log_list found 8|write_buffer found 261120) ' \
            full.says)" -eq 5
    check "filled: once, and all of it" jq -e '[.cost.probes[] |
        select(.probe == "fill") | .bytes_written] == [8000000000]' full.json
    check "filled: not beyond what was planned" jq -e \
        '.cost.bytes_written <= .plan.bytes_written_max' full.json
    check "filled: nothing is red" jq -e \
        '[.conditions.items[] | select(.grade == "red")] == []' full.json
    "$ssdprobe" -q --json=again.json infer full/samples.csv* >out 2>&1
    check "filled: the samples say the same" \
        diff <(jq -c .findings full.json) <(jq -c .findings again.json)
    # A drive is filled before it is measured.
    "$ssdprobe" -q --json=no.json --fill=no --write-budget=200GB \
        --time-limit=150s "sim:ssd-a,capacity_bytes=8GB,initial_state=fresh" >out 2>err
    check "filled: not with --fill=no" jq -e '([.cost.probes[].probe] |
        index("fill") == null) and [.conditions.items[] | select(.name == "written").grade] == ["red"]' no.json
    "$ssdprobe" -q --json=used.json --write-budget=200GB --time-limit=20s \
        sim:ssd-a >out 2>err
    check "filled: not a drive in use" jq -e '[.cost.probes[].probe] |
        index("fill") == null' used.json
    "$ssdprobe" -q --json=only.json run fill \
        sim:usb-kingston-1g,initial_state=fresh >out 2>err
    check "filled: alone, within the default budget" jq -e \
        '.cost.bytes_written == .device.capacity_bytes and .findings == []' only.json
    "$ssdprobe" -q --json=named.json --write-budget=200GB run basic,fill \
        "sim:ssd-a,capacity_bytes=8GB,initial_state=fresh" >out 2>err
    check "filled: where it is named, not before that" jq -e \
        '[.cost.probes[].probe] == ["basic", "fill"]' named.json
    "$ssdprobe" -q --json=short.json --time-limit=60s --output-dir=short \
        --write-budget=200GB "sim:ssd-a,capacity_bytes=8GB,initial_state=fresh" >out 2>err
    "$ssdprobe" -q --json=rest.json --resume=short "sim:ssd-a,capacity_bytes=8GB,initial_state=fresh" \
        >out 2>err
    # An emulated drive is new again: contents tell, and where it was measured.
    check "filled: what a time limit ended goes on" jq -e '[.findings[] |
        select(.parameter == "real_capacity").value] == [8000000000]' rest.json
    filled_bytes=$(jq '.cost.probes[] | select(.probe == "fill").bytes_written' \
        short.json)
    check "filled: in the part that was filled" grep -q \
        "^# part_length_bytes=$filled_bytes\$" <(samples short)
}

# What the pilot meets is said, and leaves the probes to meet it.
pilot_fails() {
    "$ssdprobe" --json=pilot.json run clustered-page \
        sim:ssd-a,write_error_share=1 >out 2>err
    check "a pilot that fails: the run ends as its first probe does" test $? -eq 4
    check "a pilot that fails: what failed, and what it was for" grep -q \
        '^ssdprobe: warning: sim:ssd-a.*: a write of .* failed: .*; that request belonged to the estimate' \
        err
    check "a pilot that fails: in the document as well" jq -e '[.ssdprobe.messages[] |
        select(.severity == "warning").text | select(test("belonged to"))] |
        length == 1' pilot.json
    check "a pilot that fails: it foresees nothing" \
        eval "! grep -q 'After the pilot' err"
    "$ssdprobe" --method=paper run read-buffer sim:ssd-a >out 2>err
    check "without a pilot, nothing is said of one" \
        eval "! grep -q 'After the pilot' err"
}

faulty() {
    local seconds=0
    [ -z "${SSDPROBE_TEST_LONG-}" ] || seconds=360000
    check "drives with faults: a clear end and no unearned number" \
        eval "python3 '$sources/tests/faults.py' '$ssdprobe' '$flashemu' \
            '$sources/lib/report/ssdprobe.schema.json' $seconds >faulty.says ||
            { cat faulty.says; false; }"
    head -1 faulty.says
}

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
    "$ssdprobe" -q --json=again.json infer "$1"/samples.csv* >/dev/null 2>&1
    check "resumed $1: its samples tell the same" \
        diff <(jq -c .findings late.json) <(jq -c .findings again.json)
    check "resumed $1: no probe ran twice" eval "! uniq <(
        samples '$1' | grep -v '^#' | cut -d, -f3 | uniq) | sort | uniq -d |
        grep ."
    check "resumed $1: the cost is that of the whole" \
        test "$(jq .cost.bytes_written late.json)" \
            -ge "$(jq .cost.bytes_written whole.json)"
}

# Bytes written by the rows of a run's samples, from a place in the file on.
written_from() { # RUN PLACE
    samples "$1" | tail -c "+$(($2 + 1))" |
        awk -F, '$7 == "write" { bytes += $9 } END { printf "%d", bytes }'
}

# A run that was cut, and its rest, together write no more than one may: what a
# probe wrote that did not come to its end counts, and so does a pilot.
resume_budget() {
    local budget=800000000 probing before settled
    local probes=clustered-page,clustered-block
    "$ssdprobe" -q --json=first.json --write-budget="$budget" --time-limit=10s \
        --output-dir=budgeted run "$probes" sim:ssd-a >out 2>err
    check "budget: all that was written before the cut is noted" test \
        "$(jq .written_bytes budgeted/state.json)" -eq \
        "$(jq .cost.bytes_written first.json)"
    "$ssdprobe" -q --json=rest.json --resume=budgeted sim:ssd-a >out 2>err
    check "budget: the rest writes what is left: $(jq -c . budgeted/state.json)" \
        test "$(jq .written_bytes budgeted/state.json)" -le "$budget"
    check "budget: the cost is that of both" test \
        "$(jq .written_bytes budgeted/state.json)" -eq \
        "$(jq .cost.bytes_written rest.json)"

    "$ssdprobe" -q --write-budget="$budget" --output-dir=dead run "$probes" \
        sim:ssd-a >out 2>err &
    probing=$!
    soon 10 test -s dead/state.json
    sleep 0.1
    kill -KILL "$probing"
    wait "$probing" 2>/dev/null
    settled=$(jq .samples_bytes dead/state.json)
    before=$(($(jq .written_bytes dead/state.json) +
        $(written_from dead "$(jq .counted_bytes dead/state.json)")))
    "$ssdprobe" -q --resume=dead sim:ssd-a >out 2>err
    check "budget: what a killed probe wrote counts: $before, and the rest" \
        test $((before + $(written_from dead "$settled"))) -le "$budget"
}

# has_turned FOLDER COUNT: its run has so many of its probes behind it.
has_turned()
{
    [ "$(jq .turns "$1/state.json")" -ge "$2" ]
}

resume() {
    local i probing whole_status resume_drive=sim:usb-pny-2g
    "$ssdprobe" -q --json=whole.json "$resume_drive" >whole 2>err
    whole_status=$?
    for i in 20s 200s; do
        "$ssdprobe" -q --time-limit="$i" --output-dir="cut$i" "$resume_drive" \
            >out 2>err
        check "a run that is cut at $i says how it can go on" \
            grep -q -e "--resume=cut$i" err
        check "what can be continued is not compressed" \
            test -s "cut$i/samples.csv" -a ! -e "cut$i/samples.csv.zst"
        # Its user may have done so.
        [ "$i" = 20s ] || zstd -q --rm "cut$i/samples.csv"
        resumed "cut$i"
        check "what has ended is" \
            test ! -e "cut$i/samples.csv" -a -s "cut$i/samples.csv.zst"
    done
    RANDOM=7
    for i in 1 2; do
        "$ssdprobe" -q --output-dir="killed$i" "$resume_drive" >out 2>err &
        probing=$!
        soon 60 has_turned "killed$i" $((1 + RANDOM % 12))
        sleep "0.$(printf %03d $((RANDOM % 200)))"
        kill -KILL "$probing"
        wait "$probing" 2>/dev/null
        resumed "killed$i"
    done

    cp -r killed1 edited && rm edited/samples.csv*
    samples killed1 | sed '40s/,read,/,write,/' >edited/samples.csv
    check "a sample was changed" \
        eval "! cmp -s <(samples killed1) edited/samples.csv"
    cp cut20s/state.json edited/
    "$ssdprobe" -q --resume=edited "$resume_drive" >out 2>err
    check "samples that were changed are refused: $(cat err)" \
        grep -q 'samples.csv has changed since the run' err
    cp -r killed1 older
    jq '.format_version = 1' cut20s/state.json >older/state.json
    "$ssdprobe" -q --resume=older "$resume_drive" >out 2>err
    check "the run of an older version is called so: $(cat err)" \
        grep -q 'another version of ssdprobe (state.json has format 1' err
    cp -r killed1 piped && rm piped/state.json && mkfifo piped/state.json
    timeout -k 1 60 "$ssdprobe" -q --resume=piped "$resume_drive" >out 2>err
    status=$?
    check "a FIFO as state.json is refused in 2, not $status: $(cat err)" \
        test "$status" -eq 2 -a -n "$(grep 'not a regular file' err)"
    "$ssdprobe" -q --resume=cut20s "$resume_drive" >out 2>err
    check "a run that has ended is not begun again: $(cat err)" \
        grep -q 'nothing to continue' err
    "$ssdprobe" -q --time-limit=20s --output-dir=other "$resume_drive" \
        >out 2>err
    "$ssdprobe" -q --resume=other sim:usb-unknown-1g >out 2>err
    status=$?
    check "another drive is refused, in 3, not $status: $(cat err)" \
        test "$status" -eq 3 -a -n "$(grep 'not the device of the run' err)"
}

for part in ${SSDPROBE_TEST_PARTS:-throttled cached unwritten filled pilot_fails \
    faulty resume resume_budget}
do
    began=$SECONDS
    "$part"
    echo "$part: $((SECONDS - began)) s"
done
summary
