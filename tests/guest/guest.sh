#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/guest/guest.sh SOURCE BUILD CASES [NAME...]: boots a Debian kernel under
# QEMU for each case of the file CASES (or those named), and runs the case's
# command in it. Ends in 'N passed, N failed', the sum of what the commands said.
#
# A case is a line of seven columns; '-' is nothing, lists go by commas:
#   name      of the case
#   when      short, or long: only with SSDPROBE_TEST_LONG, or when named
#   machine   icount: guest time is virtual: idle time costs nothing, and a busy
#                     host changes nothing. For devices that live in the guest.
#             plain:  guest time is the host's. For disks backed by the host.
#   devices   KIND[:ARGUMENT]: function device_KIND of devices.sh
#   modules   loaded before the command: NAME[:PARAMETER=VALUE...]; a name in
#             brackets is there for modprobe, but not loaded
#   programs  of the build or of this machine, that the command uses
#   command   a script of tests/guest with its arguments. It runs as root in
#             bash, with busybox for everything else; ends in 'N passed, N
#             failed'; what it leaves in /results is shown or kept here.
#
# SSDPROBE_GUEST_KEEP=FOLDER keeps console, results and more of each case there.
# Never KVM: it is not everywhere, and its time is the host's.
set -u

source=$(realpath -- "$1") build=$(realpath -- "$2") cases=$(realpath -- "$3")
shift 3
named=" $* "
# Alone the longest case takes two minutes; a busy host takes many times that.
limit_seconds=1500
[[ -z ${SSDPROBE_TEST_LONG-} ]] || limit_seconds=3000
limit_seconds=${SSDPROBE_GUEST_LIMIT_SECONDS:-$limit_seconds}
memory=3G
work=$(mktemp -d "${TMPDIR:-/tmp}/guest.XXXXXX")
passed=0 failed=0
children=()
# shellcheck source=tests/guest/kernel.sh
. "$source/tests/guest/kernel.sh"
# shellcheck source=tests/guest/image.sh
. "$source/tests/guest/image.sh"
# shellcheck source=tests/guest/devices.sh
. "$source/tests/guest/devices.sh"

clean_up()
{
    local child
    for child in "${children[@]}"; do
        kill -- "-$child" 2>/dev/null
    done
    wait
    rm -rf -- "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# boot FOLDER MACHINE DEVICES: its console goes to FOLDER/console.
# shellcheck disable=SC2054 # these commas are QEMU's
boot()
{
    local folder=$1 machine=$2 devices=() device qemu
    [[ $3 == - ]] || IFS=, read -ra devices <<<"$3"
    qemu=(qemu-system-x86_64 -nodefaults -no-user-config -display none
        -no-reboot -m "$memory" -smp 1 -cpu qemu64
        -serial "file:$folder/console" -device isa-debug-exit,iobase=0xf4
        -kernel "$kernel/vmlinux" -initrd "$folder/initramfs"
        -append "console=ttyS0 quiet panic=-1 mitigations=off init_on_alloc=0 no_timer_check"
        -fsdev "local,id=results,path=$folder/results,security_model=none"
        -device virtio-9p-pci,fsdev=results,mount_tag=results)
    case $machine in
        icount)
            qemu+=(-M pc -accel tcg,thread=single -icount shift=0,sleep=off
                -rtc base=2020-01-01,clock=vm)
            ;;
        plain) qemu+=(-M q35 -accel tcg) ;;
        *)
            echo "guest: no machine '$machine'"
            return 1
            ;;
    esac
    for device in "${devices[@]}"; do
        "device_${device%%:*}" "$folder" "${device#*:}" || return
    done
    # In the foreground: in the case's own process group, to end with it.
    timeout --foreground -k 5 "$limit_seconds" "${qemu[@]}" \
        </dev/null >"$folder/qemu" 2>&1
}

# run_case FOLDER MACHINE DEVICES MODULES PROGRAMS COMMAND: in a process group of
# its own; what remains of it is in FOLDER.
run_case()
{
    local folder=$1 script=${6%% *} arguments='' status servers
    [[ $6 == "$script" ]] || arguments=" ${6#* }"
    mkdir -p -- "$folder/results"
    SECONDS=0
    image_make "$folder" "$4" "$5" \
        "$source/tests/guest/$script $source $build$arguments" &&
        boot "$folder" "$2" "$3"
    status=$?
    # QEMU that ends by an assertion of its own (7.2 may when a USB disk is pulled
    # out amidst a request) says nothing of us: once more, from the beginning.
    if ((status == 128 + 6)); then
        mv -- "$folder/qemu" "$folder/aborted"
        mapfile -t servers < <(jobs -p)
        ((${#servers[@]} == 0)) || kill -- "${servers[@]}"
        wait
        rm -rf -- "$folder"/{console,results,*.socket}
        mkdir -- "$folder/results"
        boot "$folder" "$2" "$3"
        status=$?
    fi
    # QEMU has an exit status of 1 as well.
    case $(cat "$folder/results/status" 2>/dev/null)-$status in
        -0) echo 'ended without a status (did the kernel panic?)' ;;
        *-124 | *-137) echo "stopped after $limit_seconds s" ;;
        -*) echo "did not run: $(tail -n 3 "$folder/qemu" 2>/dev/null)" ;;
        *) echo "exit status $((status / 2))" ;;
    esac >"$folder/end"
    echo "$SECONDS" >"$folder/seconds"
}

# report NAME: what came out of it.
report()
{
    local folder=$work/$1 end case_passed=0 case_failed=0
    end=$(cat "$folder/end")
    read -r case_passed case_failed < <(sed -nE \
        's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' \
        "$folder/results/output" 2>/dev/null | tail -n 1)
    # Whatever else went wrong is a failure as well.
    if [[ $end != 'exit status 0' ]] && ((case_failed == 0)); then
        ((case_failed += 1))
    elif ((case_passed + case_failed == 0)); then
        end="$end, but no count of tests"
        case_failed=1
    fi
    ((passed += case_passed, failed += case_failed))
    printf '%-24s %3d passed, %d failed, %d s%s\n' "$1" "$case_passed" \
        "$case_failed" "$(cat "$folder/seconds")" \
        "$([[ $end == 'exit status 0' ]] || echo ": $end")"
    [[ ! -e $folder/aborted ]] ||
        echo "    | at the second try: $(tail -n 1 -- "$folder/aborted")"
    if ((case_failed > 0)); then
        cat -- "$folder"/{messages,console} 2>/dev/null | tr -d '\r' |
            tail -n 40 | sed 's/^/    | /'
    elif [[ -s $folder/results/shown ]]; then
        sed 's/^/    | /' "$folder/results/shown"
    fi
    if [[ -n ${SSDPROBE_GUEST_KEEP-} ]]; then
        mkdir -p -- "$SSDPROBE_GUEST_KEEP" &&
            cp -r -- "$folder" "$SSDPROBE_GUEST_KEEP/"
    fi
    rm -rf -- "$folder"
}

wanted()
{
    local name=$1 when=$2
    if [[ -n ${named// /} ]]; then
        [[ $named == *" $name "* ]]
    else
        [[ $when == short || -n ${SSDPROBE_TEST_LONG-} ]]
    fi
}

missing=()
for program in qemu-system-x86_64 busybox modprobe depmod zstd xz flock; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null ||
        missing+=("$program")
done
PATH=$PATH:/usr/sbin:/sbin
if ((${#missing[@]} > 0)) || ! kernel_find; then
    echo "guest: nothing was run; missing here: ${missing[*]:-a kernel}"
    echo '0 passed, 1 failed'
    exit 1
fi

# As many guests at once as there are processors, reported in order.
names=()
set -m
while read -r name when machine devices modules programs command; do
    [[ -n $name && $name != '#'* ]] || continue
    wanted "$name" "$when" || continue
    names+=("$name")
    while (($(jobs -r | wc -l) >= $(nproc))); do
        wait -n
    done
    mkdir -- "$work/$name"
    run_case "$work/$name" "$machine" "$devices" "$modules" "$programs" \
        "$command" >"$work/$name/messages" 2>&1 &
    children+=($!)
done <"$cases"
for name in "${names[@]}"; do
    wait "${children[0]}"
    children=("${children[@]:1}")
    report "$name"
done
if ((${#names[@]} == 0)); then
    echo "guest: no case of $cases is named$named"
    failed=1
fi
echo "$passed passed, $failed failed"
((failed == 0))
