#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_plugin_disk.sh SOURCE_DIR BUILD_DIR: drives of shared objects from
# the outside. The example disk (cmd/package/disk_plugin.c) is compiled as users
# compile it, and probed. Bad plugins (tests/plugins) are told what is wrong.
# shellcheck disable=SC2016 # what bash -c is given, it expands itself
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
ssdprobe=$build_dir/ssdprobe
schema=$source_dir/lib/report/ssdprobe.schema.json
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"
cd -- "$scratch" || exit 1

# valid FILE EXPRESSION...: a document of the schema; `d` is the document, and
# `found` its findings by parameter.
valid()
{
    /usr/bin/python3 - "$schema" "$@" <<'EOF'
import json, sys
import jsonschema

schema, document = (json.load(open(name)) for name in sys.argv[1:3])
jsonschema.Draft202012Validator(schema).validate(document)
found = {f["parameter"]: f for f in document["findings"]}
for expression in sys.argv[3:]:
    assert eval(expression, {"d": document, "found": found}), expression
EOF
}

# ends STATUS ARGUMENTS...: runs ssdprobe; leaves out.json.
ends()
{
    local expected=$1 status=0
    shift
    "$ssdprobe" -q --json=out.json "$@" >out 2>err </dev/null || status=$?
    ((status == expected)) || {
        echo "exit status $status, not $expected"
        cat out err
        return 1
    }
}

# says STATUS TEXT ARGUMENTS...: one message of a document has the text.
says()
{
    local text=$2
    ends "$1" "${@:3}" &&
        valid out.json "any('''$text''' in m['text']
            for m in d['ssdprobe']['messages'])"
}

## The example, compiled as it says, without a warning.
compile()
{
    cc -Wall -Wextra -Wpedantic -std=c11 -Werror -shared -fPIC \
        -I"$source_dir" "$source_dir/cmd/package/disk_plugin.c" -o "$1" -lm
}
check "the example compiles" compile disk.so

# Nothing of what flash has, with any confidence: there is none.
check "the whole disk is probed" ends 0 plugin:disk.so
check "the document tells what it is" valid out.json \
    "d['device']['bus'] == 'plugin'" "d['device']['driver'] == 'disk.so'" \
    "d['device']['path'] == 'plugin:disk.so'" "d['device']['virtual_clock']" \
    "d['device']['model'] == 'Example disk'" \
    "d['device']['capacity_bytes'] == 40000 * 1000 * 512"
check "no page, block, log, buffer or group is found in it" valid out.json \
    "len(found) > 15" "all(f['verdict'] != 'found' for p, f in found.items()
        if p.split('_')[0] not in ('random', 'sequential', 'request', 'read',
            'write', 'flush', 'sustained', 'sync', 'longest', 'logger') or p in ('read_buffer', 'write_buffer',
            'read_modify_write'))"
# 8.33 ms a turn; a random read waits for half of one, and seeks for 9 ms.
check "its turn and its seek show" valid out.json \
    "8.2e6 < found['sequential_read']['value'] < 8.5e6" \
    "11e6 < found['random_read']['value'] < 15e6" \
    "66e3 < found['read_cost_4k']['value'] < 67.5e3"
check "half as fast a disk takes twice as long" \
    ends 0 run basic plugin:./disk.so,rpm=3600
check "and shows it" valid out.json \
    "16.5e6 < found['sequential_read']['value'] < 17e6"

## Everything else works as for other drives.
check "check lets it pass" ends 0 check plugin:disk.so
check "a dry run" ends 0 --dry-run plugin:disk.so
check "the dry run measures nothing" valid out.json "d['cost'] is None" \
    "d['findings'] == []"
check "a kept run" ends 0 run basic,read-buffer plugin:disk.so \
    --csv=whole.csv --output-dir=whole
cp out.json whole.json
check "infer of its samples" ends 0 infer whole.csv
same_findings()
{
    valid out.json "d['findings'] == __import__('json').load(
        open('whole.json'))['findings']"
}
check "concludes the same" same_findings
check "its report" ends 0 report whole
# No drive of the model turns: its twin says so of its reads, and decides
# nothing.
check "its twin" ends 0 twin whole --check
check "does not explain its reads" valid out.json \
    "any(one['kind'] == 'read' and not one['explained']
         for one in d['twin']['errors'])" \
    "all(one['origin'] != 'decided' for one in d['twin']['decisions'])"
# Nor does one copy shared chunks once, and then go to and fro between them.
check "a mapping that no drive of the model has" ends 0 run basic,log-list \
    "plugin:$build_dir/plugins/thin.so" --twin=no --output-dir=thin
check "is not explained either" ends 5 twin thin --check --strict
check "and decides nothing" valid out.json "d['twin']['explains'] is False" \
    "len(d['twin']['decisions']) > 0" \
    "all(one['origin'] != 'decided' for one in d['twin']['decisions'])"
check "a run that time ends" ends 0 run basic,read-buffer plugin:disk.so \
    --output-dir=part --time-limit=50s
check "after one of its probes" valid out.json \
    "found['random_read']['verdict'] == 'found'" \
    "found['read_buffer']['verdict'] != 'absent'"
cp -r part other
check "goes on" ends 0 --resume=part plugin:disk.so
# A time limit shortens the pilot, so that the disk stands elsewhere by then.
near_findings()
{
    valid out.json "all(
        f['verdict'] == g['verdict'] and f['why'] == g['why'] and
        abs((f.get('value_number') or 0) - (g.get('value_number') or 0)) <=
            0.001 * (g.get('value_number') or 0)
        for f, g in zip(d['findings'], __import__('json').load(
            open('whole.json'))['findings'], strict=True))"
}
check "and concludes the same, too" near_findings
check "another disk is not taken for it" says 3 'is not the device of the run' \
    --resume=other plugin:disk.so,rpm=3600
check "there is nothing to restore" says 0 'no contents to restore' \
    restore whole

## Bad plugins: one clear sentence, and no harm. (More of them: test_plugin.c.)
bad=plugin:$build_dir/plugins
cp "$build_dir/plugins/bad.so" .
check "a file that is not there" says 2 \
    'Cannot open the plugin ./no.so: No such file' check plugin:no.so
check "a setting that is wrong" says 1 \
    "'rpm=0' is not rpm=TURNS" check plugin:disk.so,rpm=0
check "a plugin of a later version" says 2 'uses version 77' \
    check "$bad/newer.so"
check "a shared object that is none" says 2 "is not a plugin of ssdprobe" \
    check "$bad/nameless.so"
check "a request that fails" says 4 \
    'failed: Input/output error; the emulated drive fails it' \
    run basic plugin:bad.so,error=-5,after=300,times=1000000
check "one that ends before it begins" says 4 \
    'says that it ended before it began, so fix the plugin' \
    run basic plugin:bad.so,early=1,after=300,times=1000000
check "one that never ends" says 4 'takes more than five minutes' \
    run basic plugin:bad.so,never=1,after=400,times=1000000
check "one that ends its process" says 4 \
    'the plugin crashed, ended its process, or gave no answer for' \
    run basic plugin:bad.so,exit=1,after=300,times=1000000
check "a run of which each probe ends so" ends 4 \
    run basic,throughput,read-buffer plugin:bad.so,exit=1,after=8000,times=50000 \
    --csv=ended.csv
# Rows of each probe, and which of them ended with an error.
check "goes on with the next probe" bash -c '[[ $(grep -v "^#" "$0" | awk -F, "
    NR > 1 { rows[\$3]++; ended[\$3] += \$13 == -104 }
    END { print (rows[\"basic\"] > 99) ended[\"basic\"] \
        (rows[\"throughput\"] > 99) ended[\"throughput\"] \
        (rows[\"read-buffer\"] > 99) ended[\"read-buffer\"] }") == 111110 ]]' \
    ended.csv
check "and its samples say the same" ends 0 infer ended.csv
check "one that aborts" says 4 'the plugin crashed, ended its process' \
    run basic plugin:bad.so,abort=1,after=300,times=1000000
check "one that ends it at once" says 2 'crashed in open(), ended its' \
    run basic plugin:bad.so,dies=1
check "one that prints" ends 0 run basic plugin:bad.so,prints=1,times=1000000
check "keeps our output clean" bash -c \
    '"$0" -q run basic plugin:bad.so,prints=1,times=1000000 --json |
        jq -e .findings >/dev/null' "$ssdprobe"
check "a drive that takes no time is no crash" ends 0 run read-buffer \
    plugin:bad.so

# A setuid program loads nobody's code. Root alone can start one as another, and
# not where the file system ignores it.
setuid()
{
    local status=0
    cp "$ssdprobe" ./ssdprobe && chmod 4755 ssdprobe && chmod 755 . &&
        chmod 644 disk.so || return
    setpriv --reuid=65534 --regid=65534 --clear-groups ./ssdprobe check \
        plugin:disk.so >out 2>err || status=$?
    ((status == 3)) && grep -q 'not loaded.*setuid' err
}
if ((EUID == 0)) && ! findmnt -no OPTIONS -T . | grep -qw nosuid; then
    check "not in a setuid program" setuid
else
    echo "note: no setuid program here, so its refusal is not tested"
fi

summary
