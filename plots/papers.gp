# SPDX-License-Identifier: GPL-3.0-or-later
# What the figures of the papers share; each sets samples and output_file and
# loads this. Each prints its claims on stdout: what|paper|ours|unit.
findings = ""
load plots_folder."/common.gp"
set print "-"
claim(what, paper, ours, unit) = sprintf("print '%s|%s|%.4g|%s'", what, paper, ours, unit)
# Rows of Sun & Zhang: x and y of a figure and a series, times in ms.
rows(figure, series) = sprintf("awk -F, '$1==%d && (\"%s\"==\"\" || $2==\"%s\") { print $3, $4 }' %s", figure, series, series, samples)
# The middle of what falls between two times.
middle(rows, from, to) = real(system(sprintf("%s | awk '$2>=%g && $2<%g { print $2 }' | sort -g | awk '{ v[NR]=$1 } END { print NR ? v[int((NR+1)/2)] : \"NaN\" }'", rows, from, to)))
paper_line(n, y, text) = sprintf("set arrow %d from graph 0, first %.9g to graph 1, first %.9g nohead dt 2 lw 0.75 lc rgb '%s' back; set label %d \"paper: %s\" at graph 0.99, first %.9g right offset 0,0.55 tc rgb '%s' front", 50 + n, y, y, accent, 50 + n, text, y, accent)
