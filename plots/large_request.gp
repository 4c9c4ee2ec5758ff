# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 16 to 19: reads and writes over their size.
# gnuplot -c large_request.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a request, a write with its flush: KiB, us.
rows(name) = sprintf("< awk -F, '$3==\"large-request\" && $5 ~ /^%s-/ { \
if ($7!=\"flush\") { size=$9; us=0 } us+=($11-$10)/1000; \
if ($7!=\"write\") print size/1024, us }' %s", name, samples)
set title "Large requests: reads, and writes with the flush behind them"
set xlabel "size (KiB)"
set ylabel "latency (us)"
set logscale y 10
set xrange [0:*]
set grid ytics lc rgb "#dddddd"
set key top left
plot rows("read") with points pt 6 ps 0.5 lc rgb "#0072b2" title "read", \
     rows("write") with points pt 2 ps 0.5 lc rgb "#d55e00" title "write"
set output
set terminal pop
