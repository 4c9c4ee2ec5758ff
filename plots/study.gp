# SPDX-License-Identifier: GPL-3.0-or-later
# The figure of any study: a panel for each part of its table, a colour for each
# series; ours solid, the paper's figures open circles on a dashed line.
# gnuplot -c study.gp VALUES.csv OUTPUT.png|.svg
values = ARG1
output_file = ARG2
# panel,series,column,unit,paper,ours behind '#' lines and one header line
rows = sprintf("grep -v '^#' '%s' | tail -n +2", values)
study = system(sprintf("sed -n '2s/^# \\([^,]*\\),.*/\\1/p' '%s'", values))
panels = int(system(rows . " | cut -d, -f1 | awk '!seen[$0]++' | wc -l"))
panel(i) = system(sprintf("%s | cut -d, -f1 | awk '!seen[$0]++' | sed -n %dp", rows, i))
unit(i) = system(sprintf("%s | awk -F, '$1==\"%s\" && !n++ { print $4 }'", rows, panel(i)))
lines(i) = int(system(sprintf("%s | awk -F, '$1==\"%s\" && !seen[$2]++' | wc -l", rows, panel(i))))
line(i, j) = system(sprintf("%s | awk -F, '$1==\"%s\" && !seen[$2]++ { print $2 }' | sed -n %dp", rows, panel(i), j))
# Each line: place on the axis, its name, ours, the paper's ("?": missing).
# Short: gnuplot cuts a command that is too long.
data(i, j) = sprintf("< awk -F, '$1==\"%s\"{if(!($3 in a))a[$3]=++n;\
if($2==\"%s\")printf \"%%d \\\"%%s\\\" %%s %%s\\n\",a[$3],$3,$6,$5==\"\"?\"?\":$5}' '%s'", \
panel(i), line(i, j), values)
# Which of its lines have a number of ours ($6) or of the paper ($5).
having(i, field) = system(sprintf("awk -F, '$1==\"%s\" { if (!($2 in a)) a[$2]=++n; if ($%d!=\"\" && $%d!=\"nan\" && !seen[$2]++) printf \"%%d \", a[$2] }' '%s'", panel(i), field, field, values))
columns(i) = int(system(sprintf("%s | awk -F, '$1==\"%s\" && !seen[$3]++' | wc -l", rows, panel(i))))
set terminal push
if (output_file[strlen(output_file)-3:] eq ".svg") {
    set terminal svg size 900,60+330*panels font "sans,13" background "white"
} else {
    set terminal pngcairo size 900,60+330*panels font "sans,10"
}
set output output_file
set datafile missing "?"
any = int(system(sprintf("%s | awk -F, '$5!=\"\" { n++ } END { print n+0 }'", rows)))
set multiplot layout panels,1 title study . (any ? ": ours filled, the paper's open" : "")
set grid ytics lt 1 lw 1 lc rgb "#dddddd"
set yrange [0:*]
set key outside right top
set xtics rotate by -35 noenhanced
array colours[8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"]
ours(style) = "for [k=1:words(mine)] data(i, int(word(mine, k))) using 1:3:xticlabels(2) with " . style . " pt 7 ps 0.8 lw 2 lc rgb colours[(int(word(mine, k))-1)%8+1] title line(i, int(word(mine, k))) noenhanced"
papers(style, named) = "for [k=1:words(theirs)] data(i, int(word(theirs, k))) using 1:4:xticlabels(2) with " . style . " pt 6 ps 1.2 dt 2 lc rgb colours[(int(word(theirs, k))-1)%8+1] " . named
do for [i=1:panels] {
    set title panel(i) noenhanced
    set ylabel unit(i)
    # Values that span decades need a logarithmic axis.
    spread = real(system(sprintf("%s | awk -F, '$1==\"%s\" && $6>0 { if (!n++ || $6<low) low=$6; if ($6>high) high=$6 } END { print (n ? high/low : 1) }'", rows, panel(i))))
    if (spread > 30) { set logscale y 10; set yrange [*:*] } else { unset logscale; set yrange [0:*] }
    set xrange [0.5:columns(i)+0.5]
    mine = having(i, 6)
    theirs = having(i, 5)
    # A line joins what has one unit.
    style = strstrt(unit(i), ";") ? "points" : "linespoints"
    # Where nothing is ours, the paper's lines are named.
    named = words(mine) ? "notitle" : "title line(i, int(word(theirs, k))) noenhanced"
    both = words(mine) && words(theirs) ? ", " : ""
    eval "plot " . (words(mine) ? ours(style) : "") . both . (words(theirs) ? papers(style, named) : "")
}
unset multiplot
set output
set terminal pop
