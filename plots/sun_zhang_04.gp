# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 4: each of 1000 random writes of 4 KB.
# gnuplot -c sun_zhang_04.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
writes = rows("basic", "section-3-2", "random-write")
eval titled("Random writes of 4 KB over the whole stick", "1000 trials")
set xlabel "trial"
set ylabel "latency (ms)"
set yrange [0:140]
eval paper_line(1, 120, "120 ms")
plot "< ".writes using 1:2 @first title "a write"
eval claim("most random writes", "120", middle(writes, 60, 1e9), "ms")
eval claim("a few of them", "30", middle(writes, 10, 60), "ms|the stick was full of random data, and none of its parts held zeros, of which a merge takes so long (figure 9); the paper does not say what its stick held")
eval claim("very few", "2", middle(writes, 0, 10), "ms|a write that needs no merge, but another log than the last, takes as long in the second round of table 2: 2.6 ms")
set output
set terminal pop
