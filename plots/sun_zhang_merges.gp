# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figures 9 to 15: a thousand blocks in order, by what the stick holds
# and what is written. Each sets `phase`, `what` and the paper's `merge` in ms.
load plots_folder."/sun_zhang.gp"
eval titled("Writes of ".what, "1000 sequential blocks of 4 KB; the first merges are of what was there")
set xlabel "block (4 KB)"
set ylabel "latency (ms)"
set yrange [0:140]
set xtics 64*2
eval paper_line(1, merge, sprintf("%d ms", merge))
writes = rows("content", phase, "write")
plot "< ".writes using 1:2 @first title "a write"
# Each 64th merges, as in figure 5. The first three logs were filled before.
eval claim("a merge", sprintf("%d", merge), middle(writes." | awk '$1>=3*64 && $1%64==0'", 0, 1e9), "ms")
set output
set terminal pop
