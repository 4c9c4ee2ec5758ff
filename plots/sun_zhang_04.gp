# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 4: each of 1000 random writes of 4 KB.
# gnuplot -c sun_zhang_04.gp SUN_ZHANG.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/papers.gp"
eval titled("Random writes of 4 KB over the whole stick", "1000 trials of ones; a 32nd of the stick holds zeros, the rest ones")
set xlabel "trial"
set ylabel "latency (ms)"
set yrange [0:140]
eval paper_line(1, 120, "120 ms")
plot "< ".rows(4, "") using 1:2 @first title "a write"
eval claim("most random writes", "120", middle(rows(4, ""), 60, 1e9), "ms")
eval claim("a few of them", "30", middle(rows(4, ""), 10, 60), "ms")
eval claim("very few", "2", middle(rows(4, ""), 0, 10), "ms")
set output
set terminal pop
