# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 7: the cost of a page by its place in the block. Where reads
# told the type: the places that were read, from the quickest to the slowest.
# gnuplot -c nand_type.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a page: its place in the block, us of the write and its flush. A
# round is a block.
rows = sprintf("awk -F, '$3==\"nand-type\" && $5!=\"\" && $5!=\"fill\" { \
if ($6!=block) { block=$6; place=0 } \
if ($7==\"write\") write_us=($11-$10)/1000; \
else if ($7==\"flush\") print place++, write_us+($11-$10)/1000 }' %s", samples)
reads = sprintf("awk -F, '$3==\"nand-type\" && $5==\"read\" && $4==\"kinds\" { print $8, ($11-$10)/1000 }' %s", samples).medians." | sort -k2,2g | awk '{ v[NR]=$2 } END { for (i=1; i<=NR; i++) print 100*i/NR, v[i] }'"
if (!measured(rows) && measured(reads)) {
    stats "< ".reads using 1:2 nooutput
    eval titled(headline("NAND type", "nand_type"), "median of each place; page kinds are steps")
    eval time_axis(STATS_min_y, STATS_max_y)
    set xrange [-1:101]
    set xlabel "places, from the quickest (%)"
    eval y_named("read of 4 KiB")
    set key off
    plot "< ".reads.once_linear using 1:2 with points @dot ps 0.3 lc rgb dark title "a place"
    set output
    set terminal pop
    exit
}
if (!measured(rows)) { eval nothing }
stats "< ".rows using 1:2 nooutput
eval titled(headline("NAND type", "nand_type"), "a page by its place in the block; all blocks laid over one another")
eval time_axis(STATS_min_y, STATS_max_y)
set xrange [-1:STATS_max_x + 1]
set xlabel "place in the block (pages)"
x_text(x) = sprintf("page %d", x)
eval y_named("write and flush")
plot "< ".rows.once using 1:2 @first title "a page", \
     "< ".rows.medians.once using 1:2 with points pt 7 ps 0.3 lc rgb warm title "median of each place"
set output
set terminal pop
