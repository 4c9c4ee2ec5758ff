# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 3: sequential reads of 4 KB, summed up.
# gnuplot -c sun_zhang_03.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
reads = rows("basic", "section-3-2", "sequential-read").summed
eval titled("Sequential reads of 4 KB, summed up", "the total grows in proportion, and is about that of random reads")
set xlabel "read so far (KB)"
set ylabel "time so far (ms)"
set yrange [0:*]
stats "< ".reads using 1:2 nooutput
line(x) = STATS_intercept + STATS_slope*x
plot "< ".reads." | awk 'NR%20==0'" using 1:2 @first title "total", line(x) @second_line title "line fitted"
eval claim("correlation with a line", "1", STATS_correlation, "")
set output
set terminal pop
