#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs on served drives leave no trace: contents and settings are put back however
# the run ends, whatever the drive does. Nothing of this depends on how fast the
# machine is.
# SSDPROBE_TEST_LONG=1: 200 ends in place of 10.
#   test_ends.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
# Beside other work all takes several times as long.
serve_seconds=3000
# shellcheck source=tests/serving.sh
. "$sources/tests/serving.sh"
# shellcheck source=tests/runs.sh
. "$sources/tests/runs.sh"

# What the runs may write to, with its surroundings.
contents() {
    dd if="$device" bs=1M count=80 iflag=direct status=none | cksum
}

# A run with contents and settings to be put back.
keeping() { # NAME LIMIT
    rm -rf "$1"
    on_device "$1.json" --preserve --tune=max --region=8MiB,64MiB \
        "--output-dir=$1" "--time-limit=$2" run clustered-page
}
# What a run says of a disk that let it down.
let_down() { # WHAT STATUS SENTENCE_PATTERN
    local what=$1 expected=$2 pattern=$3
    check "$what: it ends in $expected, not in $status" \
        test "$status" -eq "$expected"
    check "$what: a valid document" says "$what.json"
    check "$what: nothing is found that was not measured" \
        eval "! says '$what.json' | grep -q '^[a-z_]* found'"
    check "$what: a sentence says why: $(grep '^ssdprobe: /' err)" \
        grep -qE "$pattern" err
    check "$what: the settings are back" test "$(settings)" = "$set" \
        -a ! -e "$what/settings"
    if [ "$expected" = 7 ]; then
        check "$what: the copy is kept" test -s "$what/journal"
        check "$what: how to go on is said" grep -q 'restore' err
    else
        check "$what: nothing is left to be put back" \
            test ! -e "$what/journal"
    fi
}

# Has a run measured, and before that copied what it will write to?
measured() { [ "$(samples "$1" | grep -vc '^#')" -gt 1 ]; }
under_way() { grep -q 'preserve: copied' "$1/log" && measured "$1"; }

# Ends the server without its help, and waits until the disk is free of it.
kill_server() {
    kill -KILL -- "-$group"
    soon 10 is_dead "$server"
}

failing() {
    local set spec what expected pattern waker at
    while IFS='|' read -r what spec expected pattern; do
        # It shall befall a run that is under way: on a busy machine later. The
        # run would go on for longer than that.
        for at in 3 6 12 24 48 96; do
            serve "ssd-a,${spec//AT/${at}s}"
            set=$(settings)
            keeping "$what" "$((at + 60))s"
            ! under_way "$what" || [ "$status" -ne "$expected" ] || break
            kill -INT "$server"
        done
        let_down "$what" "$expected" "$pattern"
        kill -INT "$server"
        check "$what: its server ends" soon 10 is_dead "$server"
    done <<'END'
vanishes|vanish_at_ns=AT|7|could not be restored.*the copy stays|disappeared
takes-no-writes|read_only_at_ns=AT|7|could not be restored.*the copy stays
fails-a-write|write_error_share=0.001|4|a write of .* at offset [0-9]+ failed
loses-power|power_cut_at_ns=AT,power_back_ns=1s|4|a (write|read|flush).* failed
END
    serve ssd-a
    set=$(settings)
    # Who holds the device keeps others from getting its number. A new server
    # would clear away what the killed one left, its settings as well: none
    # enters the folder meanwhile.
    (soon 60 under_way pulled && exec 9<"$device" 8</run/flashemu &&
        flock 8 && kill_server && exec sleep 300) &
    waker=$!
    keeping pulled 100s
    let_down pulled 7 'could not be restored|disappeared'
    kill "$waker"
    wait "$waker" 2>/dev/null
}

# The same without anything to be put back.
vanishing() {
    local probing status
    serve ssd-a
    timeout -k 5 600 "$ssdprobe" run clustered-page --yes --allow-virtual \
        --progress=none --json=gone.json --output-dir=gone "$device" >out 2>err &
    probing=$!
    soon 60 measured gone
    kill -KILL "$server"
    wait "$probing"
    status=$?
    check "a vanished device ends in status 4 (it was $status)" \
        test "$status" -eq 4
    check "one sentence says so: $(cat err)" grep -q "$device.*failed" err
    check "its document is valid" says gone.json
    check "no finding came of it" eval "! says gone.json | grep -q ' found '"
    check "the helper goes as well" soon 20 is_dead "$attendant"
}

# One that does not answer for longer than any flush may take, but stays.
stops() {
    local waker
    serve ssd-a
    (soon 60 measured stops && kill -STOP "$attendant" "$server" &&
        sleep 32 && kill -CONT "$attendant" "$server") &
    waker=$!
    on_device stops.json run basic --tune=max --output-dir=stops
    wait "$waker"
    says stops.json >stops.says
    check "stops: the run goes on and ends in 0 or 5, not in $status" \
        test "$status" -eq 0 -o "$status" -eq 5
    check "stops: the grade is red and says it: $(cat stops.says)" \
        grep -qE '^red silence the drive stalled for up to [0-9.]+ s' stops.says
    check "stops: the second attempt is not disturbed by the first" \
        eval "! grep -q 'another process' stops.says"
    kill -INT "$server"
    check "stops: its server ends" soon 10 is_dead "$server"
}

# A disk whose own time is short beside that of the run.
fast_disk=plain-disk,direct_ns=50us,direct_bytes_per_second=1GB
fast_disk+=,interface_bytes_per_second=1GB

# A run in two parts, and nothing but them.
parts() {
    local was i options
    serve "$fast_disk"
    dd if=/dev/urandom of="$device" bs=1M count=80 oflag=direct status=none
    was=$(contents)
    for i in --output-dir=parts --resume=parts; do
        options=()
        [ "$i" = --resume=parts ] ||
            options=(--preserve --tune=safe "--region=8MiB,64MiB")
        on_device parts.json "$i" --time-limit=1s "${options[@]}"
        check "in parts: $i ends in 0, not in $status" test "$status" -eq 0
        check "in parts: $i leaves the contents" test "$(contents)" = "$was"
    done
    check "in parts: contents and settings are kept again" test \
        "$(grep -c 'preserve: copied' parts/log) $(grep -c 'nomerges: 0 -> 2' \
            parts/log)" = "2 2"
    on_device parts.json --resume=parts --preserve
    check "in parts: what was chosen is not chosen anew" \
        grep -q -- '--preserve cannot be changed' err
    touch parts/journal
    on_device parts.json --resume=parts
    check "in parts: what is not put back comes first" \
        grep -q "'ssdprobe restore parts' first" err
    kill -INT "$server"
    check "the server of the parts ends" soon 10 is_dead "$server"
}

# A document of each run, all valid.
all_say() { # COUNT NAME
    local documents=("$2"*.json)
    [ "${#documents[@]}" -eq "$1" ] && says "${documents[@]}"
}

# SIGINT while probes write to a served drive.
interrupted() {
    local i probing pause status
    serve ssd-a
    RANDOM=20
    for i in $(seq 20); do
        pause=$(printf '0.%03d' $((RANDOM % 1000)))
        "$ssdprobe" run clustered-page --yes --allow-virtual --progress=none \
            --json="partial$i.json" --seed="$i" "$device" >out 2>err &
        probing=$!
        sleep "$pause"
        # Not before it can catch the signal: exec and a look at the tables.
        soon 5 grep -q '^SigCgt:.*[2367abef]$' "/proc/$probing/status"
        kill -INT "$probing"
        wait "$probing"
        status=$?
        check "SIGINT after $pause s ends in 130 (it was $status)" \
            test "$status" -eq 130
    done
    check "SIGINT leaves valid documents" all_say 20 partial
    kill -INT "$server"
    check "the server ends after SIGINT" soon 10 is_dead "$server"
    # Another suite may have got the same device since.
    check "the loop device is gone" eval "! losetup -l -n -O NAME,BACK-FILE |
        grep -q '^$device .*/flashemu-$server-'"
    check "no file of the server is left" eval "! has_files '$server'"
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

something_was_written() {
    grep -qE 'are restored; [1-9][^;]* had to be written' restored
}

# A run that copies, writes, puts back; the same every time.
change_much() { # NUMBER
    exec "$ssdprobe" --yes --allow-virtual --progress=none --seed="$1" \
        --preserve --tune=max --time-limit=1s --write-budget=4GiB \
        --region=8MiB,64MiB --output-dir="run$1" run clustered-page "$device" \
        >out 2>err
}

# From its start until all is put back.
span_ms() {
    local began probing
    began=$(date +%s%3N)
    change_much 0 &
    probing=$!
    until grep -qs 'tune: restored' run0/log || is_dead "$probing"; do
        sleep 0.01
    done
    echo $(($(date +%s%3N) - began))
    wait "$probing"
}

ends() {
    local was set i pause signal probing span cut=0
    local count=10 signals=(INT KILL TERM KILL HUP)
    [ -z "${SSDPROBE_TEST_LONG-}" ] || count=200
    serve "$fast_disk"
    dd if=/dev/urandom of="$device" bs=1M count=80 oflag=direct status=none
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
        # The first run may have been slow: none shall be waited for longer than
        # one that has ended.
        ! is_dead "$probing" || span=$((pause + 1))
        kill "-$signal" "$probing" 2>/dev/null
        wait "$probing" 2>/dev/null
        status=$?
        [ "$status" -lt 128 ] || cut=$((cut + 1))
        ended "$i" "$signal" "$status"
        rm -rf "run$i/figures" "run$i"/samples.csv*
    done
    check "runs were cut short: $cut of $count" \
        test "$cut" -ge $((count / 3))
    check "the runs did change something in between" \
        bash -c "cat run*/log | grep -q 'nomerges: 0 -> 2' &&
            cat run*/log | grep -q 'contents restored'"
    # On a busy machine no signal may fall between a write and its end.
    for i in $((count + 1)) $((count + 2)) $((count + 3)); do
        something_was_written && break
        (change_much "$i") &
        probing=$!
        until [ "$(contents)" != "$was" ] || is_dead "$probing"; do :; done
        kill -KILL "$probing" 2>/dev/null
        wait "$probing" 2>/dev/null
        ended "$i" KILL $?
    done
    check "after SIGKILL something had to be written" something_was_written
    kill -INT "$server"
    check "the server of the ends ends" soon 10 is_dead "$server"
}

if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || [ ! -e /dev/loop-control ]
then
    fail "these tests need root, /dev/fuse and /dev/loop-control"
    summary
    exit 1
fi
for part in ${SSDPROBE_TEST_PARTS:-failing vanishing stops parts interrupted ends}
do
    began=$SECONDS
    "$part"
    echo "$part: $((SECONDS - began)) s"
done
summary
