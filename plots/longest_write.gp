# SPDX-License-Identifier: GPL-3.0-or-later
# How long sequential writes at a steady rate take, over the time.
# gnuplot -c longest_write.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a write: s since the first, and us.
rows = sprintf("awk -F, '$3==\"longest-write\" && $4==\"paced\" && $7==\"write\" { if (!b) b=$10; print ($10-b)/1e9, ($11-$10)/1000 }' %s", samples)
if (!measured(rows)) { eval nothing }
stats "< ".rows using 1:2 nooutput
eval titled(headline("Longest write", "longest_write"), found("logger_buffer") ? "a buffer of ".text_of("logger_buffer")." bridges it" : "sequential writes at a steady rate")
eval time_axis(STATS_min_y/1.3, STATS_max_y*1.3)
axis_low = 0; axis_high = STATS_max_x
set xrange [axis_low:axis_high]
set xtics nice(axis_high/5)
set xlabel "time (s)"
eval y_named("latency")
x_text(x) = sprintf("%.3g s", x)
longest = rows." | sort -k2 -g | tail -n 1"
plot "< ".rows.once using 1:2 @third title "a write", \
     "< ".longest using 1:2 @first title "the longest"
set output
set terminal pop
