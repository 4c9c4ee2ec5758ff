# SPDX-License-Identifier: GPL-3.0-or-later
# Which marks are still there, over where they are.
# gnuplot -c capacity.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a mark that was read: GB, and what its read took in ms.
rows(test) = sprintf("awk -F, '$3==\"capacity\" && $7==\"read\" && $5!=\"\" && %s { print $8/1e9, ($11-$10)/1e6 }' %s", test, samples)
kept = rows("$16==\"same\""); lost = rows("$16!=\"same\"")
if (!measured(rows("1"))) { eval nothing }
capacity = value_of("real_capacity")/1e9
eval titled(headline("Capacity", "capacity_kind"), found("real_capacity") ? \
    sprintf("%s of it keep what is written; each mark is a place that was read back", text_of("real_capacity")) : \
    "each mark is a place that was written, and read back later")
stats "< ".rows("1") using 1 nooutput
axis_high = 1.05*STATS_max
set xrange [0:axis_high]
stats "< ".rows("1") using 2 prefix "time" nooutput
set yrange [time_min/3:time_max*3]
set xlabel "place"
set format x "%g GB"
set logscale y
set format y "%g ms"
set ylabel "latency of the read"
if (capacity == capacity && capacity < STATS_max) { eval chosen(capacity, capacity, capacity, text_of("real_capacity")) }
# Where there is none of a kind, one beyond the axis.
from(rows) = "< { ".rows."; echo 1e30 1; }"
plot from(kept) using 1:2 @first title "still there", \
     from(lost) using 1:2 @second title "lost or overwritten"
set output
set terminal pop
