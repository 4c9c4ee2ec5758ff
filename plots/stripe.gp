# SPDX-License-Identifier: GPL-3.0-or-later
# Pairs of reads sent together, over how far apart they lie.
# gnuplot -c stripe.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a pair of the scan, or of any distance where there was none: KiB, and us
# until both are done.
pairs = sprintf("awk -F, '$3==\"stripe\" && $4 ~ /^(%%s)$/ && $5 ~ /-b$/ { n++; if (n %% 2) { at=$8; from=$10; end=$11 } else { if ($11 > end) end=$11; print ($8-at)/1024, (end-from)/1000 } }' %s", samples)
scan = sprintf(pairs, "scan")
rows = measured(scan) ? scan : sprintf(pairs, "screen|serial")
alone = sprintf("awk -F, '$3==\"stripe\" && $5 ~ /-a$/ { print 1, ($11-$10)/1000 }' %s", samples)
if (!measured(rows)) { eval nothing }
stats "< ".rows using 1:2 nooutput
# The few that something else held up would leave no room for the others.
top = 3*STATS_median_y
read_us = real(system(alone.medians." | awk '{ print $2 }'"))
eval titled(headline("Stripe unit", "stripe_unit").(found("parallel_units") ? " on ".text_of("parallel_units")." units" : ""), \
    "two reads of 2 KiB sent together; on one unit one waits for the other")
eval size_axis(STATS_min_x, STATS_max_x)
set yrange [0:top]
set ytics nice(top/6)
set xlabel "distance between the reads of a pair"
eval y_named("both done (".us.")")
unit = value_of("stripe_unit")/1024
period = unit*value_of("parallel_units")
eval chosen(period, period - unit, period + unit, period == period ? "first unit again" : "")
x_text(x) = size_text(x)
plot "< ".rows.once using 1:2 @first title "a pair", \
     read_us @second_line title "a read alone", \
     for [k=1:tips] "< ".rows.medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
