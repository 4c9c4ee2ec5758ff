# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 7: the second of two reads over the distance between them.
# gnuplot -c inter_request_distance.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a measured read: its distance from the read before it, us. Cells
# full-range and in-group are those of --method=paper.
rows(which) = sprintf("awk -F, '$3==\"inter-request-distance\" { \
cell=$5; sub(/^full-range$/, \"x-b\", cell); sub(/^in-group$/, \"x-a\", cell); \
if (cell ~ /-%s$/) { d=$8-last; if (d<0) d=-d; \
print d/%.0f, ($11-$10)/1000 } last=$8 }' %s", which, scale, samples)
scale = 1048576.
both = "(".rows("a")."; ".rows("b").")"
if (!measured(both)) { eval nothing }
stats "< ".both using 1:2 nooutput
farthest = STATS_max_x
if (farthest > 4096) { scale = scale*1024; farthest = farthest/1024; both = "(".rows("a")."; ".rows("b").")" }
bins = 24.
groups = value_of("segment_groups")
eval titled(headline("Segment groups", "segment_groups"), "a read over its distance to the read before it")
eval time_axis(STATS_min_y, STATS_max_y)
unit = scale > 1048576. ? "GiB" : "MiB"
set xlabel "distance to the read before (".unit.")"
eval y_named("latency")
set xrange [-0.03*farthest:farthest*1.02]
parts = both.sprintf(" | awk '{ print int($1/%.9g), $2 }'", farthest/bins).medians
x_text(x) = sprintf("%.3g %s", x, unit)
plot for [k=1:any(rows("b"))] "< ".rows("b").once_linear using 1:2 @second title "far away", \
     for [k=1:any(rows("a"))] "< ".rows("a").once_linear using 1:2 @first title "nearby", \
     "< ".parts using (($1 + 0.5)*farthest/bins):2 @first_fit title "median of a 24th", \
     for [k=1:tips] "< ".parts using (($1 + 0.5)*farthest/bins):2:(tip(($1 + 0.5)*farthest/bins, $2)) @hover
set output
set terminal pop
