# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 8: the latency of reads over their size (procedures 4 and 5).
# gnuplot -c kim_08.gp FOLDER OUTPUT: FOLDER holds PROBE-DRIVE.csv and .txt,
# samples and report, of --method=paper, FOLDER/adaptive those of the adaptive
# method.
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
height = 760
load plots_folder."/papers.gp"
probe = "read-buffer"
load plots_folder."/kim.gp"
# Procedure 4 reads a place twice and keeps the second; procedure 5 reads from
# flash.
rows(drive, second) = sprintf("awk -F, '$4==\"procedure-%d\" && $5!=\"\" { print $9/1024, ($11-$10)/1e6 }' %s", second ? 4 : 5, file(drive, ".csv"))
buffer = "256 0 3072 64"
set multiplot
do for [i=1:4] {
    drive = word(drives, i)
    eval panel(i)
    eval panel_title(i)
    set xrange [*:*]; set yrange [*:*]; unset logscale
    # SSD-D keeps no more than 64 KiB.
    most = i == 3 ? 4096 : i == 4 ? 256 : 1024
    set xrange [0:most]
    set xtics most/4
    set xlabel "size of the read (KiB)"
    set ylabel "latency (ms)"
    if (real(word(buffer, i)) > 0) { set arrow 90 from real(word(buffer, i)), graph 0 to real(word(buffer, i)), graph 1 nohead dt 2 lw 0.75 lc rgb accent }
    if (i == 1) { eval legend(1, "Buffer", dark, 0.14); eval legend(2, "NAND", warm, 0.35); set label 73 "paper: read buffer" at screen 0.6, screen 0.022 tc rgb accent }
    keep = sprintf(" | awk '$1<=%d'", most)
    # Each size is read once. What noise holds up stays above the frame.
    set yrange [0:1.3*real(system(rows(drive, 0).keep." | sort -k2,2g | awk '{ ms[NR]=$2 } END { print ms[int(NR*0.95)] }'"))]
    plot "< ".rows(drive, 0).keep.medians using 1:2 with points @cross ps 0.25 lc rgb warm title "", \
         "< ".rows(drive, 1).keep.medians using 1:2 with points @ring ps 0.25 lc rgb dark title ""
    unset label
    unset arrow
    eval kim_claim(i, "read_buffer", "read buffer", i == 2 ? "absent" : size_text(real(word(buffer, i))))
}
unset multiplot
set output
set terminal pop
