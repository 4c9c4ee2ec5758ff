# SPDX-License-Identifier: GPL-3.0-or-later
# Reliability: stated confidence against the share that was right. Both axes are
# logarithmic in what they leave to be wrong.
# gnuplot -c accuracy.gp RELIABILITY.tsv OUTPUT: low, high, mean confidence,
# stated, right, least and most share (95 %).
samples = ARG1; output_file = ARG2; findings = ""
width = 720; height = 460; font_size = 13
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
least = 2e-4
left(share) = 1 - share < least ? least : 1 - share
set lmargin 11
title_left = 0
set logscale xy 10
set xrange [1:least/1.5]
set yrange [1:least/1.5]
names = "'0 %%' 1, '50 %%' 0.5, '90 %%' 0.1, '95 %%' 0.05, '99 %%' 0.01, '99.9 %%' 0.001"
eval "set xtics (".names.")"
eval "set ytics (".names.", '100 %%' least)"
set xlabel "stated confidence"
set ylabel "share that was right"
eval titled("Reliability: confidence against share right", "bars: 95 % intervals; above the line: right more often than stated")
plot x with lines dt 2 lc rgb pale title "right as often as stated", \
     samples using (left($3)):(left(column(5)/column(4))):(left($6)):(left($7)) with yerrorbars @dot ps 0.8 lc rgb dark title "findings on random drives", \
     samples using (left($3)):(left(column(5)/column(4))):(sprintf("  %d of %d", int(column(5)), int(column(4)))) with labels right offset -0.5,0.6 tc rgb ink title ""
set output
set terminal pop
