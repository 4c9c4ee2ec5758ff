# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What scripts that test share; sourced by them. Counts in `passed` and `failed`.
passed=0 failed=0
checks_log=$(mktemp)

pass()
{
    echo "ok   $1"
    ((passed += 1))
}

# fail SENTENCE [WHAT WAS SAID]
fail()
{
    echo "FAIL $1"
    [[ -z ${2-} ]] || printf '%s\n' "$2" | tail -n 20 | sed 's/^/    | /'
    ((failed += 1))
}

# check SENTENCE COMMAND...: the sentence is true when the command succeeds.
check()
{
    local sentence=$1
    shift
    if "$@" >"$checks_log" 2>&1; then
        pass "$sentence"
    else
        fail "$sentence" "$* ($?)
$(tail -n 20 -- "$checks_log")"
    fi
}

# samples RUN: what the samples of a run directory hold, compressed or not.
samples()
{
    zstd -dcqf -- "$1"/samples.csv*
}

# Becomes true within some seconds, or four times as many where much else runs?
soon() # SECONDS COMMAND...
{
    local tries=$(($1 * 80))
    shift
    while [ "$tries" -gt 0 ]; do
        "$@" >/dev/null 2>&1 && return 0
        tries=$((tries - 1))
        sleep 0.05
    done
    "$@"
}

# For fio: random writes of 512 bytes to 96 KiB to --filename, within --size, all of
# them then read back and compared. No two touch the same place: of two under way to
# one place either may be the last. fio keeps a map of what it has written for that,
# which --blockalign or --norandommap would turn off.
# shellcheck disable=SC2034 # those that source this use it
verified=(--name=v --rw=randwrite --bsrange=512-96k --verify=crc32c
    --verify_fatal=1 --verify_state_save=0 --randseed=7)

# For suites that measure on the machine's own clock: where it is allowed they come
# before all other work. What they look for shows beside it all the same; one of
# them at a time (tests.cmake).
comes_first()
{
    renice -n -20 -p $$ >/dev/null 2>&1 || true
}

# Likewise, where it does not: ctest runs nothing beside them.
measures_time()
{
    comes_first
}

# The last line of a script, and its exit status.
summary()
{
    rm -f -- "$checks_log"
    echo "$passed passed, $failed failed"
    ((failed == 0))
}
