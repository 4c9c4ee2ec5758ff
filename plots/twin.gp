# SPDX-License-Identifier: GPL-3.0-or-later
# What was measured, and what the twin would have taken, by kind of request.
# gnuplot -c twin.gp TWIN.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a kind: measured and predicted medians, us.
rows(name) = sprintf("awk -F, '$3==\"twin\" && $5==\"%s\" && $8>0 && $9>0 { print $8/1000, $9/1000 }' %s", name, samples)
every = "(".rows("read")."; ".rows("write")."; ".rows("flush").")"
if (!measured(every)) { eval nothing }
stats "< ".every using 1:2 nooutput
least = STATS_min_x < STATS_min_y ? STATS_min_x : STATS_min_y
most = STATS_max_x > STATS_max_y ? STATS_max_x : STATS_max_y
eval titled("The twin", "the median of each kind of request; on the line both agree")
eval time_axis(least, most)
set logscale x 10
set xrange [least/1.25/room(least, most):most*1.5*room(least, most)]
eval sprintf("set xtics (%s); set mxtics 10", decade_names)
set xlabel "measured"
eval y_named("the twin's")
plot x with lines lw 0.6 lc rgb pale notitle, \
     for [k=1:any(rows("read"))] "< ".rows("read").once using 1:2 @first title "read", \
     for [k=1:any(rows("write"))] "< ".rows("write").once using 1:2 @second title "write", \
     for [k=1:any(rows("flush"))] "< ".rows("flush").once using 1:2 @third title "flush"
set output
set terminal pop
