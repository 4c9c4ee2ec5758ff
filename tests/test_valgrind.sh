#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_valgrind.sh SOURCE_DIR BUILD_DIR: no memory is lost or misused where
# the sanitizers do not look: in the optimised programs, the libraries they use,
# and the ways out after an error.
set -u

build_dir=$(realpath -- "$2")
memory_error=99
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit

commands='
test_units
ssdprobe --help
ssdprobe --no-such-option
ssdprobe list
ssdprobe list --json
ssdprobe check sim:ssd-a
ssdprobe check sim:no-such-drive --json
ssdprobe check /dev/null
flashemu --help
flashemu list --json
flashemu show ssd-a
flashemu show no-such-drive
'

passed=0 failed=0

# verdict STATUS WHAT
verdict()
{
    if (($1 == 0)); then
        echo "ok   $2"
        ((passed += 1))
    else
        echo "FAIL $2"
        tail -n 30 messages | sed 's/^/    | /'
        ((failed += 1))
    fi
}

# Runs a program; its exit status, or $memory_error.
examine()
{
    CK_FORK=no timeout 300 valgrind --quiet --leak-check=full \
        --errors-for-leak-kinds=definite --show-leak-kinds=definite \
        --error-exitcode="$memory_error" "$@" \
        </dev/null >output 2>messages
}

# Could it fail?
cc -xc -O0 -o leak - <<'END'
#include <stdlib.h>
int main(void)
{
    char *volatile lost = malloc(10);
    lost = NULL;
    return lost != NULL;
}
END
examine ./leak
verdict $(($? != memory_error)) "a leak is noticed"

while read -r -a words; do
    ((${#words[@]} > 0)) || continue
    examine "$build_dir/${words[0]}" "${words[@]:1}"
    # A command that fails is another suite's matter; not one that is killed.
    verdict $(($? >= memory_error)) "${words[*]}"
done <<<"$commands"

echo "$passed passed, $failed failed"
((failed == 0))
