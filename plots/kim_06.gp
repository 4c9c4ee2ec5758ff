# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 6: sequential against random writes (procedure 2).
# gnuplot -c kim_06.gp FOLDER OUTPUT: FOLDER holds PROBE-DRIVE.csv and .txt,
# samples and report, of --method=paper, FOLDER/adaptive those of the adaptive
# method.
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
height = 760
load plots_folder."/papers.gp"
probe = "clustered-block"
load plots_folder."/kim.gp"
# Phases procedure-2s-64 and 2r-64: KiB, MB/s of the first thousand writes with
# their flushes, in order and at random. Sizes are two pages doubled; ten doubled are SSD-C's (IV-C).
rows(drive, r) = sprintf("awk -F, '$4 ~ /^procedure-2%s/ && $5==\"run\" { if ($7==\"write\") { ns=$11-$10; size=$9 } else if ($7==\"flush\" && (\"%s\"==\"ssd-c\" || size %% 5) && n[size]++<1000) print size/1024, size*1000/(ns+$11-$10) }' %s", r ? "r" : "s", drive, file(drive, ".csv"))
block = "4096 16384 5120 16384"
set multiplot
do for [i=1:4] {
    drive = word(drives, i)
    eval panel(i)
    eval panel_title(i)
    set xrange [*:*]; set yrange [*:*]; unset logscale
    stats "< ".rows(drive, 0) using 1:2 nooutput
    set logscale x 2
    # The paper's line belongs into its own panel.
    most = STATS_max_x > word(block, i) ? STATS_max_x : real(word(block, i))
    set xrange [STATS_min_x/1.5:most*1.5]
    set yrange [0:*]
    set xtics ("64" 64, "256" 256, "1024" 1024, "4096" 4096, "16384" 16384, "65536" 65536)
    set xlabel "size of the write (KiB)"
    set ylabel "bandwidth (MB/s)"
    set arrow 90 from real(word(block, i)), graph 0 to real(word(block, i)), graph 1 nohead dt 2 lw 0.75 lc rgb accent
    if (i == 1) { eval legend(1, "sequential, the median of a size", dark, 0.14); eval legend(2, "random", warm, 0.5); set label 73 "paper: clustered block" at screen 0.65, screen 0.022 tc rgb accent }
    plot "< ".rows(drive, 0).medians using 1:2 with linespoints @ring ps 0.6 lw 0.75 lc rgb dark title "", \
         "< ".rows(drive, 1).medians using 1:2 with linespoints @cross ps 0.6 lw 0.75 dt 2 lc rgb warm title ""
    unset label
    unset arrow
    eval kim_claim(i, "clustered_block", "clustered block", size_text(i == 2 || i == 4 ? 16384 : real(word(block, i))))
}
unset multiplot
set output
set terminal pop
