# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# The whole road: ssdprobe on real block devices, by the machine's own clock;
# sourced by test_road.sh and test_road_sticks.sh, with their arguments, after they
# have set `sources`.
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
serve_seconds=2000
run_seconds=500
# shellcheck source=tests/serving.sh
. "$sources/tests/serving.sh"
# shellcheck source=tests/runs.sh
. "$sources/tests/runs.sh"

# How often other work on this machine may keep a probe from an answer; no try
# begins when the suite's own time (suite.sh) is nearly over.
tries=4 last_try_s=${SSDPROBE_TEST_LONG:+3000}
# Several times what a quiet machine takes.
try_limit=200s
[ -z "${SSDPROBE_TEST_LONG-}" ] || try_limit=450s

# states FINDING: does it? contradicts FINDING: something else of that parameter?
states() { grep -qE "^$1( |\$)" said; }
contradicts() {
    grep -E "^${1%% *} (found|absent)" said | grep -vE "^$1( |\$)"
}

# Was the machine busy, by what the run says of it?
busy() { grep -qE '^(yellow|red) (load|processor stolen) ' said; }

# measure SEED {PROBE FINDING}...: these come out on the served drive. A wrong one
# fails at once; a probe that leaves its own open is run again. What is open then
# is a failure, unless the last run says that the machine was busy.
measure() {
    local seed=$1 i try probes open finding
    shift
    for ((try = 1; try <= tries && $# > 0; try++)); do
        ((try == 1 || SECONDS < ${last_try_s:-420})) || break
        probes='' open=()
        for ((i = 1; i < $#; i += 2)); do probes+=${probes:+,}${!i}; done
        ((try <= 2)) || ! busy || break
        on_device found.json run "$probes" --seed="$((seed + 100 * try))" \
            --time-limit="$try_limit"
        says found.json >said
        check "$drive, run $seed, try $try: ends well, not in $status: $(tail -n 3 err)" \
            test "$status" -eq 0 -o "$status" -eq 5
        while (($# > 0)); do
            finding=$2
            check "$drive, run $seed, try $try: nothing wrong of ${finding%% *}" \
                eval '! contradicts "$finding"'
            states "$finding" || open+=("$1" "$finding")
            shift 2
        done
        set -- "${open[@]}"
    done
    check "$drive, run $seed: all is found, or the machine is busy: $(cat said)" \
        eval "test $# -eq 0 || busy"
}

# has DRIVE RUNS {PROBE FINDING}...: that is found, in so many runs in a row.
has() {
    local run drive=$1 runs=$2
    shift 2
    serve "$drive"
    for ((run = 1; run <= runs; run++)); do measure "$run" "$@"; done
    kill -TERM "$server"
    check "the server of $drive ends" soon 10 is_dead "$server"
}

if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || [ ! -e /dev/loop-control ]
then
    fail "these tests need root, /dev/fuse and /dev/loop-control"
    summary
    exit 1
fi
