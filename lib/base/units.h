/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_UNITS_H
#define SSDPROBE_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static inline uint64_t smaller_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The greatest; of 0 and another, that one. */
static inline uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/*
 * Text to quantities and back, the same everywhere: options, drive files, CSV,
 * reports. Every parser takes the whole text or none of it: trailing junk, a
 * sign, an empty text and overflow are errors. All return 0, -EINVAL
 * (malformed) or -ERANGE (does not fit); the result is untouched on error.
 */

/* "4096", "4K" = "4KiB" = 4096, "4KB" = 4000; K M G T P. A fraction is allowed
 * where the product is whole ("1.5MiB"). */
int parse_bytes(const char *text, uint64_t *bytes);

/* "250" (ns), "25us", "1.5ms", "2s", "3min", "1h". */
int parse_ns(const char *text, uint64_t *ns);

/* Likewise, for options that people type: a bare number is seconds. */
int parse_seconds(const char *text, uint64_t *ns);

/* A plain decimal integer. */
int parse_integer(const char *text, uint64_t *value);

/* A decimal number, C locale, finite. */
int parse_real(const char *text, double *value);

/* A real number of bytes, nanoseconds or requests as an integer: what does not
 * fit becomes the nearest one that does, and what is no number 0. */
int64_t nearest_integer(double real);

/* "16 KiB", "4 MiB", "59.6 GiB": always of 1024, with a digit where that is not
 * exact. Returns `text`. */
char *format_bytes(uint64_t bytes, char *text, size_t size);

/* "61GiB", "1536MiB": at least so many, as an option takes it. Returns
 * `text`. */
char *format_bytes_option(uint64_t bytes, char *text, size_t size);

/* "64 GB", "1.92 TB": a whole drive as its label has it, of 1000 and to three
 * digits. Returns `text`. */
char *format_capacity(uint64_t bytes, char *text, size_t size);

/* "117 us", "2.50 ms", "14.5 s": three digits. Returns `text`. */
char *format_ns(uint64_t ns, char *text, size_t size);

/* A quantity of a finding's unit: "16 KiB", "117 us", "512 MB/s", "9.8k IOPS",
 * "12.5x" (of thousandths), "7.5 %" (of permille); a plain number where it
 * has another. Returns `text`. */
char *format_quantity(uint64_t amount, const char *unit, char *text,
                      size_t size);

/* The same, in memory that lasts as long as the block in which they stand. */
#define TEXT_BYTES(bytes) format_bytes((bytes), (char[24]){""}, 24)
#define TEXT_CAPACITY(bytes) format_capacity((bytes), (char[24]){""}, 24)
#define TEXT_NS(ns) format_ns((ns), (char[24]){""}, 24)
#define TEXT_QUANTITY(amount, unit)                                            \
    format_quantity((amount), (unit), (char[32]){""}, 32)

#endif
