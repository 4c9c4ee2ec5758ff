# SPDX-License-Identifier: GPL-3.0-or-later
# Random reads a second over how many are under way at once: each block of them.
# Below, long reads and writes in order, bytes a second.
# gnuplot -c throughput.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
# One line for each 16 requests of a block, once the queue is full: the depth, and
# what that is in a second (of `size`: MB). A request that is sent alone counts by
# what it takes. Rounds of writes follow each other: 4 of them, and then as many as
# before.
rows(cells, size) = sprintf("awk -F, '$3==\"throughput\" && $5 ~ /^(%s)/ { \
look=$5 ~ /^write/ ? ($6 < 4 ? 0 : int(log($6)/log(2)+0.001)) : $6; \
key=$4 \" \" $5 \" \" look; if (key != last) { last=key; n=0; sum=0; depth=$14 } \
n++; sum+=$11-$10; part=16e9*(%d ? $9/1e6 : 1); if (depth == 1) { if (n%%16==0) { print 1, part/sum; sum=0 } next } \
if (n > depth && (n-depth)%%16==1) { if (n > depth+1 && $10 > from) print depth, part/($10-from); from=$10 } }' %s", cells, size, samples)
reads = rows("random|double", 0)
order = rows("order", 1)
writes = rows("write", 1)
both = "(".order."; ".writes.")"
two = int(system("{ ".both."; } 2>/dev/null | head -n 2 | wc -l")) > 1
if (two) { height = 680 }
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
if (!measured(reads)) { eval nothing }
stats "< ".reads.medians using 2 nooutput
if (two) {
    stats "< { ".order.medians."; ".writes.medians."; }" using 2 name "ORDER" nooutput
    set multiplot
    set size 1,0.5
    set origin 0,0.5
    set key at screen 0.52, screen 0.51
}
eval titled(found("random_read_rate") ? "Random reads: ".said_of("random_read_rate") : "Random reads", \
    verdict("read_parallelism") eq "absent" ? "one at a time is as fast; a mark is 16 reads of 4 KiB" : \
    "IOPS over queue depth; a mark is 16 reads of 4 KiB")
axis_low = 0.7; axis_high = 370; axis_log = 1
set logscale x 2
set xrange [axis_low:axis_high]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256)
thousands = STATS_max > 5000
set yrange [0:2.2*STATS_max/(thousands ? 1000 : 1)]
set ytics nice(2.2*STATS_max/(thousands ? 1000 : 1)/6)
set ytics add ("0" 0)
set format y thousands ? "%gk" : "%g"
set xlabel "queue depth"
eval y_named("IOPS")
knee = value_of("read_parallelism")
eval chosen(knee, knee, knee, found("read_parallelism") ? "QD ".text_of("read_parallelism") : "")
scale = thousands ? 1000. : 1.
plot "< ".reads.once using 1:($2/scale) @first title "16 reads", \
     "< ".reads.medians using 1:($2/scale) @first_fit title "median", \
     for [k=1:tips] "< ".reads.medians using 1:($2/scale):(sprintf("QD %d: %.0f IOPS", $1, $2)) @hover
if (two) {
    set origin 0,0
    unset arrow
    unset object
    unset label
    # What was found; in words what was not.
    rate(what, name) = strlen(verdict(name)) ? what." ".said_of(name) : ""
    said = rate("read", "sequential_read_rate")
    written = rate("write", "sequential_write_rate")
    eval titled("Sequential".(strlen(said) ? ": ".said : "").(strlen(written) ? (strlen(said) ? ", " : ": ").written : ""), "a mark is 16 requests of up to 256 KiB")
    set key at screen 0.52, screen 0.01
    set yrange [0:2.2*ORDER_max]
    set ytics nice(2.2*ORDER_max/5)
    set format y "%g"
    eval y_named("MB/s")
    tip(x, y) = sprintf("QD %d: %.3g MB/s", x, y)
    plot for [k=1:any(order)] "< ".order.once using ($1*0.96):2 @first title "16 reads", \
         for [k=1:any(order)] "< ".order.medians using 1:2 @first_fit title "medians", \
         for [k=1:any(writes)] "< ".writes.once using ($1*1.04):2 @second title "16 writes", \
         for [k=1:any(writes)] "< ".writes.medians using 1:2 @second_fit notitle, \
         for [k=1:tips] "< { ".order.medians."; ".writes.medians."; }" using 1:2:(tip($1, $2)) @hover
    unset multiplot
}
set output
set terminal pop
