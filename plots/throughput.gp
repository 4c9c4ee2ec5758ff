# SPDX-License-Identifier: GPL-3.0-or-later
# Random reads a second over how many are under way at once: each block of them.
# Below, long reads and writes in order, bytes a second.
# gnuplot -c throughput.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
# One line for each 16 requests of a block, once the queue is full: the depth, and
# what that is in a second (of `size`: MB). A request that is sent alone counts by
# what it takes.
rows(cells, size) = sprintf("awk -F, '$3==\"throughput\" && $5 ~ /^(%s)/ { \
key=$4 \" \" $5 \" \" $6; if (key != last) { last=key; n=0; sum=0; depth=$14 } \
n++; sum+=$11-$10; part=16e9*(%d ? $9/1e6 : 1); if (depth == 1) { if (n%%16==0) { print 1, part/sum; sum=0 } next } \
if (n > depth && (n-depth)%%16==1) { if (n > depth+1 && $10 > from) print depth, part/($10-from); from=$10 } }' %s", cells, size, samples)
reads = rows("random|double", 0)
order = rows("order", 1)
writes = rows("write", 1)
both = "(".order."; ".writes.")"
two = int(system(both." | wc -l")) > 1
if (two) { height = 760 }
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
if (!measured(reads)) { eval nothing }
stats "< ".reads.medians using 2 nooutput
if (two) {
    stats "< { ".order.medians."; ".writes.medians."; }" using 2 name "ORDER" nooutput
    set multiplot
    set bmargin ascii ? 6 : 6.2
    set size 1,0.5
    set origin 0,0.5
    set key at screen 0.52, screen 0.51
}
eval titled(verdict("read_parallelism") eq "absent" ? "Random reads: one at a time is as fast" : headline("Random reads", "read_parallelism")." under way at once", \
    found("random_read_rate") ? sprintf("%s at best; each mark is 16 reads of 4 KiB", text_of("random_read_rate")) : "each mark is 16 reads of 4 KiB")
axis_low = 0.8; axis_high = 330; axis_log = 1
set logscale x 2
set xrange [axis_low:axis_high]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256)
set yrange [0:2.2*STATS_max]
set format y "%.0f"
set lmargin 12
set xlabel "under way at once"
set ylabel "reads a second"
knee = value_of("read_parallelism")
eval chosen(knee, knee, knee, found("read_parallelism") ? text_of("read_parallelism") : "")
plot "< ".reads.once using 1:2 @first title "16 reads", \
     "< ".reads.fit using 1:2 @first_fit title "median"
if (two) {
    set origin 0,0
    unset arrow
    unset object
    unset label
    # What was found; in words what was not.
    rate(what, name) = strlen(verdict(name)) ? what." ".text_of(name) : ""
    said = rate("reads", "sequential_read_rate")
    written = rate("writes", "sequential_write_rate")
    eval titled("In order".(strlen(said) ? ": ".said : "").(strlen(written) ? (strlen(said) ? ", " : ": ").written : ""), "each mark is 16 requests")
    set key at screen 0.52, screen 0.01
    set yrange [0:2.2*ORDER_max]
    set ylabel "MB/s"
    plot "< ".order.once using ($1*0.96):2 @first title "16 reads in order", \
         "< ".order.fit using 1:2 @first_fit title "medians", \
         "< ".writes.once using ($1*1.04):2 @second title "16 writes in order", \
         "< ".writes.fit using 1:2 @second_fit title ""
    unset multiplot
}
set output
set terminal pop
