# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang table 2: writes to m places in turn, from the second turn on. Below,
# how long a block is: writes to as many places as have a log, and to one more that
# lies near one of them.
# gnuplot -c log_list.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
# Cells pair32768-a: how far the two lie apart that may share a block.
pairs = sprintf("awk -F, '$3==\"log-list\" && $4 ~ /^end/ && $5 ~ /^pair[0-9]+-a$/ { \
if ($7==\"write\") { us=($11-$10)/1000; next } size=substr($5, 5)+0; if (size<2^50) print size/1024, us+($11-$10)/1000 }' %s", samples)
two = int(system(pairs." | wc -l")) > 1
if (two) { height = 680 }
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a write with its flush: places in turn, us. Cells spread12-a were
# asked in the search, stride8-a in the certificate, settled8-a in both; a place
# written for the first time (early1-a, fresh1-a) and again (early1-b) counts as one place; m3 are
# those of --method=paper, without flushes.
rows(which) = sprintf("awk -F, '$3==\"log-list\" && $5!=\"\" { \
if ($4 ~ /^section/) { if ($5 ~ /^m[0-9]/ && \"search\"==\"%s\") print substr($5, 2), ($11-$10)/1000; next } \
if ($7==\"write\") { us=($11-$10)/1000; next } us+=($11-$10)/1000; m=0; kind=\"search\"; \
if ($4==\"costs\") { m=1; if ($5 ~ /^(early|fresh)[0-9]+-a$/) kind=\"fresh\" } \
else if ($5 ~ /^(spread|stride|settled)[0-9]+/) { m=$5; sub(/^[a-z]+/, \"\", m); m+=0 } \
if ($4 ~ /^(certify|settled)/) kind=\"certify\"; \
if (m && kind==\"%s\") print m, us }' %s", which, which, samples)
every = "(".rows("search")."; ".rows("certify").")"
if (!measured(every)) { eval nothing }
stats "< (".rows("fresh")."; ".rows("search")."; ".rows("certify").")" using 1:2 nooutput
least = STATS_min_y; most = STATS_max_y; largest = STATS_max_x
if (two) {
    stats "< ".pairs using 1:2 name "PAIRS" nooutput
    set multiplot
    set bmargin ascii ? 6 : 6.2
    set size 1,0.5
    set origin 0,0.5
    set key at screen 0.52, screen 0.51
}
eval titled(headline("Open units (log list)", "log_list"), "writes to blocks in turn, from the second turn on")
eval time_axis(least, most)
set logscale x 2
axis_low = 0.7; axis_high = (largest < 4 ? 4 : largest)*1.25; axis_log = 1
set xrange [axis_low:axis_high]
set xtics 2
eval chosen(value_of("log_list"), low_of("log_list"), high_of("log_list"), span_of("log_list"))
set xlabel "blocks written in turn"
eval y_named("write and flush")
x_text(x) = sprintf("%d", x)
plot for [k=1:any(rows("fresh"))] "< ".rows("fresh").once using ($1*0.93):2 @third title "first write to a block", \
     for [k=1:any(rows("search"))] "< ".rows("search").once using ($1*0.98):2 @second title "search", \
     for [k=1:any(rows("certify"))] "< ".rows("certify").once using ($1*1.02):2 @first title "certificate", \
     "< ".every.medians using 1:2 @first_fit title "median", \
     for [k=1:tips] "< ".every.medians using 1:2:(tip($1, $2)) @hover
if (two) {
    set origin 0,0
    unset arrow
    unset object
    unset label
    block = value_of("log_block")/1024
    eval titled(headline("Open unit (log block)", "log_block"), "one place more than there are: fast where it shares the block of another")
    set key at screen 0.52, screen 0.01
    eval size_axis(PAIRS_min_x, 2*PAIRS_max_x)
    eval time_axis(PAIRS_min_y, PAIRS_max_y)
    eval chosen(block, low_of("log_block")/1024, high_of("log_block")/1024, span_of("log_block"))
    set xlabel "distance between the two"
    eval y_named("write and flush")
    plot "< ".pairs.once using 1:2 @second title "search", \
         "< ".pairs.medians using 1:2 @first_fit title "median", \
         for [k=1:tips] "< ".pairs.medians using 1:2:(size_text($1).": ".y_text($2)) @hover
    unset multiplot
}
set output
set terminal pop
