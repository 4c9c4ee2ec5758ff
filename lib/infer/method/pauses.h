/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_PAUSES_H
#define SSDPROBE_INFER_PAUSES_H

/*
 * Which pauses that come by the clock can be found. One definition for the
 * probe that looks for them and the model that states them: each kind of read
 * lasts so long, of which a period must fit in so many times; a shorter pause
 * may pass for what holds up single requests; and one that takes a larger part
 * of its period leaves too little time to tell its turns apart.
 */
enum { PAUSES_TURNS_LEAST = 4, PAUSES_PERIOD_PARTS = 8 };
#define PAUSES_LOAD_NS 20e9
#define PAUSES_LEAST_NS 10e6

#endif
