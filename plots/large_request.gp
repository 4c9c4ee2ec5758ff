# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 16 to 19: reads and writes over their size.
# gnuplot -c large_request.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
load system(sprintf("dirname '%s'", ARG0))."/series.gp"
rows(name) = size_series(samples, name)
if (!measured(rows("read"))) { eval nothing }
stats "< (".rows("read")."; ".rows("write").")" using 1:2 nooutput
largest = STATS_max_x
# The lines that were found; that of the writes begins where their medians say.
overhead = value_of("request_overhead")/1e6
read_cost = value_of("read_cost_4k")/1e6
write_cost = value_of("write_cost_4k")/1e6
begin = 0
writes = measured(rows("write")) && write_cost == write_cost
if (writes) { stats "< ".rows("write").medians using ($2 - write_cost*$1/4) nooutput; begin = STATS_median }
line(overhead, cost, x) = overhead + cost*x/4
# "a read begins with 287 us; 4 KiB more cost 36.0 us read, 44.0 us written"
cost_of(name, done) = found(name) ? sprintf(" %s %s", text_of(name), done) : " unknown ".done
eval titled("Large requests", found("request_overhead") ? \
    sprintf("a read begins with %s; 4 KiB more cost%s,%s", text_of("request_overhead"), cost_of("read_cost_4k", "read"), cost_of("write_cost_4k", "written")) : \
    "reads, and writes with the flush behind them")
set xrange [0:largest*1.05]
# What took much longer would press the lines to the axis: a few, or small writes
# that made the drive merge. Large requests say how high the lines go.
stats "< (".rows("read").medians."; ".rows("write").medians.")" using ($1 >= largest/2 ? $2 : NaN) nooutput
top = 2*STATS_max
beyond = int(system(sprintf("(%s; %s) | awk '$2 > %.9g' | wc -l", rows("read"), rows("write"), top)))
if (beyond) { set label 4 sprintf("%d slower above", beyond) at graph 0.99, graph 0.96 right tc rgb pale }
set yrange [0:top]
set ytics nice(top/6)
set format x "%.0f KiB"
set xtics autofreq; set xtics largest > 384 ? 256 : 64
set format y "%g ms"
set xlabel "size of the request"
eval y_named("latency")
line_drawn = overhead == overhead && read_cost == read_cost
x_text(x) = size_text(x)
y_text(y) = time_text(1000*y)
plot for [k=1:any(rows("write"))] "< ".rows("write").once using 1:2 @second title "write and flush", \
     for [k=1:writes] line(begin, write_cost, x) @second_line notitle, \
     "< ".rows("read").once using 1:2 @first title "read", \
     for [k=1:line_drawn] line(overhead, read_cost, x) @first_line title "line found", \
     for [k=1:tips] "< ".rows("read").medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
