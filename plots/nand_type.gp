# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 7: the cost of a page by its place in the block.
# gnuplot -c nand_type.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a page: its block, its place, us of the write and its flush.
rows = sprintf("awk -F, '$3==\"nand-type\" && $5!=\"\" { us=($11-$10)/1000; \
if ($6!=block) { block=$6; place=0 } \
if ($7==\"write\") write_us=us; \
else if ($7==\"flush\") print block, place++, write_us+us }' %s", samples)
set title "NAND type: the cost of a page by its place in the block"
set xlabel "place in the block (pages)"
set ylabel "write and flush (us)"
set logscale y 10
set grid ytics lc rgb "#dddddd"
set key top right
set palette defined (0 "#0072b2", 1 "#d55e00")
unset colorbox
plot "< ".rows using 2:3:1 with points pt 7 ps 0.3 lc palette title "one page, coloured by block"
set output
set terminal pop
