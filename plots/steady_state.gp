# SPDX-License-Identifier: GPL-3.0-or-later
# What a write at a random place takes, over how many were written.
# gnuplot -c steady_state.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line for so many writes: thousands of writes, us a write. Writes that are
# under way together may end in any order, so what counts is the last end so far.
rows(count) = sprintf("awk -F, '$3==\"steady-state\" && $4==\"steady\" && $5==\"w\" { \
if (!begun) { begun = 1; end = from = $10 } if ($11 > end) end = $11; \
if (++n %% %d == 0) { print n/1000, (end - from)/%d/1000; from = end } }' %s", count, count, samples)
# Where it did not come to writes: reads of the drive at rest, in their turn.
rest = sprintf("awk -F, '$3==\"steady-state\" && $4==\"before\" && $5==\"r\" && $7==\"read\" && $11>$10 { print ++n, ($11-$10)/1000 }' %s", samples)
if (!measured(rows(64)) && measured(rest)) {
    stats "< ".rest using 1:2 nooutput
    eval titled(headline("A random write, once the drive cleans", "steady_random_write"), "it did not come to writes; these are reads of the drive at rest")
    set xrange [0:STATS_max_x]
    eval time_axis(STATS_min_y, STATS_max_y)
    set xlabel "reads of the drive at rest, in their turn"
    set ylabel "latency"
    plot "< ".rest.once_linear using 1:2 @first title "a read"
    set output
    set terminal pop
    exit
}
if (!measured(rows(64))) { eval nothing }
stats "< ".rows(64) using 1:2 nooutput
written = STATS_max_x*1000
part = int(written/240/64 < 4 ? 4 : written/240/64)*64
stats "< ".rows(part) using 1:2 nooutput
top = STATS_max_y
axis_low = 0; axis_high = written/1000.
eval titled(headline("A random write, once the drive cleans", "steady_random_write"), \
    found("cleaning_stall") ? sprintf("one in a thousand takes longer than %s; each mark is the mean of %d writes", text_of("cleaning_stall"), part) : \
    sprintf("each mark is the mean of %d writes", part))
set xrange [0:axis_high]
set yrange [0:top*1.25]
set xlabel "writes of 4 KiB at random places, in thousands"
set ylabel us." a write"
level = value_of("steady_random_write")/1000.
if (found("steady_random_write")) {
    set object 91 rectangle from graph 0, first low_of("steady_random_write")/1000. to graph 1, first high_of("steady_random_write")/1000. fc rgb accent fs transparent solid 0.18 noborder behind
    plot "< ".rows(part) using 1:2 @first title sprintf("%d writes", part), \
         "< ".rows(10*part) using 1:2 @first_fit title "ten times as many", \
         level with lines lw 0.85 lc rgb accent title "where it stays"
} else {
    plot "< ".rows(part) using 1:2 @first title sprintf("%d writes", part), \
         "< ".rows(10*part) using 1:2 @first_fit title "ten times as many"
}
set output
set terminal pop
