# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 5 by contrasts: what a shift by half the size costs.
# gnuplot -c clustered_page.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# Cells w16384+8192-a (aligned to 16384) and -b (shifted by 8192), each write
# with the flush behind it: KiB, us; o16384+8192-a of writes that go on in order.
# Shifts other than half the size are proofs.
# --method=paper has cells k16: all that begin at 0 and go on in that size.
# Streams beyond the write buffer have cells s16384+8192-a: each is a point, its
# time over its writes.
rows(which) = sprintf("awk -F, '$3==\"clustered-page\" { \
if ($4==\"streams\") { split($5, name, /[s+-]/); if (name[4]==(%d ? \"b\" : \"a\")) { key=$5 FS $6; \
if (!(key in count)) { first[key]=last[key]=$11; size_of[key]=name[2] } \
if ($11<first[key]) first[key]=$11; if ($11>last[key]) last[key]=$11; count[key]++ } next } \
if ($5 ~ /^k/) { wanted = %d==0 } else { split($5, name, /[wo+-]/); \
wanted = $5 ~ /^[wo][0-9]+\\+/ && name[2]==2*name[3] && name[4]==(%d ? \"b\" : \"a\") } \
if (!wanted) next; \
if ($7==\"write\") { write_us=($11-$10)/1000; size=$9 } \
else if ($7==\"flush\") print size/1024, write_us+($11-$10)/1000 } \
END { for (key in count) if (count[key]>1) print size_of[key]/1024, (last[key]-first[key])/1000/(count[key]-1) }' %s", which, which, which, samples)
# Sizes that a certificate was tried for, and did not hold.
tried = system(sprintf("awk -F, '$3==\"clustered-page\" && $4 ~ /^certify-/ { split($4, part, \"-\"); if (part[2]!=%.0f && !seen[part[2]]++) print part[2] }' %s", found("clustered_page") ? value_of("clustered_page") : 0, samples))
if (!measured(rows(0))) { eval nothing }
stats "< (".rows(0)."; ".rows(1).")" using 1:2 nooutput
eval titled(headline("Write unit (clustered page)", "clustered_page"), "a write and its flush, or one of a stream, at a multiple of its size and a part of its size further")
eval size_axis(STATS_min_x, STATS_max_x)
eval time_axis(STATS_min_y, STATS_max_y)
eval chosen(value_of("clustered_page")/1024, low_of("clustered_page")/1024, high_of("clustered_page")/1024, span_of("clustered_page"))
eval rugged(tried, 1024.)
set xlabel "size of the write"
eval y_named("write and flush, or of a stream")
x_text(x) = size_text(x)
plot for [k=1:any(rows(1))] "< ".rows(1).once using 1:2 @second title "shifted by a part", \
     for [k=1:any(rows(1))] "< ".rows(1).medians using 1:2 @second_fit notitle, \
     "< ".rows(0).once using 1:2 @first title "aligned", \
     "< ".rows(0).medians using 1:2 @first_fit title "medians", \
     for [k=1:rugs] @rug, \
     for [k=1:tips] "< ".rows(0).medians using 1:2:(tip($1, $2)) @hover
set output
set terminal pop
