/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_ADVICE_PARTS_H
#define SSDPROBE_REPORT_ADVICE_PARTS_H

#include <stdint.h>

#include "lib/base/visible.h"
#include "lib/report/advice/advice.h"

/* What the makers of advice share. */

/* A positive number that was found, rounded; 0: there is none. */
uint64_t advice_value(const struct findings *findings, const char *name);
/* The same; of a range its worse end: the longest time, the lowest rate. */
uint64_t advice_careful(const struct findings *findings, const char *name);

/* A new line, still without text; `also` may be NULL. */
struct advice *advice_add(struct advice_list *list, const char *topic,
                          const char *from, const char *also);

/* Append to the line in a few words, to the same in sentences, and to the
 * command, as printf has it. */
#define advice_brief(advice, ...) ADVICE_ADD((advice)->brief, __VA_ARGS__)
#define advice_say(advice, ...) ADVICE_ADD((advice)->text, __VA_ARGS__)
#define advice_command(advice, ...) ADVICE_ADD((advice)->command, __VA_ARGS__)
#define ADVICE_ADD(text, ...) text_add(text, sizeof(text), __VA_ARGS__)

/* What partitions and file systems are made from; 0: not found. */
struct advice_base {
    uint64_t page_bytes, unit_bytes; /* of writing; of erasing */
    const char *page_from, *unit_from;
    uint64_t capacity_bytes, sector_bytes;
    uint64_t start_bytes, length_bytes; /* of one partition on all of it */
};

void advice_find_base(const struct findings *findings,
                      const struct device_info *device,
                      struct advice_base *base);

static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Partition and file systems. */
void advise_layout(const struct findings *findings,
                   const struct device_info *device, struct advice_list *list);

/* What takes a size or two in its command: file systems, volumes, servers. */
void advise_recipes(const struct findings *findings,
                    const struct device_info *device, struct advice_list *list);

/* A drive that is smaller than it says, or loses what is written; false where
 * it is none, and nothing was added. Nothing else is advised of such a one. */
bool advise_bad(const struct findings *findings,
                const struct device_info *device, struct advice_list *list);

/* Flush, discard, sectors. */
void advise_trust(const struct findings *findings, struct advice_list *list);

#endif
