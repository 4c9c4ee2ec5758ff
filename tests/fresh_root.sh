# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by scripts that need a Debian 12 with nothing but what every Debian has
# in "$fresh". Needs root, debootstrap and this machine's own package source.
# Sets work and fresh; counts passed and failed in verdict().

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

# run_fresh USER COMMAND: in the fresh Debian.
run_fresh()
{
    chroot "$fresh" /usr/sbin/runuser -u "$1" -- env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C CI=true \
        bash -c "$2" </dev/null
}

# The first verdict; ends the script when there is no Debian.
begin_fresh_debian()
{
    local made
    make_debian
    made=$?
    verdict "a fresh Debian 12" "$made"
    if ((made != 0)); then
        tail -n 20 "$work/debootstrap.log"
        echo "$passed passed, $failed failed"
        exit 1
    fi
}
