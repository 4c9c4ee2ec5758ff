# SPDX-License-Identifier: GPL-3.0-or-later
# Reads alone and beside writes, and these writes, over how many are under way.
# gnuplot -c interference.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
load system(sprintf("dirname '%s'", ARG0))."/series.gp"
rows(operation) = beside_series(samples, operation)
# Marks beside one another, so that many of one kind show.
spread(by) = sprintf(" | awk '{ print $1 + %g + (NR*0.618%%1 - 0.5)*0.2, $2 }'", by)
if (!measured(rows("read"))) { eval nothing }
stats "< (".rows("read")."; ".rows("write").")" using 1:2 nooutput
eval titled(headline("Reads beside 16 writes", "read_slowdown").(found("read_slowdown") ? " as long" : ""), \
    !found("read_priority") ? "reads of 4 KiB, and the writes of 128 KiB beside them" : \
    hedge("read_priority").(field("read_priority", 3) eq "true" ? "reads go before writes that wait" : "reads wait in one queue with writes"))
eval time_axis(STATS_min_y, 2*STATS_max_y)
set xrange [-0.5:3.6]
set xtics ("none" 0, "1" 1, "4" 2, "16" 3)
set xlabel "writes under way (queue depth)"
eval y_named("latency")
x_text(x) = x < 0.5 ? "alone" : sprintf("beside %d", 4**(int(x + 0.5) - 1))
# Above each group its median in figures.
plot for [k=1:any(rows("write"))] "< ".rows("write").spread(0.2).once_linear using 1:2 @third title "write", \
     "< ".rows("read").spread(-0.1).once_linear using 1:2 @first title "read", \
     "< ".rows("read").medians using ($1 - 0.1):2 @second_fit title "median read", \
     for [k=1:!ascii] "< ".rows("read").medians using 1:(y_high):(time_text($2)) with labels offset 0,-0.7 tc rgb warm notitle, \
     for [k=1:tips] "< ".rows("read").medians using ($1 - 0.1):2:(tip($1, $2)) @hover
set output
set terminal pop
