# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 8: random reads inside a group.
# gnuplot -c sun_zhang_08.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
reads = rows("inter-request-distance", "section-4-1", "in-group")
eval titled("Random reads of 4 KB inside one group", "1000 trials in the first of the groups that figure 7 suggests")
set xlabel "trial"
set ylabel "latency (ms)"
set yrange [0:2]
eval paper_line(1, 0.75, "0.75 ms")
plot "< ".reads using 1:2 @first title "a read"
eval claim("nearly all reads", "0.75", middle(reads, 0, 9), "ms")
set output
set terminal pop
