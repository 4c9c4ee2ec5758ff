# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 2 and 4, by kind: how the times of reads and writes of 4 KiB
# are distributed, as the share of requests that take a time or longer.
# gnuplot -c basic.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
height = 500
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
line(k) = "< ".curve(k).once." | awk '$1<1e30 { print } END { print \"\"; print 1e30, 1e30 }'"
# "n median p99" of a kind; the ranks are those of the finding.
summary(k) = system(rows(k)." | sort -g | awk '{ v[++n]=$1 } END { if (!n) exit; r=int(0.99*n); if (r<0.99*n) r++; print n, (v[int((n+1)/2)]+v[int(n/2)+1])/2, v[r] }'")
array said[4]
largest = 1
do for [k=1:4] { said[k] = summary(k); if (strlen(said[k]) && word(said[k], 1) > largest) { largest = word(said[k], 1) } }
count(k) = strlen(said[k]) ? int(word(said[k], 1)) : 0
median(k) = count(k) ? real(word(said[k], 2)) : NaN
# The slowest of so many is slower than 99 % of all, with a confidence of 95 %.
enough = 299
tail(k) = count(k) >= enough ? real(word(said[k], 3)) : NaN
slowest(k) = real(word(said[k], 3))
time_text(t) = t < 999.5 ? sprintf("%.3g %s", t, us) : (t < 999.5e3 ? sprintf("%.3g ms", t/1e3) : sprintf("%.3g s", t/1e6))
narrow = ascii && columns < 64
in_words(k) = !count(k) ? "" : narrow ? \
    sprintf("%s %s, %s %s", word(names, k), time_text(median(k)), count(k) < enough ? "max" : "p99", time_text(slowest(k))) : count(k) < enough ? \
    sprintf("%s: half within %s, the slowest of %d at %s", word(names, k), time_text(median(k)), count(k), time_text(slowest(k))) : \
    sprintf("%s: half within %s, 99 %% within %s", word(names, k), time_text(median(k)), time_text(tail(k)))
eval titled("Reads and writes of 4 KiB", "share of requests that take this time or longer; median and p99 marked")
set key maxrows 4
set bmargin ascii ? 8 : 8
set logscale x 10
set xrange [least/1.25/room(least, most):most*1.25*room(least, most)]
eval sprintf("set xtics (%s); set mxtics 10", most/least > 300 ? decade_names : time_names)
set logscale y 10
set yrange [1./(largest > 100 ? largest : 100)/1.6:1.4]
set lmargin 14
set ytics ("100 %%" 1, "median, 50 %%" 0.5, "10 %%" 0.1, "p99, 1 %%" 0.01, "0.1 %%" 0.001)
set xlabel "latency"
set ylabel "requests"
guide(share) = sprintf("set arrow from graph 0, first %g to graph 1, first %g nohead dt 3 lw 0.6 lc rgb '%s' back", share, share, pale)
eval guide(0.5)
eval guide(0.01)
# Reads are blue, writes brown; at random a line, in order dashes.
colour(k) = k < 3 ? dark : warm
dash(k) = k % 2 ? 1 : 2
shape(k) = int(word("7 6 5 4", k))
letter(k) = word("R r W w", k)
# What stands beside its curve in words; out of sight where it is not known.
point(t, share) = sprintf("%.9g %g", t == t ? t : 1e30, share)
marks(k) = sprintf("< printf '%%s\n' '%s' '%s'", point(median(k), 0.5), point(tail(k), 0.01))
if (ascii) {
    plot for [k=1:4] line(k) using 1:2 with points pt letter(k) title in_words(k)
} else {
    plot for [k=1:4] line(k) using 1:2 with points pt 7 ps 0.2 lc rgb colour(k) notitle, \
         for [k=1:4] line(k) using 1:2 with fsteps lw 0.75 dt dash(k) lc rgb colour(k) notitle, \
         for [k=1:4] marks(k) using 1:2 with points pt shape(k) ps 1 lw 1.2 lc rgb colour(k) title in_words(k)
}
set output
set terminal pop
