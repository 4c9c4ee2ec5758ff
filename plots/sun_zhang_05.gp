# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 5: sequential writes of 4 KB.
# gnuplot -c sun_zhang_05.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
writes = rows("basic", "section-3-2", "sequential-write")
eval titled("Sequential writes of 4 KB", "one in 64 pays for a merge")
set xlabel "block (4 KB)"
set ylabel "latency (ms)"
set yrange [0:140]
set xtics 64*2
eval paper_line(1, 120, "120 ms")
plot "< ".writes using 1:2 @first title "a write"
eval claim("a merge", "120", middle(writes, 60, 1e9), "ms")
eval claim("the other writes", "1.5", middle(writes, 0, 60), "ms")
stats "< ".writes." | awk '$2>60 { if (n++) print $1-last; last=$1 }'" nooutput
eval claim("blocks from merge to merge", "64", STATS_median, "")
set output
set terminal pop
