# SPDX-License-Identifier: GPL-3.0-or-later
# What the figures of Kim et al. share: four drives, a panel each. A figure sets
# `probe`, and then for each drive rows(drive, series): x and y.
drives = "ssd-a ssd-b ssd-c ssd-d"
letters = "A B C D"
file(drive, suffix) = sprintf("%s/%s-%s%s", samples, probe, drive, suffix)
# What our own run says of a parameter: "16 KiB", "absent", "inconclusive".
said(drive, name) = system(sprintf("awk '$1==\"%s\" { if ($2==\"-\") print $NF; else { value=$2; if ($3 ~ /^.i?B$/ || $3 ~ /^[kKMG]iB$/) value=value \" \" $3; print value } exit }' %s", name, file(drive, ".txt")))
kim_claim(i, name, what, paper) = sprintf("print 'SSD-%s: %s|%s|%s|'", word(letters, i), what, paper, said(word(drives, i), name))
# "16 KiB", "4 MiB": sizes of the papers as our reports write them.
size_text(kib) = int(kib) % 1024 == 0 ? sprintf("%d MiB", int(kib)/1024) : sprintf("%d KiB", int(kib))
panel(i) = sprintf("set origin %g,%g; set size 0.5,0.47", i % 2 == 1 ? 0 : 0.5, i <= 2 ? 0.5 : 0.045)
set lmargin 9
set rmargin 2
set tmargin 2.6
set bmargin 3.4
set key off
panel_title(i) = sprintf("set title \"SSD-%s\" offset 0,-0.6 tc rgb ink", word(letters, i))
legend(n, text, colour, place) = sprintf("set label %d \"%s %s\" at screen %g, screen 0.022 tc rgb '%s' front", 70 + n, n == 1 ? "o" : "x", text, place, colour)
