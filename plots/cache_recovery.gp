# SPDX-License-Identifier: GPL-3.0-or-later
# How much is written fast after rests of several lengths: what a cache of flash
# has emptied by then.
# gnuplot -c cache_recovery.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
cache = value_of("fast_cache")/1e6
# A block of 1 MiB that takes less than this counts as fast, ns; the part that is
# fast ends where the blocks so far have gained most on it (rate_quick()).
rate(name) = found(name) ? value_of(name) : 1e30
middle = (1048576e9/rate("fast_write_rate") + 1048576e9/rate("sustained_write_rate"))/2
# Phases rest-2723: so many ms of rest. "s MB".
rests = sprintf("awk -F, -v middle=%.9g '$3==\"sustained-write\" && $4 ~ /^rest-/ && $5==\"w\" { \
if ($4 != last) { if (last) print substr(last, 6)/1e3, fast; last=$4; fast=bytes=all=sum=best=0; end=from=$10 } \
if ($11 > end) end=$11; bytes+=$9; all+=$9; if (bytes >= 1048576) { sum+=middle*bytes/1048576 - (end-from); \
if (sum > best) { best=sum; fast=all/1e6 } from=end; bytes=0 } } \
END { if (last) print substr(last, 6)/1e3, fast }' %s", middle, samples)
if (!measured(rests)) { eval nothing }
stats "< ".rests using 1:2 nooutput
eval titled(headline("SLC cache empty again after", "fast_cache_recovery"), "how much is written fast after a rest")
axis_low = 0.04; axis_high = 70; axis_log = 1
set logscale x 10
set xrange [axis_low:axis_high]
set xtics ("0.1 s" 0.1, "1 s" 1, "10 s" 10, "60 s" 60)
most = cache == cache && cache > STATS_max_y ? cache : STATS_max_y
set yrange [-0.05*most - 0.1:1.25*most + 0.1]
set ytics nice(most/4 + 0.1)
set xlabel "rest before it"
eval y_named("written fast (MB)")
rest = value_of("fast_cache_recovery")/1e9
eval chosen(rest, low_of("fast_cache_recovery")/1e9, high_of("fast_cache_recovery")/1e9, rest == rest ? text_of("fast_cache_recovery") : "")
plot "< ".rests using 1:2 @first title "after this rest", \
     for [k=1:cache == cache] 0.9*cache @second_line title "nine tenths of the cache", \
     for [k=1:tips] "< ".rests using 1:2:(sprintf("%.3g s: %.0f MB", $1, $2)) @hover
set output
set terminal pop
