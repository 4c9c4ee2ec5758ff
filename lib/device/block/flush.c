/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/block/flush.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ATA grants a flush half a minute. */
static const unsigned FLUSH_TIMEOUT_MS = 30000;

/* A unit attention answers the first command after a reset; there may be one
 * waiting for the reset, one for the medium. */
enum { ATTENTIONS_MAX = 3 };

enum {
    SENSE_NO_SENSE = 0x0,
    SENSE_RECOVERED = 0x1,
    SENSE_NOT_READY = 0x2,
    SENSE_ILLEGAL_REQUEST = 0x5,
    SENSE_UNIT_ATTENTION = 0x6,
    ASC_MEDIUM_NOT_PRESENT = 0x3a,
};

enum { /* of the kernel's struct scsi_cmnd, not in user headers */
       HOST_NO_CONNECT = 0x01,
       HOST_BAD_TARGET = 0x04,
};

int flush_sense_error(const uint8_t *sense, size_t size_bytes)
{
    if (size_bytes < 4)
        return -EIO;
    const uint8_t form = sense[0] & 0x7f;
    const int is_descriptor = form == 0x72 || form == 0x73;
    if (!is_descriptor && form != 0x70 && form != 0x71)
        return -EIO;
    const uint8_t key = sense[is_descriptor ? 1 : 2] & 0x0f;
    uint8_t code = 0;
    if (is_descriptor)
        code = sense[2];
    else if (size_bytes > 12)
        code = sense[12];

    switch (key) {
    case SENSE_NO_SENSE:
    case SENSE_RECOVERED: /* 01/00/1D: ATA tells its registers, no error */
        return 0;
    case SENSE_NOT_READY:
        return code == ASC_MEDIUM_NOT_PRESENT ? -ENOMEDIUM : -EIO;
    case SENSE_ILLEGAL_REQUEST: /* 05/20/00: a bridge that knows no ATA */
        return -EOPNOTSUPP;
    case SENSE_UNIT_ATTENTION:
        return -EAGAIN;
    default:
        return -EIO;
    }
}

static int send_scsi_once(int fd, uint8_t *command, uint8_t length_bytes)
{
    uint8_t sense[64] = {0};
    struct sg_io_hdr header = {
        .interface_id = 'S',
        .dxfer_direction = SG_DXFER_NONE,
        .cmdp = command,
        .cmd_len = length_bytes,
        .sbp = sense,
        .mx_sb_len = sizeof(sense),
        .timeout = FLUSH_TIMEOUT_MS,
    };
    if (ioctl(fd, SG_IO, &header) != 0)
        return errno == ENOTTY || errno == EINVAL || errno == ENOSYS
                   ? -EOPNOTSUPP
                   : -errno;
    if ((header.info & SG_INFO_OK_MASK) == SG_INFO_OK)
        return 0;
    if (header.host_status == HOST_NO_CONNECT ||
        header.host_status == HOST_BAD_TARGET)
        return -ENODEV;
    if (header.sb_len_wr == 0)
        return header.host_status ? -ETIMEDOUT : -EIO;
    return flush_sense_error(sense, header.sb_len_wr);
}

static int send_scsi(int fd, uint8_t *command, uint8_t length_bytes)
{
    int error = -EAGAIN;
    for (int i = 0; i <= ATTENTIONS_MAX && error == -EAGAIN; i++)
        error = send_scsi_once(fd, command, length_bytes);
    return error == -EAGAIN ? -EIO : error;
}

static int send_ata_flush(int fd)
{
    enum { NON_DATA = 3 << 1, EXTENDED = 1, LBA_MODE = 0x40 };
    uint8_t command[16] = {
        [0] = 0x85, /* ATA PASS-THROUGH(16) */
        [1] = NON_DATA | EXTENDED,
        [13] = LBA_MODE,
        [14] = 0xea, /* FLUSH CACHE EXT */
    };
    return send_scsi(fd, command, sizeof(command));
}

static int send_scsi_flush(int fd)
{
    uint8_t command[10] = {[0] = 0x35}; /* SYNCHRONIZE CACHE(10), all blocks */
    return send_scsi(fd, command, sizeof(command));
}

static int send_nvme_flush(int fd)
{
    const int namespace_id = ioctl(fd, NVME_IOCTL_ID);
    if (namespace_id <= 0)
        return -EOPNOTSUPP;
    struct nvme_passthru_cmd command = {
        .opcode = 0x00, /* flush */
        .nsid = (uint32_t)namespace_id,
        .timeout_ms = FLUSH_TIMEOUT_MS,
    };
    const int status = ioctl(fd, NVME_IOCTL_IO_CMD, &command);
    if (status < 0)
        return errno == ENOTTY ? -EOPNOTSUPP : -errno;
    return status > 0 ? -EIO : 0;
}

static int send_sync(int fd)
{
    return fdatasync(fd) == 0 ? 0 : -errno;
}

static int send_nothing(int fd)
{
    (void)fd;
    return 0;
}

/* In the order in which FLUSH_AUTO tries them, closest to the drive first;
 * "none" is last and only for those who ask for it. */
static const struct {
    enum flush_method method;
    int (*send)(int fd);
} methods[] = {
    {FLUSH_ATA, send_ata_flush},   {FLUSH_SCSI, send_scsi_flush},
    {FLUSH_NVME, send_nvme_flush}, {FLUSH_SYNC, send_sync},
    {FLUSH_NONE, send_nothing},
};

int flush_send(int fd, enum flush_method method)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (methods[i].method == method)
            return methods[i].send(fd);
    return -EINVAL;
}

int flush_choose(int fd, const char *path, enum flush_method wanted,
                 enum flush_method *chosen, struct fault *why)
{
    int error = 0;

    if (wanted != FLUSH_AUTO) {
        error = flush_send(fd, wanted);
        *chosen = wanted;
        if (error)
            return fault_set(why, FAULT_OPEN, error,
                             "%s does not accept the flush of --flush=%s (%s): "
                             "use --flush=auto.",
                             path, flush_method_name(wanted), strerror(-error));
        return 0;
    }
    for (size_t i = 0; methods[i].method != FLUSH_NONE; i++) {
        *chosen = methods[i].method;
        error = methods[i].send(fd);
        if (!error)
            return 0;
        if (error == -ENODEV || error == -ENOMEDIUM)
            break;
    }
    return fault_set(why, FAULT_OPEN, error,
                     "%s fails every kind of flush: %s.", path,
                     strerror(-error));
}
