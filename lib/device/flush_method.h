/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_FLUSH_METHOD_H
#define SSDPROBE_DEVICE_FLUSH_METHOD_H

/* How a drive is told to make safe what it was sent. */
enum flush_method {
    FLUSH_AUTO, /* the first of the following that works */
    FLUSH_ATA,  /* FLUSH CACHE EXT through ATA PASS-THROUGH(16), SG_IO */
    FLUSH_SCSI, /* SYNCHRONIZE CACHE(10), SG_IO */
    FLUSH_NVME, /* NVMe flush, NVME_IOCTL_IO_CMD */
    FLUSH_SYNC, /* fdatasync() on the device */
    FLUSH_NONE  /* flushes are not sent */
};

/* "auto", "ata", ... for options and reports; -EINVAL: no such word. */
const char *flush_method_name(enum flush_method method);
int flush_method_parse(const char *text, enum flush_method *method);

#endif
