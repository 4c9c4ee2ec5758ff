#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_package.sh SOURCE_DIR BUILD_DIR: the Debian packages as CPack makes
# them: does lintian accept them, do they work where they are unpacked, and does
# a program that builds on the library compile and run? (In a fresh Debian:
# fresh_package.sh, in the long suite.)
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
root=$scratch/root
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

make_packages()
{
    (cd -- "$build_dir" && cpack -B "$scratch/packages") &&
        ls "$scratch"/packages/{ssdprobe,libssdprobe-dev}_*.deb
}

unpack()
{
    local package
    for package in "$scratch"/packages/*.deb; do
        dpkg-deb -x "$package" "$root" || return
    done
}

# field PACKAGE FIELD
field()
{
    dpkg-deb -f "$scratch/packages/$1"_*.deb "$2"
}

# without WORD TEXT
without()
{
    [[ -n $2 && $2 != *$1* ]]
}

# Configured for /usr (fresh_package.sh) there is no warning either.
no_errors()
{
    lintian --allow-root --fail-on error "$scratch"/packages/*.deb
}

# compile_example NAME
compile_example()
{
    # shellcheck disable=SC2046 # words are what pkg-config gives
    cc -Wall -Wextra -Werror -o "$scratch/$1" \
        "$root/usr/share/doc/libssdprobe-dev/examples/$1.c" \
        $(PKG_CONFIG_PATH=$(dirname "$(find "$root" -name libssdprobe.pc)") \
            pkg-config --cflags --libs libssdprobe)
}

# Its header is all that it takes of the package.
compile_plugin()
{
    # shellcheck disable=SC2046 # words are what pkg-config gives
    $1 -Wall -Wextra -Werror -shared -fPIC -o "$scratch/$2.so" \
        "$root/usr/share/doc/libssdprobe-dev/examples/$2_plugin.$3" \
        $(PKG_CONFIG_PATH=$(dirname "$(find "$root" -name libssdprobe.pc)") \
            pkg-config --cflags libssdprobe) -lm
}

# The drive is told by its file: an installed program must find its own, not
# those of the tree that it was built from.
finds_its_own_drives()
{
    mv "$root/usr/share/ssdprobe/drives/ssd-a.ini" \
        "$root/usr/share/ssdprobe/drives/only-here.ini" &&
        "$root/usr/bin/ssdprobe" run read-buffer sim:only-here -q &&
        mv "$root/usr/share/ssdprobe/drives/only-here.ini" \
            "$root/usr/share/ssdprobe/drives/ssd-a.ini"
}

# Every link of a probe has a manual page that is there.
links_have_pages()
{
    local link page count=0
    for link in "$root"/usr/bin/ssdprobe-*; do
        page=$root/usr/share/man/man8/$(basename "$link").8.gz
        [[ -s $page && -x $link ]] || {
            echo "$link has no page"
            return 1
        }
        ((count += 1))
    done
    ((count > 5))
}

check "cpack makes both packages" make_packages
# A link is no copy: the program has two dozen.
real_size()
{
    local is said
    said=$(field ssdprobe Installed-Size)
    mkdir "$scratch/whole"
    dpkg-deb -x "$scratch"/packages/ssdprobe_*.deb "$scratch/whole" || return
    is=$(du -sk --apparent-size "$scratch/whole" | cut -f1)
    echo "$said of $is KiB"
    ((said <= 2 * is && is <= 2 * said))
}
check "its Installed-Size is what it takes" real_size
check "lintian finds no error" no_errors
check "they unpack" unpack
check "the programs run from there" "$root/usr/bin/ssdprobe" --version
check "they find their own drives" finds_its_own_drives
check "each probe's command has a page" links_have_pages
check "libraries are depended on" \
    grep -q 'liburing2.*' <(field ssdprobe Depends)
check "gnuplot is recommended" grep -q gnuplot <(field ssdprobe Recommends)
check "gnuplot is not required" without gnuplot "$(field ssdprobe Depends)"
check "a program on libssdprobe compiles" compile_example example
check "and finds the read buffer" \
    grep -q 'read_buffer: found 262144 bytes' \
    <("$scratch/example" "sim:$root/usr/share/ssdprobe/drives/ssd-a.ini")
check "a probe of one's own compiles" compile_example example_probe
# 16 banks, each 85 us for a read, less what two reads of one bank wait.
for noise in none realistic; do
    check "and finds how many reads a second pay, noise: $noise" \
        grep -qE 'random_read_rate: [78][0-9]{4} ' \
        <("$scratch/example_probe" \
            "sim:$root/usr/share/ssdprobe/drives/sata-mlc.ini,noise=$noise")
done
check "a plugin compiles" compile_plugin cc disk c
check "and one in C++, with events" compile_plugin c++ event cpp
check "and ssdprobe opens it" "$root/usr/bin/ssdprobe" check -q \
    "plugin:$scratch/disk.so"
check "the copyright names the licence of LICENSE" \
    grep -q 'GPL-3.0-or-later' "$root/usr/share/doc/ssdprobe/copyright"
check "LICENSE is its text" grep -q 'GNU GENERAL PUBLIC LICENSE' \
    "$source_dir/LICENSE"

summary
