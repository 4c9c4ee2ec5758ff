#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/suite.sh NAME FOLDER COMMAND...: runs one suite for ctest. Its output
# goes to FOLDER/NAME.log, 'PASSED FAILED SECONDS PROCESSOR_SECONDS WHY' to
# FOLDER/NAME.result. It fails when a test fails, and also when it ends badly,
# takes too long or does not say how many tests it ran.
set -u

name=$1 folder=$2
shift 2
log=$folder/$name.log
limit_seconds=1800
[[ -z ${SSDPROBE_TEST_LONG-} ]] || limit_seconds=3600
limit_seconds=${SSDPROBE_TEST_LIMIT_SECONDS:-$limit_seconds}
# The limit is the suite's, not the single test's: machines can be slow.
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-20}

mkdir -p -- "$folder"
rm -f -- "$folder/$name.result"
timeout -k 10 "$limit_seconds" "$@" </dev/null >"$log" 2>&1
status=$?
# The second line of times is that of the children: 'user system', each 1m2.3s.
# A shell of its own would have no children, so the lines go through a file.
times >"$folder/$name.times"
processor_seconds=$(awk 'NR == 2 { gsub(/s/, ""); split($1, user, "m")
    split($2, kernel, "m")
    printf "%d", 60 * (user[1] + kernel[1]) + user[2] + kernel[2] }' \
    "$folder/$name.times")
rm -f -- "$folder/$name.times"

# Check says '100%: Checks: 12, Failures: 0, Errors: 0' (once for each runner),
# scripts end in '12 passed, 0 failed'.
read -r passed failed < <(awk '
    match($0, /Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/) {
        split(substr($0, RSTART, RLENGTH), part, /[:,] */)
        failed += part[4] + part[6]
        passed += part[2] - part[4] - part[6]
    }
    /^[0-9]+ passed, [0-9]+ failed$/ { script_passed = $1; script_failed = $3 }
    END { print passed + script_passed, failed + script_failed }' "$log")

why='-'
if ((status == 124 || status == 137)); then
    why="stopped after $limit_seconds s"
elif ((passed + failed == 0)); then
    why="no count of tests, exit status $status"
elif ((status != 0 && failed == 0)); then
    why="exit status $status"
fi
if [[ $why != '-' ]] && ((failed == 0)); then
    failed=1
fi
printf '%s %s %s %s %s\n' "$passed" "$failed" "$SECONDS" "$processor_seconds" \
    "$why" >"$folder/$name.result"
((failed == 0))
