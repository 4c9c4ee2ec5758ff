# SPDX-License-Identifier: GPL-3.0-or-later
# The rate of writes in order over what was written since the rest before them:
# where the cache of flash is full it falls.
# gnuplot -c sustained_write.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
load system(sprintf("dirname '%s'", ARG0))."/series.gp"
rows(phase, step) = written_series(samples, phase, step)
once_rows = rows("first", 1048576.)
if (!measured(once_rows)) { eval nothing }
stats "< ".once_rows using 1:2 nooutput
written = STATS_max_x
# The line is the rate of longer parts, of whole pieces that are copied out.
piece = piece_of(once_rows, STATS_max_y)
cache = value_of("fast_cache")/1e6
axis_low = 0; axis_high = cache == cache && cache*4 < written ? cache*4 : written
part = axis_high/32. < 4 ? 4 : axis_high/32.
part = whole_pieces(part, piece)*1e6
parts = rows("first", part); again = rows("rested", part)
# What a few MiB reach for a moment would press all the others to the axis.
stats "< ".once_rows using 2 nooutput
top = STATS_median
if (any(parts)) { stats "< ".parts using 2 nooutput; top = STATS_max > top ? STATS_max : top }
top = top*1.3
mb_text(x) = x < 999.5 ? sprintf("%.3g MB", x) : sprintf("%.3g GB", x/1000.)
fast = (low_of("fast_write_rate") + high_of("fast_write_rate"))/2e6
slow = (low_of("sustained_write_rate") + high_of("sustained_write_rate"))/2e6
both = fast == fast && slow == slow
eval titled(found("fast_cache") && both ? sprintf("SLC cache: %s%s at %s, then %s", hedge("fast_cache"), mb_text(cache), said_of("fast_write_rate"), said_of("sustained_write_rate")) : \
    headline("SLC cache", "fast_cache"), \
    !both && found("sustained_write_rate") ? "sequential writes: ".said_of("sustained_write_rate")." all along" : "sequential writes after a rest".(found("fast_cache") ? "; memory adds to the cache" : ""))
set yrange [0:top]
set format y "%g"
x_unit = axis_high > 5000 ? 1000. : 1.
axis_high = axis_high/x_unit
set xrange [0:axis_high]
set xlabel x_unit > 1 ? "written since the rest (GB)" : "written since the rest (MB)"
set xtics nice(axis_high/5)
set ytics nice(top/6)
eval y_named("MB/s")
eval chosen(cache/x_unit, low_of("fast_cache")/1e6/x_unit, high_of("fast_cache")/1e6/x_unit, mb_text(cache))
# Each level by its name, where it holds and there is room.
level(n, x, y, text) = sprintf("set label %d \"%s\" at %.9g,%.9g center offset 0,0.9 tc rgb '%s' front", 10 + n, text, x, y, dark)
if (found("fast_cache") && both && !ascii) {
    if (cache/x_unit > (strstrt(text_of("fast_write_rate"), "..") ? 0.4 : 0.2)*axis_high) { eval level(1, cache/x_unit/2, fast, text_of("fast_write_rate")) }
    eval level(2, (cache/x_unit + axis_high)/2, slow, text_of("sustained_write_rate"))
}
x_text(x) = "after ".mb_text(x)
y_text(y) = sprintf("%.3g MB/s", y)
plot "< ".once_rows.once_linear using ($1/x_unit):2 @third title "each MiB", \
     for [k=1:any(again)] "< ".again.none_too using ($1/x_unit):2 @second_line title "after another rest", \
     for [k=1:any(parts)] "< ".parts.none_too using ($1/x_unit):2 @first_line title "mean of ".mb_text(part/1e6), \
     for [k=1:tips] "< ".parts.none_too using ($1/x_unit):2:(tip($1, $2)) @hover
set output
set terminal pop
