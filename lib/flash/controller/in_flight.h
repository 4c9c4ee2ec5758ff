/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_IN_FLIGHT_H
#define SSDPROBE_FLASH_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What has left a write buffer for the array and has its room until it is
 * programmed.
 */
struct in_flight;

/* `most_count` > 0 at once. 0 or -ENOMEM. */
int in_flight_create(uint32_t most_count, struct in_flight **in_flight);
void in_flight_destroy(struct in_flight *in_flight); /* accepts NULL */

/* Bytes that are programmed at `done_ns`; there is room. */
void in_flight_put(struct in_flight *in_flight, uint64_t done_ns,
                   uint32_t bytes);
/* Those still there after `now_ns`, which never runs back. */
uint64_t in_flight_bytes(struct in_flight *in_flight, uint64_t now_ns);
/* When the next are programmed; UINT64_MAX: there are none. */
uint64_t in_flight_next_ns(const struct in_flight *in_flight);

#endif
