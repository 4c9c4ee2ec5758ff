# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 6: slow writes at one distance; where none was sought, small
# writes beside block boundaries, or with --method=paper random against sequential
# writes over their size.
# gnuplot -c clustered_block.gp SAMPLES.csv OUTPUT [FINDINGS]
samples = ARG1; output_file = ARG2; findings = ARG3
load system(sprintf("dirname '%s'", ARG0))."/common.gp"
# One line a write with its flush, or without one in walks round and round: phase,
# MiB, KiB, at random or before a boundary or not, us. Where the drive was left alone
# in a walk: the phase.
rows = sprintf("awk -F, '$3==\"clustered-block\" && $7==\"idle\" && $4 ~ /^walk-/ { print $4; next } \
$3==\"clustered-block\" && $5!=\"\" && $5!=\"fill\" { us=($11-$10)/1000; \
if ($7==\"write\") { write_us=us; offset=$8; size=$9; if ($4 ~ /^walk-round-/) print $4, offset/1048576, size/1024, 0, us } \
else if ($7==\"flush\") print $4, offset/1048576, size/1024, ($5 ~ /-b$/ || $4 ~ /r-[0-9]+$/), write_us+us }' %s", samples)
# They are read many times, of up to a million rows: once from the samples.
rows_file = output_file.".rows"
none = system(rows." > ".rows_file)
rows = "cat ".rows_file
# The last walk, over the pages that it has used up: each write uses up those that
# it touches, wherever it goes. Without the page, the one in the longest writes,
# which are likely to be whole pages. Those with three digits only tell how much
# writes of other lengths use up.
page = found("clustered_page") ? value_of("clustered_page")/1024 : 0
# A flush leaves the rest of what is programmed at once unused.
unit = found("clustered_block.programmed_at_once") ? value_of("clustered_block.programmed_at_once")/1024 : 0
walked = rows.sprintf(" | awk -v page=%.1f -v unit=%.1f 'NF==1 { if ($1==last) line[n++]=at; next } $1 ~ /^walk-/ && $1 !~ /-[0-9][0-9][0-9]$/ && (page || $3>=most) { \
if ($1!=last) { n=0; at=0; last=$1; most=$3 } line[n++]=at \" \" $5; \
a=$3; b=page ? page : $3; used=a+b; while (b) { rest=a%%b; a=b; b=rest } used-=a; if (unit) used=int((used+unit-1)/unit)*unit; at+=used/1024 } \
END { for (i=0; i<n; i++) print line[i] }'", page, unit)
# Both are read several times as well.
walk_file = output_file.".walk"; sizes_file = output_file.".sizes"
none = system(walked." > ".walk_file."; ".rows." | awk '$1 !~ /^walk-/ { print $4, $3, $5 }' > ".sizes_file."; rm -f ".rows_file)
tidy = "none = system('rm -f '.walk_file.' '.sizes_file)"
walk = "awk 'NF==2' ".walk_file
# Where in that walk the drive was left alone.
pauses = system("awk 'NF==1' ".walk_file)
sizes(at_random) = sprintf("awk '$1==%d { print $2, $3 }' %s", at_random, sizes_file)
rounds = system("grep -c ',clustered-block,walk-round-' ".samples) > 0
beside = system("grep -c ',clustered-block,border' ".samples) > 0
block = value_of("clustered_block")/1048576
# How much of a block a write uses up is known with the page.
folded = block == block && (page > 0 || rounds)
walks = measured(walk)
counts = measured(sizes(0)."; ".sizes(1))
if (!walks && !counts) { eval tidy; eval nothing }
what = headline("Erase unit (clustered block)", "clustered_block")
if (walks) {
    stats "< ".walk using 1:2 name "WALK" nooutput
    eval titled(what, folded ? "one write after another; all blocks laid over one another" : \
        "one write after another".(strlen(pauses) ? "; at each dashed line the drive was left alone" : ""))
    eval time_axis(WALK_min_y, WALK_max_y)
    place(x) = folded ? x - block*floor(x/block + 1e-9) : x
    begin = folded ? 0 : WALK_min_x; end = folded ? block : WALK_max_x
    set xrange [begin - 0.02*(end - begin):end + 0.02*(end - begin)]
    set xlabel folded ? "used up, modulo a block (MiB)" : page > 0 ? "pages used up (MiB)" : "written (MiB)"
    eval y_named(rounds ? "write" : "write and flush")
    set key off
    if (!folded) { do for [pause in pauses] { set arrow from real(pause), graph 0 to real(pause), graph 1 nohead dt 2 lw 0.75 lc rgb accent } }
    plot "< ".walk.once_linear using (place($1)):2 with points @dot ps 0.3 lc rgb dark title "one write"
    unset arrow
    unset label
}
if (counts && !walks) {
    set xrange [*:*]
    set yrange [*:*]
    stats "< { ".sizes(0)."; ".sizes(1)."; }" using 1:2 name "SIZES" nooutput
    eval titled(what, beside ? "small writes beside boundaries of blocks" : "written at random and in order, by size")
    eval size_axis(SIZES_min_x, SIZES_max_x)
    eval time_axis(SIZES_min_y, SIZES_max_y)
    eval chosen(block*1024, low_of("clustered_block")/1024, high_of("clustered_block")/1024, span_of("clustered_block"))
    set xlabel "size of the write"
    eval y_named("write and flush")
    plot for [k=1:any(sizes(0))] "< ".sizes(0).once using ($1*0.97):2 @first title beside ? "behind one" : "in order", \
         for [k=1:any(sizes(0))] "< ".sizes(0).medians using 1:2 @first_fit title "medians", \
         for [k=1:any(sizes(1))] "< ".sizes(1).once using ($1*1.03):2 @second title beside ? "before one" : "at random", \
         for [k=1:any(sizes(1))] "< ".sizes(1).medians using 1:2 @second_fit notitle, \
         for [k=1:tips] "< ".sizes(any(sizes(1))).medians using 1:2:(size_text($1).": ".y_text($2)) @hover
}
eval tidy
set output
set terminal pop
