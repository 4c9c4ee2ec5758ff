# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 9: writes into an empty buffer, and the flush behind them.
# gnuplot -c write_buffer.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a write and its flush: size, us of the write, us of the flush.
rows = sprintf("awk -F, '$3==\"write-buffer\" && $5!=\"\" && $4!~/^flush/ { \
if ($7==\"write\") { size=$9; us=($11-$10)/1000; written=1 } \
else if ($7==\"flush\" && written) { print size/1024, us, ($11-$10)/1000; written=0 } }' %s", samples)
set title "Write buffer: a write into the empty buffer, and the flush behind it"
set xlabel "size of the write (KiB)"
set ylabel "latency (us)"
set logscale x 2
set logscale y 10
set grid ytics lc rgb "#dddddd"
set key top left
plot "< ".rows using 1:2 with points pt 6 ps 0.5 lc rgb "#0072b2" title "write", \
     "< ".rows using 1:3 with points pt 2 ps 0.4 lc rgb "#999999" title "flush after it"
set output
set terminal pop
