# SPDX-License-Identifier: GPL-3.0-or-later
# What the figures of the papers share; each sets samples and output_file and
# loads this. Each prints its claims on stdout: what|paper|ours|unit.
findings = ""
width = 720
if (!exists("height")) { height = 460 }
font_size = 13
load plots_folder."/common.gp"
set lmargin 11
title_left = 0
set print "-"
claim(what, paper, ours, unit) = sprintf("print '%s|%s|%.4g|%s'", what, paper, ours, unit)
# Its name stands on a ground of its own, so that points do not hide it.
set style textbox opaque noborder fillcolor rgb "white" margins 0.4,0.4
paper_line(n, y, text) = sprintf("set arrow %d from graph 0, first %.9g to graph 1, first %.9g nohead dt 2 lw 0.75 lc rgb '%s' back; set label %d \"paper: %s\" at graph 0.99, first %.9g right offset 0,0.55 tc rgb '%s' front boxed", 50 + n, y, y, accent, 50 + n, text, y, accent)
