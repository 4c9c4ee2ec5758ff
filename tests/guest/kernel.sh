# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Part of guest.sh: a Debian kernel to boot, from the backports of this machine's
# own release (Debian 12's own kernel has no ublk). It is fetched once, by apt,
# and unpacked, not installed, into a cache that all suites share.

# Sets `kernel`: a folder with vmlinux and lib/modules/VERSION.
kernel_find()
{
    local cache=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/ssdprobe/kernel
    mkdir -p -- "$cache" || return
    # One fetches, the others wait.
    exec {kernel_lock}>"$cache/lock"
    flock "$kernel_lock"
    kernel=$cache/unpacked
    if [[ ! -e $kernel ]]; then
        rm -rf -- "$cache/new"
        mkdir -- "$cache/new"
        (cd -- "$cache/new" && kernel_fetch && kernel_unpack) >"$cache/log" 2>&1 &&
            mv -- "$cache/new/tree" "$kernel"
    fi
    rm -rf -- "$cache/new"
    exec {kernel_lock}>&-
    if [[ ! -e $kernel ]]; then
        echo "guest: no kernel; the end of $cache/log:"
        tail -n 20 -- "$cache/log" | sed 's/^/    | /'
        return 1
    fi
}

# Where this machine gets the packages of its release, as apt itself tells it.
package_source()
{
    local codename=$1
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' |
        sed -n "s/^$codename //p" | head -n 1
}

# Into the current folder: one linux-image-*.deb.
kernel_fetch()
{
    local codename site name keyring=''
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    site=$(package_source "$codename")
    if [[ -z $site ]]; then
        echo "apt knows no source of the release '$codename'"
        return 1
    fi
    # Without it apt takes the keys that it trusts for everything.
    if [[ -r /usr/share/keyrings/debian-archive-keyring.gpg ]]; then
        keyring='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    fi
    mkdir -p lists/partial archives/partial
    : >status
    echo "deb $keyring $site $codename-backports main" >sources.list
    local options=(-o Dir::Etc::SourceList="$PWD/sources.list"
        -o Dir::Etc::SourceParts=- -o Dir::State="$PWD"
        -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD"
        -o APT::Sandbox::User=)
    apt-get "${options[@]}" update || return
    # The package of that name only points to the one of the newest version.
    name=$(apt-cache "${options[@]}" show linux-image-amd64 |
        sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p' | head -n 1)
    [[ -n $name ]] && apt-get "${options[@]}" download "$name"
}

# number FILE OFFSET BYTES: a little-endian number in FILE.
number()
{
    od -A n -t "u$3" -j "$2" -N "$3" -- "$1" | tr -d ' '
}

# A bzImage's payload is the kernel itself: uncompressed it boots at once (PVH).
# The offsets are those of the kernel's Documentation/arch/x86/boot.rst.
kernel_uncompress()
{
    local image=$1 start length magic unpack
    start=$((($(number "$image" 0x1f1 1) + 1) * 512 +
        $(number "$image" 0x248 4)))
    length=$(number "$image" 0x24c 4)
    magic=$(od -A n -t x4 -j "$start" -N 4 -- "$image" | tr -d ' ')
    case $magic in
        fd2fb528) unpack=(zstd -dc) ;;
        587a37fd) unpack=(xz -dc) ;;
        *)
            echo "$image: unknown compression $magic"
            return 1
            ;;
    esac
    # The payload ends in its uncompressed size, which is no part of the stream.
    tail -c "+$((start + 1))" -- "$image" | head -c $((length - 4)) |
        "${unpack[@]}"
}

kernel_unpack()
{
    local version
    dpkg-deb -x linux-image-*.deb package || return
    mkdir -p tree
    if [[ -d package/usr/lib/modules ]]; then
        mv package/usr/lib tree/lib
    else
        mv package/lib tree/lib
    fi
    version=$(ls tree/lib/modules)
    kernel_uncompress "package/boot/vmlinuz-$version" >tree/vmlinux &&
        depmod -b tree "$version"
}
