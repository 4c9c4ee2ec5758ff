/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/base/visible.h"

int fault_set(struct fault *fault, enum fault_kind kind, int error,
              const char *format, ...)
{
    if (fault) {
        va_list arguments;
        va_start(arguments, format);
        fault->kind = kind;
        vsnprintf(fault->text, sizeof(fault->text), format, arguments);
        va_end(arguments);
        /* It may quote a drive file or a run directory of others. */
        text_visible(fault->text, fault->text, sizeof(fault->text));
    }
    return error;
}
