# SPDX-License-Identifier: GPL-3.0-or-later
# What other tools measured of random requests: bytes a second over queue depth, a
# line for each size of them.
# gnuplot -c matrix.gp ROWS.csv OUTPUT [FINDINGS]
# A row: results, number, "matrix", read or write, bytes, depth, bytes a second.
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
load system(sprintf("dirname '%s'", ARG0))."/series.gp"
series(operation, bytes) = matrix_series(samples, operation, bytes)
# Those with a line, which takes two depths.
sizes(operation) = system(sprintf("awk -F, '$3==\"matrix\" && $4==\"%s\" && !seen[$5 \" \" $6]++ && ++depths[$5]==2 { print $5 }' %s | sort -g | tr '\\n' ' '", operation, samples))
reads = sizes("read"); writes = sizes("write")
if (!words(reads) && !words(writes)) { eval nothing }
all = sprintf("awk -F, '$3==\"matrix\" { print $6, $7/1e6 }' %s", samples)
stats "< ".all using 1:2 nooutput
rate_text(mb) = mb < 999.5 ? sprintf("%.3g MB/s", mb) : sprintf("%.3g GB/s", mb/1000)
what = words(reads) ? (words(writes) ? "Random requests" : "Random reads") : "Random writes"
eval titled(found("random_read_rate") ? "Random 4 KiB reads: ".said_of("random_read_rate").(found("read_parallelism") ? sprintf(" (QD %s)", text_of("read_parallelism")) : "") : what." by size and queue depth", \
    words(reads) ? "rate of reads of each size".(words(writes) ? ", and of writes (dashed)" : "") : "rate of writes of each size")
octaves = ceil(log(STATS_max_x/STATS_min_x)/log(2))
aside = 2**(0.17*octaves)
axis_low = STATS_min_x/aside; axis_high = STATS_max_x*(words(writes) ? aside : 1.3); axis_log = 1
set logscale x 2
set xrange [axis_low:axis_high]
set xtics ()
do for [k=0:octaves:(octaves > 8 ? 2 : 1)] { set xtics add (sprintf("%.0f", STATS_min_x*2**k) STATS_min_x*2**k) }
set bmargin ascii ? 6 : 3.4
set xlabel "queue depth"
set logscale y 10
set yrange [STATS_min_y/1.5:STATS_max_y*1.7]
set ytics ("100 kB/s" 0.1, "1 MB/s" 1, "10 MB/s" 10, "100 MB/s" 100, "1 GB/s" 1e3, "10 GB/s" 1e4, "100 GB/s" 1e5)
if (STATS_max_y/STATS_min_y < 30) { set ytics add ("200 kB/s" 0.2, "500 kB/s" 0.5, "2 MB/s" 2, "5 MB/s" 5, "20 MB/s" 20, "50 MB/s" 50, "200 MB/s" 200, "500 MB/s" 500, "2 GB/s" 2e3, "5 GB/s" 5e3) }
set lmargin ascii ? 11 : 9
title_left = -8
eval y_named("rate")
knee = value_of("read_parallelism")
eval chosen(knee, low_of("read_parallelism"), high_of("read_parallelism"), "")
# The size stands where a line of reads begins, and where one of writes ends; above
# that of the line below, where both are close.
close = (1.7*STATS_max_y/(STATS_min_y/1.5))**0.075
last = 1e-9
# The end of a line that `end` prints, "x y".
at_end(operation, bytes, end) = system(series(operation, bytes)." | ".end." -n 1")
above(y) = last*close > y ? last*close : y
do for [bytes in reads] {
    place = at_end("read", bytes, "head")
    last = above(real(word(place, 2)))
    set label size_text(bytes/1024.) at real(word(place, 1)),last right offset character -0.9,0 font sprintf(",%g", small) tc rgb dark front
}
last = 1e-9
do for [bytes in writes] {
    place = at_end("write", bytes, "tail")
    last = above(real(word(place, 2)))
    set label size_text(bytes/1024.) at real(word(place, 1)),last left offset character 0.9,0 font sprintf(",%g", small) tc rgb warm front
}
if (!ascii) { set key off }
# Of an empty list gnuplot asks, too, though it draws nothing of it.
size(list, k) = words(list) ? size_text(word(list, k)/1024.) : ""
plot for [k=1:words(reads)] "< ".series("read", word(reads, k)).none_too using 1:2 @first_fit title "read ".size(reads, k), \
     for [k=1:words(writes)] "< ".series("write", word(writes, k)).none_too using 1:2 @second_fit title "write ".size(writes, k), \
     for [k=1:tips*words(reads)] "< ".series("read", word(reads, k)).none_too using 1:2:(sprintf("%s, QD %d: %s", size(reads, k), $1, rate_text($2))) @hover, \
     for [k=1:tips*words(writes)] "< ".series("write", word(writes, k)).none_too using 1:2:(sprintf("writes of %s, QD %d: %s", size(writes, k), $1, rate_text($2))) @hover
set output
set terminal pop
