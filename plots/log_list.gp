# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang table 2: writes to m places in turn, from the second turn on.
# gnuplot -c log_list.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a write with its flush: places in turn, ms, 0 search 1 certificate.
# A place written for the first time and again counts as one place.
rows = sprintf("awk -F, '$3==\"log-list\" && $5!=\"\" { \
if ($7==\"write\") { ms=($11-$10)/1e6; next } ms+=($11-$10)/1e6; m=0; \
if ($4==\"costs\") m=1; else if (match($5, /^(spread|stride)[0-9]+/)) \
m=substr($5, 7, RLENGTH-6); \
if (m) print m, ms, ($4~/^certify/), ($5==\"fresh-a\") }' %s", samples)
set title "Log list: writes to some places in turn, each with its flush"
set xlabel "places in turn"
set ylabel "latency (ms)"
set logscale x 2
set logscale y 10
set xrange [0.8:*]
set grid ytics lc rgb "#dddddd"
set key center left
plot "< ".rows using ($3==0 && $4==0 ? $1*0.98 : 1/0):2 with points pt 6 ps 0.6 lc rgb "#0072b2" title "search", \
     "< ".rows using ($3==1 ? $1*1.02 : 1/0):2 with points pt 2 ps 0.6 lc rgb "#d55e00" title "certificate, one block apart", \
     "< ".rows using ($4==1 ? 0.9 : 1/0):2 with points pt 1 ps 0.6 lc rgb "#999999" title "first write to a place"
set output
set terminal pop
