#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/run.sh BUILD_ROOT: every suite, through ctest, a line for each; then one
# line with the sum. SSDPROBE_TEST_LONG=1 adds the slow ones.
set -u

build_root=$1
tail_lines=40 fail_lines=8
total_passed=0 total_failed=0

# report BUILD NAME: one line; what failed and the end of the log when it did.
report()
{
    local folder=$build_root/$1/suites passed=0 failed=1 seconds=0
    local why='did not run'
    if [[ -r $folder/$2.result ]]; then
        read -r passed failed seconds why <"$folder/$2.result"
    fi
    ((total_passed += passed, total_failed += failed))
    [[ $why == '-' ]] && why='' || why=": $why"
    printf '%-8s %-28s %5d passed, %d failed, %d s%s\n' \
        "$1" "$2" "$passed" "$failed" "$seconds" "$why"
    if ((failed > 0)) && [[ -r $folder/$2.log ]]; then
        {
            grep -A "$fail_lines" '^FAIL' -- "$folder/$2.log" | tail -n 100
            echo ...
            tail -n "$tail_lines" -- "$folder/$2.log"
        } | sed 's/^/    | /'
    fi
}

# Suites of both builds at once, so that no processor waits for the other build.
# The sanitizers see what the programs do; scripts only look from outside.
labels='^(release-(check|script)|debug-check)$'
[[ -z ${SSDPROBE_TEST_LONG-} ]] ||
    labels='^(release-(check|script|long)|debug-check)$'
printf 'subdirs(release debug)\n' >"$build_root/CTestTestfile.cmake"
rm -rf -- "$build_root"/{release,debug}/suites
ctest=(ctest --test-dir "$build_root" -L "$labels")
declare -A reported=()

# Some wait for drives more than they compute: two more than processors. What
# measures time takes precedence over the rest (comes_first).
while read -r line; do
    if [[ $line =~ Test\ +\#[0-9]+:\ ([a-z]+)\.([a-z0-9_]+)\ .*\ sec ]]; then
        report "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        reported[${BASH_REMATCH[1]}.${BASH_REMATCH[2]}]=1
    fi
done < <(nice -n 10 "${ctest[@]}" -j"$(($(nproc) + 2))" 2>&1)
while read -r name; do
    [[ -n ${reported[$name]-} ]] || report "${name%%.*}" "${name#*.}"
    reported[$name]=1
done < <("${ctest[@]}" -N | sed -n 's/^ *Test *#[0-9]*: //p')
for build in release debug; do
    if [[ " ${!reported[*]}" != *" $build."* ]]; then
        echo "$build: there is no suite"
        ((total_failed += 1))
    fi
done

printf '%d passed, %d failed\n' "$total_passed" "$total_failed"
((total_failed == 0))
