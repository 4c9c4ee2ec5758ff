#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs on served drives, by the machine's own clock: reading only, and beside
# another process that writes.
#   test_disturbed.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
flashemu=$2/flashemu
ssdprobe=$2/ssdprobe
serve_seconds=300
# shellcheck source=tests/serving.sh
. "$sources/tests/serving.sh"
# shellcheck source=tests/runs.sh
. "$sources/tests/runs.sh"
comes_first

# Completed writes, discards and flushes, as the kernel counts them.
changes() { awk '{ print $5, $7, $12, $16 }' "/sys/block/$name/stat"; }
reading_only() {
    local before
    serve ssd-a
    before=$(changes)
    # Half a minute of the drive's time; more where the machine is busy.
    on_device read.json --read-only --output-dir=read \
        run basic,clustered-page,read-buffer
    check "reading only: it ends well, not in $status" \
        test "$status" -eq 0 -o "$status" -eq 5
    says read.json >read.says
    check "reading only: no write, discard or flush reached the disk" \
        test "$(changes)" = "$before"
    check "reading only: what writes is skipped: $(cat read.says)" \
        grep -q '^clustered_page skipped .*read-only' read.says
    # Beside other work the times may be too unsteady to state.
    check "reading only: reads are told, or why not: $(cat read.says)" \
        jq -e '[.findings[] | select(.parameter | test("^(random|sequential)_read$"))
            | select(.verdict == "found" or (.verdict == "inconclusive" and
                (.why | length) > 20))] | length == 2' read.json
    check "reading only: under which conditions is told, item by item" test \
        "$(jq -r '.conditions.items[].name' read.json | grep -cxE \
            'scheduler|merges|request limit|queue depth|requests queued|clock source|virtual machine|load|processor idle|requests of others|requests merged|processor stolen|baseline')" \
            -ge 11
    check "reading only: how many requests were split is told" \
        jq -e '.cost.requests_split >= 0' read.json
    check "reading only: the disk is opened for reading" bash -c "
        strace -f -e trace=openat -o trace '$ssdprobe' -q --read-only --yes \
            --allow-virtual --time-limit=1ms --output-dir=traced \
            run read-buffer '$device' >/dev/null 2>&1
        grep -q '\"$device\".*O_RDONLY' trace &&
            ! grep -q '\"$device\".*O_RDWR' trace"
    kill -INT "$server"
    check "reading only: the server ends" soon 10 is_dead "$server"
}

disturbed() {
    local writer try
    serve ssd-a
    (while :; do
        dd if=/dev/zero of="$device" bs=4096 seek=1000 count=64 oflag=direct \
            conv=notrunc status=none
        sleep 0.2
    done) &
    writer=$!
    on_device disturbed.json run basic --output-dir=disturbed
    kill "$writer"
    wait "$writer" 2>/dev/null
    says disturbed.json >disturbed.says
    check "disturbed: it ends in 0, not in $status" test "$status" -eq 0
    check "disturbed: nothing is found: $(cat disturbed.says)" \
        eval "! grep -q ' found ' disturbed.says"
    check "disturbed: the finding names the cause" \
        grep -q 'random_read inconclusive .*another process wrote' \
        disturbed.says
    check "disturbed: the grade is red and names it" \
        grep -q '^red writes of others another process wrote' disturbed.says
    "$ssdprobe" -q --json=again.json infer disturbed/samples.csv* >out 2>&1
    check "disturbed: the samples are those of one attempt, and tell of it" \
        diff <(jq -c .findings disturbed.json) <(jq -c .findings again.json)
    # This machine's other work may leave it open, which is no disturbance.
    for try in 1 2 3; do
        on_device again.json run basic "--output-dir=again$try"
        check "undisturbed again, it ends in 0 or 5, not in $status" \
            test "$status" -eq 0 -o "$status" -eq 5
        says again.json >again.says
        check "undisturbed: no other process is blamed: $(cat again.says)" \
            eval "! grep -q 'another process' again.says"
        ! grep -q '^random_read found' again.says || break
    done
    check "undisturbed: it is measured: $(cat again.says)" grep -qE \
        'random_read (found|inconclusive .*did not keep its speed)' again.says
    kill -INT "$server"
    check "the server of the disturbed ends" soon 10 is_dead "$server"
}

if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || [ ! -e /dev/loop-control ]
then
    fail "these tests need root, /dev/fuse and /dev/loop-control"
    summary
    exit 1
fi
for part in ${SSDPROBE_TEST_PARTS:-reading_only disturbed}
do
    began=$SECONDS
    "$part"
    echo "$part: $((SECONDS - began)) s"
done
summary
