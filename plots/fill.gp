# SPDX-License-Identifier: GPL-3.0-or-later
# The speed of writing everything once in order, over the place: where a quick
# cache ends, or the drive warms up, it falls.
# gnuplot -c fill.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a write: where it begins in MiB, its bytes, how many us it took.
rows = sprintf("awk -F, '$3==\"fill\" && $7==\"write\" && $11>$10 { print $8/1048576, $9, ($11-$10)/1000 }' %s", samples)
if (!measured(rows)) { eval nothing }
stats "< ".rows using 1:2 nooutput
begin = STATS_min_x
end = STATS_max_x + STATS_max_y/1048576.
gib = end - begin > 4096
unit = gib ? 1024. : 1.
parts = 64.
single = rows." | awk '{ print $1, $2/$3 }'"
whole = sprintf("%s | awk '{ i = int(($1 - %.9g)/%.9g); b[i] += $2; t[i] += $3 } END { for (i = 0; i < %d; i++) if (t[i]) print i, b[i]/t[i] }'", rows, begin, (end - begin)/parts, parts)
stats "< ".single using 2 nooutput
eval titled("Speed of a fill", "each write over its place, and each 64th of the region")
set yrange [0:STATS_max*1.15]
set ytics nice(STATS_max/5)
set xtics nice(end/unit/5)
set xrange [begin/unit:end/unit]
set xlabel "place (".(gib ? "GiB" : "MiB").")"
eval y_named("MB/s")
# Marks nearer to each other than they are wide are one.
column = (end - begin)/unit/250.
row = STATS_max/120.
marks = sprintf("%s | awk '{ print int($1/%.9g)*%.9g, int($2/%.9g)*%.9g }'", single, unit*column, column, row, row)
plot "< ".marks.once_linear using 1:2 @third title "one write", \
     "< ".whole using ((begin + ($1 + 0.5)*(end - begin)/parts)/unit):2 @first_line title "a 64th of the region"
set output
set terminal pop
