# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# For scripts that run in a guest; sourced by them.
# shellcheck source=tests/checks.sh
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

# Becomes true within some seconds, or four times as many where much else runs?
soon() # SECONDS COMMAND...
{
    local tries=$(($1 * 40))
    shift
    while ((tries-- > 0)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    "$@"
}

# disk_of SERIAL: the block device whose drive has this serial number, or the USB
# device that it is. Of bash alone: each program that is started costs the guest
# ten milliseconds, and there are many disks.
disk_of()
{
    local folder path file serial page
    for folder in /sys/block/*; do
        path=$(cd -P -- "$folder" && echo "$PWD")
        if [[ $path == */usb* && $path == *:1.0/* ]]; then
            path=${path%%:1.0/*}
            path=${path%/*}
        fi
        for file in "$path" "$folder" "$folder/device" ''; do
            serial=''
            if [[ -n $file ]]; then
                [[ -r $file/serial ]] && read -r serial <"$file/serial"
            elif [[ -r $folder/device/vpd_pg80 ]]; then
                # Two bytes, and two of the length, whose first one is 0.
                mapfile -t -d '' page <"$folder/device/vpd_pg80"
                serial=${page[2]:1}
            fi
            if [[ ${serial// } == "$1" ]]; then
                [[ -b /dev/${folder##*/} ]] && echo "/dev/${folder##*/}"
                return
            fi
        done
    done 2>/dev/null
    return 1
}

not()
{
    ! "$@"
}

# serve SPEC [OPTION...]: starts the server `flashemu`; sets `server` (its pid),
# `device`, `name`. What it says is in /tmp/said.
serve()
{
    : >/tmp/path
    "$flashemu" serve "$@" >/tmp/path 2>/tmp/said &
    server=$!
    soon 100 test -s /tmp/path -o ! -e "/proc/$server"
    device=$(head -n 1 /tmp/path)
    name=${device#/dev/}
    check "serve $* makes a block device" test -b "$device" ||
        cat /tmp/said
}

# Ends the server; its exit status.
end_server() # SIGNAL
{
    kill "-$1" "$server"
    wait "$server"
}

queue()
{
    cat "/sys/block/$name/queue/$1"
}
