/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_FLASH_H
#define SSDPROBE_FLASH_FLASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"

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

enum flash_operation { FLASH_READ, FLASH_WRITE, FLASH_FLUSH, FLASH_DISCARD };

struct flash_request {
    enum flash_operation operation;
    uint64_t offset_bytes; /* multiple of 512 */
    uint64_t length_bytes; /* multiple of 512, > 0; 0 for a flush */
    void *data;   /* what to write, or where to read to: valid until the request
                     is returned as done. NULL: only the timing matters. */
    uint64_t tag; /* the caller's, returned with the completion */
};

struct flash_done {
    uint64_t tag;
    uint64_t submit_ns;
    uint64_t begin_ns; /* when its turn came: what lies before is queueing */
    uint64_t complete_ns;
    int error; /* 0 or -errno */
};

/* What the drive did since it was made. */
struct flash_statistics {
    uint64_t reads_count, writes_count, flushes_count, discards_count;
    uint64_t read_bytes, written_bytes;
    uint64_t pages_read_count, pages_programmed_count, blocks_erased_count;
    uint64_t pages_copied_count; /* valid pages moved by cleaning or merges */
    uint64_t merges_switch_count, merges_partial_count, merges_full_count;
    /* Time that requests waited for their turn; how many were waiting whenever
     * one was chosen (the sum over all requests), and at most. */
    uint64_t queue_ns, queue_depth_sum, queue_depth_most;
    uint64_t blocks_cleaned_count;
    uint64_t blocks_folded_count; /* of the SLC cache */
    uint64_t read_buffer_hits_count;
    /* Bytes programmed for each byte that the host wrote; 0 before that. */
    double write_amplification;
    uint32_t erase_count_least, erase_count_most; /* of the blocks */
    uint64_t hotness_bytes; /* of the policy, as a controller would keep it */
    uint64_t hotness_steps_count; /* entries, bits or regions it touched */
    uint64_t memory_bytes;        /* of the model, without contents */
};

/* What one bank did since the drive was made. */
struct flash_bank {
    uint64_t pages_read_count, pages_programmed_count, blocks_erased_count;
    /* It sensed, programmed, erased, or its register held a page that waited
     * for the bus. */
    uint64_t busy_ns;
};

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
 * 0, or -EINVAL (misaligned), -ERANGE (beyond the end), -ENOMEM. On error
 * nothing was enqueued. Any number of requests may be outstanding; the drive
 * works on as many at once as its queue depth allows.
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

/*
 * What one request spent its time on, along the path of the part that was ready
 * last: the parts add up to complete_ns - submit_ns.
 */
struct flash_why {
    uint64_t queue_ns;  /* until its turn came */
    uint64_t host_ns;   /* command, link, and whatever is not below */
    uint64_t buffer_ns; /* until the write buffer had room */
    uint64_t merge_ns;  /* merges of log blocks, copies of whole blocks */
    uint64_t clean_ns;  /* cleaning */
    uint64_t erase_ns;  /* until a bank's erase was over */
    uint64_t wait_ns;   /* until a bank, a bus or the controller was free */
    uint64_t sense_ns;  /* array to register */
    uint64_t bus_ns;
    uint64_t controller_ns; /* its serial share */
    uint64_t program_ns;
    uint64_t order_ns; /* until an overlapping one before it was complete */
    uint64_t noise_ns; /* asleep, outliers, the bridge; not the jitter */
};

/* One row a part, for sums, tables and columns. */
struct flash_why_part {
    const char *name; /* "queue": without its unit */
    size_t offset;    /* of the uint64_t in struct flash_why */
};

enum { FLASH_WHY_PARTS = 13 };
extern const struct flash_why_part flash_why_parts[FLASH_WHY_PARTS];

uint64_t flash_why_part_ns(const struct flash_why *why, size_t index);
void flash_why_add(struct flash_why *sum, const struct flash_why *why);

/* Called when a completion is decided, in the order of decisions. */
typedef void flash_tell_fn(void *context, const struct flash_done *done,
                           const struct flash_why *why);

/* Tells why from now on; `tell` NULL: no longer. Costs nothing when off. */
void flash_explain(struct flash *flash, flash_tell_fn *tell, void *context);

void flash_statistics(const struct flash *flash,
                      struct flash_statistics *statistics);

/* Banks of all channels: bank i is on channel i % channels. 0: no flash. */
uint32_t flash_banks_count(const struct flash *flash);
struct flash_bank flash_bank(const struct flash *flash, uint32_t index);

#endif
