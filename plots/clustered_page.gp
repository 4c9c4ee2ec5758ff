# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 5 by contrasts: what a shift by half the size costs.
# gnuplot -c clustered_page.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a write with its flush: size, shift (from the cell's name), us.
rows = sprintf("awk -F, '$3==\"clustered-page\" && $4 ~ /^search-/ && $6>=0 { \
split($5,name,/[w+-]/); us=($11-$10)/1000; \
if ($7==\"write\") { write_us=us; size=$9; shifted=($5 ~ /-b$/) } \
else if ($7==\"flush\") print size/1024, shifted, write_us+us }' %s", samples)
set title "Clustered page: a write of s at a slot, and shifted by s/2"
set xlabel "size of the write s (KiB)"
set ylabel "write and flush (us)"
set logscale x 2
set logscale y 10
set grid ytics lc rgb "#dddddd"
set key top left
plot "< ".rows using ($2==0 ? $1*0.96 : 1/0):3 with points pt 6 ps 0.5 lc rgb "#0072b2" title "aligned to s", \
     "< ".rows using ($2==1 ? $1*1.04 : 1/0):3 with points pt 2 ps 0.5 lc rgb "#d55e00" title "shifted by s/2"
set output
set terminal pop
