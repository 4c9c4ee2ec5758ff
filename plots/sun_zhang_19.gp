# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 19: large writes, the cost of a block.
# gnuplot -c sun_zhang_19.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
block = sizes("write", "s")." | awk '{ print $1, $2/$1 }'"
eval titled("Writes: what each 4 KB costs in a request of so many", "the middle of 20 requests")
set xlabel "blocks of 4 KB"
set ylabel "cost of a block (ms)"
set yrange [0:*]
plot "< ".block using 1:2 @first title "", "< ".block using 1:2 @first_line title "the cost of a block"
eval claim("in a request of 30 blocks", "", of_30(block), "ms")
set output
set terminal pop
