# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# Part of guest.sh: what stands in the column 'devices' of a case. Each function
# is called with the case's folder and what follows the colon, and adds to the
# array `qemu`. What it starts belongs to the case's process group, and ends with
# it.

# ahci[:MiB]: an empty disk behind libata.
device_ahci()
{
    local id=disk${#qemu[@]} mib=64
    [[ $2 == ahci ]] || mib=$2
    truncate -s "${mib}M" "$1/$id" &&
        qemu+=(-drive "id=$id,if=none,format=raw,file=$1/$id"
            -device "ide-hd,drive=$id,serial=$id")
}

# serve FOLDER ID SPEC: an emulated drive (DRIVE[+KEY=VALUE...]) as the QEMU drive
# ID, and what it was asked for as the virtio disk of serial counts-ID.
serve()
{
    local socket=$1/$2.socket spec count=0
    IFS=+ read -ra spec <<<"$3"
    # Without --foreground it would leave the case's process group.
    nbdkit --foreground --exit-with-parent -U "$socket" \
        "$build/nbdkit-flash-plugin.so" "${spec[@]}" &
    until [[ -S $socket ]]; do
        kill -0 "$!" && ((count++ < 100)) || return
        sleep 0.05
    done
    qemu+=(-drive "id=$2,if=none,driver=raw,discard=unmap,file.driver=nbd,file.server.type=unix,file.server.path=$socket"
        -drive "id=counts-$2,if=none,driver=raw,read-only=on,file.driver=nbd,file.server.type=unix,file.server.path=$socket,file.export=statistics"
        -device "virtio-blk-pci,drive=counts-$2,serial=counts-$2")
}

# sata:SPEC and so on: an emulated drive as a disk of that kind; its serial number
# is the kind. Those in _through have no write cache.
device_sata() { serve_disk "$@" sata ide-hd,ver=1.0 on; }
device_sata_through() { serve_disk "$@" sata-through ide-hd off; }
device_usb() { serve_disk "$@" usb usb-storage,bus=xhci.0 on; }
device_usb_through() { serve_disk "$@" usb-through usb-storage,bus=xhci.0 off; }
device_uas()
{
    serve_disk "$@" uas scsi-hd,bus=bridge-uas.0,vendor=Maker,product=Disk,ver=2.0 on
}
device_uas_through()
{
    serve_disk "$@" uas-through scsi-hd,bus=bridge-uas-through.0 off
}
device_nvme() { serve_disk "$@" nvme nvme on; }
device_nvme_through() { serve_disk "$@" nvme-through nvme off; }

# serve_disk FOLDER SPEC SERIAL MODEL CACHE
serve_disk()
{
    local model=$4
    serve "$1" "$3" "$2" || return
    case $model in
        # Each on a port of its own, as SATA disks are.
        ide-hd*) model+=,bus=ide.$(count_of ide-hd) ;;
        usb-* | scsi-*)
            (($(count_of qemu-xhci) > 0)) || qemu+=(-device "qemu-xhci,id=xhci,p2=8,p3=8")
            ;;
    esac
    [[ $model != scsi-* ]] ||
        qemu+=(-device "usb-uas,bus=xhci.0,id=bridge-$3")
    qemu+=(-device "$model,drive=$3,serial=$3,write-cache=$5")
}

# How many devices of a model there are.
count_of()
{
    printf '%s\n' "${qemu[@]}" | grep -c "^$1,"
}
