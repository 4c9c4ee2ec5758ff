#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_accuracy.sh SOURCE_DIR BUILD_DIR: does accuracy.py count all that a
# drive file states, with the write budget that users have?
set -u

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# An ssdprobe that answers one question, skips another, and says nothing of the
# rest; and that keeps how it was called.
mkdir programs
ln -s "$build_dir/flashemu" programs/flashemu
cat >programs/ssdprobe <<END
#!/usr/bin/env bash
[[ \$1 != list ]] || exec "$build_dir/ssdprobe" "\$@"
printf '%s\n' "\$*" >>"$scratch/calls"
cat "$scratch/document"
exit 0
END
chmod +x programs/ssdprobe

# counted ARGUMENT...: the line of what could be seen, in `line`.
counted()
{
    : >calls
    python3 "$source_dir/tests/accuracy.py" --build=programs --drives=1 \
        --first=1 --kind=old --controls=0 --noise=none --output-dir=out \
        "$@" >said 2>err
    line=$(grep -o 'of [0-9]* that a probe could see, [0-9.]*' said)
}

"$build_dir/flashemu" random --seed=1 --kind=old >drive.ini
"$build_dir/flashemu" show --json ./drive.ini >drive.json
# Asked by no probe: write_buffer_levels.
stated=$(jq '[.truth | to_entries[] | select(.value != "unidentifiable" and
    .key != "write_buffer_levels")] | length' drive.json)
page=$(jq '.truth.clustered_page | tonumber' drive.json)
cat >document <<END
{"findings": [
 {"parameter": "clustered_page", "verdict": "found", "value": $page,
  "unit": "bytes", "confidence": 0.999, "why": ""},
 {"parameter": "log_list", "verdict": "skipped", "value": null,
  "unit": "count", "confidence": 0, "why": ""}]}
END

counted
check "what the run says nothing of is no answer: $line of $stated" \
    test "$line" = "$(printf 'of %d that a probe could see, %.2f' "$stated" \
        "$(jq -n "100 / $stated")")"
check "each of them is in the findings" test "$(grep -c unsaid \
    out/findings.tsv)" -ge $((stated - 2))
column_of()
{
    awk -F'\t' -v parameter="$1" '$4 == parameter { print $10 }' \
        out/findings.tsv
}
check "as missing" test "$(column_of write_cost_4k)" = missing
check "a probe that was skipped gave no answer" \
    test "$(column_of log_list)" = inconclusive
counted --continue
check "what has run is not run again: $line of $stated" test ! -s calls -a \
    "$line" = "$(printf 'of %d that a probe could see, %.2f' "$stated" \
        "$(jq -n "100 / $stated")")"
# It goes on for a while, for a busy machine may hear of it late.
# shellcheck disable=SC2016
sed -i '3a [[ ! -e slow ]] || { rm slow; kill -TERM $PPID; sleep 2; }' \
    programs/ssdprobe
touch slow
counted --drives=3 --jobs=1
check "stopped, it says how far it came" grep -q \
    '^stopped after 0 of 3 runs; --continue goes on$' said
counted --drives=3 --continue
check "and goes on" test "$(wc -l <calls)" -eq 3
sed -i 4d programs/ssdprobe
counted
check "what no probe asks for is named" grep -q \
    'asked by no probe: write_buffer_levels$' said
check "the budget is the default" bash -c \
    'grep -q -e --json calls && ! grep -q -e --write-budget calls'
counted --write-budget=20TB
check "or another one" grep -q -e --write-budget=20TB calls
counted --probes=log-list,nand-type
check "of some probes, only what they answer is missing" test \
    "$(column_of log_block)$(column_of write_cost_4k)" = missing

# What no probe can see of this drive, which has four bits a cell.
cat >document <<END
{"findings": [
 {"parameter": "nand_type", "verdict": "found", "value": "QLC",
  "unit": "text", "confidence": 0.9, "why": ""},
 {"parameter": "read_boundary", "verdict": "absent", "value": null,
  "unit": "bytes", "confidence": 0.9, "why": ""},
 {"parameter": "read_page", "verdict": "inconclusive", "value": null,
  "unit": "bytes", "confidence": 0, "why": ""}]}
END
counted
check "a value of what cannot be known is wrong, also if it is the drive's" \
    test "$(column_of nand_type)" = wrong
check "to deny it claims no more than that it is hidden" \
    test "$(column_of read_boundary)" = hidden
check "to leave it open is right" test "$(column_of read_page)" = unseen
check "and so is to say nothing" test "$(column_of fua_time)" = unseen

# A stick with a cache of 1074 MiB, and a run that looked at less.
mv document unseen
cat >document <<END
{"findings": [
 {"parameter": "fast_cache", "verdict": "absent", "value": null, "up_to": 1000,
  "unit": "bytes", "confidence": 0.9, "why": ""},
 {"parameter": "fast_write_rate", "verdict": "absent", "value": null,
  "unit": "bytes_per_second", "confidence": 0.9, "why": ""}]}
END
counted --kind=stick --first=64000047
check "none up to there is no answer where it lies beyond" \
    test "$(column_of fast_cache)" = inconclusive
check "nor is a part of it" test "$(column_of fast_write_rate)" = inconclusive
sed -i 's/1000/9000000000/' document
counted --kind=stick --first=64000047
check "but wrong where it was looked for" test \
    "$(column_of fast_cache) $(column_of fast_write_rate)" = "wrong wrong"
mv unseen document

# What is counted of kinds of evidence: by their sentences without numbers. The
# drive's own value counts as right there, for guesses are wrong as often.
sed -i 's/"why": ""/"why": "by 3 tests of 4 KiB, 2 sequential"/' document
counted --evidence=table.tsv
row=$(printf 'nand_type\tfound\t1\t1\tby N tests of N, N sequential')
check "each kind of evidence is counted" grep -qxF "$row" table.tsv
check "of all that was stated" test \
    "$(grep -c . table.tsv)" -eq 3
counted --evidence=table.tsv --more
check "and may be added to" grep -qxF "${row//1/2}" table.tsv
cp table.tsv kept
sed -i '3a [[ ! -e slow ]] || { rm slow; kill -TERM $PPID; sleep 2; }' \
    programs/ssdprobe
touch slow
counted --drives=3 --jobs=1 --evidence=table.tsv
check "a count that was stopped leaves the table as it was" cmp -s kept table.tsv
sed -i 4d programs/ssdprobe
printf 'no document\n' >document
counted
check "a run that fails answers nothing: $line" test "$line" = \
    "of $stated that a probe could see, 0.00"

# A probe that is sure of a value that few drives have.
cat >document <<END
{"findings": [
 {"parameter": "segment_groups", "verdict": "found", "value": 29,
  "unit": "count", "confidence": 0.999, "why": "29 runs, the first of 3.5 MiB"},
 {"parameter": "capacity_kind", "verdict": "found", "value": "genuine",
  "unit": "text", "confidence": 0.6, "why": "all 8 are there"}]}
END
: >calls
python3 "$source_dir/tests/accuracy.py" --build=programs --drives=16 \
    --controls=0 --mixed --noise=none,heavy --output-dir=mixed >said 2>err
check "drives of all kinds, each once" test "$(grep -o \
    'mixed/random-[0-9]*.ini,noise=[a-z]*' calls | sort -u | wc -l)" -eq 16
check "half of them at each level" test "$(grep -c noise=heavy calls)" -eq 8
check "each kind" test "$(cut -f 3 mixed/findings.tsv | grep -o '^[a-z]*' |
    sort -u | grep -c -E '^(nvme|sata|card|stick)$')" -eq 4
check "evidence that is less sure than stated is named, without its numbers" \
    grep -q '^TOO HIGH segment_groups found: stated 0.999, right 0 of 16' said
check "and its reason, without the numbers" \
    grep -q '^  N runs, the first of N$' said
check "what is right as often as stated is not" bash -c \
    '! grep -q "TOO HIGH capacity_kind" said &&
        grep -q "^0.capacity_kind.found.16.16.0.6000" mixed/evidence.tsv'
check "it stops in time" bash -c \
    'python3 "$1/tests/accuracy.py" --build=programs --drives=16 --mixed \
        --controls=0 --minutes=0.0001 --output-dir=timed >said 2>err
    grep -q "^stopped after [0-9]* of 16 runs; --continue goes on$" said' \
    - "$source_dir"

summary
