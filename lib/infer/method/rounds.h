/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_ROUNDS_H
#define SSDPROBE_INFER_ROUNDS_H

/*
 * Which pauses of writes in order, again and again over a part of a drive, are
 * erases: one definition for the probe that looks for them and the model that
 * states them. No block is erased in less than the least; and an erase takes a
 * small part of the time of the writes that it makes room for.
 */
#define ROUNDS_WRITE_BYTES (UINT64_C(64) << 10)
#define ROUNDS_ERASE_LEAST_NS 1.2e6
#define ROUNDS_ERASE_MOST_SHARE 0.3

#endif
