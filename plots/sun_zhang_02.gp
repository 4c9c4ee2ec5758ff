# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 2: each of 1000 random reads of 4 KB.
# gnuplot -c sun_zhang_02.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
reads = rows("basic", "section-3-2", "random-read")
eval titled("Random reads of 4 KB over the whole stick", "1000 trials")
set xlabel "trial"
set ylabel "latency (ms)"
set yrange [0:2]
eval paper_line(1, 0.75, "0.75 ms")
eval paper_line(2, 1.0, "1 ms")
plot "< ".reads using 1:2 @first title "a read"
eval claim("the faster kind of random reads", "0.75", middle(reads, 0, 0.87), "ms")
eval claim("the slower kind", "1", middle(reads, 0.87, 5), "ms")
set output
set terminal pop
