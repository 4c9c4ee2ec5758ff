# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 7: random reads over the distance to the read before.
# gnuplot -c sun_zhang_07.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
load plots_folder."/sun_zhang.gp"
# MB from the read before, ms.
reads = sprintf("awk -F, '$5==\"full-range\" { d=$8<last ? last-$8 : $8-last; if (n++) print d/1048576, ($11-$10)/1e6; last=$8 }' %s", samples)
eval titled("Random reads by the distance to the read before", "1000 trials")
set xlabel "distance (MB)"
set ylabel "latency (ms)"
set yrange [0:2]
set xrange [0:1000]
set arrow 60 from 240, graph 0 to 240, graph 1 nohead dt 2 lw 0.75 lc rgb accent
set label 60 "paper: 240 MB" at 240, graph 0.95 left offset character 0.8,0 tc rgb accent
plot "< ".reads using 1:2 @first title "a read"
eval claim("farther apart than 240 MB", "1", middle(reads." | awk '$1>240'", 0, 9), "ms")
# Of a hundred one may be quick by chance.
eval claim("the largest distance without a switch", "240", real(system(reads." | awk '$2<0.87 { print $1 }' | sort -g | awk '{ d[NR]=$1 } END { print d[int(NR*0.99)] }'")), "MB")
set output
set terminal pop
