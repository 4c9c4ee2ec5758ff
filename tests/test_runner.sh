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
    result=$(cut -d ' ' -f 1,2,4- "$scratch/suites/name.result")
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
set_tests_properties([=[$1.$2]=] PROPERTIES LABELS "$1-$3")
END
}

add()
{
    add_raw "$1" "$2" "$3" "bash \"$source_dir/tests/suite.sh\" \"$2\" \
\"$scratch/build/$1/suites\" bash -c [=[$4]=]"
}

# run WHAT LAST_LINE STATUS
run()
{
    local status=0
    bash "$source_dir/tests/run.sh" "$scratch/build" >"$scratch/output" 2>&1 ||
        status=$?
    verdict "$1" "$(tail -n 1 "$scratch/output"), status $status" \
        "$2, status $3"
}

unset SSDPROBE_TEST_LONG
build
run "no suite in either build" "0 passed, 2 failed" 1
add release one check 'echo "100%: Checks: 2, Failures: 0, Errors: 0"'
add release two script 'echo "3 passed, 0 failed"'
add release slow long 'echo "100 passed, 0 failed"'
add debug one check 'echo "100%: Checks: 2, Failures: 0, Errors: 0"'
add debug two script 'echo "3 passed, 0 failed"'
run "the sum of two builds" "7 passed, 0 failed" 0
verdict "there is one such line" \
    "$(grep -cE '^[0-9]+ passed, [0-9]+ failed$' "$scratch/output")" 1
SSDPROBE_TEST_LONG=1 run "the long suites too" "107 passed, 0 failed" 0
add_raw release lost check '"/no/such/program"'
run "a suite that was not built" "7 passed, 1 failed" 1
add release bad script 'echo because; echo "1 passed, 2 failed"; exit 1'
run "a suite that fails" "8 passed, 3 failed" 1
verdict "shows the end of what it said" \
    "$(grep -c '^    | because$' "$scratch/output")" 1
verdict "and still there is one such line" \
    "$(grep -cE '^[0-9]+ passed, [0-9]+ failed$' "$scratch/output")" 1

echo "$passed passed, $failed failed"
((failed == 0))
