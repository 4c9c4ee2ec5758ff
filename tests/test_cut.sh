#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_cut.sh SOURCE_DIR BUILD_DIR: a run that was cut off, as by a signal,
# is read up to there, and is said to be cut off.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
ssdprobe=$build_dir/ssdprobe
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

cat >valid.py <<'END'
"""valid.py SCHEMA DOCUMENT EXPRESSION..."""
import json, sys
import jsonschema
schema, d = (json.load(open(name)) for name in sys.argv[1:3])
jsonschema.Draft202012Validator(schema).validate(d)
found = [f for f in d["findings"] if f["verdict"] == "found"]
cut = [m for m in d["ssdprobe"]["messages"] if "is cut off in line" in m["text"]]
for expression in sys.argv[3:]:
    assert eval(expression), (expression, d["ssdprobe"]["messages"], found)
END
valid()
{
    python3 valid.py "$source_dir/lib/report/ssdprobe.schema.json" "$@"
}
# ends STATUS COMMAND...: leaves `out` and `err`.
ends()
{
    local expected=$1 status=0
    shift
    "$@" >out 2>err </dev/null || status=$?
    echo "exit status $status"
    head -n 5 err
    [[ $status -eq $expected ]]
}

probes=basic,large-request
plugin=plugin:$build_dir/plugins/bad.so,times=90000:110000:100000
# cut NAME SETTINGS: leaves NAME/, of a run that ended in its second probe.
cut()
{
    "$ssdprobe" run $probes "$plugin,$2" -q --read-only "--output-dir=$1" \
        >said 2>&1 </dev/null
    test ! -e "$1/report.json"
}
check "SIGKILL cuts a run off" cut killed after=3200,kill=9
check "so does SIGABRT" cut aborted after=3200,kill=6
cp -r killed half
head -c -30 killed/samples.csv >half/samples.csv
cp -r killed empty
sed -n '1,/^run,/p' killed/samples.csv >empty/samples.csv
for run in killed aborted half; do
    check "$run: card before there is a report" ends 2 "$ssdprobe" card "$run"
    check "$run: the remedy is named" grep -q "'ssdprobe report $run'" err
    check "$run: report" ends 0 "$ssdprobe" report "$run" --json=$run.json
    check "$run: its document" valid $run.json "len(cut) == 1" "found" \
        "all(f['confidence'] <= 0.75 for f in d['findings'])" \
        "'in the probe large-request' in cut[0]['text']" \
        "'%d whole rows' % sum(row.endswith('\\n') and row[0] not in '#r'
            for row in open('$run/samples.csv')) in cut[0]['text']"
    check "$run: it is kept" valid $run/report.json "len(cut) == 1" "found"
    check "$run: its page says so" grep -q 'cut off in line' $run/report.html
    check "$run: its text says so" grep -q 'cut off in' $run/report.txt
    check "$run: infer" ends 0 "$ssdprobe" infer "$run/samples.csv"
    check "$run: infer says so" grep -q 'cut off in line [0-9]*, in' err
    check "$run: the line is the one where it ends" grep -q \
        "in line $(($(wc -l <$run/samples.csv) + 1))," err
    check "$run: card" ends 0 "$ssdprobe" card "$run"
done
check "report once more, from the document that it made" ends 0 \
    "$ssdprobe" report killed
check "which says so once" test "$(grep -c 'cut off in' killed/report.txt)" = 1
check "a run with a header alone" ends 0 "$ssdprobe" report empty \
    --json=empty.json
check "its document" valid empty.json "len(cut) == 1" "not found"
head -n 5 killed/samples.csv >header.csv
check "a part of a header says nothing" ends 2 "$ssdprobe" infer header.csv
check "and that is said" grep -q 'cut off before its first row' err
"$ssdprobe" run $probes "$plugin" -q --read-only --output-dir=whole \
    --json=whole.json >said 2>&1 </dev/null
check "a whole run is not cut off" valid whole.json "not cut" "found"
sed '40s/,0,0,/,0,1,/;40s/,read,/,write,/' killed/samples.csv >edited.csv
sed -i '45d' edited.csv
check "a row that is missing is noticed in one that was cut off" \
    ends 2 "$ssdprobe" infer edited.csv
summary
