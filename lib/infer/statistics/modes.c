/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/modes.h"

#include "lib/infer/statistics/clusters.h"
#include "lib/infer/statistics/dip.h"
#include "lib/infer/statistics/stats.h"

bool modes_find(const double sorted[], size_t count, double share_least,
                double alpha, struct modes *modes)
{
    double least = share_least * (double)count;
    size_t begins[2];

    modes->error = dip_error(dip_statistic(sorted, count), count);
    if (modes->error > alpha ||
        clusters_split(sorted, count, 2, begins, NULL) != 0)
        return false;
    modes->split = begins[1];
    if ((double)modes->split < least || (double)(count - modes->split) < least)
        return false;
    modes->low = stats_median(sorted, modes->split);
    modes->high = stats_median(sorted + modes->split, count - modes->split);
    return true;
}
