#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# together.sh SOURCE BUILD PART...: several scripts of this folder, one after the
# other in one guest, for a boot takes as long as many a script. PART is a script's
# name and its arguments, with ':' for blanks: 'probe.sh:ssd-a:1:--few'.
set -u
folder=$1/tests/guest source=$1 build=$2 passed=0 failed=0
shift 2

for part; do
    IFS=: read -ra words <<<"$part"
    echo "# $part"
    bash "$folder/${words[0]}" "$source" "$build" "${words[@]:1}" 2>&1 |
        tee /tmp/part
    read -r part_passed _ part_failed _ < <(tail -n 1 /tmp/part)
    # One that ends without its count, or counts nothing, has failed.
    if [[ ! "${part_passed-} ${part_failed-}" =~ ^[0-9]+\ [0-9]+$ ]] ||
        ((part_passed + part_failed == 0)); then
        echo "FAIL $part: no count of tests"
        part_passed=0 part_failed=1
    fi
    ((passed += part_passed, failed += part_failed))
done
echo "$passed passed, $failed failed"
((failed == 0))
