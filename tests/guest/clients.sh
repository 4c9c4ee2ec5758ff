#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# clients.sh SOURCE BUILD WHAT...: programs that know nothing of us on a drive
# behind ublk. WHAT is a line of arguments for a function client_WHAT of
# tests/clients.sh, with '+' for blanks: 'power_cut+ext4'.
set -u
# shellcheck source=tests/guest/inside.sh
. "$1/tests/guest/inside.sh"
flashemu=$2/flashemu
scratch=/tmp/clients

gone()
{
    [[ ! -e $device && ! -e /run/flashemu ]] && ! pgrep flashemu
}
start_drive()
{
    serve "$@" --via=ublk
}
stop_drive()
{
    end_server TERM
    check "the server ends well and takes its device along" test $? -eq 0
    soon 20 gone
}
# The device waits for a successor for a while.
kill_drive()
{
    end_server KILL
    check "the device of a killed server goes" soon 100 gone
}
# shellcheck source=tests/clients.sh
. "$1/tests/clients.sh"
shift 2

for what; do
    IFS=+ read -ra words <<<"$what"
    "client_${words[0]}" "${words[@]:1}"
done
summary
