# SPDX-License-Identifier: GPL-3.0-or-later
# For suites that serve a drive through the kernel; sourced by them, after they
# have set `flashemu`, the program. Sees to it that nothing is left behind.
# shellcheck shell=bash disable=SC2034,SC2154
# shellcheck source=tests/checks.sh
. "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
# Runs leave their directories where they are started.
flashemu=$(realpath "$flashemu")
[ -z "${ssdprobe-}" ] || ssdprobe=$(realpath "$ssdprobe")
work=$(mktemp -d)
cd "$work" || exit 1
servers=()

finish() {
    for pid in "${servers[@]}"; do kill -KILL -- "-$pid" 2>/dev/null; done
    wait 2>/dev/null
    # A new server clears away what the killed ones left.
    timeout -s TERM 2 "$flashemu" serve ram-disk --size=1M >/dev/null 2>&1
    rm -rf "$work"
}
trap finish EXIT

# Starts a server, on a loop device unless an option says otherwise, in a process
# group of its own; sets `device`, `server` (the flashemu process), `attendant`
# (its child) and `group`.
serve() { # SPEC [OPTION...]
    rm -f "$work/path"
    setsid timeout -k 5 "${serve_seconds:-600}" "$flashemu" serve --via=loop "$@" \
        >"$work/path" 2>"$work/messages" &
    group=$!
    servers+=("$group")
    for _ in $(seq 2400); do
        [ -s "$work/path" ] && break
        kill -0 "$group" 2>/dev/null || break
        sleep 0.05
    done
    device=$(head -1 "$work/path")
    server=$(pgrep -P "$group" | head -1)
    attendant=$(pgrep -P "${server:-0}" | head -1)
    name=${device#/dev/}
    if [ ! -b "$device" ]; then
        fail "serve $* makes a block device ($(cat "$work/messages"))"
        summary
        exit 1
    fi
    # A loop device keeps what its last user chose.
    echo mq-deadline >"/sys/block/$name/queue/scheduler" 2>/dev/null
    echo 0 >"/sys/block/$name/queue/nomerges"
    pass "serve $*"
}

# A dead process that nobody has waited for yet is dead all the same.
is_dead() { ! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; }
# Other servers may be at work on this machine: only what is PID's counts.
has_files() { compgen -G "/run/flashemu/flashemu-$1-*" >/dev/null; }
