# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# Part of guest.sh: the initramfs of one case. Everything keeps the path that it
# has here, so that scripts and programs need not know where they run.

# put FILE [PATH]: a copy of it in the image.
put()
{
    local path=$image${2:-$1}
    [[ ! -e $path ]] || return 0
    mkdir -p -- "${path%/*}" && cp -L -- "$1" "$path"
}

# put_program NAME: of the build, or else of this machine; with its libraries.
put_program()
{
    local program=$build/$1 library
    if [[ -x $program ]]; then
        ln -s -- "$program" "$image/usr/bin/$1"
    elif ! program=$(PATH=$PATH:/usr/sbin:/sbin command -v -- "$1"); then
        echo "guest: there is no program '$1'"
        return 1
    fi
    put "$program" || return
    while read -r library; do
        put "$library" || return
    done < <(ldd "$program" 2>/dev/null | grep -o '/[^ ]*')
}

# put_modules NAME...: and what they depend on, uncompressed.
put_modules()
{
    local version name files kind file
    version=$(ls "$kernel/lib/modules")
    local modules=$image/lib/modules/$version
    mkdir -p -- "$modules"
    cp -- "$kernel/lib/modules/$version"/modules.{builtin*,order} "$modules"
    for name; do
        files=$(modprobe -d "$kernel" -S "$version" --show-depends "$name") ||
            return
        while read -r kind file _; do
            [[ $kind == insmod ]] || continue
            name=$modules/${file##*/}
            case $file in
                *.xz) xz -dc -- "$file" >"${name%.xz}" ;;
                *) cp -- "$file" "$name" ;;
            esac || return
        done <<<"$files"
    done
    depmod -b "$image" "$version"
}

# image_make FOLDER MODULES PROGRAMS COMMAND: FOLDER/initramfs. Lists go by
# commas; a module may have parameters or brackets (see guest.sh).
image_make()
{
    local image=$1/image modules=() programs=() name folder
    [[ $2 == - ]] || IFS=, read -ra modules <<<"$2"
    [[ $3 == - ]] || IFS=, read -ra programs <<<"$3"
    mkdir -p -- "$image"/usr/{bin,sbin,lib,lib64} \
        "$image"/{proc,sys,dev,tmp,run,results,mnt,etc}
    # Debian's links, so that what is in /bin is in /usr/bin as well.
    for folder in bin sbin lib lib64; do
        ln -s "usr/$folder" "$image/$folder"
    done
    ln -s /proc/self/mounts "$image/etc/mtab"
    printf "modules='%s'\ncommand='%s'\n" "${modules[*]}" "$4" >"$image/case"
    put "$source/tests/guest/init" /init &&
        put "$(command -v busybox)" /usr/bin/busybox || return
    for name in bash "${programs[@]}"; do
        put_program "$name" || return
    done
    modules=("${modules[@]#(}")
    modules=("${modules[@]%)}")
    put_modules "${modules[@]%%:*}" 9p 9pnet_virtio || return
    mkdir -p -- "$image$source/lib/flash" "$image$build/share"
    # Programs look for their drives beside them.
    cp -rL -- "$build/share/ssdprobe" "$image$build/share/" || return
    cp -r -- "$source/lib/flash/drives" "$image$source/lib/flash/" &&
        (cd -- "$source" && cp --parents -- tests/*.sh tests/guest/* \
            "$image$source") &&
        (cd -- "$image" && find . | busybox cpio -o -H newc -R 0:0) \
            >"$1/initramfs" 2>"$1/cpio" && rm -rf -- "$image"
}
