# SPDX-License-Identifier: GPL-3.0-or-later
# What a write takes at random places, and where nine of ten go to a tenth of them.
# gnuplot -c hot_cold.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line for so many writes: thousands of writes since uniform ones began, us a
# write. Writes that are under way together may end in any order, so what counts is
# the last end so far.
rows(phase, count) = sprintf("awk -F, '$3==\"hot-cold\" && $5==\"w\" { \
if (!begun) { begun = 1; end = from = $10 } if ($11 > end) end = $11; n++; \
if ($4 != was) { was = $4; k = 0; from = end } \
if (++k %% %d == 0) { if ($4 == \"%s\") print n/1000, (end - from)/%d/1000; from = end } }' %s", count, phase, count, samples)
if (!measured(rows("uniform", 64))) { eval nothing }
both = measured(rows("skewed", 64))
stats "< ".rows(both ? "skewed" : "uniform", 64) using 1:2 nooutput
written = STATS_max_x*1000
part = int(written/120/64 < 4 ? 4 : written/120/64)*64
stats "< ".rows("uniform", part) using 1:2 nooutput
top = STATS_max_y; mean = STATS_mean_y; begins = STATS_max_x
if (both) { stats "< ".rows("skewed", part) using 1:2 nooutput; top = STATS_max_y > top ? STATS_max_y : top }
eval titled(headline("Hot and cold data kept apart", "hot_cold_separation"), \
    sprintf("each mark is %d writes; the line is the mean of those all at random", part))
axis_low = 0; axis_high = written/1000.
set xrange [0:axis_high]
set yrange [0:top*1.25]
set ytics nice(top/5)
set xtics nice(axis_high/5)
set xlabel "writes of 4 KiB, in thousands"
eval y_named(us." a write")
if (both) {
    plot "< ".rows("uniform", part) using 1:2 @first title "all at random", \
         "< ".rows("skewed", part) using 1:2 @second title "9 of 10 in a tenth", \
         mean @first_line notitle
} else {
    plot "< ".rows("uniform", part) using 1:2 @first title "all at random", \
         mean @first_line notitle
}
set output
set terminal pop
