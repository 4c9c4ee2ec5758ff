# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 16: large reads against small ones.
# gnuplot -c sun_zhang_16.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
large = sizes("read", "s")
single = sizes("read", "b")
eval titled("Reads: one large request, or its blocks one by one", "4 KB to 30 x 4 KB; the middle of 20 trials")
set xlabel "blocks of 4 KB"
set ylabel "time of all (ms)"
set yrange [0:*]
plot "< ".single using 1:2 @second title "one by one", "< ".large using 1:2 @first title "one request"
eval claim("one request of 30 blocks, of the time of 30: less than", "0.25", of_30(large)/of_30(single), "|the paper has 0.25 ms a block here, and 0.75 to 1 ms for a single one, which is more than a quarter")
set output
set terminal pop
