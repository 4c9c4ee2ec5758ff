/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_FLASH_H
#define SSDPROBE_FLASH_FLASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/request/request.h"
#include "lib/flash/request/statistics.h"
#include "lib/flash/request/why.h"

/*
 * The emulated drive: given the requests and their arrival times, when is each
 * complete? One discrete-event machine without a clock: it is told the time
 * and says what has happened by then and when to ask again. The simulated
 * device jumps there; a server waits until then.
 *
 *   flash_submit(flash, now, &request);        enqueues; decides nothing
 *   flash_next_event_ns(flash);                when to ask again
 *   flash_advance(flash, until, done, max, &n) what completes by then
 *
 * Time never runs back: each `now_ns` and `until_ns` is at least the last one.
 * A decision taken at t sees only arrivals up to t, and arrivals of one instant
 * come before its dispatch. A completion once returned is final. Requests that
 * overlap are never reordered; a flush covers the writes that were completed
 * before it arrived. Not thread-safe: one caller at a time.
 */

struct drive;
struct flash;

/*
 * Makes the drive described by `drive` (copied) in its initial state. Refuses
 * an impossible geometry with a sentence: -EINVAL, or -ENOMEM.
 */
int flash_create(const struct drive *drive, struct flash **flash,
                 struct fault *why);
void flash_destroy(struct flash *flash); /* accepts NULL */

/*
 * Before the first request: contents live in the open file `fd` (borrowed) from
 * now on, and are at first what is in it. It becomes as long as the drive if it
 * is empty. Only contents: the rest of the drive is in its initial state. 0 or
 * -errno; -EINVAL: the file has another length, is no file, or the drive keeps
 * no contents.
 */
int flash_keep_contents(struct flash *flash, int fd);

uint64_t flash_capacity_bytes(const struct flash *flash);

/*
 * 0, or -EINVAL (misaligned; FUA, and no write), -ERANGE (beyond the end),
 * -ENOMEM. On error nothing was enqueued. Any number of requests may be
 * outstanding; the drive works on as many at once as its queue depth allows.
 */
int flash_submit(struct flash *flash, uint64_t now_ns,
                 const struct flash_request *request);

/*
 * A request at `offset_bytes` comes soon: where the model keeps that place is
 * brought near meanwhile. Changes no result; a host that names its requests a
 * dozen ahead gets twice as many served a second on a large drive.
 */
void flash_expect(const struct flash *flash, uint64_t offset_bytes);

/* UINT64_MAX when idle; a later submit may move it. */
uint64_t flash_next_event_ns(const struct flash *flash);

/*
 * Everything that completes by `until_ns`, in (time, submission) order. When
 * `max` are returned there may be more: call again with the same time.
 */
void flash_advance(struct flash *flash, uint64_t until_ns,
                   struct flash_done done[], size_t max, size_t *count);

/* Tells why from now on; `tell` NULL: no longer. Costs nothing when off. */
void flash_explain(struct flash *flash, flash_tell_fn *tell, void *context);

void flash_statistics(const struct flash *flash,
                      struct flash_statistics *statistics);

/* Banks of all channels: bank i is on channel i % channels. 0: no flash. */
uint32_t flash_banks_count(const struct flash *flash);
struct flash_bank flash_bank(const struct flash *flash, uint32_t index);

#endif
