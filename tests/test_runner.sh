#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_runner.sh SOURCE_DIR: can the tests fail? What suite.sh and run.sh
# make of suites that go wrong in every way.
set -u

source_dir=$(realpath -- "$1")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
passed=0 failed=0

# verdict WHAT IS SHOULD_BE
verdict()
{
    if [[ $2 == "$3" ]]; then
        echo "ok   $1"
        ((passed += 1))
    else
        printf 'FAIL %s\n    is: %s\n    should be: %s\n' "$1" "$2" "$3"
        ((failed += 1))
    fi
}

# suite WHAT RESULT COMMAND: what suite.sh writes about a command, and whether it
# succeeds itself; without the seconds. Only what never ends is stopped soon.
limit_seconds=60
suite()
{
    local status=0 result
    SSDPROBE_TEST_LIMIT_SECONDS=$limit_seconds bash "$source_dir/tests/suite.sh" \
        name "$scratch/suites" bash -c "$3" 2>/dev/null || status=$?
    result=$(cut -d ' ' -f 1,2,5- "$scratch/suites/name.result")
    verdict "$1" "$result, status $status" "$2"
}

suite "a script that passes" "3 0 -, status 0" \
    'echo "3 passed, 0 failed"'
suite "a Check program that passes" "12 0 -, status 0" \
    'echo "100%: Checks: 12, Failures: 0, Errors: 0"'
suite "a program of two Check runners" "10 5 -, status 1" \
    'echo "60%: Checks: 5, Failures: 1, Errors: 1"
     echo "70%: Checks: 10, Failures: 1, Errors: 2"; exit 1'
suite "one test that fails" "3 1 -, status 1" \
    'echo "3 passed, 1 failed"; exit 1'
suite "one that fails and is not admitted" "3 1 -, status 1" \
    'echo "3 passed, 1 failed"; exit 0'
suite "no count" "0 1 no count of tests, exit status 0, status 1" \
    'echo fine'
suite "no tests" "0 1 no count of tests, exit status 0, status 1" \
    'echo "0 passed, 0 failed"'
suite "a crash after the count" "3 1 exit status 139, status 1" \
    'echo "3 passed, 0 failed"; kill -SEGV $$'
limit_seconds=1
suite "no end" "0 1 stopped after 1 s, status 1" 'exec tail -f /dev/null'
suite "no end after the count" "3 1 stopped after 1 s, status 1" \
    'echo "3 passed, 0 failed"; exec tail -f /dev/null'
limit_seconds=60
suite "a program that is not there" \
    "0 1 no count of tests, exit status 127, status 1" 'exec /no/such/program'
suite "a question nobody answers" \
    "0 1 no count of tests, exit status 1, status 1" 'read -r answer'

# A million turns take a second of any processor that is in use.
suite "work for the processor" "1 0 -, status 0" \
    'for ((i = 0; i < 1000000; i++)); do :; done; echo "1 passed, 0 failed"'
verdict "is counted" "$(($(cut -d ' ' -f 4 "$scratch/suites/name.result") > 0))" 1

# Two builds as CMake would leave them.
build()
{
    rm -rf -- "$scratch/build"
    mkdir -p "$scratch/build/release" "$scratch/build/debug"
    : >"$scratch/build/release/CTestTestfile.cmake"
    : >"$scratch/build/debug/CTestTestfile.cmake"
}

# add BUILD NAME LABEL COMMAND: a suite; add_raw: without suite.sh.
add_raw()
{
    cat >>"$scratch/build/$1/CTestTestfile.cmake" <<END
add_test([=[$1.$2]=] $4)
set_tests_properties([=[$1.$2]=] PROPERTIES LABELS "$3")
END
}

add()
{
    add_raw "$1" "$2" "$3" "bash \"$source_dir/tests/suite.sh\" \"$2\" \
\"$scratch/build/$1/suites\" bash -c [=[$4]=]"
}

# run WHAT LAST_LINE STATUS [LABEL]
run()
{
    local status=0
    bash "$source_dir/tests/run.sh" "$scratch/build" "${4-quick}" \
        >"$scratch/output" 2>&1 || status=$?
    verdict "$1" "$(tail -n 1 "$scratch/output"), status $status" \
        "$2, status $3"
}

build
run "no suite in either build" "0 passed, 2 failed" 1
add release one quick 'echo "100%: Checks: 2, Failures: 0, Errors: 0"'
add release two quick 'echo "3 passed, 0 failed"'
add release guest all 'echo "20 passed, 0 failed"'
add release slow long 'echo "100 passed, 0 failed"'
add debug one quick 'echo "100%: Checks: 2, Failures: 0, Errors: 0"'
run "the sum of two builds" "7 passed, 0 failed" 0
verdict "there is one such line" \
    "$(grep -cE '^[0-9]+ passed, [0-9]+ failed$' "$scratch/output")" 1
run "what CI runs too" "27 passed, 0 failed" 0 all
run "the long suites too" "127 passed, 0 failed" 0 long
run "no such label" "run.sh: no label 'some'" 1 some
add_raw release lost quick '"/no/such/program"'
run "a suite that was not built fails the run" "7 passed, 0 failed" 1
verdict "and is called not run, not failed" \
    "$(grep -c '^release  lost  *not run' "$scratch/output")" 1
verdict "and named at the end" "$(tail -n 2 "$scratch/output" | head -n 1)" \
    'not run, so this is no success: release.lost'
add release bad quick 'echo because; echo "1 passed, 2 failed"; exit 1'
run "a suite that fails" "8 passed, 2 failed" 1
verdict "shows the end of what it said" \
    "$(grep -c '^    | because$' "$scratch/output")" 1
verdict "and still there is one such line" \
    "$(grep -cE '^[0-9]+ passed, [0-9]+ failed$' "$scratch/output")" 1

# How far it is, and how long the rest takes by the times of the last run: four
# suites a minute each, two at a time, are two minutes.
build
for suite in one two three; do
    add release "$suite" quick 'echo "1 passed, 0 failed"'
done
add debug one quick 'echo "1 passed, 0 failed"'

# progress: what the lines of the last run say in brackets.
progress()
{
    sed -n 's/.* (\([0-9]* of .*\))$/\1/p' "$scratch/output" | paste -sd ';'
}

rm -f -- "$scratch/build/suite-times"
run "suites that never ran" "4 passed, 0 failed" 0
verdict "are counted" "$(progress)" '1 of 4;2 of 4;3 of 4;4 of 4'
verdict "their times are kept" \
    "$(cut -d ' ' -f 1 "$scratch/build/suite-times" | sort | paste -sd ' ')" \
    'debug.one release.one release.three release.two run'
{
    echo 'run 240 480'
    printf 'release.%s 120\n' one two three
    echo 'debug.one 120'
} >"$scratch/build/suite-times"
run "suites that took long the last time" "4 passed, 0 failed" 0
verdict "say how long the rest takes" "$(progress)" \
    '1 of 4, about 3 minutes left;2 of 4, about 2 minutes left;3 of 4, about 1 minute left;4 of 4'
printf 'run 240 480\nrelease.gone 40\n' >"$scratch/build/suite-times"
add_raw release lost quick '"/no/such/program"'
run "a new suite is taken for one like others" "4 passed, 0 failed" 1
verdict "by what others took" "$(progress | cut -d ';' -f 1)" \
    '1 of 5, about 1 minute left'
verdict "a run of a part does not say how long a whole one takes" \
    "$(grep '^run' "$scratch/build/suite-times")" 'run 240 480'
verdict "nor forgets what did not run" \
    "$(grep -c '^release.gone 40$' "$scratch/build/suite-times")" 1

# A log shorter than its shown end, and one that is longer: no line twice.
build
add debug one quick 'echo "1 passed, 0 failed"'
add release short quick \
    'echo FAIL early; echo its text; echo "0 passed, 1 failed"; exit 1'
add release deep quick \
    'echo FAIL deep; seq -f "line %g" 200; echo "0 passed, 1 failed"; exit 1'
run "two suites that fail" "1 passed, 2 failed" 1
verdict "a failing text is shown once" \
    "$(grep -c '^    | \(FAIL early\|its text\)$' "$scratch/output")" 2
verdict "also one far from the end" \
    "$(grep -c '^    | FAIL deep$' "$scratch/output")" 1
verdict "with what follows, a gap, and the end" \
    "$(sed -n '/FAIL deep/,/161 passed\|line 200/p' "$scratch/output" |
        grep -A 1 'line 8$\|\.\.\.' | paste -sd ';')" \
    '    | line 8;    | ...;    | line 162'

echo "$passed passed, $failed failed"
((failed == 0))
