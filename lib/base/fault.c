/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, enum fault_kind kind, int error,
              const char *format, ...)
{
    if (fault) {
        va_list arguments;
        va_start(arguments, format);
        fault->kind = kind;
        vsnprintf(fault->text, sizeof(fault->text), format, arguments);
        va_end(arguments);
    }
    return error;
}
