# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 5: the latency of writes over their size (procedure 1).
# gnuplot -c kim_05.gp FOLDER OUTPUT: FOLDER holds PROBE-DRIVE.csv and .txt,
# samples and report, of --method=paper, FOLDER/adaptive those of the adaptive
# method.
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
height = 760
load plots_folder."/papers.gp"
probe = "clustered-page"
load plots_folder."/kim.gp"
# Procedure 1: cells k16 of 16 KiB. The median of a size: where a write waits for
# cleaning is no step.
rows(drive) = sprintf("awk -F, '$4==\"procedure-1\" && $5 ~ /^k[0-9]/ { if ($7==\"write\") { ns=$11-$10; size=$9 } else if ($7==\"flush\") print size/1024, (ns+$11-$10)/1e6 }' %s", file(drive, ".csv"))
page = "16 128 4 128"
set multiplot
do for [i=1:4] {
    drive = word(drives, i)
    eval panel(i)
    eval panel_title(i)
    set xrange [0:1044]
    set yrange [0:*]
    set xlabel "size of the write (KiB)"
    set ylabel "write and flush (ms)"
    if (i == 1) { eval legend(1, "the median of a size", dark, 0.14) }
    plot "< ".rows(drive).medians using 1:2 with linespoints @ring ps 0.3 lw 0.6 lc rgb dark title ""
    unset label 71
    eval kim_claim(i, "clustered_page", "clustered page", word(page, i)." KiB")
}
unset multiplot
set output
set terminal pop
