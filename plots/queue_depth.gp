# SPDX-License-Identifier: GPL-3.0-or-later
# How long random reads take over how many are under way: median, p99 and p99.9;
# below each depth, how many a second that is.
# gnuplot -c queue_depth.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
load system(sprintf("dirname '%s'", ARG0))."/series.gp"
rows = depth_series(samples)
quantile(share, enough) = quantile_of(rows, share, enough)
rates = iops_series(samples)
if (!measured(rows)) { eval nothing }
half = quantile(0.5, 1); most = quantile(0.99, p99_least); rare = quantile(0.999, 2995)
stats "< { ".half."; ".most."; ".rare."; }" using 1:2 nooutput
rate_text(r) = r < 999.5 ? sprintf("%.0f", r) : sprintf(r < 9950 ? "%.1fk" : "%.0fk", r/1000)
eval titled(found("random_read_rate") ? "Random reads: ".said_of("random_read_rate").(found("read_parallelism") ? sprintf(" (QD %s)", text_of("read_parallelism")) : "") : "Random reads by queue depth", \
    "latency of reads of 4 KiB; below each queue depth, its IOPS")
eval time_axis(STATS_min_y/1.7, STATS_max_y*1.2)
axis_low = 0.6; axis_high = STATS_max_x*1.3; axis_log = 1
set logscale x 2
set xrange [axis_low:axis_high]
# "1\n14k" at each depth.
set xtics ()
depths = system(rates)
do for [k=1:words(depths)/2] { set xtics add (sprintf("%s\n%s", word(depths, 2*k-1), ascii ? "" : rate_text(real(word(depths, 2*k)))) real(word(depths, 2*k-1))) }
set bmargin ascii ? 6 : 4.6
set xlabel "queue depth (reads under way), and IOPS" offset 0,-0.5
eval y_named("latency")
knee = value_of("read_parallelism")
eval chosen(knee, knee, knee, "")
x_text(x) = sprintf("QD %d", x)
# Each line has its name where it begins; they lie apart there.
begin(rows, k) = any(rows) ? real(word(system(rows." | head -n 1"), k)) : NaN
named(n, rows, text, colour, rise) = any(rows) && !ascii ? sprintf("set label %d \"%s\" at %.9g,%.9g center offset 0,%g tc rgb '%s' front", 10 + n, text, begin(rows, 1), begin(rows, 2), rise, colour) : ""
eval named(1, half, "median", dark, -1)
eval named(2, most, "p99", soft, 0.9)
eval named(3, rare, "p99.9", warm, begin(rare, 1) == begin(most, 1) && begin(rare, 2) < 1.5*begin(most, 2) ? 2 : 0.9)
if (!ascii) { set key off }
plot for [k=1:any(rare)] "< ".rare using 1:2 with linespoints pt 8 ps 0.8 lw 0.75 lc rgb warm title "p99.9", \
     for [k=1:any(most)] "< ".most using 1:2 with linespoints pt 4 ps 0.6 lw 0.75 lc rgb pale title "p99", \
     "< ".half using 1:2 with linespoints pt 7 ps 0.5 lw 0.75 lc rgb dark title "median", \
     for [k=1:tips] "< ".half using 1:2:("median, ".tip($1, $2)) @hover, \
     for [k=1:tips && any(most)] "< ".most using 1:2:("p99, ".tip($1, $2)) @hover, \
     for [k=1:tips && any(rare)] "< ".rare using 1:2:("p99.9, ".tip($1, $2)) @hover
set output
set terminal pop
