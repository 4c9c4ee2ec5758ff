# SPDX-License-Identifier: GPL-3.0-or-later
# What was read where data was discarded, and when.
# gnuplot -c trim.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a read: MiB from the first place, ms.
rows(returned) = sprintf("awk -F, '$3==\"trim\" && $5!=\"\" { if (!first) first=$8; \
if ($7==\"read\" && $16 ~ /^(%s)$/) print ($8-first)/1048576, ($11-$10)/1e6 }' %s", returned, samples)
discards = sprintf("awk -F, '$3==\"trim\" && $7==\"discard\" { if (!first) first=$8; print ($8-first)/1048576, ($11-$10)/1e6 }' %s", samples)
if (!measured(discards)) { eval nothing }
eval titled(headline("Discard", "trim_reads"), found("trim_time") ? \
    sprintf("a discard of 1 MiB takes %s; each mark is a discard, or a read behind it", text_of("trim_time")) : \
    "each mark is a discard of 1 MiB, or a read of what was discarded")
set xlabel "place"
set format x "%g MiB"
set logscale y
set format y "%g ms"
set ylabel "latency"
set xrange [-1:65]
from(rows) = "< ".rows.once_linear
plot from(discards) using 1:($2 > 0 ? $2 : 1/0) @third title "discard", \
     from(rows("zeros")) using 1:2 @first title "read: zeros", \
     from(rows("same|other|unseen")) using 1:2 @second title "read: old, or something else"
set output
set terminal pop
