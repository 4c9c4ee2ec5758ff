#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/fresh_debian.sh SOURCE_DIR: do the README's two commands work on a Debian
# 12 that has nothing but what every Debian has? Needs root, debootstrap and
# this machine's own package source. Slow: part of `./bootstrap test --long`.
set -u

source_dir=$(realpath -- "$1")
work=$(mktemp -d -p /var/tmp fresh-debian.XXXXXX)
fresh=$work/root
passed=0 failed=0

# Everything is mounted in a name space of its own, which ends with this script;
# should a mount be left all the same, nothing below it is touched.
if [[ ${FRESH_DEBIAN_UNSHARED-} != yes ]]; then
    rmdir -- "$work"
    if (($(id -u) != 0)); then
        exec sudo "$BASH" "$0" "$@"
    fi
    FRESH_DEBIAN_UNSHARED=yes \
        exec unshare --mount --propagation private "$BASH" "$0" "$@"
fi

clean_up()
{
    local mount
    for mount in "$fresh/dev" "$fresh/sys" "$fresh/proc" "$fresh"; do
        ! mountpoint -q -- "$mount" || umount -R -- "$mount" ||
            umount -R --lazy -- "$mount"
    done
    if grep -qF " $work/" /proc/self/mountinfo; then
        echo "still mounted below $work: left in place"
    else
        rm -rf --one-file-system -- "$work"
    fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# verdict WHAT STATUS
verdict()
{
    if (($2 == 0)); then
        echo "ok   $1"
        ((passed += 1))
    else
        echo "FAIL $1"
        ((failed += 1))
    fi
}

# inside USER COMMAND: in the fresh Debian, in the clone.
inside()
{
    chroot "$fresh" /usr/sbin/runuser -u "$1" -- env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C CI=true \
        bash -c "cd /ssdprobe && $2" </dev/null
}

# Where this machine gets its packages, as apt itself tells it.
package_source()
{
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' \
        'Codename: bookworm' | head -n 1
}

make_debian()
{
    debootstrap --variant=minbase bookworm "$fresh" "$(package_source)" \
        >"$work/debootstrap.log" 2>&1 || return
    apt-config dump | grep '^Acquire::' >"$fresh/etc/apt/apt.conf.d/90host"
    cp -L /etc/resolv.conf /etc/hosts "$fresh/etc/"
    # Some tests make their mounts private, which only a mount point allows.
    mount --bind "$fresh" "$fresh" &&
        mount -t proc proc "$fresh/proc" &&
        mount --rbind /sys "$fresh/sys" &&
        mount --rbind /dev "$fresh/dev" &&
        chroot "$fresh" useradd --create-home someone
}

copy_tree()
{
    mkdir "$fresh/ssdprobe" &&
        (cd -- "$source_dir" && tar -cf - --exclude=./.git \
            --exclude='./build*' .) |
        tar -xf - --no-same-owner -C "$fresh/ssdprobe"
}

make_debian
made=$?
verdict "a fresh Debian 12" "$made"
if ((made != 0)); then
    tail -n 20 "$work/debootstrap.log"
    echo "$passed passed, $failed failed"
    exit 1
fi
copy_tree
verdict "a copy of the tree in it" $?

inside someone './bootstrap probe' >"$work/output" 2>"$work/messages"
verdict "a user without sudo is told what root should install" \
    "$(grep -q 'apt-get install' "$work/messages"; echo $?)"

SECONDS=0
inside root './bootstrap probe' >"$work/output" 2>"$work/messages"
status=$?
verdict "./bootstrap probe from nothing: $SECONDS s, exit status $status" \
    $((status != 0))
((status == 0)) || tail -n 40 "$work/messages"
sed 's/^/    | /' "$work/output"
verdict "its report names the clustered page" \
    "$(grep -qi 'clustered.page' "$work/output"; echo $?)"

began_ns=$(date +%s%N)
inside root './bootstrap probe' >"$work/again" 2>/dev/null
status=$?
ended_ns=$(date +%s%N)
verdict "again, with nothing to do but the report: $((
    (ended_ns - began_ns) / 1000000)) ms" $((status != 0))

chroot "$fresh" chown -R someone /ssdprobe
inside someone './bootstrap probe' >"$work/output" 2>"$work/messages"
status=$?
verdict "then it works for a user without sudo, exit status $status" \
    $((status != 0))
((status == 0)) || tail -n 20 "$work/messages"
chroot "$fresh" chown -R root /ssdprobe

SECONDS=0
inside root './.ci/run' >"$work/output" 2>"$work/messages"
status=$?
verdict "./bootstrap test there: $SECONDS s, $(tail -n 1 "$work/output")" \
    $((status != 0))
((status == 0)) || grep -vE '^(release|debug) .* 0 failed|\| ok ' \
    "$work/output" | tail -n 60

echo "$passed passed, $failed failed"
((failed == 0))
