# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 6: sequential writes of 4 KB, summed up.
# gnuplot -c sun_zhang_06.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
writes = rows("basic", "section-3-2", "sequential-write").summed
eval titled("Sequential writes of 4 KB, summed up", "a step at each log block")
set xlabel "written so far (KB)"
set ylabel "time so far (ms)"
set yrange [0:*]
plot "< ".writes using 1:2 @first_line title "total"
stats "< ".writes." | awk '$2-last>60 { if (n++) print $1-at; at=$1 } { last=$2 }'" nooutput
eval claim("from step to step", "256", STATS_median, "KB")
set output
set terminal pop
