# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 8: first and second read of one place over the size.
# gnuplot -c read_buffer.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# Rows come in pairs of one place: KiB, us; the first read or the second. Downwards
# a read is all the rows that make up the size that the cell names.
rows(which) = sprintf("awk -F, '$3==\"read-buffer\" && $4 ~ /^down/ && $5!=\"\" { \
if ($5!=cell || $6!=round) second = bytes = us = 0; cell=$5; round=$6; \
split($5, part, \"-\"); size = (part[1] ~ /^r/ ? substr(part[1], 2) : part[2]) + 0; \
bytes += $9; us += ($11-$10)/1000; if (bytes < size) next; \
if (second==%d) print size/1024, us; second = !second; bytes = us = 0; next } \
$3==\"read-buffer\" && $5!=\"\" { \
second = ($8==place && $5==cell && $6==round); place = second ? \"\" : $8; \
cell=$5; round=$6; if ($4 ~ /^procedure/) second=($4==\"procedure-4\"); if (second==%d) print $9/1024, ($11-$10)/1000 }' %s", which, which, samples)
# The sizes that the bisection asked for: cells q0-393216-a.
asked = system(sprintf("awk -F, '$3==\"read-buffer\" && $4 ~ /bisect/ && $5 ~ /^q/ { split($5, part, \"-\"); if (!seen[part[2]]++) print part[2] }' %s", samples))
if (!measured(rows(0))) { eval nothing }
stats "< (".rows(0)."; ".rows(1).")" using 1:2 nooutput
eval titled(headline("Read buffer", "read_buffer"), "the first read of a place (flash), and the second (buffer, if it fits)")
eval size_axis(STATS_min_x, STATS_max_x)
eval time_axis(STATS_min_y, STATS_max_y)
eval chosen(value_of("read_buffer")/1024, low_of("read_buffer")/1024, high_of("read_buffer")/1024, span_of("read_buffer"))
eval rugged(asked, 1024.)
set xlabel "size of the read"
eval y_named("latency")
x_text(x) = size_text(x)
plot for [k=1:any(rows(0))] "< ".rows(0).once using 1:2 @second title "first read", \
     for [k=1:any(rows(0))] "< ".rows(0).medians using 1:2 @second_fit notitle, \
     for [k=1:any(rows(1))] "< ".rows(1).once using 1:2 @first title "second read", \
     for [k=1:any(rows(1))] "< ".rows(1).medians using 1:2 @first_fit title "medians", \
     for [k=1:rugs] @rug, \
     for [k=1:tips] "< ".rows(1).medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
