# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 9 to 15: runs of writes in order, by what they contain.
# gnuplot -c content.gp SAMPLES.csv OUTPUT.png|.svg
samples = ARG1
output_file = ARG2
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,540 font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,540 font "sans,11"
}
set output output_file
# One line a run (its requests and the flush): content, ms of the whole run.
rows = sprintf("awk -F, '$3==\"content\" && $5!=\"\" && $5 ~ /-[ab]$/ && $4!=\"pilot\" { \
if ($7!=\"flush\") { ms+=($11-$10)/1e6; next } ms+=($11-$10)/1e6; \
second=($5 ~ /-b$/); if ($5 ~ /^ones-zeros/) what=second ? \"ones\" : \"zeros\"; \
else if ($5 ~ /^random/) what=second ? \"random\" : \"ones\"; \
else { what=second ? \"ones\" : $5; sub(/^stripes/, \"\", what); \
sub(/-a$/, \"\", what); sub(/\\+0$/, \"\", what) } \
if (!(what in column)) column[what]=++columns; \
print column[what]+0.6*((NR*7)%%31/31-0.5), ms, column[what], what; ms=0 }' %s", samples)
set title "Content: what a run of writes costs (stripes: bytes+shift)"
set xlabel "what is written"
set ylabel "time of a run (ms)"
set logscale y 10
set xrange [0.4:*]
set yrange [0.1:*]
set offsets 0, 0.5, 0, 0
set xtics rotate by -30
set grid ytics lc rgb "#dddddd"
set key off
plot "< ".rows using 1:2 with points pt 6 ps 0.5 lc rgb "#0072b2", \
     "< ".rows using 3:(1/0):xtic(4) with points
set output
set terminal pop
