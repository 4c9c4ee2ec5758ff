# SPDX-License-Identifier: GPL-3.0-or-later
# The rate of writes in order over what was written since the rest before them:
# the first time, and again.
# gnuplot -c sustained_write.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
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
set output
set terminal pop
