#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test_study_command.sh SOURCE BUILD: flashemu study as a user calls it: the
# list, the table, the rows, the figure, the document, and what is refused.
# What the numbers must be is for test_experiments.
# shellcheck disable=SC2016 # what bash -c is given, it expands itself
set -u

source_folder=$(realpath -- "$1")
flashemu=$(realpath -- "$2")/flashemu
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit
passed=0 failed=0

# check NAME COMMAND...: the command must succeed.
check()
{
    local name=$1
    shift
    if "$@" >log 2>&1; then
        ((passed += 1))
    else
        ((failed += 1))
        printf 'FAILED: %s\n' "$name"
        sed 's/^/    /' log
    fi
}

# ends STATUS TEXT ARGUMENT...: of flashemu study, and what it says on stderr:
# TEXT, or nothing at all where that is empty.
ends()
{
    local status=$1 text=$2 found
    shift 2
    "$flashemu" study "$@" >out 2>err </dev/null
    found=$?
    cat err
    ((found == status)) || { echo "exit status $found" && return 1; }
    if [[ -n $text ]]; then
        grep -qF -- "$text" err
    else
        [[ ! -s err ]]
    fi
}

# document FILE EXPRESSION...: fits the schema, and each holds of it (`d`).
document()
{
    /usr/bin/python3 - "$source_folder/lib/report/flashemu.schema.json" \
        "$@" <<'PYTHON'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
d = json.load(open(sys.argv[2]))
jsonschema.Draft202012Validator(schema).validate(d)
for expression in sys.argv[3:]:
    assert eval(expression), expression
PYTHON
}

# is_picture FILE: a PNG of some size, or an SVG with lines in it.
is_picture()
{
    case $1 in
    *.png) [[ $(file -b --mime-type "$1") == image/png ]] ;;
    *.svg) [[ $(grep -c '<path' "$1") -gt 10 ]] ;;
    esac && (($(stat -c %s "$1") > 5000))
}

# ---- which there are ----------------------------------------------------------

check 'the list' ends 0 ''
mv out list.txt
check 'the list by name' ends 0 '' list
check 'is the same' cmp list.txt out
check 'the list as a document' ends 0 '' --json
check 'has them all' document out "len(d['studies']) == 17" \
    "all(s['question'].endswith('?') for s in d['studies'])"
/usr/bin/python3 -c 'import json
for s in json.load(open("out"))["studies"]: print(s["name"])' >names
while read -r name; do
    check "$name is in the text" grep -q "^$name " list.txt
done <names

# ---- a study's outputs ----------------------------------------------------------

check 'a table' ends 0 '' memory
check 'of the paper' grep -q 'paper .*2052' out
check 'and ours' grep -q 'ours .*2052' out
check 'with verdicts' grep -q ' holds$' out
check 'and a reason where it is not reproduced' \
    grep -q 'Lists of 512 and 1532 entries' out

check 'everything at once' ends 0 '' memory --csv=rows.csv --plot=figure.png \
    --json=document.json
check 'the figure' is_picture figure.png
check 'the document' document document.json "d['study']['name'] == 'memory'" \
    "d['study']['scale'] == 1" "len(d['values']) >= 3" \
    "any(t['verdict'] == 'holds' for t in d['trends'])" \
    "all('reason' in t for t in d['trends']
         if t['verdict'] == 'does not hold')"
check 'the rows' /usr/bin/python3 - <<'PYTHON'
import csv, json
lines = open("rows.csv").read().splitlines()
assert lines[0] == "# flashemu study, format 1", lines[0]
assert lines[1].startswith("# memory, seed 1, scale 1"), lines[1]
rows = list(csv.DictReader(lines[2:]))
values = json.load(open("document.json"))["values"]
assert len(rows) == len(values)
for row, value in zip(rows, values):
    assert row["panel"] == value["panel"] and row["unit"] == value["unit"]
    assert abs(float(row["ours"]) - value["ours"]) <= 1e-6 * value["ours"]
    assert (row["paper"] == "") == (value["paper"] is None)
PYTHON
check 'rows instead of the table' ends 0 '' memory --csv
check 'are the same rows' cmp out rows.csv

# Part of a workload: the figure with and without numbers of the paper.
check 'part of a workload' ends 0 '' mapping --scale=0.02 --plot=part.svg --csv=a
check 'its figure' is_picture part.svg
check 'once more' ends 0 '' mapping --scale=0.02 --csv=b
check 'one seed, one table' cmp a b
check 'another seed' ends 0 '' mapping --scale=0.02 --seed=2 --csv=c
check 'another table' bash -c '! cmp -s a c'
check 'a short one says that it is' ends 0 '' mapping --scale=0.02
check 'in a sentence' grep -q 'meant for a scale of 0.3' out
check 'a figure by its name' ends 0 '' mapping --scale=0.02 --plot
check 'is there' is_picture study-mapping.png

# ---- what is refused ------------------------------------------------------------

check 'an unknown study' ends 1 'no-such-study' no-such-study
check 'as a document' bash -c '"$1" study no-such-study --json >out 2>err
    test $? = 1' _ "$flashemu"
check 'that fits the schema' document out "d['flashemu']['exit_status'] == 1" \
    "'no-such-study' in json.dumps(d)"
for scale in 0 -1 1.5 nan x ''; do
    check "--scale=$scale" ends 1 'above 0 and at most 1' memory \
        --scale="$scale"
done
check 'a seed that is none' ends 1 'whole number' memory --seed=x
check 'two documents on one stream' ends 1 'give one' memory --csv --json
check 'rows that cannot be written' ends 2 'cannot be written' memory \
    --csv=/no/such/folder/rows.csv
check 'a figure that cannot be written' ends 4 'could not draw' memory \
    --plot=/no/such/folder/figure.png
mkdir empty
PATH=$work/empty "$flashemu" study memory --plot=none.png >out 2>err
check 'without gnuplot it does the rest' test $? = 0
check 'and says so' grep -q 'gnuplot is not installed' err
check 'with its table' grep -q ' holds$' out

echo "$passed passed, $failed failed"
((failed == 0))
