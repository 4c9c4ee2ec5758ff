# SPDX-License-Identifier: GPL-3.0-or-later
# Kim et al. figure 7: the distribution of write latencies (procedure 3).
# gnuplot -c kim_07.gp FOLDER OUTPUT: FOLDER holds PROBE-DRIVE.csv and .txt,
# samples and report, of --method=paper, FOLDER/adaptive those of the adaptive
# method.
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
height = 760
load plots_folder."/papers.gp"
probe = "nand-type"
load plots_folder."/kim.gp"
# Each page of some blocks, with its flush: ms.
rows(drive) = sprintf("awk -F, '$3==\"nand-type\" && $5==\"page\" { if ($7==\"write\") us=($11-$10)/1000; else if ($7==\"flush\") print (us+($11-$10)/1000)/1000 }' %s", file(drive, ".csv"))
types = "SLC MLC MLC MLC"
set multiplot
do for [i=1:4] {
    drive = word(drives, i)
    eval panel(i)
    eval panel_title(i)
    set xrange [*:*]; set yrange [*:*]; unset logscale
    # The fastest 98 %; what remains is cleaning.
    top = real(system(rows(drive)." | sort -g | awk '{ v[NR]=$1 } END { print v[int(NR*0.98)]*1.3 }'"))
    bin = top/60.
    set xrange [0:top]
    set yrange [0:*]
    set boxwidth bin*0.9
    set style fill solid 0.8
    set xlabel "write and flush (ms)"
    set ylabel "pages"
    plot "< ".rows(drive).sprintf(" | awk '$1<%.9g { n[int($1/%.9g)]++ } END { for (b in n) print (b+0.5)*%.9g, n[b] }' | sort -g", top, bin, bin) using 1:2 with boxes lc rgb dark title ""
    eval kim_claim(i, "nand_type", "NAND type", word(types, i))
}
unset multiplot
set output
set terminal pop
