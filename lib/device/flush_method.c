/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/flush_method.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    enum flush_method method;
} flush_methods[] = {
    {"auto", FLUSH_AUTO}, {"ata", FLUSH_ATA},   {"scsi", FLUSH_SCSI},
    {"nvme", FLUSH_NVME}, {"sync", FLUSH_SYNC}, {"none", FLUSH_NONE},
};

enum { FLUSH_METHODS_COUNT = sizeof(flush_methods) / sizeof(*flush_methods) };

const char *flush_method_name(enum flush_method method)
{
    for (size_t i = 0; i < FLUSH_METHODS_COUNT; i++)
        if (flush_methods[i].method == method)
            return flush_methods[i].name;
    return NULL;
}

int flush_method_parse(const char *text, enum flush_method *method)
{
    for (size_t i = 0; i < FLUSH_METHODS_COUNT; i++) {
        if (strcmp(flush_methods[i].name, text) == 0) {
            *method = flush_methods[i].method;
            return 0;
        }
    }
    return -EINVAL;
}
