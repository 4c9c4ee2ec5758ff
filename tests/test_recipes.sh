#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_recipes.sh SOURCE_DIR BUILD_DIR: cmd/package/debian and the recipes
# for other systems: does each parse, name today's version and every library that
# CMakeLists.txt asks for, and pack what is installed? With SSDPROBE_TEST_LONG the
# Debian packages are built as the container file does it.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"
recipes=$source_dir/cmd/package/recipes
debian=$source_dir/cmd/package/debian
version=$(sed -n 's/^project(ssdprobe VERSION \([0-9.]*\) .*/\1/p' \
    "$source_dir/CMakeLists.txt")

# What each system calls the libraries; Fedora takes the names of CMakeLists.txt.
cat >names <<'END'
module      Debian          Arch            Alpine          Nix
liburing    liburing-dev    liburing        liburing-dev    liburing
libudev     libudev-dev     systemd-libs    eudev-dev       systemd
blkid       libblkid-dev    util-linux-libs util-linux-dev  util-linux
libatasmart libatasmart-dev libatasmart     libatasmart-dev libatasmart
json-c      libjson-c-dev   json-c          json-c-dev      json_c
inih        libinih-dev     libinih         inih-dev        inih
libzstd     libzstd-dev     zstd            zstd-dev        zstd
zlib        zlib1g-dev      zlib            zlib-dev        zlib
fuse3       libfuse3-dev    fuse3           -               fuse3
END

# needs COLUMN FILE: are all there as words, with the least version?
needs()
{
    local module least name wanted
    while IFS='>=' read -r module least; do
        name=$(awk -v m="$module" -v c="$1" '$1 == m { print $c }' names)
        [[ -n $name ]] || {
            echo "$module is not in the table of this test"
            return 1
        }
        [[ $name == - ]] && continue
        # "(>= 2.3)", ">=2.3" or ">= 2.3"; Nix has no versions.
        wanted="(^|[^a-z0-9-])$name\)?"
        [[ -z ${least#=} || $1 == 5 ]] || wanted+=" ?\(?>= ?${least#=}"
        grep -qE -- "$wanted([^a-z0-9_.-]|\$)" "$2" || {
            echo "$2 lacks $name ${least#=}"
            return 1
        }
    done < <(sed -n 's/^pkg_check_modules.* IMPORTED_TARGET \(.*\))$/\1/p' \
        "$source_dir"/{CMakeLists.txt,cmd/flashemu/flashemu.cmake})
}

# Their functions call it: a build is only written down; what is installed comes
# from the tree that was built for the tests.
cmake()
{
    if [[ $1 == --install ]]; then
        command cmake --install "$build_dir" --prefix /usr
    else
        printf '%s\n' "$@" >>asked
    fi
}

# recipe FILE EXPRESSION...: sourced as makepkg and abuild do, all of it is true.
recipe()
(
    pkgdir=$scratch/$(basename "$1")-root
    local pkgname="" pkgver=""
    # shellcheck disable=SC1090 # the file is what is tested
    source "$1" && build && package || exit
    [[ $pkgver == "$version" && $pkgname == ssdprobe ]] || exit
    "$pkgdir/usr/bin/ssdprobe" --version &&
        grep -qx -- -DBUILD_TESTING=OFF asked &&
        grep -qx -- -DCMAKE_INSTALL_PREFIX=/usr asked
)

# The macros are Fedora's, which builds; the list of files is the spec's own.
spec()
{
    mkdir -p "spec/BUILD/ssdprobe-$version" &&
        cp "$source_dir"/{LICENSE,README.md,CHANGELOG.md} "$_" &&
        rpmbuild -bb --quiet --noprep --nodeps --nocheck \
            --define "_topdir $scratch/spec" --define 'debug_package %{nil}' \
            --define '_libdir /usr/lib' --define 'cmake :' \
            --define 'cmake_build :' --define "cmake_install \
                DESTDIR=%{buildroot} cmake --install $build_dir --prefix /usr;\
                mkdir -p %{buildroot}/usr/share/zsh/site-functions; mv \
                    %{buildroot}/usr/share/zsh/vendor-completions/* \
                    %{buildroot}/usr/share/zsh/site-functions" \
            "$recipes/ssdprobe.spec" &&
        rpm -qpl spec/RPMS/*/ssdprobe-"$version"-1*.rpm |
        grep -qx /usr/bin/ssdprobe-read-buffer &&
        rpm -qpl spec/RPMS/*/ssdprobe-devel-"$version"-1*.rpm |
        grep -qx /usr/lib/libssdprobe.a
}

# Each file that is installed is in one of Debian's packages, or named as in none.
installed_files()
{
    local lists=("$debian"/*.install "$debian/not-installed")
    (cd PKGBUILD-root && find usr ! -type d) |
        sed 's|^usr/lib/|usr/lib/TRIPLET/|' >files
    # As a prefix: a folder is taken with all in it.
    grep -vE "^($(cat "${lists[@]}" | sed 's/[.]/\\./g; s/[*]/[^\/]*/g' |
        paste -sd'|'))(/|\$)" files >left
    cat left
    [[ ! -s left && -s files ]]
}

# stage NAME: what the container file runs there, as one command.
stage()
{
    awk -v name="$1" '/^FROM/ { on = $NF == name } on && /^RUN/ { run = 1 }
        run { line = $0; sub(/^RUN /, "", line); print line }
        !/\\$/ { run = 0 }' "$recipes/Containerfile"
}

check "debian: the version is today's" test "$version" = \
    "$(dpkg-parsechangelog -l "$debian/changelog" -S Version)"
check "debian: every library is asked for" needs 2 "$debian/control"
check "debian: rules are a makefile" make -n -f "$debian/rules" build
# Debian 12 has liburing 2.3.
sed 's/liburing-dev/& (>= 2.3)/' "$source_dir/bootstrap" >bootstrap
check "bootstrap asks for the same libraries" needs 2 bootstrap
check "Arch: PKGBUILD packs what is installed" recipe "$recipes/PKGBUILD"
check "Arch: every library is asked for" needs 3 "$recipes/PKGBUILD"
rm -f asked
check "Alpine: APKBUILD packs what is installed" recipe "$recipes/APKBUILD"
check "Alpine: every library is asked for" needs 4 "$recipes/APKBUILD"
check "Alpine: without flashemu" grep -qx -- -DFLASHEMU=OFF asked
check "debian: no file is forgotten" installed_files
check "Fedora: the version is today's" test "$version" = "$(rpmspec -q --srpm \
    --qf '%{version}' "$recipes/ssdprobe.spec" 2>said)"
check "Fedora: every library is asked for" needs 1 "$recipes/ssdprobe.spec"
check "Fedora: the spec packs all that is installed" spec
check "Nix: the version is today's" \
    grep -qxF "  version = \"$version\";" "$recipes/default.nix"
check "Nix: every library is asked for" needs 5 "$recipes/default.nix"
check "the container file's commands parse" \
    sh -n <(stage build; stage docker.io/library/debian:12)
check "and build the Debian packages" grep -q dpkg-buildpackage <(stage build)
check "which it then installs" \
    grep -q '^COPY --from=build /build/ssdprobe_' "$recipes/Containerfile"

# The libraries that it needs are not in Debian for musl, so nothing is linked. There
# ioctl takes an int, which its larger constants do not fit; the kernel sees the same.
cat >musl.py <<'END'
"""musl.py COMPILE_COMMANDS: compiles all but the servers against musl."""
import json, re, shlex, subprocess, sys
bad = 0
for row in json.load(open(sys.argv[1])):
    # An example in C++ takes a C++ library, which is not looked for here.
    if re.search(r"/(serve|ublk|live|nbdkit|tests)/|\.cpp$", row["file"]):
        continue
    words = [w for w in shlex.split(row["command"]) if not w.endswith("ccache")][1:]
    words.remove("-c")
    del words[words.index("-o"):words.index("-o") + 2]
    bad += subprocess.run(
        ["musl-gcc", "-fsyntax-only", "-idirafter", "/usr/include", "-idirafter",
         "/usr/include/x86_64-linux-gnu", *words, "-Wno-overflow"],
        cwd=row["directory"]).returncode != 0
sys.exit(bad)
END
check "Alpine's C library takes all but the servers" \
    python3 musl.py "$build_dir/compile_commands.json"
echo 'char *bad(char *text) { return strfry(text); }' >bad.c
printf '[{"file": "bad.c", "directory": ".", "command": "%s"}]' \
    'cc -Werror -D_GNU_SOURCE -include string.h -o bad.o -c bad.c' >bad.json
check "and what only glibc has is noticed" eval '! python3 musl.py bad.json'

# A recipe that lags behind is noticed.
sed 's/json-c-dev//' "$recipes/APKBUILD" >lagging
check "a library that is missing is noticed" eval '! needs 4 lagging'
sed 's/>=2.3//' "$recipes/PKGBUILD" >lagging
check "and one that is too old" eval '! needs 3 lagging'

if [[ -n ${SSDPROBE_TEST_LONG-} ]]; then
    check "Nix: it parses" nix-instantiate --parse "$recipes/default.nix"
    mkdir -p no-network build/source
    printf '#!/bin/sh\n' >no-network/apt-get
    chmod +x no-network/apt-get
    (cd -- "$source_dir" && tar -cf - --exclude=./.git --exclude='./build*' .) |
        tar -xf - -C build/source
    stage build >build/source/run
    check "the Debian packages build as in the container" env -C build/source \
        PATH="$scratch/no-network:$PATH" sh -ec '. ./run >log 2>&1 ||
            { tail log | cut -c-300; exit 1; }'
    check "and lintian finds no error in them" \
        lintian --allow-root --fail-on error build/*.deb
    check "they hold what those of CPack hold" diff \
        <(dpkg-deb -c build/ssdprobe_*.deb | awk '{ print $6 }' | grep -c '/bin/.') \
        <(find PKGBUILD-root/usr/bin ! -type d | wc -l)
fi
summary
