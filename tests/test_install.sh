#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_install.sh SOURCE_DIR BUILD_DIR: is all there that an
# installed copy needs?
set -u

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
prefix=$scratch/prefix
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# same_files FOLDER ENDING FOLDER
same_files()
{
    diff <(find "$1" -name "*$2" -printf '%f\n' | sort) \
        <(find "$3" -name "*$2" -printf '%f\n' | sort)
}

cmake --install "$build_dir" --prefix "$prefix" >/dev/null
check "ssdprobe is installed" "$prefix/bin/ssdprobe" --version
check "flashemu is installed" "$prefix/bin/flashemu" --version
check "the emulated drives are installed" same_files \
    "$source_dir/lib/flash/drives" ini "$prefix/share/ssdprobe/drives"
check "the known models are installed" same_files \
    "$source_dir/lib/report/known" json "$prefix/share/ssdprobe/known"
check "the plots are installed, but for those of papers" diff \
    <(find "$source_dir/plots" -name '*.gp' -printf '%f\n' |
        grep -vE '^(kim|sun_zhang|papers|accuracy)' | sort) \
    <(find "$prefix/share/ssdprobe/plots" -type f -printf '%f\n' | sort)
for program in ssdprobe flashemu; do
    check "the schema of $program's output is installed" \
        test -s "$prefix/share/ssdprobe/$program.schema.json"
done

check "the plugin of nbdkit is installed, and loads" nbdkit --dump-plugin \
    "$(find "$prefix" -name nbdkit-flash-plugin.so)"

for program in "$build_dir"/ssdprobe-*; do
    [[ -e $program ]] || continue
    name=$(basename -- "$program")
    check "$name is a command" "$prefix/bin/$name" --version
done

# Nothing of a build folder is run or read by an installed program: whoever owns
# that folder is not who installed it. What is missing stays missing.
names_no_build()
{
    ! grep -rlFe "$source_dir" -e "$build_dir" "$prefix"
}

# Sanitizers and debugging information of the debug build name its sources.
grep -q '^CMAKE_BUILD_TYPE:STRING=Debug$' "$build_dir/CMakeCache.txt" ||
    check "no installed file names the folder it was built in" names_no_build
cd -- "$scratch" || exit

# prefixed NM-OPTION FILE: does it define names, and none but with our prefixes?
prefixed()
{
    local names
    names=$(nm -g "$1" --defined-only "$2" 2>/dev/null |
        awk 'NF == 3 && $3 ~ /^[a-z]/ { print $3 }')
    grep -q '^flashemu_flash_submit$' <<<"$names" &&
        grep -q '^ssdprobe_session_run$' <<<"$names" &&
        ! grep -vE '^(ssdprobe|flashemu)_' <<<"$names"
}

# A program on the library whose own names are short ones that we have as well.
compile_on_library()
{
    pc=$(dirname "$(find "$prefix" -name libssdprobe.pc)")
    lib=$(dirname "$pc")
    printf 'int session_run(void);\nint session_run(void) { return 1; }\n' >own.c
    # shellcheck disable=SC2046 # words are what pkg-config gives
    cc -Wall -Wextra -Werror "$@" -c own.c -o own.o &&
        cc -Wall -Wextra -Werror "$@" own.o "$source_dir/cmd/package/example.c" \
            $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs libssdprobe) \
            -o example
}
sanitized=()
grep -q '^SSDPROBE_SANITIZE:BOOL=ON$' "$build_dir/CMakeCache.txt" &&
    sanitized=('-fsanitize=address,undefined')
check "the library is static unless the shared one is asked for" \
    test -z "$(find "$prefix" -name 'libssdprobe.so*')"
check "its names begin with ours" \
    prefixed --no-sort "$(find "$prefix" -name libssdprobe.a)"
check "a program is linked to it" compile_on_library "${sanitized[@]}"
check "which carries it within itself" \
    bash -c '! readelf -d example | grep -q libssdprobe'
check "the shared library is installed" cmake --install "$build_dir" \
    --prefix "$prefix" --component shared
check "its name has its version" grep -qF 'SONAME' \
    <(readelf -d "$lib/libssdprobe.so" | grep -F '[libssdprobe.so.0.1]')
check "it shows our names only" prefixed --dynamic "$lib/libssdprobe.so"
check "a program is linked to that" compile_on_library "${sanitized[@]}"
check "finds it by this name" grep -qF '[libssdprobe.so.0.1]' \
    <(readelf -d example)
check "and finds the read buffer with it" grep -q \
    'read_buffer: found 262144 bytes' <(LD_LIBRARY_PATH=$lib ./example \
        "sim:$prefix/share/ssdprobe/drives/ssd-a.ini")
check "an installed program draws" bash -c "'$prefix/bin/ssdprobe' run \
    read-buffer sim:ssd-a -q --output-dir=run && test -s run/figures/*.svg"
mv "$prefix/share/ssdprobe" hidden
check "without its own scripts it draws with no others" bash -c "
    ! '$prefix/bin/ssdprobe' plot run --output-dir=drawn 2>said &&
    grep -q 'the script that draws [a-z-]* is missing' said"
check "nor are the drives of the build found" bash -c "
    ! '$prefix/bin/flashemu' show ssd-a 2>said &&
    grep -q \"there is no drive 'ssd-a'\" said"
mv hidden "$prefix/share/ssdprobe"
# Another tree below the same folder does not matter, nor does a folder in which
# everybody may put a file.
mkdir -p open/bin open/share
cp "$prefix/bin/ssdprobe" open/bin
cp -r "$prefix/share/ssdprobe" open/share
check "a moved tree finds its own data" \
    open/bin/ssdprobe run read-buffer sim:ssd-a -q
chmod o+w open
check "not where everybody may put some" bash -c "
    ! open/bin/ssdprobe run read-buffer sim:ssd-a -q 2>said &&
    grep -q \"there is no drive 'ssd-a'\" said"

summary
