# SPDX-License-Identifier: GPL-3.0-or-later
# What all figures share; each sets samples, output_file and findings, and loads
# this first.
# gnuplot -c FIGURE.gp SAMPLES.csv OUTPUT [FINDINGS]
# OUTPUT ends in .svg, .png or .txt (a picture in ASCII, COLUMNS wide).
# FINDINGS has a line a finding, tabs between: parameter, verdict, value, low,
# high, confidence, value in words, interval in words, verdict in words. Without
# it only what was measured is drawn. What a finding says by the way is a line of
# its own, as clustered_block.programmed_at_once. Paths hold neither blanks nor
# quotes. Each drawing is read at 320 px as well as at 550: few and short words.
set encoding utf8
set terminal push
suffix = output_file[strlen(output_file)-3:]
ascii = suffix eq ".txt"
svg = suffix eq ".svg"
if (!exists("width")) { width = 480 }
if (!exists("height")) { height = 380 }
if (!exists("font_size")) { font_size = 14 }
if (svg) {
    set terminal svg size width,height dynamic font sprintf("sans-serif,%d", font_size) linewidth 2 background "white"
} else { if (ascii) {
    columns = int(system("echo ${COLUMNS:-80}"))
    columns = columns < 40 ? 40 : (columns > 160 ? 160 : columns)
    lines = columns < 64 ? 20 : 26
    set terminal dumb mono size columns,(height > 400 ? 2*lines - 6 : lines)
} else {
    set terminal pngcairo size 2*width,2*height font sprintf("sans,%g", 0.75*font_size) fontscale 2 linewidth 4 pointscale 2 background "white"
} }
small = (font_size - 1)*(svg ? 1 : 0.75) # a PNG counts in points
set output output_file

# One palette: apart in hue, in lightness (for print in grey) and, with their
# marks, in shape.
dark = "#0b4f8a"
warm = "#c8760a"
pale = "#838d98"
accent = "#a3195b"
quiet = "#e3e7eb"
ink = "#30363d"
soft = "#57606a"
us = ascii ? "us" : "µs"
ring = ascii ? "pt 'o'" : "pt 6"
cross = ascii ? "pt 'x'" : "pt 2"
plus = ascii ? "pt '+'" : "pt 1"
dot = ascii ? "pt '.'" : "pt 7"
first = sprintf("with points %s ps 0.6 lc rgb '%s'", ring, dark)
second = sprintf("with points %s ps 0.6 lc rgb '%s'", cross, warm)
third = sprintf("with points %s ps 0.6 lc rgb '%s'", plus, pale)
# Medians: a line, and where there is one alone, a mark.
first_fit = ascii ? "with lines lc rgb 'black'" : sprintf("with linespoints pt 7 ps 0.35 lw 0.75 lc rgb '%s'", dark)
second_fit = ascii ? "with lines lc rgb 'black'" : sprintf("with linespoints pt 7 ps 0.35 lw 0.75 dt 2 lc rgb '%s'", warm)
first_line = ascii ? "with lines lc rgb 'black'" : sprintf("with lines lw 0.75 lc rgb '%s'", dark)
second_line = ascii ? "with lines lc rgb 'black'" : sprintf("with lines lw 0.75 dt 2 lc rgb '%s'", warm)
# What a pointer over a median says: for [k=1:tips] ROWS using 1:2:(tip($1, $2)) @hover.
tips = svg ? 1 : 0
hover = "with labels hypertext point pt 7 ps 0.1 notitle"

set border 3 lw 0.6 lc rgb ink
set tics nomirror out scale 0.6 tc rgb ink
set grid ytics lt 1 lw 0.4 lc rgb quiet
set key at screen 0.52, screen 0.01 center bottom vertical maxrows 2 Left reverse samplen 1.5 width -1 tc rgb ink
set bmargin ascii ? 6 : 5.2
set tmargin 4
set rmargin ascii ? 4 : 2.2
set lmargin ascii ? 11 : 7.5
set xlabel tc rgb ink offset 0,(ascii ? 0 : 0.4)
set ylabel tc rgb ink

# ---- findings -----------------------------------------------------------
# The whole table, read once. A line of it, from its name on; a column of a line;
# "us" as the picture has it.
table = strlen(findings) ? "\n".system("cat ".findings)."\n" : ""
line_of(name) = strstrt(table, "\n".name."\t") ? table[strstrt(table, "\n".name."\t") + 1:] : ""
until(text, end) = text[:strstrt(text, end) - 1]
column_of(line, n) = n > 1 ? column_of(line[strstrt(line, "\t") + 1:], n - 1) : until(line."\t", "\t")
in_us(text) = strstrt(text, " us") ? text[:strstrt(text, " us")].us.in_us(text[strstrt(text, " us") + 3:]) : text
field(name, column) = in_us(column_of(until(line_of(name)."\n", "\n"), column))
verdict(name) = field(name, 2)
found(name) = verdict(name) eq "found"
value_of(name) = found(name) && strlen(field(name, 3)) ? real(field(name, 3)) : NaN
low_of(name) = found(name) && strlen(field(name, 4)) ? real(field(name, 4)) : value_of(name)
high_of(name) = found(name) && strlen(field(name, 5)) ? real(field(name, 5)) : value_of(name)
# "16 KiB", "probably 16 KiB" as the report has it, "probably absent".
hedge(name) = found(name) && field(name, 9) ne "found" ? field(name, 9)." " : ""
text_of(name) = !found(name) ? field(name, 9) : strlen(field(name, 7)) ? field(name, 7) : field(name, 8)
said_of(name) = hedge(name).text_of(name)
span_of(name) = found(name) ? field(name, 8) : ""

# "Read buffer: 256 KiB", and below it what is drawn.
headline(what, name) = strlen(verdict(name)) ? what.": ".said_of(name) : what
# Text in lines of at most n letters, for a string in quotes: broken at blanks, but
# not between a number and its unit.
wrap(text, n) = strlen(text) <= n ? text : wrap_at(text, n, n + 1)
wrap_at(text, n, k) = k < 2 ? text : text[k:k] eq " " && !strstrt("0123456789", text[k-1:k-1]) ? text[:k-1]."\\n".wrap(text[k+1:], n) : wrap_at(text, n, k - 1)
rows_of(text) = strlen(text) ? (strlen(text) - strlen(wrapless(text)))/2 + 1 : 0
wrapless(text) = strstrt(text, "\\n") ? wrapless(text[:strstrt(text, "\\n")-1].text[strstrt(text, "\\n")+2:]) : text
title_letters = 0.107*width
below_letters = 0.142*width
title_rows(text, below) = 0.25 + rows_of(wrap(text, title_letters)) + rows_of(wrap(below, below_letters))
title_left = -6.5
titled(text, below) = ascii ? \
    sprintf("set title \"%s%s\"", text, columns < 64 ? "" : "\\n".below) : \
    sprintf("set tmargin %g; set label 1 \"{/:Bold*1.1 %s}\" at graph 0, graph 1 offset character %g,%g left tc rgb '%s' front; set label 2 \"%s\" at graph 0, graph 1 offset character %g,%g left font ',%g' tc rgb '%s' front", 1.9 + title_rows(text, below), bold_rows(wrap(text, title_letters)), title_left, 0.9 + title_rows(text, below), ink, wrap(below, below_letters), title_left, 0.9 + rows_of(wrap(below, below_letters)), small, soft)
# Each line is bold by itself.
bold_rows(text) = strstrt(text, "\\n") ? text[:strstrt(text, "\\n")-1]."}\\n{/:Bold*1.1 ".bold_rows(text[strstrt(text, "\\n")+2:]) : text
# The name of the y axis, above it, where it takes no room from the drawing.
y_named(text) = ascii ? sprintf("set ylabel \"%s\"", text) : sprintf("set label 3 \"%s\" at graph 0, graph 1 offset character %g,0.75 left font ',%g' tc rgb '%s' front", text, title_left, small, ink)

# The chosen place on the x axis, with its interval. Where the axis ends decides
# on which side of the line the text stands.
axis_low = 0; axis_high = 1; axis_log = 0
along(x) = axis_log ? log(x/axis_low)/log(1.*axis_high/axis_low) : (x - axis_low)/(1.*axis_high - axis_low)
chosen(x, from, to, text) = x != x ? "" : sprintf("set object 90 rectangle from first %.9g, graph 0 to first %.9g, graph 1 fc rgb '%s' fs transparent solid 0.18 noborder behind; set arrow 90 from first %.9g, graph 0 to first %.9g, graph 1 nohead lw 0.85 lc rgb '%s' front; set label 90 \"%s\" at first %.9g, graph 0.97 %s tc rgb '%s' front", from, to, accent, x, x, accent, text, x, along(x) > 0.6 ? "right offset character -0.8,0" : "left offset character 0.8,0", accent)
# Candidates that did not stand, as a rug below the points; `list`: numbers. What
# no request was as long as is beyond the axis. Drawn by "for [k=1:rugs] @rug".
rug_of(list, scale) = strlen(list) ? system(sprintf("echo '%s' | tr ' ' '\\n' | awk '$1 && $1/%.9g >= %.9g && $1/%.9g <= %.9g { print $1/%.9g }' | tr '\\n' ' '", list, scale, axis_low, scale, axis_high, scale)) : ""
rugged(list, scale) = sprintf("rug_places = '%s'; rugs = words(rug_places) > 0; if (!rugs) { rug_places = '1e30' }", rug_of(list, scale))
rug = '"< printf ''%s\n'' ".rug_places using 1:(y_low):(0):(y_low*((y_high/y_low)**0.04 - 1)) with vectors nohead lw 0.75 lc rgb "'.pale.'" title "rejected"'

# ---- axes ---------------------------------------------------------------
# Times in us, on a logarithmic axis: each label has its unit.
time_names = sprintf("'1 %s' 1, '2 %s' 2, '5 %s' 5, '10 %s' 10, '20 %s' 20, '50 %s' 50, '100 %s' 100, '200 %s' 200, '500 %s' 500, '1 ms' 1e3, '2 ms' 2e3, '5 ms' 5e3, '10 ms' 1e4, '20 ms' 2e4, '50 ms' 5e4, '100 ms' 1e5, '200 ms' 2e5, '500 ms' 5e5, '1 s' 1e6, '2 s' 2e6, '5 s' 5e6, '10 s' 1e7, '20 s' 2e7, '50 s' 5e7, '100 s' 1e8", us, us, us, us, us, us, us, us, us)
decade_names = sprintf("'1 %s' 1, '10 %s' 10, '100 %s' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7, '100 s' 1e8", us, us, us)
# From the least to the largest of the data, with some room, so that no mark lies
# on an axis; half a decade at least, so that what is flat looks flat.
room(least, most) = most/least < 3 ? sqrt(3.*least/most) : (1.*most/least)**0.05
time_axis(least, most) = sprintf("y_low = %.9g; y_high = %.9g; set logscale y 10; set yrange [y_low:y_high]; set ytics (%s); set mytics 10", least/1.25/room(least, most), most*1.5*room(least, most), most/least > (ascii || height > 400 ? 60 : 150) ? decade_names : time_names)
# A step of 1, 2 or 5, so that an axis has few figures: set ytics nice(top/4).
nice(x) = nice_of(x, 10.**floor(log10(x)))
nice_of(x, p) = x <= p ? p : x <= 2*p ? 2*p : x <= 5*p ? 5*p : 10*p
# A time in us, in words; "64 KiB: 240 us" for who points at a median.
time_text(t) = t < 999.5 ? sprintf("%.3g %s", t, us) : (t < 999.5e3 ? sprintf("%.3g ms", t/1e3) : sprintf("%.3g s", t/1e6))
size_text(kib) = kib < 1 ? sprintf("%d B", kib*1024) : kib < 1024 ? sprintf("%.4g KiB", kib) : kib < 1048576 ? sprintf("%.4g MiB", kib/1024.) : sprintf("%.4g GiB", kib/1048576.)
x_text(x) = sprintf("%.4g", x)
y_text(y) = time_text(y)
tip(x, y) = x_text(x).": ".y_text(y)
# Sizes in KiB, in powers of two; `every`: two to the power of which.
size_name(k) = k < 0 ? sprintf("%d B", int(1024*2.0**k + 0.5)) : (k < 10 ? sprintf("%d KiB", int(2.0**k)) : (k < 20 ? sprintf("%d MiB", int(2.0**(k - 10))) : sprintf("%d GiB", int(2.0**(k - 20)))))
size_names(from, to, every) = from > to ? "" : sprintf("'%s' %.9g, ", size_name(from), 2.0**from).size_names(from + every, to, every)
size_axis(from, to) = sprintf("axis_low = %.9g; axis_high = %.9g; axis_log = 1; set logscale x 2; set xrange [axis_low:axis_high]; set xtics (%s'' 1e-9)", from/1.3, to*1.3, size_names(floor(log(from)/log(2) + 0.01), ceil(log(to)/log(2)), size_step(log(to/from)/log(2))))
size_step(octaves) = octaves > 12 ? 4 : octaves > (ascii ? 5 : 6) ? 2 : 1

# ---- from rows to points ------------------------------------------------
# Points that would fall on one another are drawn once: one for each cell of a grid,
# whose cells grow until no more than `most` are left. So the page stays small, and
# what is rare is seen all the same. An axis over a wide range is taken as
# logarithmic; with once_linear the x axis is not. Where
# there is none, one that no axis holds keeps gnuplot from complaining.
thinned(x_log) = sprintf(" | awk -v most=200 -v x_log=%d", x_log)." 'BEGIN { n=0 } { x[n]=$1; y[n++]=$2; \
if (n==1 || $1<xl) xl=$1; if (n==1 || $1>xh) xh=$1; if (n==1 || $2<yl) yl=$2; if (n==1 || $2>yh) yh=$2 } \
function cell(v, low, high, log_too) { return high<=low ? 0 : int(cells*(log_too && low>0 && high/low>30 ? log(v/low)/log(high/low) : (v-low)/(high-low))) } \
END { for (cells=400; n; cells/=1.2) { split(\"\", seen); m=0; \
for (i=0; i<n; i++) { c=cell(x[i], xl, xh, x_log) \" \" cell(y[i], yl, yh, 1); if (!(c in seen)) { seen[c]; kept[m++]=i } } \
if (m<=most) break } for (i=0; i<m; i++) print x[kept[i]], y[kept[i]]; if (!n) print 1e30, 1e30 }'"
none_too = " | awk '{ print } END { if (!NR) print 1e30, 1e30 }'"
once = thinned(1)
once_linear = thinned(0)
# "x y" to the median of y at each x; the same as a line to draw.
medians = " | sort -k1,1g -k2,2g | awk 'BEGIN { x = \"none\" } function put() { if (n) print x, n % 2 ? v[(n+1)/2] : (v[n/2]+v[n/2+1])/2 } $1 != x { put(); x = $1; n = 0 } { v[++n] = $2 } END { put(); if (!NR) print 1e30, 1e30 }'"
# Is there enough to be drawn? If not: eval nothing.
measured(rows) = int(system("{ ".rows."; } 2>/dev/null | head -n 2 | wc -l")) > 1
# 1 or 0, for a series that may have no marks: plot for [k=1:any(rows)] ...
any(rows) = int(system("{ ".rows."; } 2>/dev/null | head -n 1 | wc -l"))
# lib/report/gnuplot.c knows this status.
nothing = "set output; exit status 3"
