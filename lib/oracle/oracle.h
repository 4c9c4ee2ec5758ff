/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_ORACLE_H
#define SSDPROBE_ORACLE_H

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"

/* What a probe must find in an emulated drive. Nothing that probes or infers
 * may see this room. */

/*
 * States in drive->truths what a probe should find, from the drive's keys.
 *
 * A mechanism that is not there is `absent`; one that no probe could see is
 * `unidentifiable`. Whether it could is asked of the model itself, without
 * noise: the request pattern in which the parameter shows is timed on two sides
 * of the parameter's value. An effect below ORACLE_EFFECT_LEAST (5 %) of that
 * time, or a value outside the ranges that are probed (page up to 1 MiB, read
 * buffer up to 16 MiB, write buffer up to 8 MiB), is unidentifiable.
 *
 *   clustered_page     write + flush of one page: aligned, and shifted by half
 *   read_modify_write  half a page written where the rest is mapped, or not
 *   clustered_block    random writes per byte: whole blocks, and halves; a
 *                      pause once a block in writes round and round; or
 *                      where log_block shows, for that is merged as one
 *   nand_type          levels of the time of one page: 8 % apart, and as many;
 *                      one level only where the page is one of a chip; or as
 *                      many times of reads, 3 % apart
 *   read_buffer        a read as long as the buffer: for the first time, again
 *   smallest_request   the same at that length, and one page below it
 *   write_buffer       a write as long as the buffer, and 1 KiB longer; of an
 *                      eager buffer the longest write that it absorbs, wherever
 *                      pages begin, which is longer by what it drains
 *                      meanwhile; unidentifiable where that depends on how fast
 *                      it is written: where more fits if the host's requests
 *                      come at half the speed
 *   log_list           writes in turn to as many blocks as logs, and to one
 *   log_block          more; where there are none, as if there were; the list
 *                      only where a set of blocks has one log, the block only
 *                      where it shares its log with no other
 *   segment_groups     reads after one in the same group, and in another
 *   content_dependence small writes to a few blocks in turn, one more than
 *                      there are logs, that hold zeros, and others; where they
 *                      make no difference, the same if moving zeros cost
 *                      nothing: a drive that moves nothing for them (it maps
 *                      pages, and cleans only after more was written than a
 *                      probe may) hides it; for content_unit the same with
 *                      every other unit of zeros
 *   capacity_kind      as the keys say;
 *   real_capacity      not of a drive that forgets when it is full, nor of a
 *                      chain whose period is no power of two
 *   trim_reads         as the key `discard` says
 *   trim_time          the median of a discard of 1 MiB that was written
 *   flush_honesty      write-through where nothing is kept back; free where
 *                      flushes lie, or the buffer outlives a power cut. Seen
 *                      where a flush takes longer behind a write than behind
 *                      nothing; where a write with its flush is quicker than a
 *                      read, and later ones slower; where a write takes longer
 *                      than a read
 *   flush_time         the median behind one write of 4 KiB, after a rest; of
 *   fua_time           such a write with FUA; if they are one number
 *   sync_write_*       writes of 4 KiB in order, each with its flush, or with
 *                      FUA and 16 at a time, with the drive's noise; no rate
 *                      where quarters differ by a factor of two
 *   *_cost_4k, request_overhead
 *                      the line through requests of six sizes as
 *                      method/line.h has it, if it is one (each time within 8
 *                      % of it) and overhead is a fifth of the smallest
 *                      request, or data of the largest
 *   sequential_*_rate, random_read_rate, read_parallelism
 *                      requests of which many are under way, as
 *                      method/pace.h has it; no depth where one gains about
 *                      as much as pays, and no rate of writes that changes
 *   stripe_unit, parallel_units
 *                      which bank a page lies in, by the keys; pairs of reads
 *                      sent together, a period of banks apart, and one unit
 *                      more or less; no count of units where a block lies on
 *                      some of them only; absent where one of two reads is
 *                      always served after the other
 *   fast_cache         sequential writes, as long as the cache of a drive that
 *                      is full, and beyond it; a cache below 18 MiB is
 *                      unidentifiable, and below 80 MiB where a
 *                      flush does not empty the buffer
 *   read_slowdown, read_priority
 *                      reads beside writes, as method/beside.h has it; no
 *                      slowdown that differs from third to third of the rounds,
 *                      and no priority where reads wait about half as
 *                      much longer as writes, or writes do not wait
 *   read_page, read_boundary
 *                      short reads across boundaries of that size, and of half
 *                      and twice of it
 *   read_ahead         a read behind a stream, within that and beyond it
 *   mapping_reach, mapping_miss
 *                      one read in each MiB of a span, twice: of 64 MiB, of
 *                      what the cache knows, and of twice as much
 *   sleep_after, wake_time
 *                      what the keys say
 */
int oracle_state(struct drive *drive, struct fault *why);

/* Only those that depend on noise: rates of reads, synced writes, sleep. */
int oracle_state_of_noise(struct drive *drive, struct fault *why);

/*
 * `changed` is the drive `file` with other keys, and still has the truths of
 * the file: corrects those that changed. The model derives the truths of both
 * drives. A truth that it derives equally for both stays as the file has it. If
 * it derives two values, it states the new one where the old one was the
 * file's. All others are left out: files hold truths that no model can derive.
 * May take a minute. As oracle_state().
 */
int oracle_retell(const struct drive *file, struct drive *changed,
                  struct fault *why);

#endif
