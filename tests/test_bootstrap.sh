#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_bootstrap.sh SOURCE_DIR: what ./bootstrap decides, on a machine made
# of stand-ins for dpkg-query, apt-get, sudo, id and cmake.
set -u

source_dir=$(realpath -- "$1")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
passed=0 failed=0

# expect WHAT COMMAND...
expect()
{
    local what=$1
    shift
    if "$@"; then
        echo "ok   $what"
        ((passed += 1))
    else
        echo "FAIL $what"
        sed 's/^/    | /' "$machine"/{calls,output,messages} 2>/dev/null
        ((failed += 1))
    fi
}

stand_in()
{
    cat >"$machine/bin/$1"
    chmod +x "$machine/bin/$1"
}

# new_machine USER_ID MISSING...: where everything but MISSING is installed.
new_machine()
{
    machine=$scratch/$((++machines_count))
    mkdir -p "$machine/bin" "$machine/tree"
    export CALLS=$machine/calls MISSING_FILE=$machine/missing
    export PROGRAM_STATUS=0
    : >"$CALLS"
    printf '%s\n' "${@:2}" >"$MISSING_FILE"
    cp -- "$source_dir/bootstrap" "$source_dir/CMakePresets.json" "$machine/tree"

    stand_in id <<<"echo $1"
    stand_in sudo <<'END'
#!/usr/bin/env bash
echo "sudo $*" >>"$CALLS"
[[ $1 != -- ]] || shift
exec "$@"
END
    stand_in dpkg-query <<'END'
#!/usr/bin/env bash
for name in "${@:4}"; do
    if grep -qx -- "$name" "$MISSING_FILE"; then status=not-installed
    else status=installed; fi
    echo "$status $name"
done
END
    stand_in apt-get <<'END'
#!/usr/bin/env bash
echo "apt-get $*" >>"$CALLS"
[[ $1 == update ]] && { rm -f "$MISSING_FILE.stale"; exit; }
[[ ! -e $MISSING_FILE.stale ]] || { echo "unable to locate" >&2; exit 100; }
: >"$MISSING_FILE"
END
    # Configures and builds a program that tells what it was given.
    stand_in cmake <<'END'
#!/usr/bin/env bash
echo "cmake $*" >>"$CALLS"
if [[ $1 == --build ]]; then
    printf '#!/bin/sh\necho "program $*"\nexit $PROGRAM_STATUS\n' >"$2/ssdprobe"
    chmod +x "$2/ssdprobe"
else
    mkdir -p "build/$3"
    echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"build/$3/CMakeCache.txt"
    touch "build/$3/build.ninja"
fi
END
    mkdir "$machine/tree/tests" "$machine/tree/.ci"
    cp -- "$source_dir/.ci/run" "$machine/tree/.ci"
    # shellcheck disable=SC2016 # the stand-in expands it
    echo 'echo "run.sh $2, long: ${SSDPROBE_TEST_LONG-no}"' \
        >"$machine/tree/tests/run.sh"
}

# bootstrap ARGUMENT...: on the machine; its status in $status.
bootstrap()
{
    status=0
    PATH=$machine/bin:$PATH "$machine/tree/bootstrap" "$@" </dev/null \
        >"$machine/output" 2>"$machine/messages" || status=$?
}

printed()
{
    [[ $(sed "s|$machine/tree/||" "$machine/output") == "$1" ]]
}

said()
{
    grep -qF -- "$1" "$machine/messages"
}

called()
{
    grep -qF -- "$1" "$CALLS"
}

not()
{
    ! "$@"
}

machines_count=0

new_machine 0
bootstrap probe
expect "without a device, the emulated one is probed" \
    printed 'program sim:ssd-a --output-dir=build/first-report'
expect "what is installed is not installed again" not called apt-get
expect "the first time, cmake configures" called --preset
: >"$CALLS"
bootstrap probe --json
expect "options alone do not count as a device" \
    printed 'program --json sim:ssd-a --output-dir=build/first-report'
expect "the second time, it does not" not called --preset
bootstrap probe --output-dir=mine
expect "and they are kept where the user says" \
    printed 'program --output-dir=mine sim:ssd-a'
bootstrap probe sim:ssd-b --seed=7
expect "a device and options are passed on" \
    printed 'program sim:ssd-b --seed=7'
PROGRAM_STATUS=9 bootstrap probe
expect "the exit status is the program's" test "$status" -eq 9
sed -i 's/INTERNAL=.*/INTERNAL=elsewhere/' "$machine"/tree/build/*/CMakeCache.txt
: >"$CALLS"
bootstrap probe
expect "a tree that was moved is configured anew" called --fresh

new_machine 0 liburing-dev ninja-build
bootstrap probe
expect "missing packages are installed, and only they" \
    called 'no-install-recommends ninja-build liburing-dev'
expect "one line says which, and why" \
    said 'installing for building: ninja-build liburing-dev'
expect "fresh lists are not fetched when old ones do" \
    not called 'apt-get update'
expect "and the program runs" printed 'program sim:ssd-a --output-dir=build/first-report'

new_machine 0 liburing-dev
touch "$MISSING_FILE.stale"
bootstrap probe
expect "where there are no package lists, they are fetched" \
    called 'apt-get update'
expect "and the program runs all the same" printed 'program sim:ssd-a --output-dir=build/first-report'
expect "without a word of the first attempt" not said 'unable to locate'

new_machine 1000 liburing-dev
bootstrap probe /dev/sdX
expect "a user installs through sudo" called 'sudo env'
expect "and probes a device through sudo" \
    called "sudo -- $machine/tree/build/release/ssdprobe /dev/sdX"
: >"$CALLS"
bootstrap probe sim:ssd-a
expect "but not an emulated one" not called sudo

new_machine 0
bootstrap test
expect "test runs the quick suites" printed 'run.sh quick, long: no'
expect "and builds what they need, in each build" test \
    "$(grep -c -- '--target suites_quick$' "$CALLS")" -eq 2
SSDPROBE_TEST_LONG=1 bootstrap test
expect "whatever was exported" printed 'run.sh quick, long: no'
bootstrap test --all
expect "test --all runs what CI runs" printed 'run.sh all, long: no'
: >"$CALLS"
PATH=$machine/bin:$PATH bash "$machine/tree/.ci/run" >"$machine/output" \
    2>"$machine/messages"
expect "and CI runs it" printed 'run.sh all, long: no'
expect "and builds it" called '--target suites_all'
bootstrap test --long
expect "test --long runs the slow ones too" printed 'run.sh long, long: 1'
for options in --no-such all '--all --long'; do
    # shellcheck disable=SC2086 # one word or two
    bootstrap test $options
    expect "test $options is an error" test "$status" -eq 1
    expect "which says what there is" said 'test takes --all, --long or nothing'
done
bootstrap no-such
expect "so is a command that there is not" test "$status" -eq 1
expect "which says so" said "no command 'no-such'"
expect "and prints nothing" printed ''
bootstrap help
expect "help lists the commands" grep -q '^  probe .DEVICE.' "$machine/output"
expect "and the options of test" grep -qF '  test [--all | --long] ' \
    "$machine/output"

# installs PACKAGES OPTION...: does test install them, of all that it needs?
installs()
{
    new_machine 0 "$1"
    bootstrap test "${@:2}"
    called "no-install-recommends $1"
}

expect "test installs what its suites need" installs check
expect "and not what others need" not installs qemu-system-x86
expect "--all does" installs qemu-system-x86 --all
expect "but not what the slow ones need" not installs debootstrap --all
expect "--long does" installs debootstrap --long

new_machine 0
stand_in cmake <<<'exit 1'
bootstrap test
expect "a build that fails is a test that failed" \
    printed '0 passed, 1 failed'
expect "with a status that says so" test "$status" -ne 0

echo "$passed passed, $failed failed"
((failed == 0))
