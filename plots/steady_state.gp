# SPDX-License-Identifier: GPL-3.0-or-later
# What a write at a random place takes, over how many were written.
# gnuplot -c steady_state.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
load system(sprintf("dirname '%s'", ARG0))."/series.gp"
rows(count) = steady_series(samples, count)
if (!measured(rows(64))) { eval nothing }
stats "< ".rows(64) using 1:2 nooutput
written = STATS_max_x
unit = written > 5000 ? 1000. : 1.
part = int(written/240/64 < 4 ? 4 : written/240/64)*64
few = int(system(rows(part)." | wc -l")) < 2
if (few) { part = 64 }
ten = 10*part
stats "< ".rows(part) using 1:2 nooutput
# A range has no value: its middle stands for it.
low = low_of("steady_random_write")/1000.; high = high_of("steady_random_write")/1000.
level = found("steady_random_write") ? sqrt(low*high) : NaN
eval titled(headline("Random write, once the drive cleans", "steady_random_write"), \
    found("cleaning_stall") ? sprintf("one in a thousand takes longer than %s", said_of("cleaning_stall")) : \
    "time of a random write of 4 KiB, over how many were written")
axis_low = 0; axis_high = written/unit
set xrange [0:axis_high*1.02]
eval time_axis(level < STATS_min_y ? level : STATS_min_y, STATS_max_y)
set xlabel unit > 1 ? "writes of 4 KiB (thousands)" : "writes of 4 KiB"
eval y_named("a write, mean")
x_text(x) = sprintf("after %.6g writes", x)
if (found("steady_random_write")) {
    set object 91 rectangle from graph 0, first low to graph 1, first high fc rgb accent fs transparent solid 0.18 noborder behind
}
plot "< ".rows(part).once_linear using ($1/unit):2 @first title sprintf("%d writes", part), \
     for [k=1:any(rows(ten))] "< ".rows(ten).none_too using ($1/unit):2 @first_line title sprintf("%d writes", ten), \
     for [k=1:found("steady_random_write")] level with lines lw 0.85 lc rgb accent title "where it stays", \
     for [k=1:tips && any(rows(ten))] "< ".rows(ten).none_too using ($1/unit):2:(tip($1, $2)) @hover
set output
set terminal pop
