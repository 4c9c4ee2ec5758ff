# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 14: sequential writes of one half of each block set, on zeros.
# gnuplot -c sun_zhang_14.gp SUN_ZHANG.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/papers.gp"
eval titled("Writes of one half of each block set, on zeros", "1000 sequential blocks of 4 KB; the first three merges are of older logs")
set xlabel "block (4 KB)"
set ylabel "latency (ms)"
set yrange [0:140]
set xtics 64*2
eval paper_line(1, 60, "60 ms")
plot "< ".rows(14, "") using 1:2 @first title "a write"
eval claim("a merge", "60", middle(rows(14, "")." | awk '$1>=64'", 10, 1e9), "ms")
set output
set terminal pop
