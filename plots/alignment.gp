# SPDX-License-Identifier: GPL-3.0-or-later
# What a read across a boundary takes beside one next to it, by alignment.
# gnuplot -c alignment.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
rows(side) = sprintf("awk -F, '$3==\"alignment\" && $4 != \"again\" && $5 ~ /-%s$/ { align=$5; gsub(/[^0-9]/, \"\", align); print align/1024, ($11-$10)/1000 }' %s", side, samples)
if (!measured(rows("b"))) { eval nothing }
stats "< (".rows("a")."; ".rows("b").")" using 1:2 nooutput
eval titled(headline("Read unit (read page)", "read_page"), headline("Boundary of reads", "read_boundary"))
eval time_axis(STATS_min_y, STATS_max_y)
eval size_axis(STATS_min_x, STATS_max_x)
set xlabel "alignment of the boundary"
eval y_named("latency")
page = value_of("read_page")/1024
eval chosen(page, low_of("read_page")/1024, high_of("read_page")/1024, found("read_page") ? text_of("read_page") : "")
x_text(x) = size_text(x)
plot "< ".rows("a").once using 1:2 @third title "beside it", \
     "< ".rows("a").medians using 1:2 @second_fit notitle, \
     "< ".rows("b").once using 1:2 @first title "across it", \
     "< ".rows("b").medians using 1:2 @first_fit title "medians", \
     for [k=1:tips] "< ".rows("b").medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
