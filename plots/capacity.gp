# SPDX-License-Identifier: GPL-3.0-or-later
# Which marks are still there, over where they are.
# gnuplot -c capacity.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
capacity = value_of("real_capacity")/1024**3
end = capacity == capacity ? capacity : 1e30
# Where a drive wraps, a mark beyond its end is there in the place of another.
wraps = verdict("capacity_kind") eq "found" && field("capacity_kind", 3) eq "wraps"
# One line a mark that was read: GiB, and its row, marks beside one another.
rows(test, row) = sprintf("awk -F, '$3==\"capacity\" && $7==\"read\" && $5!=\"\" { gib=$8/1073741824; beyond=%d && gib>=%.9g; same=$16==\"same\"; if (%s) print gib, %g + (NR*0.618%%1 - 0.5)*0.5 }' %s", wraps, end, test, row, samples)
every = rows("1", 0)
kept = rows("same && !beyond", 2)
over = rows("same && beyond", 1)
lost = rows("!same", 0)
if (!measured(every)) { eval nothing }
set lmargin 10.5
title_left = -9.5
set bmargin 3.5
fake = wraps || field("capacity_kind", 3) eq "drops"
eval titled(fake ? "FAKE: ".(capacity == capacity ? hedge("real_capacity")."holds ".text_of("real_capacity") : "its capacity is not there") : headline("Capacity", "capacity_kind"), \
    wraps ? "what is written beyond its end overwrites the rest" : fake ? "what is written beyond its end is lost" : \
    found("real_capacity") ? sprintf("%s keep what is written; each mark was read back", said_of("real_capacity")) : "each mark is a place that was written, and read back")
stats "< ".every using 1:2 nooutput
axis_low = 0; axis_high = 1.05*STATS_max_x
set xrange [-0.03*STATS_max_x:axis_high]
set yrange [-0.6:(fake ? 3.1 : 2.6)]
set xlabel "place (GiB)"
set ytics ("still there" 2, "gone" 0)
if (wraps) { set ytics add ("overwrites" 1) }
set key off
if (fake) { eval chosen(capacity, capacity, capacity, text_of("real_capacity")) }
plot for [k=1:any(kept)] "< ".kept.none_too using 1:2 @first notitle, \
     for [k=1:any(over)] "< ".over.none_too using 1:2 @third notitle, \
     for [k=1:any(lost)] "< ".lost.none_too using 1:2 @second notitle
set output
set terminal pop
