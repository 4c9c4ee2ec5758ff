# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 8: first and second read of one place over the size.
# gnuplot -c read_buffer.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# Rows come in pairs of one place: size, 0 for the first read, us.
rows = sprintf("awk -F, '$3==\"read-buffer\" && $5!=\"\" { \
second = ($8==place && $5==cell && $6==round); place = second ? \"\" : $8; \
cell=$5; round=$6; print $9/1024, second, ($11-$10)/1000 }' %s", samples)
set title "Read buffer: the first read of a place, and the second"
set xlabel "size of the read (KiB)"
set ylabel "latency (us)"
set logscale x 2
set logscale y 10
set grid ytics lc rgb "#dddddd"
set key top left
plot "< ".rows using ($2==0 ? $1*0.98 : 1/0):3 with points pt 2 ps 0.5 lc rgb "#d55e00" title "first (flash)", \
     "< ".rows using ($2==1 ? $1*1.02 : 1/0):3 with points pt 6 ps 0.5 lc rgb "#0072b2" title "second (buffer, if it fits)"
set output
set terminal pop
