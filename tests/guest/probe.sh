#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# probe.sh SOURCE BUILD DRIVE RUNS [--few] [PARAMETER...]: what ssdprobe finds of DRIVE
# behind ublk is what the drive's file states, in each of so many runs with seeds
# of their own, and the runs agree. Of the parameters named here this drive gives
# too little to see: they must be inconclusive, and nothing else. Where another
# one is inconclusive, which the guest's kernel may bring about, there is a second
# try, and no third: that a wrong value is never stated is asked of both.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
source=$1 flashemu=$2/flashemu drive=$3 runs=$4
shift 4
few=''
if [[ ${1-} == --few ]]; then
    few=$1
    shift
fi
unseen=" $* "
# By how much times may differ: the way through the kernel is not always as long.
clock_ns=2000

# The questions of the papers. The others ask for so many requests that the guest,
# whose processor is emulated, would take a quarter of an hour.
asked=inter-request-distance,log-list,clustered-page,clustered-block,read-buffer
asked+=,nand-type,content,write-buffer
answered='segment_groups|group_switch|log_list|log_block|clustered_page'
answered+='|read_modify_write|clustered_block|read_buffer|nand_type'
answered+='|content_dependence|content_unit|write_buffer|smallest_request'
# With --few only what takes the fewest requests, a tenth of them: writes, reads
# near and far, and repeated reads.
if [[ -n $few ]]; then
    asked=inter-request-distance,log-list,read-buffer
    answered='segment_groups|group_switch|log_list|log_block|read_buffer'
fi

# 'parameter value' for each that is asked for.
truth()
{
    sed -n '/^\[truth\]/,$s/^\([a-z_]*\) = /\1 /p' \
        "$source/lib/flash/drives/$drive.ini" | grep -E "^($answered) "
}

# Sets verdict, value, low, high, why.
read_finding() # PARAMETER RUN
{
    verdict='' value='' low='' high='' why=''
    read -r _ verdict value low high why < <(grep "^$1 " "/tmp/findings-$2")
    echo "$1 $verdict $value ($low to $high): $why"
}
near() # NUMBER NUMBER NS
{
    (($1 - $2 <= $3 && $2 - $1 <= $3))
}

# is PARAMETER TRUTH RUN
is()
{
    read_finding "$1" "$3"
    if [[ $unseen == *" $1 "* ]]; then
        [[ $verdict == inconclusive ]]
    elif [[ $2 == absent ]]; then
        [[ $verdict == absent ]]
    elif [[ $1 == group_switch ]]; then
        [[ $verdict == found ]] && near "$value" "$2" "$clock_ns"
    else
        [[ $verdict == found && $value == "$2" ]]
    fi
}

# agrees PARAMETER RUN: with the first run; times but for their intervals.
agrees()
{
    local verdict value low high why first
    read_finding "$1" 1
    first="$verdict $value $low $high"
    read_finding "$1" "$2"
    [[ "$verdict $value" == "${first% * *}" ]] && return
    # Truths have no tolerance, but that of a switch.
    [[ $1 == group_switch ]] || ! truth | grep -q "^$1 " || return
    [[ "$verdict $first" =~ ^found\ found\ ([0-9]+)\ ([0-9]+)\ ([0-9]+)$ ]] &&
        near "$value" "${BASH_REMATCH[1]}" \
            $((clock_ns + high - low + BASH_REMATCH[3] - BASH_REMATCH[2]))
}

# not_wrong PARAMETER TRUTH RUN: it is, or nothing is stated.
not_wrong()
{
    read_finding "$1" "$3"
    [[ $verdict == inconclusive ]] || is "$@"
}

# all_right RUN: is every truth among its findings?
all_right()
{
    local parameter value
    while read -r parameter value; do
        is "$parameter" "$value" "$1" >/dev/null || return
    done < <(truth)
}

# try RUN SEED: sets `status`.
try()
{
    local before
    before=$(date +%s)
    ssdprobe run "$asked" "$device" --yes --allow-virtual --progress=none \
        --seed="$2" --write-budget=64G --output-dir="/tmp/run-$1-$2" \
        --json="/results/$drive-$1.json" >/tmp/report 2>/tmp/messages
    status=$?
    echo "run $1, seed $2: $(($(date +%s) - before)) s of this machine's time"
    awk -f "$source/tests/guest/findings.awk" "/results/$drive-$1.json" |
        tee "/tmp/findings-$1"
    while read -r parameter value; do
        check "run $1, seed $2 says nothing wrong of $parameter" \
            not_wrong "$parameter" "$value" "$1"
    done < <(truth)
}

# What is written does not matter here, so nobody need keep it.
serve "$drive,contents=off" --via=ublk
for ((run = 1; run <= runs; run++)); do
    try "$run" "$run"
    all_right "$run" || try "$run" "10$run"
    check "run $run ends well ($(tail -n 1 /tmp/messages))" \
        test "$status" -eq 0 -o "$status" -eq 5
    while read -r parameter value; do
        check "run $run: $parameter is $value" is "$parameter" "$value" "$run"
    done < <(truth)
    ((run > 1)) || continue
    while read -r parameter _; do
        check "run $run agrees with the first on $parameter" \
            agrees "$parameter" "$run"
    done <"/tmp/findings-1"
done
end_server TERM
check "the server ends well" test $? -eq 0
summary
