# SPDX-License-Identifier: GPL-3.0-or-later
# Second visits of places, and the same places read again at once beside it.
# gnuplot -c mapping_reach.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# Cells ask2-24-4096-256-b and turn24-4096-256-b: 24 places in a span of 4096 KiB,
# each read is in 256 KiB. The span, or what as many places are long, where only
# their number was searched; in KiB, and us.
rows_by(phases, size, side) = sprintf("awk -F, '$3==\"mapping-reach\" && $4 ~ /%s/ && $5 ~ /^(ask[0-9]+-|turn).*-%s$/ { sub(/^(ask[0-9]+-|turn)/, \"\", $5); split($5, of, \"-\"); print %s, ($11-$10)/1000 }' %s", phases, side, size, samples)
spans = rows_by("^spans$", "of[2]", "b")." | sort -un -k1,1 | wc -l"
rows(side) = by_span ? rows_by("^(spans|certify)$", "of[2]", side) : rows_by("^(places|certify|deny)$", "of[1]*of[3]", side)
by_span = int(system(spans)) > 1
if (!measured(rows("b"))) { eval nothing }
stats "< (".rows("a")."; ".rows("b").")" using 1:2 nooutput
eval titled(headline("Mapping cached", "mapping_reach"), found("mapping_miss") ? sprintf("beyond it a read takes %s longer", text_of("mapping_miss")) : "places far apart, the second time")
eval time_axis(STATS_min_y, STATS_max_y)
eval size_axis(STATS_min_x, STATS_max_x)
set xlabel by_span ? "span" : "places"
eval y_named("latency")
reach = value_of("mapping_reach")/1024
eval chosen(reach, low_of("mapping_reach")/1024, high_of("mapping_reach")/1024, found("mapping_reach") ? text_of("mapping_reach") : "")
x_text(x) = size_text(x)
plot for [k=1:any(rows("a"))] "< ".rows("a").once using 1:2 @third title "read again at once", \
     "< ".rows("b").once using 1:2 @first title "second visit", \
     "< ".rows("b").medians using 1:2 @first_fit title "median", \
     for [k=1:tips] "< ".rows("b").medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
