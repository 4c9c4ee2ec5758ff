# SPDX-License-Identifier: GPL-3.0-or-later
# The first read after a pause, and those behind it.
# gnuplot -c wake_up.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a read: the pause in ms, and us; the first of three, or the others.
rows(first) = sprintf("awk -F, '$3==\"wake-up\" && $5!=\"\" { key=$4 $5 $6; if (key!=last) { n=0; last=key } n++; pause=$5; gsub(/[^0-9]/, \"\", pause); if ((n==1)==%d) print pause/1000, ($11-$10)/1000 }' %s", first, samples)
if (!measured(rows(1))) { eval nothing }
stats "< (".rows(0)."; ".rows(1).")" using 1:2 nooutput
eval titled(headline("Sleeps after", "sleep_after"), found("wake_time") ? sprintf("waking takes %s", text_of("wake_time")) : "the first read after a pause, and those behind it")
eval time_axis(STATS_min_y, STATS_max_y)
axis_low = 0.7; axis_high = 9e4; axis_log = 1
set logscale x 10
set xrange [axis_low:axis_high]
set xtics ("1 ms" 1, "10 ms" 10, "100 ms" 100, "1 s" 1e3, "10 s" 1e4, "60 s" 6e4)
set xlabel "pause before the read"
eval y_named("latency")
sleep = value_of("sleep_after")/1e6
eval chosen(sleep, low_of("sleep_after")/1e6, high_of("sleep_after")/1e6, found("sleep_after") ? text_of("sleep_after") : "")
x_text(x) = time_text(x*1000)
plot for [k=1:any(rows(0))] "< ".rows(0).once using 1:2 @third title "reads behind it", \
     "< ".rows(1).once using 1:2 @first title "first read", \
     for [k=1:tips] "< ".rows(1).medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
