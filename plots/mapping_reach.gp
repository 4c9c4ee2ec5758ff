# SPDX-License-Identifier: GPL-3.0-or-later
# The second of two sweeps over a span, and over 64 MiB or two places beside it.
# gnuplot -c mapping_reach.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# The span in KiB ("span1024-16" is read in each 16 MiB), and us.
rows(side) = sprintf("awk -F, '$3==\"mapping-reach\" && $4 != \"again\" && $5 ~ /-%s$/ { span=$5; sub(/-[ab]$/, \"\", span); sub(/^(span|ask[0-9]+-)/, \"\", span); print span*1024, ($11-$10)/1000 }' %s", side, samples)
if (!measured(rows("b"))) { eval nothing }
stats "< (".rows("a")."; ".rows("b").")" using 1:2 nooutput
eval titled(headline("Mapping cached", "mapping_reach"), found("mapping_miss") ? sprintf("beyond it a read takes %s longer", text_of("mapping_miss")) : "one read in each part of a span, the second time")
eval time_axis(STATS_min_y, STATS_max_y)
eval size_axis(STATS_min_x, STATS_max_x)
set xlabel "span"
eval y_named("latency")
reach = value_of("mapping_reach")/1024
eval chosen(reach, low_of("mapping_reach")/1024, high_of("mapping_reach")/1024, found("mapping_reach") ? text_of("mapping_reach") : "")
x_text(x) = size_text(x)
plot for [k=1:any(rows("a"))] "< ".rows("a").once using 1:2 @third title "64 MiB, or two places", \
     "< ".rows("b").once using 1:2 @first title "the span", \
     "< ".rows("b").medians using 1:2 @first_fit title "median", \
     for [k=1:tips] "< ".rows("b").medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
