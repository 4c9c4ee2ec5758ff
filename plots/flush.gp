# SPDX-License-Identifier: GPL-3.0-or-later
# What a flush takes, over what was written before it.
# gnuplot -c flush.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a request of a cell: place on the axis, spread by its round, ms.
rows(cell, kind) = sprintf("awk -F, '$3==\"flush\" && $4==\"pages\" && $5 ~ /^p-%s$/ && $7==\"%s\" { \
print index(\"abcdefgh\", substr($5, 3)) - 1 + ($6 %% 16 - 7.5)/40, ($11-$10)/1e6 }' %s", cell, kind, samples)
if (!measured(rows("[a-f]", "flush"))) { eval nothing }
eval titled(headline("Flush", "flush_honesty"), found("flush_time") ? \
    sprintf("behind one write of 4 KiB it takes %s; a write with FUA %s", text_of("flush_time"), text_of("fua_time")) : \
    "each mark is a flush behind what the axis says, a read, or a write with FUA")
set xrange [-0.6:7.6]
set xtics ("nothing" 0, "4 KiB" 1, "16 KiB" 2, "64 KiB" 3, "256 KiB" 4, "in one" 5, "FUA" 6, "read" 7)
set xlabel "what was written before, in pages of 4 KiB"
set ylabel "latency"
set logscale y
set format y "%g ms"
plot "< ".rows("[a-f]", "flush") using 1:($2 > 0 ? $2 : 1/0) @first title "flush", \
     "< ".rows("g", "write") using 1:2 @second title "write with FUA", \
     "< ".rows("h", "read") using 1:2 @third title "read of 4 KiB"
set output
set terminal pop
