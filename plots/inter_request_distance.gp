# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 7: the second of two reads over the distance between them.
# gnuplot -c inter_request_distance.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a measured read: MiB from the read before it, us, 1 if meant to be near.
rows = sprintf("awk -F, '$3==\"inter-request-distance\" { \
if ($5!=\"\") { d=$8-last; if (d<0) d=-d; \
print d/1048576, ($11-$10)/1000, ($5 ~ /-a$/) } last=$8 }' %s", samples)
set title "Reads: what the distance to the read before costs"
set xlabel "distance to the read before (MiB)"
set ylabel "latency (us)"
set logscale y 10
set xrange [0:*]
set grid ytics lc rgb "#dddddd"
set key top right
plot "< ".rows using ($3==0 ? $1 : 1/0):2 with points pt 6 ps 0.3 lc rgb "#d55e00" title "after a read far away", \
     "< ".rows using ($3==1 ? $1 : 1/0):2 with points pt 2 ps 0.3 lc rgb "#0072b2" title "after a read nearby"
set output
set terminal pop
