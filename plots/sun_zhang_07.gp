# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 7: random reads over the distance to the read before.
# gnuplot -c sun_zhang_07.gp SUN_ZHANG.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/papers.gp"
eval titled("Random reads by the distance to the read before", "the same 1000 reads as in figure 2")
set xlabel "distance (MB)"
set ylabel "latency (ms)"
set yrange [0:2]
set xrange [0:1000]
set arrow 60 from 240, graph 0 to 240, graph 1 nohead dt 2 lw 0.75 lc rgb accent
set label 60 "paper: 240 MB" at 240, graph 0.95 left offset character 0.8,0 tc rgb accent
plot "< ".rows(7, "") using 1:2 @first title "a read"
eval claim("farther apart than 240 MB", "1", middle("awk -F, '$1==7 && $3>240 { print $3, $4 }' ".samples, 0, 9), "ms")
stats "< ".rows(7, "")." | awk '$2<0.87'" using 1:2 nooutput
eval claim("the largest distance without a switch", "240", STATS_max_x, "MB")
set output
set terminal pop
