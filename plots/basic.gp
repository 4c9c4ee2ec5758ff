# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 2 and 4, by kind: how the times of reads and writes of 4 KiB
# are distributed, as the share of requests that take a time or longer.
# gnuplot -c basic.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
height = 430
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
kinds = "random-read sequential-read random-write sequential-write"
names = "'random read' 'sequential read' 'random write' 'sequential write'"
# The times of a kind, us. Cells of --method=paper have no suffix.
rows(k) = sprintf("awk -F, '$3==\"basic\" && $5 ~ /^%s(-a)?$/ && $11>$10 { print ($11-$10)/1000 }' %s", word(kinds, k), samples)
every = "(".rows(1)."; ".rows(2)."; ".rows(3)."; ".rows(4).")"
if (!measured(every)) { eval nothing }
stats "< ".every using 1 nooutput
least = STATS_min; most = STATS_max
# "us share": of n requests the i-th takes its time, and n - i + 1 that or longer.
curve(k) = rows(k)." | sort -g | awk '{ v[++n]=$1 } END { for (i=1; i<=n; i++) print v[i], (n-i+1)/n }'"
line(k) = "< ".curve(k).once
# "n median p99 slowest" of a kind; the ranks are those of the finding.
summary(k) = system(rows(k)." | sort -g | awk '{ v[++n]=$1 } END { if (!n) exit; r=int(0.99*n); if (r<0.99*n) r++; print n, (v[int((n+1)/2)]+v[int(n/2)+1])/2, v[r], v[n] }'")
array said[4]
largest = 1
do for [k=1:4] { said[k] = summary(k); if (strlen(said[k]) && word(said[k], 1) > largest) { largest = word(said[k], 1) } }
count(k) = strlen(said[k]) ? int(word(said[k], 1)) : 0
median(k) = count(k) ? real(word(said[k], 2)) : NaN
# The slowest of so many is slower than 99 % of all, with a confidence of 95 %.
# Of fewer the p99 is not known, but which was the slowest of them.
enough = 299
tail(k) = real(word(said[k], count(k) >= enough ? 3 : 4))
in_words(k) = sprintf("%s: %s, %s %s", word(names, k), time_text(median(k)), count(k) >= enough ? "p99" : narrow ? "max" : sprintf("slowest of %d:", count(k)), time_text(tail(k)))
narrow = ascii && columns < 64
eval titled("Latency of reads and writes of 4 KiB (QD 1)", "share of requests that take so long or longer; below, the medians")
set key maxrows 4
set bmargin ascii ? 8 : 7.4
set logscale x 10
set xrange [least/1.25/room(least, most):most*1.25*room(least, most)]
eval sprintf("set xtics (%s); set mxtics 10", most/least > 20 ? decade_names : time_names)
set logscale y 10
set yrange [1./(largest > 100 ? largest : 100)/1.6:1.4]
set ytics ("median" 0.5, "p90" 0.1, "p99" 0.01, "p99.9" 0.001)
eval y_named("")
set xlabel "latency"
guide(share) = sprintf("set arrow from graph 0, first %g to graph 1, first %g nohead dt 3 lw 0.6 lc rgb '%s' back", share, share, pale)
eval guide(0.5)
eval guide(0.01)
# Reads are blue, writes brown; at random a line, in order dashes.
colour(k) = k < 3 ? dark : warm
dash(k) = k % 2 ? 1 : 2
shape(k) = int(word("7 6 5 4", k))
letter(k) = word("R r W w", k)
# What the legend has in figures.
marks(k) = sprintf("< printf '%%s %%s\n' %.9g 0.5 %.9g %g", median(k), tail(k), count(k) < enough ? 1./count(k) : 0.01)
if (ascii) {
    plot for [k=1:4] for [i=1:count(k) > 0] line(k) using 1:2 with points pt letter(k) title in_words(k)
} else {
    plot for [k=1:4] for [i=1:count(k) > 0] line(k) using 1:2 with points pt 7 ps 0.2 lc rgb colour(k) notitle, \
         for [k=1:4] for [i=1:count(k) > 0] line(k) using 1:2 with fsteps lw 0.75 dt dash(k) lc rgb colour(k) notitle, \
         for [k=1:4] for [i=1:count(k) > 0] marks(k) using 1:2 with points pt shape(k) ps 1 lw 1.2 lc rgb colour(k) title in_words(k)
}
set output
set terminal pop
