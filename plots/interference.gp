# SPDX-License-Identifier: GPL-3.0-or-later
# Reads alone and beside writes, and these writes, over how many are under way.
# gnuplot -c interference.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a request: 0 (alone), 1 (beside one write), 2 (4) or 3 (16), and us. The
# first of each block fill the queue.
rows(operation) = sprintf("awk -F, '$3==\"interference\" && $5!=\"\" { key=$4 \" \" $5 \" \" $6; if (key != last) { last=key; n=0 } n++; \
lead=$14 > 1 ? $14 : 2; if (n > lead && $7==\"%s\") print index(\"abcd\", substr($5, length($5))) - 1, ($11-$10)/1000 }' %s", operation, samples)
# Marks beside one another, so that many of one kind show; their median below.
aside(by) = sprintf(" | awk '{ print $1 + %g, $2 }'", by)
spread(by) = sprintf(" | awk '{ print $1 + %g + (NR*0.618%%1 - 0.5)*0.2, $2 }'", by)
if (!measured(rows("read"))) { eval nothing }
stats "< (".rows("read")."; ".rows("write").")" using 1:2 nooutput
eval titled(headline("Reads beside 16 writes", "read_slowdown").(found("read_slowdown") ? " as long as alone" : ""), \
    found("read_priority") ? (field("read_priority", 3) eq "true" ? "reads go before writes that wait" : "reads wait in one queue with writes") : "each mark is a read or a write; reads beside 1, 4 and 16 writes under way")
eval time_axis(STATS_min_y, STATS_max_y)
set xrange [-0.5:3.5]
set xtics ("alone" 0, "1" 1, "4" 2, "16" 3)
set xlabel "writes under way"
set ylabel "latency"
plot "< ".rows("write").spread(0.15).once using 1:2 @second title "writes", \
     "< ".rows("read").spread(-0.15).once using 1:2 @first title "reads of 4 KiB", \
     "< ".rows("read").aside(-0.15).fit using 1:2 @first_fit title "median read"
set output
set terminal pop
