# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 2 and 4: each read and write of 4 KiB, in the order asked.
# gnuplot -c basic.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a request: its number among its kind, us.
kind(name) = sprintf("< awk -F, '$3==\"basic\" && $5==\"%s-a\" { \
print ++count, ($11-$10)/1000 }' %s", name, samples)
set title "Reads and writes of 4 KiB, at random and in order"
set xlabel "request"
set ylabel "latency (us)"
set logscale y 10
set xrange [0:*]
set grid ytics lc rgb "#dddddd"
set key top right
plot kind("random-read") with points pt 6 ps 0.4 lc rgb "#0072b2" title "random read", \
     kind("sequential-read") with points pt 2 ps 0.4 lc rgb "#56b4e9" title "sequential read", \
     kind("random-write") with points pt 6 ps 0.4 lc rgb "#d55e00" title "random write", \
     kind("sequential-write") with points pt 2 ps 0.4 lc rgb "#e69f00" title "sequential write"
set output
set terminal pop
