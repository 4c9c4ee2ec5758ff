# SPDX-License-Identifier: GPL-3.0-or-later
# How long synced writes take: which share of them takes longer than what.
# gnuplot -c sync_writes.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a commit, the quickest first: us. A flush ends what its write began.
us(cell) = sprintf("awk -F, '$3==\"sync-writes\" && $5==\"%s\" { if ($7==\"write\") s=$10; if ($7==\"flush\" || \"%s\"!=\"flush\") print ($11-s)/1000 }' %s | sort -g", cell, cell, samples)
# Of those: how rare it is that one takes longer (as a power of ten), and us; a
# point where that has changed by a fiftieth of a decade.
rows(cell) = us(cell)." | awk '{ t[NR]=$1 } END { last=-1; for (i=1; i<=NR; i++) { x=-log((NR-i+0.5)/NR)/log(10); if (x-last>=0.02) { print x, t[i]; last=x } } }'"
if (!measured(rows("flush"))) { eval nothing }
stats "< { ".rows("flush")."; ".rows("fua")."; }" using 1:2 nooutput
eval titled(found("sync_write_p99") ? "Synced writes: p99 ".said_of("sync_write_p99") : "Synced writes", found("sync_write_rate") ? sprintf("one writer does %s%s", text_of("sync_write_rate"), found("sync_write_rate_16") ? ", 16 writers do ".text_of("sync_write_rate_16") : "") : "which share of the commits takes longer")
eval time_axis(STATS_min_y/1.2, STATS_max_y*1.2)
axis_low = 0; axis_high = STATS_max_x*1.02
set xrange [axis_low:axis_high]
set xtics ("half" 0.30103, "p90" 1, "p99" 2, "p99.9" 3)
set xlabel "share of the commits that are quicker"
eval y_named("latency")
x_text(x) = sprintf("one in %.3g", 10**x)
plot "< ".rows("flush") using 1:2 @first_line title "write and flush", \
     for [k=1:any(rows("fua"))] "< ".rows("fua") using 1:2 @second_line title "write with FUA", \
     for [k=1:tips] "< ".rows("flush") using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
