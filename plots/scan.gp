# SPDX-License-Identifier: GPL-3.0-or-later
# The speed of reading, and of writing, the whole drive once in order, over the
# place; and what is bad or slow each time.
# gnuplot -c scan.gp SAMPLES.csv OUTPUT [FINDINGS]; verify.gp sets `probe`.
if (!exists("probe")) { probe = "scan" }
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a request: where it begins in MiB, its bytes, how many us it took.
rows(phase) = sprintf("awk -F, '$3==\"%s\" && $4==\"%s\" && $11>$10 { print $8/1048576, $9, ($11-$10)/1000 }' %s", probe, phase, samples)
if (!measured(rows("read"))) { eval nothing }
stats "< ".rows("read") using 1:2 nooutput
begin = STATS_min_x
end = STATS_max_x + STATS_max_y/1048576.
gib = end - begin > 4096
unit = gib ? 1024. : 1.
parts = 256.
whole(phase) = sprintf("%s | awk '{ i = int(($1 - %.9g)/%.9g); b[i] += $2; t[i] += $3 } END { for (i = 0; i < %d; i++) if (t[i]) print i, b[i]/t[i] }'", rows(phase), begin, (end - begin)/parts, parts)
# Places that were bad: in the first reading, what did not come back, or failed.
bad = sprintf("awk -F, '$3==\"%s\" && $4==\"read\" && ($13!=0 || (\"%s\"==\"verify\" && ($16==\"zeros\" || $16==\"other\"))) { print $8/1048576 }' %s", probe, probe, samples)
stats "< ".whole("read") using 2 nooutput
top = STATS_max
has_writes = any(rows("write"))
if (has_writes) { stats "< ".whole("write") using 2 nooutput; top = top > STATS_max ? top : STATS_max }
eval titled(probe eq "verify" ? headline("Bad places", "bad_places") : headline("Slow places", "slow_places_share"), "each 256th of the region, over its place")
set yrange [0:top*1.15]
set ytics nice(top/5)
set xtics nice(end/unit/5)
set xrange [begin/unit:end/unit]
set xlabel "place (".(gib ? "GiB" : "MiB").")"
eval y_named("MB/s")
bars = ascii ? "with impulses lc rgb 'black'" : sprintf("with impulses lw 1.2 lc rgb '%s'", accent)
at(i) = (begin + (i + 0.5)*(end - begin)/parts)/unit
# Marks nearer to each other than they are wide are one.
column = (end - begin)/unit/250.
row = top/120.
single = sprintf("%s | awk '{ print int($1/%.9g)*%.9g, int($2/$3/%.9g)*%.9g }'", rows("read"), unit*column, column, row, row)
marks = sprintf("%s | awk '{ i = int($1/%.9g); if (!(i in seen)) print i*%.9g; seen[i] }'", bad, unit*column, column)
drawn = "plot '< '.single.once_linear using 1:2 @third title 'one read', '< '.whole('read') using (at($1)):2 @first_line title 'reads'"
if (has_writes) { drawn = drawn.", '< '.whole('write') using (at($1)):2 @second_line title 'writes'" }
if (any(bad)) { drawn = drawn.", '< '.marks using 1:(top*1.1) @bars title 'bad place'" }
eval drawn
set output
set terminal pop
