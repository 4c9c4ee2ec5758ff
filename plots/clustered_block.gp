# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 6 by two routes: slow writes at one distance, and random
# against sequential writes over their size.
# gnuplot -c clustered_block.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 1100,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 1100,540 font "sans,11"
}
set output output_file
# One line a write with its flush; the last walk is the one that was certified.
rows = "awk -F, '$3==\"clustered-block\" && $5!=\"\" { us=($11-$10)/1000; \
if ($7==\"write\") { write_us=us; offset=$8; size=$9 } \
else if ($7==\"flush\") print $4, offset/1048576, size/1024, ($5 ~ /-b$/), write_us+us }' ".samples
last_walk = "awk '$1 ~ /^walk-/ { if ($1!=walk) { n=0; walk=$1 } if (n<6000) line[n++]=$0 } \
END { for (i=0; i<n; i++) print line[i] }'"
set grid ytics lc rgb "#dddddd"
set logscale y 10
set multiplot layout 1,2 title "Clustered block: written page by page, and at random"
set xlabel "offset (MiB)"
set ylabel "write and flush (us)"
set key top right
plot "< ".rows." | ".last_walk using 2:5 with points pt 7 ps 0.25 lc rgb "#0072b2" title "one page"
set xlabel "size of the write (KiB)"
set logscale x 2
set key top left
sizes = " | awk '$1 !~ /^walk-|^fill/'"
plot "< ".rows.sizes using ($4==0 ? $3*0.97 : 1/0):5 with points pt 6 ps 0.5 lc rgb "#0072b2" title "sequential", \
     "< ".rows.sizes using ($4==1 ? $3*1.03 : 1/0):5 with points pt 2 ps 0.5 lc rgb "#d55e00" title "random"
unset multiplot
set output
set terminal pop
