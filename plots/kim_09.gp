# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 9: the latency of writes over their size (procedures 6 and 7).
# gnuplot -c kim_09.gp FOLDER OUTPUT: FOLDER holds PROBE-DRIVE.csv and .txt,
# samples and report, of --method=paper, FOLDER/adaptive those of the adaptive
# method.
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
height = 760
load plots_folder."/papers.gp"
probe = "write-buffer"
load plots_folder."/kim.gp"
# Procedure 6 writes into an empty buffer, procedure 7 into a full one.
# Contrasts write into an empty one; NAND is then the write with its flush.
rows(drive, full) = sprintf("awk -F, '$3==\"write-buffer\" && $5!=\"\" { if ($4 ~ /^procedure/) { if ($7==\"write\" && ($4==\"procedure-7\")==%d) print $9/1024, ($11-$10)/1e6; next } if ($7==\"write\") { ms=($11-$10)/1e6; size=$9; written=1; if (%d==0) print size/1024, ms } else if (written) { written=0; if (%d) print size/1024, ms+($11-$10)/1e6 } }' %s", full, full, full, file(drive, ".csv"))
buffer = "255 128 112 0"
# Up to which size a full buffer takes a write about as fast as an empty one.
alike(drive) = system(sprintf("{ %s%s; echo; %s%s; } | awk 'NF==0 { nand=1; next } !nand { empty[$1]=$2; next } !ends && $2 > 1.25*empty[$1] { ends=1; print last+0 } { last=$1 }'", rows(drive, 0), medians, rows(drive, 1), medians))
set multiplot
do for [i=1:4] {
    drive = word(drives, i)
    eval panel(i)
    eval panel_title(i)
    set xrange [*:*]; set yrange [*:*]; unset logscale
    set xrange [0:1024]
    set yrange [0:*]
    set xtics 256
    set xlabel "size of the write (KiB)"
    set ylabel "latency (ms)"
    if (real(word(buffer, i)) > 0) { set arrow 90 from real(word(buffer, i)), graph 0 to real(word(buffer, i)), graph 1 nohead dt 2 lw 0.75 lc rgb accent }
    if (i == 1) { eval legend(1, "Buffer", dark, 0.14); eval legend(2, "NAND", warm, 0.35); set label 73 "paper: write buffer" at screen 0.6, screen 0.022 tc rgb accent }
    keep = " | awk '$1<=1024'"
    stats "< ".rows(drive, 0).keep.medians using 1:2 nooutput
    set yrange [0:STATS_max_y*1.5]
    plot "< ".rows(drive, 1).keep.medians using 1:2 with linespoints @cross ps 0.3 lw 0.6 lc rgb warm title "", \
         "< ".rows(drive, 0).keep.medians using 1:2 with linespoints @ring ps 0.3 lw 0.6 lc rgb dark title ""
    unset label
    unset arrow
    # After 16 MiB of garbage there is room again, where a buffer empties itself
    # whole: what is left of 16 MiB after so many times all of it.
    if ((i == 1 || i == 3) && by_letter(drive)) { eval sprintf("print 'SSD-%s: NAND is as quick as Buffer up to||%s KiB||the garbage does not end with a full buffer: this one empties itself whole whenever something does not fit, and 16 MiB are no multiple of %s KiB'", word(letters, i), alike(drive), word(buffer, i)) }
    eval kim_claim(i, "write_buffer", "write buffer", i == 4 ? "inconclusive" : word(buffer, i)." KiB")
}
unset multiplot
set output
set terminal pop
