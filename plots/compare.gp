# SPDX-License-Identifier: GPL-3.0-or-later
# One figure of two drives, laid over each other; KIND is the figure's name.
# gnuplot -c compare.gp SAMPLES.csv OUTPUT FINDINGS OTHER.csv KIND NAME OTHER_NAME
# FINDINGS may be "". Both files need rows for it.
output_file = ARG2; findings = ARG3
array file[2]; file[1] = ARG1; file[2] = ARG4
array drive[2]; drive[1] = ARG6; drive[2] = ARG7
kind = ARG5
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
load system(sprintf("dirname '%s'", ARG0))."/series.gp"

# What is drawn of each: a line, and for some kinds a second, dashed one.
array line_of_run[2]; array dashed_of_run[2]
dashed_of_run[1] = "true"; dashed_of_run[2] = "true"
x_unit = 1.; y_unit = 1.
x_scale = "linear"; y_scale = "time"
y_label = "latency"; said = ""
absent(series_1, series_2) = !(any(series_1) && any(series_2))
mb_text(x) = x < 999.5 ? sprintf("%.3g MB", x) : sprintf("%.3g GB", x/1000.)
iops_text(y) = y < 999.5 ? sprintf("%.0f IOPS", y) : sprintf("%.3gk IOPS", y/1000)
largest(a, b) = a > b ? a : b
last_x(rows) = real(system("{ ".rows."; } | tail -n 1 | cut -d' ' -f1"))

if (kind eq "sustained-write") {
    said = "Sequential writes after a rest"
    below = "rate over what was written: it falls where the SLC cache is full"
    each_mib(i) = written_series(file[i], "first", 1048576.)
    if (absent(each_mib(1), each_mib(2))) { eval nothing }
    most = largest(last_x(each_mib(1)), last_x(each_mib(2)))
    do for [i=1:2] {
        stats "< ".each_mib(i) using 2 nooutput
        line_of_run[i] = written_series(file[i], "first", 1e6*whole_pieces(largest(most/48., 4), piece_of(each_mib(i), STATS_max)))
    }
    x_unit = most > 5000 ? 1000. : 1.
    x_label = x_unit > 1 ? "written since the rest (GB)" : "written since the rest (MB)"
    y_scale = "rate"; y_label = "MB/s"
    x_text(x) = "after ".mb_text(x)
    y_text(y) = sprintf("%.3g MB/s", y)
}
if (kind eq "throughput") {
    said = "Random read rate by queue depth"; below = "reads of 4 KiB"
    do for [i=1:2] { line_of_run[i] = iops_series(file[i]) }
    x_scale = "depth"; x_label = "queue depth"
    y_scale = "rate"; y_label = "IOPS"
    y_text(y) = iops_text(y)
}
if (kind eq "queue-depth") {
    said = "Random read latency by queue depth"
    below = "reads of 4 KiB: median, and dashed the p99"
    do for [i=1:2] {
        line_of_run[i] = quantile_of(depth_series(file[i]), 0.5, 1)
        dashed_of_run[i] = quantile_of(depth_series(file[i]), 0.99, p99_least)
    }
    x_scale = "depth"; x_label = "queue depth"
}
if (kind eq "matrix") {
    said = "Random requests by queue depth"
    below = "rate of reads of 4 KiB, and dashed that of writes"
    do for [i=1:2] {
        line_of_run[i] = matrix_series(file[i], "read", "4096")
        if (any(matrix_series(file[i], "write", "4096"))) { dashed_of_run[i] = matrix_series(file[i], "write", "4096") }
    }
    x_scale = "depth"; x_label = "queue depth"
    y_scale = "rate"; y_label = "MB/s"
    y_text(y) = sprintf("%.3g MB/s", y)
}
if (kind eq "interference") {
    said = "Reads beside writes"
    below = "median of reads of 4 KiB, beside writes of 128 KiB"
    do for [i=1:2] { line_of_run[i] = beside_series(file[i], "read").medians }
    x_scale = "beside"; x_label = "queue depth of the writes"
    x_text(x) = x < 0.5 ? "alone" : sprintf("beside %d", 4**(int(x + 0.5) - 1))
}
if (kind eq "large-request") {
    said = "Latency by request size"
    below = "median of reads, and dashed that of writes with their flush"
    do for [i=1:2] {
        line_of_run[i] = size_series(file[i], "read").medians
        if (any(size_series(file[i], "write"))) { dashed_of_run[i] = size_series(file[i], "write").medians }
    }
    y_unit = 1/1000.
    x_scale = "size"
    x_label = "request size (KiB)"
    x_text(x) = size_text(x)
}
if (kind eq "steady-state") {
    said = "Random writes, until the drive cleans"
    below = "mean time per write of 4 KiB, over how many were written"
    if (absent(steady_series(file[1], 64), steady_series(file[2], 64))) { eval nothing }
    most = largest(last_x(steady_series(file[1], 64)), last_x(steady_series(file[2], 64)))
    part = int(largest(most/48/64, 1))*64
    do for [i=1:2] { line_of_run[i] = steady_series(file[i], part) }
    # One is too short beside the other to be a line.
    do for [i=1:2] { if (int(system(line_of_run[i]." | head -n 4 | wc -l")) < 4) { eval nothing } }
    x_unit = most > 5000 ? 1000. : 1.
    x_label = x_unit > 1 ? "writes of 4 KiB (thousands)" : "writes of 4 KiB"
    x_text(x) = sprintf("after %.6g writes", x)
}
if (!strlen(said) || absent(line_of_run[1], line_of_run[2])) { eval nothing }

all = sprintf("{ %s; %s; %s; %s; }", line_of_run[1], line_of_run[2], dashed_of_run[1], dashed_of_run[2])
# Medians print a mark that no axis holds where they have no rows.
stats "< ".all." | awk '$1 < 1e29'" using ($1/x_unit):($2/y_unit) nooutput
eval titled(said, below)
set xlabel x_label
eval y_named(y_label)
if (x_scale eq "depth") {
    set logscale x 2
    set xrange [STATS_min_x/1.3:STATS_max_x*1.3]
    set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, "1024" 1024, "4096" 4096)
    x_text(x) = sprintf("QD %d", x)
} else { if (x_scale eq "beside") {
    set xrange [-0.5:3.5]
    set xtics ("none" 0, "1" 1, "4" 2, "16" 3)
} else {
    set xrange [0:STATS_max_x*1.03]
    set xtics x_scale eq "size" ? (STATS_max_x > 384 ? 256 : 64) : nice(STATS_max_x/5)
} }
# A linear axis would press the slower one, or what is left of a rate, to its end.
if (y_scale eq "time") {
    eval time_axis(STATS_min_y, STATS_max_y)
} else {
    set format y STATS_max_y > 9999 ? "%.0s%c" : "%g"
    if (STATS_max_y > 10*STATS_min_y) {
        set logscale y 10
        set yrange [STATS_min_y/1.6:STATS_max_y*1.6]
    } else {
        set yrange [0:1.15*STATS_max_y]
        set ytics nice(1.15*STATS_max_y/6)
    }
}
# Marks tell the drives apart without colour.
colour(i) = i == 1 ? dark : warm
mark(i) = i == 1 ? 7 : 4
mark_size(i) = i == 1 ? 0.5 : 0.7
# A name of a drive is foreign text, and may be long.
shown(i) = strlen(drive[i]) > 40 ? drive[i][1:37]."..." : drive[i]
plot for [i=1:2] "< ".line_of_run[i] using ($1/x_unit):($2/y_unit) with linespoints pt mark(i) ps mark_size(i) lw 0.75 lc rgb colour(i) title shown(i) noenhanced, \
     for [i=1:2] "< ".dashed_of_run[i].none_too using ($1/x_unit):($2/y_unit) with linespoints pt mark(i) ps 0.6*mark_size(i) lw 0.6 dt 2 lc rgb colour(i) notitle, \
     for [i=1:2] for [k=1:tips] "< ".line_of_run[i] using ($1/x_unit):($2/y_unit):(tip($1, $2/y_unit)) @hover
set output
set terminal pop
