# SPDX-License-Identifier: GPL-3.0-or-later
# What was read where data was discarded, and when.
# gnuplot -c trim.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a read: MiB from the first place, us.
rows(returned) = sprintf("awk -F, '$3==\"trim\" && $5!=\"\" { if (!first) first=$8; \
if ($7==\"read\" && $16 ~ /^(%s)$/) print ($8-first)/1048576, ($11-$10)/1000 }' %s", returned, samples)
discards = sprintf("awk -F, '$3==\"trim\" && $7==\"discard\" { if (!first) first=$8; print ($8-first)/1048576, ($11-$10)/1000 }' %s", samples)
if (!measured(discards)) { eval nothing }
eval titled(headline("Discard", "trim_reads"), found("trim_time") ? \
    sprintf("a discard of 1 MiB takes %s; then it is read", said_of("trim_time")) : \
    "discards of 1 MiB, and reads of what was discarded")
set xlabel "place"
set format x "%g MiB"
every = sprintf("{ %s; %s; }", discards, rows("[a-z]+"))." | awk '$2 > 0'"
stats "< ".every using 1:2 nooutput
eval time_axis(STATS_min_y, STATS_max_y)
eval y_named("latency")
set xrange [-1:65]
from(rows) = "< ".rows.once_linear
zeros = rows("zeros"); others = rows("same|other|unseen")
took = discards." | awk '$2 > 0'"
plot for [k=1:any(took)] from(took) using 1:2 @third title "discard", \
     for [k=1:any(zeros)] from(zeros) using 1:2 @first title "read: zeros", \
     for [k=1:any(others)] from(others) using 1:2 @second title "read: not zeros"
set output
set terminal pop
