#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/fresh_package.sh SOURCE_DIR: do the packages install, work and go away
# again on a Debian 12 that has nothing else? Needs root, debootstrap and this
# machine's own package source. Slow: part of `./bootstrap test --long`.
set -u

source_dir=$(realpath -- "$1")
# shellcheck source=tests/fresh_root.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/fresh_root.sh"
build=$work/build

make_packages()
{
    cmake -G Ninja -S "$source_dir" -B "$build" -DBUILD_TESTING=OFF \
        -DCMAKE_INSTALL_PREFIX=/usr && cmake --build "$build" &&
        (cd -- "$build" && cpack) && lintian --allow-root \
        --fail-on error,warning "$build"/*.deb &&
        mkdir "$fresh/packages" && cp "$build"/*.deb "$fresh/packages"
}

# check WHAT COMMAND...: as root in the fresh Debian.
check()
{
    local status
    run_fresh root "$2" >"$work/said" 2>&1
    status=$?
    verdict "$1" "$status"
    ((status == 0)) || tail -n 20 "$work/said" | sed 's/^/    | /'
}

# Every file that is there, but for what the package manager itself keeps.
files()
{
    (cd -- "$fresh" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt \
        -o -path ./var/cache -o -path ./var/log -o -path ./tmp -o \
        -path ./packages \) -prune -o -print | sort)
}

begin_fresh_debian
make_packages >"$work/build.log" 2>&1
status=$?
verdict "packages for /usr, and lintian says nothing of them" "$status"
((status == 0)) || tail -n 20 "$work/build.log" | sed 's/^/    | /'

check "what they depend on installs" \
    'apt-get update -q && apt-get install -y -q --no-install-recommends \
        $(dpkg-deb -f /packages/ssdprobe_*.deb Depends |
            sed "s/([^)]*)//g; s/,/ /g")'
files >"$work/before"
check "the package installs" 'dpkg -i /packages/ssdprobe_*.deb'
check "a user gets a report" \
    'runuser -u someone -- ssdprobe sim:ssd-a | grep "^clustered_page.*16 KiB"'
check "each probe is a command" 'ssdprobe-read-buffer sim:ssd-a | grep 256'
check "the schema is installed, the drives are found" \
    'test -s /usr/share/ssdprobe/ssdprobe.schema.json &&
        flashemu list | grep -q usb-pny-2g'
check "it names a disk that cannot be opened, and exits with 2" \
    'ssdprobe check /dev/nonexistent; test $? = 2'
check "it is removed" 'dpkg --purge ssdprobe'
files >"$work/after"
diff "$work/before" "$work/after" >"$work/left"
verdict "and nothing of it is left" $?
head -n 10 "$work/left"

check "the library installs with what it needs" \
    'apt-get install -y -q --no-install-recommends gcc libc6-dev pkgconf \
        /packages/libssdprobe-dev_*.deb'
check "the example compiles as its comment says, and runs" \
    'cd /tmp && cp /usr/share/doc/libssdprobe-dev/examples/example.c . &&
        dpkg -i /packages/ssdprobe_*.deb &&
        cc example.c $(pkg-config --cflags --libs libssdprobe) -o example &&
        ./example sim:ssd-a | grep "read_buffer: found 262144"'

echo "$passed passed, $failed failed"
((failed == 0))
