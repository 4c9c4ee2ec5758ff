/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_DIP_H
#define SSDPROBE_INFER_DIP_H

#include <stddef.h>

/*
 * Has a sample one mode or more? (J. A. Hartigan, P. M. Hartigan: The dip test
 * of unimodality. Annals of Statistics 13, 1985.) The dip is the least distance
 * between the sample's distribution function and any that has one mode, so no
 * shape of the mode is assumed; a few outliers cannot make it large.
 */

enum { DIP_MAX = 1024 }; /* most values that are taken */

/* The dip of values in rising order: from 1 / (2 count) to 1/4, and 0 where all
 * are alike. count from 1 to DIP_MAX. */
double dip_statistic(const double sorted[], size_t count);

/*
 * A bound on the chance that a sample of one mode has this dip or more: 0.5,
 * 0.1, 0.05, 0.01, 0.001 or 0.0001, and 1 where none of them holds. It is that
 * of a uniform distribution, the worst of those with one mode. count >= 4.
 */
double dip_error(double dip, size_t count);

#endif
