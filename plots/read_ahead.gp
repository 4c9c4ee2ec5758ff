# SPDX-License-Identifier: GPL-3.0-or-later
# A read so far beyond a stream, and beyond the same reads in falling order.
# gnuplot -c read_ahead.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# How far the read ends beyond the stream, in KiB: 4 KiB more than its gap.
rows(side) = sprintf("awk -F, '$3==\"read-ahead\" && $5 ~ /-%s$/ { gap=$5; sub(/^.*[a-z-]/, \"\", gap); gap=$5; sub(/-[ab]$/, \"\", gap); sub(/^(gap|ask[0-9]+-)/, \"\", gap); print gap/1024 + 4, ($11-$10)/1000 }' %s", side, samples)
if (!measured(rows("a"))) { eval nothing }
stats "< (".rows("a")."; ".rows("b").")" using 1:2 nooutput
eval titled(headline("Read ahead", "read_ahead"), "a read of 4 KiB beyond a stream, and beyond the same reads in falling order")
eval time_axis(STATS_min_y, STATS_max_y)
eval size_axis(STATS_min_x, STATS_max_x)
set xlabel "end of the read, beyond the stream"
eval y_named("latency")
ahead = value_of("read_ahead")/1024
eval chosen(ahead, low_of("read_ahead")/1024, high_of("read_ahead")/1024, found("read_ahead") ? text_of("read_ahead") : "")
x_text(x) = size_text(x)
plot for [k=1:any(rows("b"))] "< ".rows("b").once using 1:2 @second title "falling order", \
     for [k=1:any(rows("b"))] "< ".rows("b").medians using 1:2 @second_fit notitle, \
     "< ".rows("a").once using 1:2 @first title "stream", \
     "< ".rows("a").medians using 1:2 @first_fit title "medians", \
     for [k=1:tips] "< ".rows("a").medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
