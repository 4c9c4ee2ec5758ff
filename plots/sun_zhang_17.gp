# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 17: large reads, the cost of a block.
# gnuplot -c sun_zhang_17.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
block = sizes("read", "s")." | awk '{ print $1, $2/$1 }'"
eval titled("Reads: what each 4 KB costs in a request of so many", "the middle of 20 requests")
set xlabel "blocks of 4 KB"
set ylabel "cost of a block (ms)"
set yrange [0:*]
eval paper_line(1, 0.25, "0.25 ms")
plot "< ".block using 1:2 @first title "", "< ".block using 1:2 @first_line title "the cost of a block"
eval claim("in a request of 30 blocks", "0.25", of_30(block), "ms")
set output
set terminal pop
