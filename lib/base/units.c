/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct suffix {
    const char *text;
    uint64_t factor;
};

static const struct suffix byte_suffixes[] = {
    {"", 1},
    {"B", 1},
    {"K", UINT64_C(1) << 10},
    {"KiB", UINT64_C(1) << 10},
    {"KB", UINT64_C(1000)},
    {"M", UINT64_C(1) << 20},
    {"MiB", UINT64_C(1) << 20},
    {"MB", UINT64_C(1000000)},
    {"G", UINT64_C(1) << 30},
    {"GiB", UINT64_C(1) << 30},
    {"GB", UINT64_C(1000000000)},
    {"T", UINT64_C(1) << 40},
    {"TiB", UINT64_C(1) << 40},
    {"TB", UINT64_C(1000000000000)},
    {"P", UINT64_C(1) << 50},
    {"PiB", UINT64_C(1) << 50},
    {"PB", UINT64_C(1000000000000000)},
    {NULL, 0},
};

static const struct suffix ns_suffixes[] = {
    {"", 1},
    {"ns", 1},
    {"us", UINT64_C(1000)},
    {"ms", UINT64_C(1000000)},
    {"s", UINT64_C(1000000000)},
    {"min", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {NULL, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits[.digits] into mantissa / scale. */
static int read_decimal(const char **text, uint64_t *mantissa, uint64_t *scale)
{
    const char *p = *text;
    uint64_t value = 0, divisor = 1;
    bool fraction = false;

    if (!is_digit(*p))
        return -EINVAL;
    for (;; p++) {
        if (*p == '.' && !fraction && is_digit(p[1])) {
            fraction = true;
            continue;
        }
        if (!is_digit(*p))
            break;
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return -ERANGE;
        if (fraction && __builtin_mul_overflow(divisor, UINT64_C(10), &divisor))
            return -ERANGE;
    }
    *text = p;
    *mantissa = value;
    *scale = divisor;
    return 0;
}

static int parse_suffixed(const char *text, const struct suffix *suffix,
                          uint64_t *result)
{
    uint64_t mantissa, scale, product;
    int error = read_decimal(&text, &mantissa, &scale);

    if (error)
        return error;
    if (text[0] == ' ' && text[1] != '\0')
        text++; /* "16 KiB" */
    while (suffix->text && strcmp(suffix->text, text) != 0)
        suffix++;
    if (!suffix->text)
        return -EINVAL;
    if (__builtin_mul_overflow(mantissa, suffix->factor, &product))
        return -ERANGE;
    if (product % scale)
        return -EINVAL; /* not a whole number of bytes or nanoseconds */
    *result = product / scale;
    return 0;
}

int parse_bytes(const char *text, uint64_t *bytes)
{
    return parse_suffixed(text, byte_suffixes, bytes);
}

int parse_ns(const char *text, uint64_t *ns)
{
    return parse_suffixed(text, ns_suffixes, ns);
}

int parse_seconds(const char *text, uint64_t *ns)
{
    char with_unit[64];
    const size_t length = strlen(text);

    if (length == 0 || !is_digit(text[length - 1]))
        return parse_ns(text, ns);
    const int used = snprintf(with_unit, sizeof(with_unit), "%ss", text);
    if (used < 0 || (size_t)used >= sizeof(with_unit))
        return -ERANGE;
    return parse_ns(with_unit, ns);
}

int parse_integer(const char *text, uint64_t *value)
{
    static const struct suffix none[] = {{"", 1}, {NULL, 0}};

    if (strchr(text, '.'))
        return -EINVAL;
    return parse_suffixed(text, none, value);
}

int parse_real(const char *text, double *value)
{
    const char *p = text;
    uint64_t mantissa, scale;
    int error = read_decimal(&p, &mantissa, &scale);

    if (error)
        return error;
    if (*p)
        return -EINVAL;
    *value = (double)mantissa / (double)scale;
    return 0;
}

int64_t nearest_integer(double real)
{
    /* 2^63 is a double, INT64_MAX is not. */
    static const double beyond = 9223372036854775808.0;

    if (isnan(real))
        return 0;
    if (real >= beyond)
        return INT64_MAX;
    return real < -beyond ? INT64_MIN : (int64_t)llround(real);
}

char *format_bytes(uint64_t bytes, char *text, size_t size)
{
    static const char *const binary[] = {"B",   "KiB", "MiB",
                                         "GiB", "TiB", "PiB"};
    unsigned power = 0;
    uint64_t whole = bytes;

    while (whole && whole % 1024 == 0 && power < 5) {
        whole /= 1024;
        power++;
    }
    if (whole < 100000 && (bytes < 1024 || power > 0)) {
        snprintf(text, size, "%llu %s", (unsigned long long)whole,
                 binary[power]);
        return text;
    }
    /* Sectors that make no whole KiB: "256.5 KiB". */
    if (bytes % 512 == 0 && bytes < UINT64_C(32) << 20) {
        snprintf(text, size, "%.1f KiB", (double)bytes / 1024);
        return text;
    }
    double value = (double)bytes;
    for (power = 0; value >= 1024.0 && power < 5; power++)
        value /= 1024.0;
    snprintf(text, size, "%.1f %s", value, binary[power]);
    return text;
}

char *format_bytes_option(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t unit = 0;

    /* Three digits at least, so that little is added. */
    while (unit + 1 < sizeof(units) / sizeof(units[0]) && bytes >= 1000 * KIB) {
        bytes = bytes / KIB + (bytes % KIB > 0);
        unit++;
    }
    snprintf(text, size, "%" PRIu64 "%s", bytes, units[unit]);
    return text;
}

char *format_capacity(uint64_t bytes, char *text, size_t size)
{
    static const char *const decimal[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    unsigned power = 0;

    for (; value >= 999.5 && power < 5; power++)
        value /= 1000.0;
    snprintf(text, size, "%.3g %s", value, decimal[power]);
    return text;
}

char *format_ns(uint64_t ns, char *text, size_t size)
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    unsigned power = 0;

    while (value >= 999.5 && power < 3) {
        value /= 1000.0;
        power++;
    }
    int digits = power == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text, size, "%.*f %s", digits, value, names[power]);
    return text;
}

/* "972 IOPS", "9.8k IOPS", "1.25M IOPS" */
static void format_iops(uint64_t amount, char *text, size_t size)
{
    if (amount < 1000)
        snprintf(text, size, "%" PRIu64 " IOPS", amount);
    else if (amount < 999500) /* "%.3g" would round more to a power of ten */
        snprintf(text, size, "%.3gk IOPS", (double)amount / 1e3);
    else
        snprintf(text, size, "%.3gM IOPS", (double)amount / 1e6);
}

char *format_quantity(uint64_t amount, const char *unit, char *text,
                      size_t size)
{
    if (strcmp(unit, "bytes") == 0)
        return format_bytes(amount, text, size);
    if (strcmp(unit, "ns") == 0)
        return format_ns(amount, text, size);
    /* "%.3g" would round more to a power of ten. */
    if (strcmp(unit, "bytes_per_second") == 0 && amount < 999500000)
        snprintf(text, size, "%.3g MB/s", (double)amount / 1e6);
    else if (strcmp(unit, "bytes_per_second") == 0)
        snprintf(text, size, "%.3g GB/s", (double)amount / 1e9);
    else if (strcmp(unit, "thousandths") == 0 && amount >= 999500)
        snprintf(text, size, "%.0fx", (double)amount / 1e3);
    else if (strcmp(unit, "thousandths") == 0)
        snprintf(text, size, "%.3gx", (double)amount / 1e3);
    else if (strcmp(unit, "permille") == 0)
        snprintf(text, size, "%.3g %%", (double)amount / 10);
    else if (strcmp(unit, "requests_per_second") == 0)
        format_iops(amount, text, size);
    else
        snprintf(text, size, "%" PRIu64, amount);
    return text;
}
