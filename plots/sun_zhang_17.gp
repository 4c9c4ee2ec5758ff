# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 17: large reads, the cost of a block.
# gnuplot -c sun_zhang_17.gp SUN_ZHANG.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/papers.gp"
eval titled("Reads: what each 4 KB costs in a request of so many", "the mean over the request")
set xlabel "blocks of 4 KB"
set ylabel "cost of a block (ms)"
set yrange [0:*]
eval paper_line(1, 0.25, "0.25 ms")
plot "< ".rows(17, "block") using 1:2 @first title "", "< ".rows(17, "block") using 1:2 @first_fit title "mean cost"
eval claim("in a request of 30 blocks", "0.25", real(system(rows(17, "block")." | awk '$1==30 { print $2 }'")), "ms")
set output
set terminal pop
