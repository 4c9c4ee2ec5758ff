# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 9 to 15: writes that move a block, by what it contains.
# gnuplot -c content.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a write with its flush: a column for each content of the block that
# it makes the drive move, its name, us. Cells bits-a .. bits-i hold zeros, ones
# and random data in three turns; parts2048+0-a, -b parts, -c, -d ones.
# Phases such as 1-to-0 are of --method=paper: writes in order, no flushes.
rows = sprintf("awk -F, '$3==\"content\" && ($5 ~ /^(bits|parts)/ || $5==\"write\") { \
if ($5==\"write\") { if (!($4 in column)) column[$4]=++columns; print column[$4], ($11-$10)/1000, $4; next } us+=($11-$10)/1000; if ($7!=\"flush\") next; \
side=index(\"abcdefghi\", substr($5, length($5)))-1; what=$5; sub(/-[a-i]$/, \"\", what); \
if (what==\"bits\") what=side<3 ? \"zeros\" : side<6 ? \"ones\" : \"random\"; \
else if (side>1) what=\"ones\"; \
else { sub(/\\+0$/, \"\", what); sub(/^parts/, \"parts \", what) } \
if (!(what in column)) column[what]=++columns; \
print column[what], us, what; us=0 }' %s", samples)
if (!measured(rows)) { eval nothing }
stats "< ".rows using 1:2 nooutput
columns_count = STATS_max_x
names = system(rows." | awk '{ n=$1; sub(/^[^ ]+ [^ ]+ /, \"\"); name[n]=$0 } END { for (i=1; i in name; i++) printf \"%s\\\"%s\\\" %d\", (i==1 ? \"\" : \", \"), name[i], i }'")
eval titled(verdict("content_dependence") eq "found" ? (field("content_dependence", 3) eq "true" ? "Content matters" : "Content does not matter") : headline("Content", "content_dependence"), "writes that move a block, by what it contains".(columns_count > 3 ? "; parts of ones and zeros: bytes of each" : ""))
eval time_axis(STATS_min_y, STATS_max_y)
set xrange [0.4:columns_count + 0.6]
set xtics ()
if (strlen(names)) { eval "set xtics (".names.")" }
if (columns_count > 4 && !ascii) { set xtics rotate by -25; set rmargin 9; set bmargin 7 }
set ylabel "write and flush"
plot "< ".rows.once using ($1 + 0.5*(rand(0) - 0.5)):2 @first title "a write", \
     "< ".rows.fit using 1:2:(0.35) with xerrorbars ps 0 lw 1.2 lc rgb warm title "median"
set output
set terminal pop
