/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/sample.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const operation_names[] = {
    [OPERATION_READ] = "read",   [OPERATION_WRITE] = "write",
    [OPERATION_FLUSH] = "flush", [OPERATION_DISCARD] = "discard",
    [OPERATION_IDLE] = "idle",
};

enum {
    OPERATIONS_COUNT = sizeof(operation_names) / sizeof(operation_names[0])
};

const char *operation_name(enum operation operation)
{
    if ((size_t)operation >= OPERATIONS_COUNT)
        return NULL;
    return operation_names[operation];
}

int operation_parse(const char *text, enum operation *operation)
{
    for (size_t i = 0; i < OPERATIONS_COUNT; i++) {
        if (strcmp(operation_names[i], text) == 0) {
            *operation = (enum operation)i;
            return 0;
        }
    }
    return -EINVAL;
}

static const char *const returned_names[] = {
    [RETURNED_UNSEEN] = "unseen",
    [RETURNED_SAME] = "same",
    [RETURNED_ZEROS] = "zeros",
    [RETURNED_OTHER] = "other",
};

enum { RETURNED_COUNT = sizeof(returned_names) / sizeof(returned_names[0]) };

const char *returned_name(enum returned returned)
{
    return (size_t)returned < RETURNED_COUNT ? returned_names[returned] : NULL;
}

int returned_parse(const char *text, enum returned *returned)
{
    for (size_t i = 0; i < RETURNED_COUNT; i++) {
        if (strcmp(returned_names[i], text) == 0) {
            *returned = (enum returned)i;
            return 0;
        }
    }
    return -EINVAL;
}

bool sample_is_refused(enum operation operation, int error)
{
    return operation == OPERATION_DISCARD && error == -EOPNOTSUPP;
}

bool sample_is_of_place(enum operation operation, int error)
{
    return (operation == OPERATION_READ || operation == OPERATION_WRITE) &&
           (error == -EIO || error == -ENODATA || error == -EILSEQ ||
            error == -EREMOTEIO);
}
