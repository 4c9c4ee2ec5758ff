#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_lookup.sh SOURCE_DIR BUILD_DIR: a drive that fetches its mapping is
# not taken for one with logs, with groups, or with blocks of another length; nor
# four logs that follow no order for three.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# It maps pages of 64 KiB, and holds the mapping of 7 areas of 64 MiB. To fetch
# that of another takes about as long as to program a page.
cat >fetching.ini <<'END'
[drive]
capacity_bytes = 16GiB
[array]
channels_count = 1
banks_per_channel_count = 8
superblock_chips_count = 4
page_bytes = 16KiB
pages_per_block_count = 96
spare_permille = 242
[timing]
read_ns = 63us
program_ns = 225us
erase_ns = 4970us
bus_width_bits = 32
bus_mhz = 20
[mapping]
mapping = page
clustered_page_bytes = 64KiB
stripe_banks_count = 4
mapping_cache_bytes = 28KiB
END

# says VERDICT PARAMETER WORDS PROBE KEYS OPTION...: what it says, and why.
says()
{
    local verdict=$1 parameter=$2 words=$3
    shift 3
    "$build_dir/ssdprobe" run "$1" "sim:./fetching.ini$2" -q --json "${@:3}" \
        >report.json 2>said </dev/null
    python3 -c "
import json
finding, = [f for f in json.load(open('report.json'))['findings']
            if f['parameter'] == '$parameter']
print(finding['verdict'], finding.get('value'), finding['why'])" >finding
    cat finding
    grep -q "^$verdict.*$words" finding
}

open_as()
{
    says inconclusive "$@"
}

check "what waits for the mapping is no log" \
    open_as log_list 'not for a merge' log-list ''
# In order each area of mapping comes at a distance; at random only blocks do.
for seed in 1 9; do
    check "nor a block, which shows at random, seed $seed" \
        says found clustered_block ' 25165824 in random writing' \
        clustered-block ",noise=realistic,seed=$seed" "--seed=$seed" \
        --assume=clustered_page=65536
done
# With all of it at hand, a write with a flush fills up four pages, so that a
# block is used up after a fourth of its bytes. The host sends no longer writes,
# but several of them share a flush.
check "pages that are filled up tell the block" \
    says found clustered_block ' 50331648 .* programmed at once' \
    clustered-block \
    ,mapping_cache_bytes=0,planes_count=2,program_pages_count=2,request_limit_bytes=64KiB \
    --assume=clustered_page=65536
# Nor is it divided into groups: of two places in turn both are at hand (two of
# 16 MiB here). With groups as well, each read costs more.
small=,page_bytes=4KiB,superblock_chips_count=1,clustered_page_bytes=16KiB
small+=,mapping_cache_bytes=8KiB
check "what waits for the mapping is no group" \
    says absent segment_groups 'only the first one' inter-request-distance \
    "$small"
check "beside groups it does not say that there are none" \
    says '\(found\|inconclusive\)' segment_groups '' inter-request-distance \
    "$small,segment_groups_count=4,group_switch_ns=100us"

# Three logs of four take their places in turn here, as if there were no more.
"$build_dir/ssdprobe" run log-list -q --json --seed=7 \
    sim:usb-kingston-1g,noise=realistic,seed=7,log_victim=random \
    >report.json 2>said </dev/null
check "logs in no order are counted where they look like fewer" python3 -c "
import json
counts = [f['value'] for f in json.load(open('report.json'))['findings']
          if f['parameter'] == 'log_list']
assert counts == [4], counts"

summary
