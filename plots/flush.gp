# SPDX-License-Identifier: GPL-3.0-or-later
# What a flush takes, over what was written before it.
# gnuplot -c flush.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a request of a cell: place on the axis, spread by its round, us.
rows(cell, kind) = sprintf("awk -F, '$3==\"flush\" && $4==\"pages\" && $5 ~ /^p-%s$/ && $7==\"%s\" { \
print index(\"abcdefgh\", substr($5, 3)) - 1 + ($6 %% 16 - 7.5)/40, ($11-$10)/1000 }' %s", cell, kind, samples)
if (!measured(rows("[a-f]", "flush"))) { eval nothing }
eval titled(headline("Flush", "flush_honesty"), found("flush_time") ? \
    sprintf("behind one write of 4 KiB it takes %s%s", said_of("flush_time"), found("fua_time") ? "; a write with FUA ".said_of("fua_time") : "") : \
    "a flush behind so many writes, a write with FUA, a read")
set xrange [-0.6:7.6]
set xtics ("0" 0, "4" 1, "16" 2, "64" 3, "256" 4, "256 in\none write" 5, "FUA" 6, "read" 7)
set xlabel "KiB written before the flush, in pages of 4 KiB" offset 0,-0.6
set bmargin ascii ? 6 : 6.4
eval y_named("latency")
every = sprintf("{ %s; %s; %s; }", rows("[a-f]", "flush"), rows("g", "write"), rows("h", "read"))." | awk '$2 > 0'"
stats "< ".every using 1:2 nooutput
eval time_axis(STATS_min_y, STATS_max_y)
x_text(x) = word("nothing 4KiB 16KiB 64KiB 256KiB one FUA read", int(x + 0.5) + 1)
centre = " | awk '$2 > 0 { printf \"%d %g\\n\", $1 + 0.5, $2 }'"
plot "< ".rows("[a-f]", "flush") using 1:($2 > 0 ? $2 : 1/0) @first title "flush", \
     for [k=1:any(rows("g", "write"))] "< ".rows("g", "write") using 1:2 @second title "write with FUA", \
     for [k=1:any(rows("h", "read"))] "< ".rows("h", "read") using 1:2 @third title "read of 4 KiB", \
     for [k=1:tips] "< ".every.centre.medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
