#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_foreign_drives.sh SOURCE_DIR BUILD_DIR: drives as simulators of
# others have them (plugins/foreign_plugin.c). Of what their owners ask most is
# answered, and nothing that is stated with 0.9 or more is wrong.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# judge FILE SHARE: lines `PARAMETER TRUTH` on standard input; a truth is a
# number or two ends, a word, or `absent`. Numbers may be 10 % off.
cat >judge.py <<'END'
import json, sys
findings = {finding["parameter"]: finding
            for finding in json.load(open(sys.argv[1]))["findings"]}
asked = answered = 0
bad = []
for line in sys.stdin:
    name, *truth = line.split()
    finding = findings[name]
    asked += 1
    if finding["verdict"] not in ("found", "absent"):
        continue
    if finding["verdict"] == "absent" or truth == ["absent"]:
        right = finding["verdict"] == "absent" and truth == ["absent"]
    elif finding["unit"]: # a number
        right = (finding["low"] <= 1.1 * float(truth[-1]) and
                 finding["high"] >= 0.9 * float(truth[0]) and
                 finding["high"] <= 2 * finding["low"])
    else:
        right = str(finding["value"]).lower() == truth[0]
    answered += right
    if not right and finding["confidence"] >= 0.9:
        bad.append("%s is %s [%s, %s], not %s: %s" % (
            name, finding["value"], finding["low"], finding["high"], truth,
            finding["why"]))
print("%d of %d are right" % (answered, asked))
sys.exit("\n".join(bad) if bad else
         0 if answered >= float(sys.argv[2]) * asked else "too few")
END

# drive NAME SETTINGS SHARE: truths on standard input.
drive()
{
    "$build_dir/ssdprobe" "plugin:$build_dir/plugins/foreign.so,$2" \
        --json="$1.json" --quiet --progress=none --seed=1 >"$1.out" 2>&1
    check "$1: stated rightly" python3 judge.py "$1.json" "$3"
}

# Rates follow from the times of its flash: 16 KiB in 950 us on average, 4 KiB in
# 61.7 us, and 7 us for 4 KiB on the link.
drive page ftl=page,dies=4 0.75 <<'END'
real_capacity 3221225472
capacity_kind genuine
sequential_read_rate 585142857
clustered_page absent
write_buffer 4194304
read_modify_write absent
random_read_rate 63000
read_parallelism 16 32
parallel_units 4
stripe_unit 16384
read_page 16384
flush_honesty free
fast_cache absent
sustained_write_rate 69000000
clustered_block 12582912
nand_type tlc
read_buffer absent
mapping_reach absent
read_ahead absent
sleep_after absent
segment_groups absent
pause_period absent
trim_reads zeros
sync_write_rate 16300 17100
sync_write_rate_16 16300 17100
log_list absent
content_dependence false
content_unit absent
END
drive many ftl=page,dies=16 0.75 <<'END'
real_capacity 3221225472
capacity_kind genuine
parallel_units 16
stripe_unit 16384
clustered_page absent
read_modify_write absent
log_list absent
content_dependence false
fast_cache absent
nand_type tlc
read_ahead absent
sleep_after absent
END
# 8192 entries of one unit each: of more places the mapping is read first, from a
# page that takes 42 us. What is read again is not buffered.
drive entries ftl=page,dies=8,entries=8192 1 <<'END'
real_capacity 3221225472
mapping_reach 33554432
mapping_miss 42000
read_buffer absent
nand_type tlc
flush_honesty free
fast_cache absent
segment_groups absent
sleep_after absent
END
drive fast ftl=fast 0.75 <<'END'
real_capacity 3221225472
capacity_kind genuine
sequential_read_rate 265600000
random_read_rate 16200
clustered_page 16384
read_modify_write true
clustered_block 3145728
nand_type tlc
flush_honesty write-through
write_buffer absent
fast_cache absent
sustained_write_rate 16900000
read_page 16384
read_buffer absent
mapping_reach absent
sleep_after absent
segment_groups absent
pause_period absent
log_list 8
END
summary
