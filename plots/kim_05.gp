# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 5: the latency of writes over their size (procedure 1).
# gnuplot -c kim_05.gp FOLDER OUTPUT: FOLDER holds PROBE-DRIVE.csv and .txt,
# samples and report, of --method=paper or of the adaptive method.
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
height = 760
load plots_folder."/papers.gp"
probe = "clustered-page"
load plots_folder."/kim.gp"
# Procedure 1 goes on in one size from 0: cells k16. Contrasts: w16384+8192.
rows(drive, b) = sprintf("awk -F, '{ if ($5 ~ /^k[0-9]/ && $4==\"procedure-1\") wanted=%d==0; else { split($5, name, /[w+-]/); wanted=$5 ~ /^w[0-9]+\\+/ && name[2]==2*name[3] && name[4]==(%d ? \"b\" : \"a\") } if (!wanted) next; if ($7==\"write\") { us=($11-$10)/1000; size=$9 } else if ($7==\"flush\") print size/1024, (us+($11-$10)/1000)/1000 }' %s", b, b, file(drive, ".csv"))
page = "16 128 4 128"
set multiplot
do for [i=1:4] {
    drive = word(drives, i)
    eval panel(i)
    eval panel_title(i)
    set xrange [*:*]; set yrange [*:*]; unset logscale
    stats "< ".rows(drive, 0).medians using 1:2 nooutput
    set xrange [0:STATS_max_x*1.02]
    set yrange [0:STATS_max_y*1.25]
    set xlabel "size of the write (KB)"
    set ylabel "write and flush (ms)"
    if (i == 1) { eval legend(1, "from 0 on, or aligned", dark, 0.14); eval legend(2, "shifted by half the size", warm, 0.55) }
    plot "< ".rows(drive, 1).fit using 1:2 @second title "", \
         "< ".rows(drive, 0).fit using 1:2 with linespoints @ring ps 0.3 lw 0.6 lc rgb dark title ""
    unset label 71
    unset label 72
    eval kim_claim(i, "clustered_page", "clustered page", word(page, i)." KiB")
}
unset multiplot
set output
set terminal pop
