# SPDX-License-Identifier: GPL-3.0-or-later
# Runs on drives, and what their documents say; sourced by suites, which have set
# `sources` and `ssdprobe`, after serving.sh or checks.sh.
# shellcheck shell=bash disable=SC2034,SC2154
export LC_ALL=C

cat >valid.py <<'END'
"""SCHEMA DOCUMENT...: they are valid; of each, its findings, then its grade."""
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    d = json.load(open(name))
    jsonschema.validate(d, schema)
    for f in d["findings"]:
        print(f["parameter"], f["verdict"], f["value"], f["why"])
    print("grade", (d["conditions"] or {}).get("grade"))
    for item in (d["conditions"] or {}).get("items", []):
        if item["grade"] != "green":
            print(item["grade"], item["name"], item["reason"])
END
says() { python3 valid.py "$sources/lib/report/ssdprobe.schema.json" "$@"; }

# What was found, without the intervals: another attempt measures anew. Of a time
# its interval: where as many requests take one time as another, either may be
# the median.
# Of a rate not the value: an emulated drive that is opened again has not the
# state that its cleaning had come to.
found() {
    jq -c '.findings[] | [.parameter, .verdict] +
        if .unit == "ns" then [.low, .high]
        elif (.unit // "") | endswith("per_second") then []
        else [.value] end' "$1"
}

settings() {
    (cd "/sys/block/$name/queue" && grep -s . scheduler nomerges rq_affinity \
        nr_requests wbt_lat_usec add_random read_ahead_kb max_sectors_kb)
}
on_device() { # FILE ARGUMENT...
    local file=$1
    shift
    timeout -k 5 "${run_seconds:-400}" "$ssdprobe" "$@" --yes --allow-virtual \
        --progress=none --json="$file" "$device" >out 2>err
    status=$?
}
