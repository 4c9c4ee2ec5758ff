# SPDX-License-Identifier: GPL-3.0-or-later
# Random reads a second over how many are under way at once: each block of them.
# gnuplot -c throughput.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line for each 16 requests of a block, once the queue is full: the depth, and
# what that is in a second. A request that is sent alone counts by what it takes.
rows = sprintf("awk -F, '$3==\"throughput\" && $5 ~ /^(random|double)/ { \
key=$4 \" \" $5 \" \" $6; if (key != last) { last=key; n=0; sum=0; depth=$14 } \
n++; sum+=$11-$10; if (depth == 1) { if (n%%16==0) { print 1, 16e9/sum; sum=0 } next } \
if (n > depth && (n-depth)%%16==1) { if (n > depth+1 && $10 > from) print depth, 16e9/($10-from); from=$10 } }' %s", samples)
if (!measured(rows)) { eval nothing }
eval titled(headline("Random reads", "read_parallelism")." under way at once", \
    found("random_read_rate") ? sprintf("%s at best; each mark is 16 reads of 4 KiB", text_of("random_read_rate")) : "each mark is 16 reads of 4 KiB")
axis_low = 0.8; axis_high = 330; axis_log = 1
set logscale x 2
set xrange [axis_low:axis_high]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256)
stats "< ".rows.medians using 2 nooutput
set yrange [0:2.2*STATS_max]
set format y "%.0f"
set lmargin 12
set xlabel "under way at once"
set ylabel "reads a second"
knee = value_of("read_parallelism")
eval chosen(knee, knee, knee, found("read_parallelism") ? text_of("read_parallelism") : "")
plot "< ".rows.once using 1:2 @first title "16 reads", \
     "< ".rows.fit using 1:2 @first_fit title "median"
set output
set terminal pop
