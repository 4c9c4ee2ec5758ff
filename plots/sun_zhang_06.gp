# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 6: sequential writes of 4 KB, summed up.
# gnuplot -c sun_zhang_06.gp SUN_ZHANG.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/papers.gp"
eval titled("Sequential writes of 4 KB, summed up", "a step at each log block")
set xlabel "written so far (KB)"
set ylabel "time so far (ms)"
set yrange [0:*]
plot "< ".rows(6, "sum") using 1:2 @first_fit title "total"
stats "< ".rows(6, "sum")." | awk '$2-last>60 { if (n++) print $1-at; at=$1 } { last=$2 }'" nooutput
eval claim("from step to step", "256", STATS_median, "KB")
set output
set terminal pop
