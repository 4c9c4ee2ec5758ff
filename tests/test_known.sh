#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_known.sh SOURCE_DIR BUILD_DIR: the known models, and what resembles them.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
ssdprobe=$build_dir/ssdprobe
known=$source_dir/lib/report/known
schema=$source_dir/lib/report/ssdprobe.schema.json
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"
for python in python3 /usr/bin/python3; do
    "$python" -c 'import jsonschema' 2>/dev/null && break
done

accepts() { "$python" "$source_dir/tests/shared_result.py" "$schema" "$@"; }
probes=basic,large-request,clustered-page,log-list,read-buffer,write-buffer
run()
{
    "$ssdprobe" run "$probes" "$@" -q --progress=none </dev/null
}

check "each known result may be shared" accepts "$known"/*.json
check "together they are small" test "$(cat "$known"/*.json | wc -c)" -lt 100000
check "no two of them are one model" bash -c \
    "'$ssdprobe' summarise --json '$known'/*.json | jq -e '.models == []'"

# A result of one's own, and what is not accepted of it.
# Figures are of no matter here, and take longer than all the rest.
mkdir bin
printf '#!/bin/sh\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
export PATH=$scratch/bin:$PATH
run sim:ssd-a,noise=realistic --no-serial --json=own.json --output-dir=kept \
    >report 2>err
check "a fresh result is accepted" accepts own.json
changed() # NAME CHANGE
{
    jq "$2" own.json >"$1.json"
}
changed serial '.device.serial = "S1"'
changed link '.device.path = "/dev/disk/by-id/ata-S1"'
changed model '.device.model = null'
changed few '.findings = .findings[:3]'
changed none 'del(.findings)'
changed red '.conditions = {"grade": "red", "items": []}'
accepts serial.json link.json model.json few.json none.json red.json >refused
check "not with a serial number" grep -q '^serial.json: .*--no-serial' refused
check "nor with a link that has it" grep -q '^link.json: .*--no-serial' refused
check "nor without a model" grep -q '^model.json: .*name its model' refused
check "nor with few answers" grep -q '^few.json: .*fewer than' refused
check "nor what is no result" grep -q '^none.json: .*schema' refused
check "nor of red conditions" grep -q '^red.json: .*red conditions' refused

check "it resembles its own model, by what was found" jq -e \
    '.resembles | .verdict == "like" and .model == "ssd-a" and
     .probability > 0.95' own.json
check "the report says so" grep -q \
    '^Like: *ssd-a (an emulated drive), 9[5-9] % (of 17 known models)' report
check "and the page" grep -q 'ssd-a (an emulated' kept/report.html
check "made again it says the same" bash -c "'$ssdprobe' report kept | cmp - <(grep -v ^Report: report)"
# Of a model that is not among them: those are not it, and that is said if asked.
mkdir others
cp "$known"/ssd-[bcd].json others/
"$ssdprobe" report kept --known=others --json >said 2>err
check "it resembles none of others" jq -e \
    '.resembles | .verdict == "none" and .models == 3 and .model == null' said
"$ssdprobe" list --known=nowhere >said 2>err
check "what is not there is not read" test $? -eq 2
check "one result may be named" diff <("$ssdprobe" list --known="$known/ssd-a.json" |
    head -n 1) <(echo ssd-a)

check "the models are listed" grep -qx usb-pny-2g <("$ssdprobe" list --known)
"$ssdprobe" list --known=others --json >said 2>err
check "and those of a folder" jq -e '[.known[].model] == ["ssd-b", "ssd-c", "ssd-d"]
    and (.known[0].summary | test("(emulated)"; "l"))' said
check "as the schema has it" "$python" -c 'import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(
    json.load(open("said")))' "$schema"

summary
