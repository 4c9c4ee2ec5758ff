# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 9: writes into an empty buffer, and the flush behind them.
# gnuplot -c write_buffer.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a write, all its parts together, and its flush: KiB, us of the write, us
# of the flush. Not those that were slowed down on purpose.
rows = sprintf("awk -F, '$3==\"write-buffer\" && $5!=\"\" && $5!~/^slow/ && $4!~/^(flush|deep)/ { \
if ($4==\"procedure-6\") { print $9/1024, ($11-$10)/1000, \"nan\"; next } if ($4 ~ /^(procedure|small)/) next; \
if ($7==\"write\") { if (!written) size=us=0; size+=$9; us+=($11-$10)/1000; written=1 } \
else if ($7==\"flush\" && written) { print size/1024, us, ($11-$10)/1000; written=0 } }' %s", samples)
flushes = rows." | awk '{ print $1, $3 }'"
# The sizes that the bisection asked for: cells q0-163840-a.
asked = system(sprintf("awk -F, '$3==\"write-buffer\" && $4 ~ /bisect/ && $5 ~ /^q/ { split($5, part, \"-\"); if (!seen[part[2]]++) print part[2] }' %s", samples))
# Where no buffer could be filled in steps: flushes alone, and behind a write.
alone(side) = sprintf("awk -F, '$3==\"write-buffer\" && $7==\"flush\" && $5 ~ /^flush[0-9]+-0-%s$/ { split(substr($5, 6), part, \"-\"); print part[1]/1024, ($11-$10)/1000 }' %s", side, samples)
# Where many writes filled it: KiB written behind the flush, or the rest, us of the
# write.
deep = sprintf("awk -F, '$3==\"write-buffer\" && ($4==\"deep-again\" || ($4==\"bursts\" && $6==0)) && $5!=\"\" { if ($5 FS $6!=round) { round=$5 FS $6; sum=0 }; sum+=$9; if ($4!=\"bursts\" || NR%%32==0) print sum/1024, ($11-$10)/1000 }' %s", samples)
if (measured(deep)) {
    stats "< ".deep using 1:2 nooutput
    eval titled(headline("Write buffer", "write_buffer"), "writes behind a flush, or a rest, which has emptied the buffer")
    eval size_axis(STATS_min_x, STATS_max_x)
    eval time_axis(STATS_min_y, STATS_max_y)
    eval chosen(value_of("write_buffer")/1024, low_of("write_buffer")/1024, high_of("write_buffer")/1024, span_of("write_buffer"))
    set xlabel "written since then"
    eval y_named("latency")
    plot "< ".deep.once using 1:2 @first title "write", \
         "< ".deep.medians using 1:2 @first_fit title "median", \
         for [k=1:tips] "< ".deep.medians using 1:2:(size_text($1).": ".y_text($2)) @hover
    set output
    set terminal pop
    exit
}
if (!measured(rows) && measured(alone("b"))) {
    stats "< (".alone("a")."; ".alone("b").")" using 1:2 nooutput
    eval titled(headline("Write buffer", "write_buffer"), "a flush behind a write, and one behind nothing")
    eval size_axis(STATS_min_x, STATS_max_x)
    eval time_axis(STATS_min_y, STATS_max_y)
    set xlabel "size of the write"
    eval y_named("flush")
    plot for [k=1:any(alone("a"))] "< ".alone("a").once using ($1*0.97):2 @second title "behind nothing", \
         for [k=1:any(alone("a"))] "< ".alone("a").medians using 1:2 @second_fit notitle, \
         "< ".alone("b").once using ($1*1.03):2 @first title "behind a write", \
         "< ".alone("b").medians using 1:2 @first_fit title "medians", \
         for [k=1:tips] "< ".alone("b").medians using 1:2:(size_text($1).": ".y_text($2)) @hover
    set output
    set terminal pop
    exit
}
if (!measured(rows)) { eval nothing }
stats "< (".rows."; ".flushes.")" using 1:2 nooutput
least = STATS_min_y; most = STATS_max_y; smallest = STATS_min_x; largest = STATS_max_x
size = value_of("write_buffer")/1024
# The line that writes follow up to the size that was found.
fitted = size == size
if (fitted) { stats "< ".rows.medians." | awk '$1 <= ".sprintf("%.9g", size)."'" using 1:2 nooutput; fitted = STATS_records > 2 }
line(x) = fitted ? STATS_intercept + STATS_slope*x : NaN
eval titled(headline("Write buffer", "write_buffer"), "a write into the empty buffer, and the flush behind it")
eval size_axis(smallest, largest)
eval time_axis(least, most)
eval chosen(size, low_of("write_buffer")/1024, high_of("write_buffer")/1024, span_of("write_buffer"))
eval rugged(asked, 1024.)
set xlabel "size of the write"
eval y_named("latency")
some = flushes." | grep -v nan"
x_text(x) = size_text(x)
plot for [k=1:any(some)] "< ".some.once using 1:2 @third title "flush after it", \
     "< ".rows.once using 1:2 @first title "write", \
     "< ".rows.medians using 1:2 @first_fit title "median", \
     for [k=1:fitted] line(x) @second_line title "line fitted", \
     for [k=1:rugs] @rug, \
     for [k=1:tips] "< ".rows.medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
