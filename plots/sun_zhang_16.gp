# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 16: large reads against small ones.
# gnuplot -c sun_zhang_16.gp SUN_ZHANG.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/papers.gp"
eval titled("Reads: one large request, or its blocks one by one", "4 KB to 30 x 4 KB")
set xlabel "blocks of 4 KB"
set ylabel "time of all (ms)"
set yrange [0:*]
plot "< ".rows(16, "blocks one by one") using 1:2 @second title "one by one", "< ".rows(16, "one request") using 1:2 @first title "one request"
one = real(system(rows(16, "blocks one by one")." | awk '$1==30 { print $2 }'"))/real(system(rows(16, "one request")." | awk '$1==30 { print $2 }'"))
eval claim("one request of 30 blocks, of the time of 30: less than", "0.25", 1/one, "|the paper has 0.25 ms a block here, and 0.75 to 1 ms for a single one, which is more than a quarter")
set output
set terminal pop
