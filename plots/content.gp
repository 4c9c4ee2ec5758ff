# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 9 to 15: writes that move a block, by what it contains.
# gnuplot -c content.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a write with its flush: us, what the block holds that it makes the
# drive move. Cells bits-a .. bits-i hold zeros, ones and random data in three
# turns, bits-z is the cost where nothing is moved; parts2048+0-a, -b parts, -c, -d
# ones. Phases such as 1-to-0 are of --method=paper: writes in order, no flushes.
writes = sprintf("awk -F, '$3==\"content\" && ($5 ~ /^(bits|parts)/ || $5==\"write\") { \
if ($5==\"write\") { print ($11-$10)/1000, $4; next } us+=($11-$10)/1000; if ($7!=\"flush\") next; \
side=index(\"abcdefghi\", substr($5, length($5)))-1; what=$5; sub(/-[a-i]$/, \"\", what); \
if (what==\"bits-z\") what=\"stayed\"; else if (what==\"bits\") what=side<3 ? \"zeros\" : side<6 ? \"ones\" : \"random\"; \
else if (side>1) what=\"ones\"; \
else if (what ~ /-z$/) what=\"stayed\"; else { sub(/\\+0$/, \"\", what); sub(/^parts/, \"\", what) } \
print us, what; us=0 }' %s", samples)
# Their columns from left to right: whole blocks first, then ever smaller parts.
held = writes." | awk '!seen[$2]++ { part = $2 ~ /^[0-9]+([+]|$)/; print part ? 4 : $2==\"zeros\" ? 1 : $2==\"ones\" ? 2 : $2==\"stayed\" ? 5 : 3, part ? -$2 : NR, $2 }' | sort -k1,1n -k2,2n -k3 | awk '{ print $3 }'"
rows = "{ ".held."; echo; ".writes."; } | awk '!NF { past=1; next } !past { column[$1]=NR; next } { print column[$2], $1 }'"
if (!measured(rows)) { eval nothing }
stats "< ".rows using 1:2 nooutput
columns_count = STATS_max_x
# Parts by their size, "2 KiB" or "1.5 KiB", and how far they are shifted.
names = system(held." | awk 'function size(n) { return n < 1024 ? n \" B\" : n/1024 \" KiB\" } \
/^[0-9]+([+]|$)/ { parts=1; n=split($1, part, \"+\"); $0=size(part[1]) (n > 1 ? \" + \" size(part[2]) : \"\") } \
$1==\"stayed\" { $0=\"nothing moved\" } \
{ printf \"%s\\\"%s\\\" %d\", (NR==1 ? \"\" : \", \"), $0, NR } END { exit !parts }'; test $? -gt 0 || printf parts")
parts = names[strlen(names)-4:] eq "parts"
if (parts) { names = names[:strlen(names)-5] }
eval titled(verdict("content_dependence") eq "found" ? "Content ".hedge("content_dependence").(field("content_dependence", 3) eq "true" ? "matters" : "does not matter") : headline("Content", "content_dependence"), "writes that move a block, by what it holds".(parts ? "; a size: zeros and ones in turn" : ""))
eval time_axis(STATS_min_y, STATS_max_y)
set xrange [0.4:columns_count + 0.6]
eval "set xtics (".names.")"
# Many names have room aslant.
if (columns_count > 4 && !ascii) { set xtics rotate by 40 right; set bmargin 8 }
eval y_named("write and flush")
plot "< ".rows.once using ($1 + 0.5*(rand(0) - 0.5)):2 @first title "a write", \
     "< ".rows.medians using ($1 - 0.35):2:(0.7):(0) with vectors nohead lw 1.2 lc rgb warm title "median", \
     for [k=1:tips] "< ".rows.medians using 1:2:(y_text($2)) @hover
set output
set terminal pop
