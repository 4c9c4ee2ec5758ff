# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 2 and 4, by kind: each read and write of 4 KiB.
# gnuplot -c basic.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
kinds = "random-read sequential-read random-write sequential-write"
parameters = "random_read sequential_read random_write sequential_write"
# One line a request: the column of its kind, us. Cells of --method=paper have no
# suffix.
rows(k) = sprintf("awk -F, '$3==\"basic\" && $5 ~ /^%s(-a)?$/ { print %d, ($11-$10)/1000 }' %s", word(kinds, k), k, samples)
every = "(".rows(1)."; ".rows(2)."; ".rows(3)."; ".rows(4).")"
if (!measured(every)) { eval nothing }
stats "< ".every using 1:2 nooutput
eval titled("Reads and writes of 4 KiB", "at random places and in order; each request, and the median with its interval")
eval time_axis(STATS_min_y, STATS_max_y)
set xrange [0.4:4.6]
set xtics ("random read" 1, "sequential read" 2, "random write" 3, "sequential write" 4)
do for [k=1:4] {
    name = word(parameters, k)
    if (value_of(name) == value_of(name)) {
        set object 10 + k rectangle from k - 0.4, low_of(name)/1000 to k + 0.4, high_of(name)/1000 fc rgb accent fs transparent solid 0.18 noborder behind
        set label 10 + k text_of(name) at k, value_of(name)/1000 offset 0,0.7 center tc rgb accent front
    }
}
set ylabel "latency"
jitter(k) = k + 0.6*(rand(0) - 0.5)
plot "< (".rows(1)."; ".rows(2).")".once using (jitter($1)):2 @first title "read", \
     "< (".rows(3)."; ".rows(4).")".once using (jitter($1)):2 @second title "write", \
     "< ".every.fit using 1:2:(0.4) with xerrorbars ps 0 lw 1.2 lc rgb accent title "median"
set output
set terminal pop
