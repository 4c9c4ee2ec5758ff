# SPDX-License-Identifier: GPL-3.0-or-later
# How long reads wait, over the time: pauses by the clock stand equally far apart,
# in each kind of read.
# gnuplot -c pauses.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a read: s since the first, and us; of a kind, or of all.
rows(kind) = sprintf("awk -F, '$3==\"pauses\" && $7==\"read\" { if (!b) b=$10; if ($4 ~ /%s/) print ($10-b)/1e9, ($11-$10)/1000 }' %s", kind, samples)
if (!measured(rows("."))) { eval nothing }
stats "< ".rows(".") using 1:2 nooutput
eval titled(headline("Pauses every", "pause_period"), found("pause_time") ? "each takes ".text_of("pause_time") : "how long reads wait, over the time")
eval time_axis(STATS_min_y/1.3, STATS_max_y*1.3)
axis_low = 0; axis_high = STATS_max_x
set xrange [axis_low:axis_high]
set xtics nice(axis_high/5)
set xlabel "time (s)"
eval y_named("latency")
x_text(x) = sprintf("%.3g s", x)
longest(kind) = rows(kind)." | sort -k2 -g | tail -n 60"
plot "< ".rows("apart|order").once using 1:2 @third title "reads 1 ms apart", \
     "< ".rows("busy").once using 1:2 @second title "four under way", \
     "< ".longest(".") using 1:2 @first title "the 60 longest"
set output
set terminal pop
