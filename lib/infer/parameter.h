/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_PARAMETER_H
#define SSDPROBE_INFER_PARAMETER_H

/* The unit of a parameter of interface.md: "bytes", "ns", "count" or "" where
 * it has none. NULL: there is no such parameter. */
const char *parameter_unit(const char *parameter);

/* What it is, in a few plain words: "the unit in which the drive writes". NULL:
 * there is no such parameter. */
const char *parameter_meaning(const char *parameter);

#endif
