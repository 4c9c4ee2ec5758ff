/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_KINDS_H
#define SSDPROBE_INFER_KINDS_H

/*
 * Which page kinds show in the times of reads: those that are apart by more
 * than this share. One definition for the probe that looks for them and the
 * model that states them.
 */
#define KINDS_APART_LEAST 0.03

#endif
