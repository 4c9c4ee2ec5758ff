#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ssdprobe from the outside: outputs, exit codes, safety.
# Usage: test_cli.sh SOURCE_FOLDER BUILD_FOLDER
set -u
export LC_ALL=C
source_folder=$(realpath -- "$1")
build_folder=$(realpath -- "$2")
ssdprobe=$build_folder/ssdprobe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

# check NAME COMMAND...: the command must succeed.
check()
{
    local name=$1
    shift
    if "$@" >check.log 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        sed 's/^/    /' check.log | head -n 20
    fi
}

# The Python that has the validator: Debian's, or the first in the path.
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import jsonschema' 2>/dev/null; then
        python=$candidate
        break
    fi
done
check "python3-jsonschema is installed" test -n "$python"

cat >valid.py <<'END'
import json, sys
import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
text = open(sys.argv[2], encoding="utf-8").read()
decoder = json.JSONDecoder()
document, end = decoder.raw_decode(text)
assert not text[end:].strip(), "more than one document"
jsonschema.Draft202012Validator(schema).validate(document)
for expression in sys.argv[3:]:
    assert eval(expression, {"d": document, "json": json}), expression
END

# expect NAME STATUS [EXPRESSION...] -- ARGUMENTS...: runs ssdprobe, compares
# the exit status, and validates stdout as a document. `d` is the document.
expect()
{
    local name=$1 status=$2 conditions=()
    shift 2
    while [ "$1" != -- ]; do
        conditions+=("$1")
        shift
    done
    shift
    timeout 120 "$ssdprobe" "$@" >out 2>err </dev/null
    local got=$?
    check "$name: exit status $got, expected $status" test "$got" = "$status"
    check "$name: document" "${python:-false}" valid.py \
        "$source_folder/lib/report/ssdprobe.schema.json" out \
        "d['ssdprobe']['exit_status'] == $status" "${conditions[@]}"
}

# status NAME STATUS ARGUMENTS...: the exit status alone.
status()
{
    local name=$1 status=$2
    shift 2
    timeout 120 "$ssdprobe" "$@" >out 2>err </dev/null
    local got=$?
    check "$name: exit status $got, expected $status" test "$got" = "$status"
}

device=sim:ssd-a
probes=$("$ssdprobe" list --json | "${python:-false}" -c '
import json, sys
for probe in json.load(sys.stdin)["probes"]:
    print(probe["name"], "writes" if probe["writes"] else "reads")')
reading=$(echo "$probes" | sed -n 's/ reads$//p' | grep -x read-buffer)
# One that writes more than a small budget allows.
writing=$(echo "$probes" | sed -n 's/ writes$//p' | grep -x clustered-page)
check "a probe that reads" test -n "$reading"
check "a probe that writes" test -n "$writing"

# Of a drive that has to clean after random writes, the rate of writes in order
# is asked before others write at random: in a look, and in a whole run.
cat >dirty.ini <<'END'
[drive]
capacity_bytes = 4GiB
[array]
channels_count = 1
banks_per_channel_count = 8
superblock_chips_count = 4
page_bytes = 16KiB
pages_per_block_count = 96
spare_permille = 70
[timing]
program_ns = 225us
erase_ns = 4970us
[mapping]
mapping = page
clustered_page_bytes = 64KiB
stripe_banks_count = 4
END
"$ssdprobe" --quick sim:./dirty.ini --json >out 2>err </dev/null
check "a look finds the rate of writes in order" "${python:-false}" -c '
import json
rate, = [f for f in json.load(open("out"))["findings"]
         if f["parameter"] == "sequential_write_rate"]
assert rate["verdict"] == "found", rate["why"]'
check "a whole run asks for it before random writes" test \
    "$(echo "$probes" | grep -n '^throughput ' | cut -d: -f1)" -lt \
    "$(echo "$probes" | grep -n '^basic ' | cut -d: -f1)"

## Every output validates, failures included.
expect "list" 0 "len(d['probes']) >= 2" "d['findings'] == []" -- list --json
expect "check" 0 "d['plan']['requests'] > 0" "d['device']['path'] == '$device'" \
    "d['cost'] is None" -- check --json $device
expect "version" 0 -- --version --json
expect "version, as a word" 0 -- version --json
for word in -V version; do
    check "$word says how it was built" \
        eval "'$ssdprobe' $word | grep -q '^built as .* with liburing [0-9]'"
done
check "help, as a word" eval "'$ssdprobe' help | diff - <('$ssdprobe' --help)"
check "help of a command" \
    eval "'$ssdprobe' help run | diff - <('$ssdprobe' run --help)"
expect "help of no command" 1 \
    "'no command' in d['ssdprobe']['messages'][0]['text']" -- help --json rum
expect "dry run" 0 "d['plan'] and d['cost'] is None" "d['findings'] == []" \
    -- --dry-run --json $device
expect "no such option" 1 -- --json --frobnicate $device
expect "option without its argument" 1 -- --json $device --seed
expect "nothing to do" 1 -- --json
expect "a run of no probe names what runs all" 1 \
    "'ssdprobe DEVICE' in d['ssdprobe']['messages'][0]['text']" \
    -- --json run $device
expect "too much to do" 1 -- --json $device $device
expect "no such probe" 1 "'list' in d['ssdprobe']['messages'][0]['text']" \
    -- --json run no-such-probe $device
expect "a probe twice" 1 -- --json run "$reading,$reading" $device
expect "option of another command" 1 -- --json list --seed=1
expect "JSON and CSV on one stream" 1 -- --json --csv $device
for wrong in --seed=-1 --seed=1x --seed=99999999999999999999 --region=1G \
    --region=0,0 --region=1,2,3 --region=0,1TiB --region=1,4096 \
    --write-budget=0 --write-budget=1.5 --time-limit=0 --time-limit=1x \
    --patience=0 --patience=1x --patience= \
    --method=magic --progress=loud --flush=twice --write-cache=maybe \
    --assume=clustered_page \
    --assume==1 --assume=no_such_thing=1; do
    expect "$wrong" 1 "d['ssdprobe']['messages'][0]['severity'] == 'error'" \
        -- --json "$wrong" $device
done
expect "a switch of the cache, and no writes" 1 \
    "'--read-only' in d['ssdprobe']['messages'][0]['text']" \
    -- --json --read-only --write-cache=off $device
expect "no such drive" 2 "d['device'] is None" -- --json sim:no-such-drive
expect "no such device" 2 "d['device'] is None" -- --json /dev/no-such-device
expect "an ordinary file" 2 "d['device'] is None" \
    -- --json "$source_folder/LICENSE"
expect "no recording" 2 -- --json infer no-such-file
printf 'run,sequence\n' >short.csv
expect "a file that is no recording" 2 \
    "'short.csv:1:' in d['ssdprobe']['messages'][0]['text']" \
    -- --json infer short.csv
expect "more than the budget" 3 "d['findings'] == []" \
    -- --json --write-budget=4096 run "$writing" $device
expect "a budget for some" 0 "[p['fits'] for p in d['plan']['probes']] == [True, False]" \
    "d['findings'][-1]['verdict'] == 'skipped'" \
    "'--write-budget' in d['findings'][-1]['why']" \
    "d['cost']['bytes_written'] <= 400 << 20" \
    "[p['probe'] for p in d['cost']['probes']] == ['clustered-page']" \
    -- --json --write-budget=400M run clustered-page,write-buffer $device
check "the plan says who is left out" \
    bash -c "'$ssdprobe' --dry-run --write-budget=400M $device 2>&1 |
        grep -q 'left out *write-buffer, which needs to write'"
expect "out of time" 0 "d['ssdprobe']['messages'][0]['severity'] == 'warning'" \
    -- --json --time-limit=1ms run "$writing" $device
expect "a bare number is seconds" 0 -- --json --time-limit=100000 \
    run read-buffer $device
expect "everything is skipped" 5 \
    "{f['verdict'] for f in d['findings']} == {'skipped'}" \
    "'every probe was skipped' in d['ssdprobe']['messages'][-1]['text']" \
    -- --json --strict --region=0,16KiB $device
expect "everything that is not assumed is skipped" 0 \
    "[f['parameter'] for f in d['findings'] if f.get('assumed')] == ['log_list']" \
    -- --json --region=0,16KiB --assume=log_list=8 $device
expect "another device" 3 -- --json --confirm=0000 $device
status "an odd argument" 1 --json $'--\xff\xfe'
check "an odd argument is documented in UTF-8" "${python:-false}" valid.py \
    "$source_folder/lib/report/ssdprobe.schema.json" out

## The run directory.
expect "a run directory" 0 "d['findings'][0]['verdict'] == 'found'" \
    -- --json --output-dir=kept run "$reading" $device
check "it holds the document" cmp kept/report.json out
check "it holds the samples" \
    bash -c "'$ssdprobe' infer -v kept/samples.csv.zst | grep -q found"
cp -r kept before
expect "a run directory that has another run" 2 \
    "'kept already exists' in d['ssdprobe']['messages'][0]['text']" \
    -- --json --output-dir=kept run "$reading" $device
check "nothing of the other run is changed" diff -r kept before
mkdir empty
expect "an empty directory" 0 -- --json --output-dir=empty run "$reading" $device
check "it is taken as well" test -s empty/report.json
expect "a directory that cannot be made" 2 \
    "'--output-dir' in d['ssdprobe']['messages'][0]['text']" \
    -- --json --output-dir=no/such/place run "$reading" $device
expect "no run, no directory" 3 \
    -- --json --output-dir=refused --confirm=0000 run "$reading" $device
check "a refused run makes no directory" test ! -e refused

## A run, and the same run again: to the byte.
expect "a run" "${run_status:-0}" "d['cost']['wall_seconds'] is None" \
    "d['ssdprobe']['argv'][1:] == ['run', '--csv=a.csv', '$reading', '--json', '$device']" \
    "all(f['probe'] == '$reading' for f in d['findings'])" \
    -- run --csv=a.csv "$reading" --json $device
cp out a.json
mv a.csv first.csv
"$ssdprobe" run --csv=a.csv "$reading" --json $device >b.json 2>err
check "the same document again" cmp a.json b.json
check "the same samples again" cmp a.csv first.csv
"$ssdprobe" run --seed=2 --csv=c.csv "$reading" -q $device >c.txt 2>err
check "another seed has another run" bash -c '! cmp -s a.csv c.csv'
check "-q leaves stderr empty" test ! -s err

## Concluding again gives the same findings to the byte.
"$ssdprobe" infer --json a.csv >infer.json 2>err
check "infer gives the same findings" "${python:-false}" -c "
import json
a, b = (json.dumps(json.load(open(f))['findings']) for f in ('a.json', 'infer.json'))
assert a == b, (a, b)"
expect "infer of two" "$("$ssdprobe" infer a.csv >/dev/null 2>&1; echo $?)" \
    "{f['file'] for f in d['findings']} == {'a.csv', 'first.csv'}" \
    -- infer --json a.csv first.csv
recordings=$source_folder/tests/recordings
expect "infer of flashbench's output, pasted" 0 "d['device'] is None" \
    "[f['value'] for f in d['findings']] == [4 << 20, 16 << 10, None, None]" \
    -- infer --json "$recordings/flashbench-card5.txt"
expect "infer of flashbench's output of many cards" 0 \
    "len({(f['card'], f['run']) for f in d['findings']}) == 26" \
    "all(f['file'] for f in d['findings'])" \
    -- infer --json "$recordings/sdcard-align.csv" \
    "$recordings/sdcard-openau.csv"
printf 'so it said\nalign 4096 pre 1us on 2us\n' >pasted.txt
expect "infer of a pasted line that is cut" 2 \
    "'pasted.txt:2:' in d['ssdprobe']['messages'][0]['text']" \
    -- infer --json pasted.txt
pasted=$recordings/flashbench-card5.txt
"$ssdprobe" infer --json "$pasted" >by-name.json 2>err
for way in 'infer --json -' 'infer --json' 'infer --json /dev/stdin'; do
    # shellcheck disable=SC2086
    cat -- "$pasted" | "$ssdprobe" $way >by-pipe.json 2>err
    check "'$way' reads the standard input" "${python:-false}" -c "
import json
a, b = (json.load(open(f))['findings'] for f in ('by-name.json', 'by-pipe.json'))
assert a == b and len(a) == 4, (a, b)"
done
"$ssdprobe" infer --json - <a.csv >by-pipe.json 2>err
check "'infer -' reads samples" "${python:-false}" -c "
import json
a, b = (json.load(open(f))['findings'] for f in ('infer.json', 'by-pipe.json'))
assert a == b, (a, b)"
status "infer of nothing" 1 infer </dev/null
sed '20s/.$/9/' a.csv >edited.csv
expect "infer of an edited file" 2 "'edited.csv' in json.dumps(d)" \
    -- infer --json edited.csv
head -c 3000 a.csv >cut.csv
expect "infer of a cut file" 0 "'cut.csv is cut off in line' in json.dumps(d)" \
    -- infer --json cut.csv
cp a.csv kept.csv
status "infer onto its own input" 1 infer --json=kept.csv kept.csv
check "the input is unharmed" cmp a.csv kept.csv

## Reading only.
readers=$(echo "$probes" | sed -n 's/ reads$//p' | paste -sd,)
expect "read-only" "$("$ssdprobe" run "$readers" $device >/dev/null 2>&1; echo $?)" \
    "d['cost']['bytes_written'] == 0" \
    "all(f['verdict'] == 'skipped' and f['why'] for f in d['findings'] if f['probe'] == '$writing')" \
    "any(f['probe'] == '$writing' for f in d['findings'])" \
    -- --json --read-only $device
expect "a writing probe asked for by name, read-only" 5 \
    -- --json --strict --read-only run "$writing" $device

## Mistakes are answered with what was meant.
for words in "chekc $device" "run reed-buffer $device" "sim:ssd-aa" \
    "--quik $device" "sim:ssd-a,channel_count=3"; do
    # shellcheck disable=SC2086 # words
    "$ssdprobe" $words >out 2>err
    check "'$words' is no command line, and like one" grep -q \
        "(did you mean '[a-z-]*[a-z_]*'?)" err
done
check "a heading stands in the help once" bash -c \
    "'$ssdprobe' --help | grep -E '^[A-Z][a-z]*:\$' | sort | uniq -d | grep -qc . && exit 1 || :"

## A reader who has enough, as head has, hears no complaint.
"$ssdprobe" list -v 2>err | head -n 1 >out
check "a closed pipe is quiet" test ! -s err
"$ssdprobe" run "$reading" $device -v -q 2>err | head -n 1 >out
check "and so is a report" test ! -s err

## A run continues by its directory alone, and belongs to who ran sudo.
"$ssdprobe" $device --output-dir=half --time-limit=20s -q >out 2>err
check "a run that is cut short names the line that continues it" \
    grep -qx 'ssdprobe: note: to continue: ssdprobe --resume=half' err
"$ssdprobe" --resume=half --time-limit=30s -q >out 2>err
check "it is enough" grep -q '^Report:  half/report.html (exit 0)$' out
if [ "$(id -u)" -eq 0 ]; then
    SUDO_UID=12345 SUDO_GID=12345 "$ssdprobe" run "$reading" $device -q \
        --output-dir=given >out 2>err
    check "what sudo made is the user's" test -z "$(find given ! -user 12345)"
    SUDO_UID=12345 SUDO_GID=12345 "$ssdprobe" $device -q --time-limit=20s \
        --output-dir=trusted >out 2>err
    check "but what is to be continued stays root's" \
        test -z "$(find trusted ! -user root)"
fi

## Streams.
status "text" "$("$ssdprobe" run "$reading" $device >/dev/null 2>&1; echo $?)" \
    run "$reading" $device
check "the report says what it is" grep -q "^A .* drive (emulated)\.$" out
check "the plan is on stderr" grep -q '^Plan for' err
check "no colour without a terminal" bash -c '! grep -q $'"'\\033'"' out err'
check "no line is longer than 80 columns" bash -c '! grep -qE "^.{81}" out'
"$ssdprobe" run "$reading" -q --csv $device >csv.out 2>csv.err
check "--csv streams samples alone" cmp csv.out a.csv
check "the report makes room for samples" grep -q '^A .* drive' csv.err
status "a document in a file" "$("$ssdprobe" run "$reading" $device >/dev/null 2>&1; echo $?)" \
    run "$reading" --json=file.json $device
check "the report is on stdout beside a document" grep -q '^A .* drive' out
check "the document is in its file" "${python:-false}" valid.py \
    "$source_folder/lib/report/ssdprobe.schema.json" file.json
"$ssdprobe" run "$reading" -v --bytes --progress=json $device >bytes.txt 2>progress.txt
check "--bytes" grep -qE '[0-9] B in blocks of 512 B' bytes.txt

## An old file of samples stays until a new one is whole.
mkdir files
echo precious >files/old.csv
chmod 640 files/old.csv
ln -s old.csv files/link.csv
# still_there NAME STATUS ARGUMENTS...
still_there()
{
    status "$1" "$2" "${@:3}"
    check "$1: the old samples stay" grep -qx precious files/old.csv
    check "$1: nothing lies beside them" \
        test "$(ls files)" = "$(printf 'link.csv\nold.csv')"
}
for name in old link; do
    csv=--csv=files/$name.csv
    still_there "$name: a usage error" 1 "$csv" --seed=x $device
    still_there "$name: no such probe" 1 run no-such-probe "$csv" $device
    still_there "$name: a missing device" 2 "$csv" /dev/no-such-device
    still_there "$name: a refusal" 3 "$csv" --confirm=0000 $device
    still_there "$name: a dry run" 0 "$csv" --dry-run $device
    still_there "$name: no run directory" 2 "$csv" --output-dir=no/such/place \
        run "$reading" $device
done
run_to_file() # BYTES: no file may become longer
{
    (ulimit -f $(($1 / 1024)); trap '' XFSZ
        "$ssdprobe" run "$reading" -q --csv=files/old.csv $device >out 2>err)
}
run_to_file 4096
check "samples that cannot be written: exit status" test $? = 2
check "samples that cannot be written: the old ones stay" \
    grep -qx precious files/old.csv
status "a run that replaces samples" "${run_status:-0}" \
    run "$reading" --csv=files/link.csv $device
check "the new samples are those of any run" cmp files/old.csv first.csv
check "a link to them is still one" test -L files/link.csv
check "their mode is what it was" test "$(stat -c %a files/old.csv)" = 640
check "nothing lies beside them" \
    test "$(ls files)" = "$(printf 'link.csv\nold.csv')"
# A disk that fills up, and a link that another user has put where all may.
cp files/old.csv old.json
run_to_document()
{
    (ulimit -f 1; trap '' XFSZ
        "$ssdprobe" run "$reading" -q --json=old.json $device >out 2>err)
}
run_to_document
check "a document that cannot be written: exit status" test $? = 2
check "a document that cannot be written: the old one stays" \
    cmp files/old.csv old.json
check "a document that cannot be written: nothing lies beside it" \
    test "$(ls old.json*)" = old.json
check "a document that cannot be written: a sentence" \
    grep -q 'old.json cannot be written: File too large' err
mkdir common
chmod 1777 common
echo precious >precious
ln -s ../precious common/link
chown -h 65534 common/link 2>/dev/null
for wish in --csv --json; do
    status "another user's link, $wish" 2 \
        run "$reading" "$wish=common/link" $device
    check "another user's link, $wish: it says why" \
        grep -q 'common/link cannot be written.*link that another user' err
    check "another user's link, $wish: nothing is written through it" \
        grep -qx precious precious
done
status "samples to a directory" 2 run "$reading" --csv=files $device
status "samples to /dev/null" "${run_status:-0}" \
    run "$reading" --csv=/dev/null $device
check "a device stays one" test -c /dev/null

## Outputs that cannot be written.
status "a full disk, JSON" 2 run "$reading" --json=/dev/full $device
check "a sentence about the full disk" grep -q '/dev/full.*No space left' err
status "a full disk, CSV" 2 run "$reading" --csv=/dev/full $device
check "a sentence about the full samples" grep -q '/dev/full: No space left' err
status "no such folder" 2 run "$reading" --csv=/no/such/file $device
expect "no such folder, documented" 2 -- run "$reading" --json --csv=/no/such/file $device
for arguments in "run $reading $device" "--json run $reading $device" list \
    "--csv run $reading $device"; do
    # shellcheck disable=SC2086
    "$ssdprobe" $arguments >/dev/full 2>err
    check "stdout is full: $arguments" test $? = 2
    # shellcheck disable=SC2086
    "$ssdprobe" $arguments >&- 2>err
    check "stdout is closed: $arguments" test $? = 2
done
"$ssdprobe" run "$reading" --csv $device 2>err | head -n 1 >/dev/null
check "a closed pipe is no crash" test "${PIPESTATUS[0]}" = 2

## Signals: a partial, valid result. A recording cut short is still whole.
# The samples go into a pipe that is not emptied until the signals are sent, so
# that the run is certainly under way. The second signal must do no harm.
interrupt()
{
    local signal=$1 expected=$2
    rm -f pipe part.csv go
    mkfifo pipe
    {
        head -c 4096
        touch started
        until [ -e go ]; do sleep 0.01; done
        cat
    } <pipe >part.csv &
    local reader=$!
    "$ssdprobe" -q --csv=pipe --json=part.json $device >/dev/null 2>part.err &
    local process=$!
    # A program that ends before it has said that much fails the checks below.
    until [ -e started ] || ! kill -0 $process 2>/dev/null; do
        sleep 0.01
    done
    kill -"$signal" $process
    kill -"$signal" $process
    touch go
    wait $process
    local got=$?
    wait $reader
    rm -f started
    check "SIG$signal: exit status $got" test $got = "$expected"
    check "SIG$signal: document" "${python:-false}" valid.py \
        "$source_folder/lib/report/ssdprobe.schema.json" part.json \
        "d['ssdprobe']['exit_status'] == $expected" "d['cost']" \
        "len(d['findings']) > 0"
    "$ssdprobe" infer part.csv >out 2>err
    check "SIG$signal: samples" test $? != 2
}
interrupt INT 130
interrupt TERM 143
interrupt HUP 129

## A real block device: nothing is written until someone says so.
cat >ask.py <<'END'
import os, pty, signal, sys

answer, arguments = sys.argv[1], sys.argv[2:]
process, terminal = pty.fork()
if process == 0:
    os.execv(arguments[0], arguments)
seen = b""
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    asked = b"to go on: " in seen
    seen += data
    if not asked and b"to go on: " in seen:
        if answer == "SIGINT":
            os.kill(process, signal.SIGINT)
        else:
            os.write(terminal, answer.encode() + b"\n")
sys.stdout.write(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
END

# asked NAME STATUS ANSWER ARGUMENTS...: with a terminal, and someone there.
asked()
{
    local name=$1 status=$2
    shift 2
    timeout 300 "${python:-false}" ask.py "$1" "$ssdprobe" "${@:2}" >out 2>err
    local got=$?
    check "$name: exit status $got, expected $status" test "$got" = "$status"
}

untouched()
{
    cmp -s image <(head -c "$(stat -c %s image)" /dev/zero)
}

loop=
truncate -s 192M image
if loop=$(losetup --find --show image 2>/dev/null); then
    trap 'losetup -d "$loop"; rm -rf "$work"' EXIT
    name=${loop##*/}
    expect "a virtual disk" 3 -- --json "$loop"
    expect "no terminal" 3 "'--yes' in d['ssdprobe']['messages'][-1]['text']" \
        -- --json --allow-virtual run "$writing" "$loop"
    expect "a wrong --confirm" 3 -- --json --allow-virtual --yes \
        --confirm=another run "$writing" "$loop"
    expect "check" 0 "d['device']['bus']" \
        -- --json check --allow-virtual "$loop"
    expect "a dry run" 0 -- --json --dry-run --allow-virtual "$loop"
    asked "a wrong answer" 3 no --allow-virtual run "$writing" "$loop"
    check "what is at stake is shown" grep -q OVERWRITES out
    check "with the partitions" grep -q '^  partitions ' out
    check "with what the interlocks noted" grep -q 'a loop device, accept' out
    asked "Ctrl-C in place of an answer" 130 SIGINT --allow-virtual \
        run "$writing" "$loop"
    check "nothing was written" untouched
    "$ssdprobe" -q --yes --allow-virtual --time-limit=2s run "$writing" \
        "$loop" >out 2>err </dev/null
    yes_status=$?
    expect "the default budget ends a run" 0 \
        "'budget' in d['ssdprobe']['messages'][-1]['text']" \
        "d['plan']['budget_bytes'] == 768 << 20" \
        "d['cost']['bytes_written'] <= 768 << 20" \
        -- -q --json --yes --allow-virtual run "$writing" "$loop"
    check "--yes writes" test "$yes_status" != 3
    check "it was written to" eval "! untouched"
    asked "the right answer" "$("$ssdprobe" -q --confirm="$name" \
        --allow-virtual --time-limit=1ns run "$writing" "$loop" \
        >out 2>err </dev/null; echo $?)" "$name" \
        --allow-virtual --time-limit=1ns run "$writing" "$loop"
    check "how much data there is is shown" grep -q '[0-9] % of .* hold data' out
    losetup -d "$loop"
    trap 'rm -rf "$work"' EXIT
else
    echo "note: no loop device here, so the question before a write is not tested"
fi

## Help and links.
status "help" 0 --help
# shellcheck disable=SC2016
check "help names every command" bash -c \
    'for c in list check run infer; do grep -q "^  $c" out || exit 1; done'
status "help of a command" 0 run --help
check "help of a command shows its options" grep -q -- '--write-budget=SIZE' out
check "help is no wider than 80 columns" bash -c '! grep -qE "^.{81}" out'
for name in $(echo "$probes" | cut -d ' ' -f 1); do
    check "ssdprobe-$name exists" test -x "$build_folder/ssdprobe-$name"
done
"$build_folder/ssdprobe-$reading" -q --json $device >link.json 2>err
check "a link is a run of its probe" "${python:-false}" -c "
import json
a, b = (json.load(open(f))['findings'] for f in ('a.json', 'link.json'))
assert a == b"
ln -s "$ssdprobe" ssdprobe-nonsense
./ssdprobe-nonsense $device >out 2>err
check "a link to no probe" test $? = 1

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
