# SPDX-License-Identifier: GPL-3.0-or-later
# The rate of writes in order over what was written since the rest before them:
# the first time, and again. Below, how much of it was fast after shorter rests.
# gnuplot -c sustained_write.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
# Phases rest-2723: so many ms of rest.
two = int(system(sprintf("awk -F, '$3==\"sustained-write\" && $4 ~ /^rest-/ && $5==\"w\" { print; exit }' %s | wc -l", samples)))
if (two) { height = 760 }
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line for each MiB or more: MiB since the pass began, MB/s. Requests that are
# under way together may end in any order, so what counts is the last end so far.
rows(phase, step) = sprintf("awk -F, '$3==\"sustained-write\" && $4==\"%s\" && $5==\"w\" { \
if (!begun) { begun = 1; end = from = $10 } if ($11 > end) end = $11; \
bytes += $9; all += $9; if (bytes >= %.9g) { if (end > from) print all/1048576, bytes*1000/(end - from); from = end; bytes = 0 } }' %s", phase, step, samples)
once_rows = rows("first", 1048576.)
if (!measured(once_rows)) { eval nothing }
stats "< ".once_rows using 1:2 nooutput
written = STATS_max_x
top = STATS_max_y
# A full cache that is copied out piece by piece is quick in between: the line is
# the rate of longer parts.
cache = value_of("fast_cache")/1048576.
axis_low = 0; axis_high = cache == cache && cache*6 < written ? cache*6 : written
part = (axis_high/24. < 4 ? 4 : axis_high/24.)*1048576.
if (two) {
    set multiplot
    set bmargin ascii ? 6 : 6.2
    set size 1,0.5
    set origin 0,0.5
    set key at screen 0.52, screen 0.51
}
eval titled(headline("Written fast after a rest", "fast_cache"), \
    found("fast_write_rate") && found("sustained_write_rate") ? sprintf("%s until then, and %s beyond; each mark is 1 MiB", text_of("fast_write_rate"), text_of("sustained_write_rate")) : \
    verdict("fast_cache") eq "absent" && found("sustained_write_rate") ? sprintf("%s all along; each mark is 1 MiB", text_of("sustained_write_rate")) : "each mark is 1 MiB")
set xrange [axis_low:axis_high]
set yrange [0:top*1.25]
set xlabel "written in order since a rest (MiB)"
set ylabel "MB/s"
eval chosen(cache, low_of("fast_cache")/1048576., high_of("fast_cache")/1048576., found("fast_cache") ? text_of("fast_cache") : "")
if (measured(rows("rested", part))) {
    plot "< ".once_rows.once_linear using 1:2 @first title "1 MiB", \
         "< ".rows("first", part) using 1:2 @first_fit title "longer parts", \
         "< ".rows("rested", part) using 1:2 @second_fit title "the same after another rest"
} else {
    plot "< ".once_rows.once_linear using 1:2 @first title "1 MiB", \
         "< ".rows("first", part) using 1:2 @first_fit title "longer parts"
}
if (two) {
    # "s MiB": the part at the beginning that was fast, above the middle of both
    # rates. A slow MiB weighs as three fast ones, as a full cache is quick in between.
    middle = found("fast_write_rate") && found("sustained_write_rate") ? \
        sqrt(value_of("fast_write_rate")*value_of("sustained_write_rate"))/1e6 : top/3.
    rests = sprintf("awk -F, -v middle=%.9g '$3==\"sustained-write\" && $4 ~ /^rest-/ && $5==\"w\" { \
if ($4 != last) { if (last) print substr(last, 6)/1e3, fast; last=$4; fast=bytes=all=sum=best=0; end=from=$10 } \
if ($11 > end) end=$11; bytes+=$9; all+=$9; if (bytes >= 1048576) { sum+=bytes*1000 > middle*(end-from) ? 1 : -3; \
if (sum > best) { best=sum; fast=all/1048576 } from=end; bytes=0 } } \
END { print substr(last, 6)/1e3, fast }' %s", middle, samples)
    set origin 0,0
    unset arrow
    unset object
    unset label
    eval titled(headline("Fast again", "fast_cache_recovery"), "how much was written fast after a rest; dashed: nine tenths of all of it")
    set key at screen 0.52, screen 0.01
    axis_low = 0.04; axis_high = 70; axis_log = 1
    set logscale x 10
    set xrange [axis_low:axis_high]
    set xtics ("0.1 s" 0.1, "1 s" 1, "10 s" 10, "60 s" 60)
    set yrange [0:*]
    set xlabel "rest before it"
    set ylabel "fast (MiB)"
    rest = value_of("fast_cache_recovery")/1e9
    eval chosen(rest, low_of("fast_cache_recovery")/1e9, high_of("fast_cache_recovery")/1e9, rest == rest ? text_of("fast_cache_recovery") : "")
    plot "< ".rests using 1:2 @first title "after this rest", \
         0.9*cache @second_fit title (cache == cache ? "nine tenths" : "")
    unset multiplot
}
set output
set terminal pop
