# SPDX-License-Identifier: GPL-3.0-or-later
# What the figures of Kim et al. share: four drives, a panel each. A figure sets
# `probe`, and then for each drive rows(drive, series): x and y.
drives = "ssd-a ssd-b ssd-c ssd-d"
letters = "A B C D"
# Samples of the procedure, or of the adaptive method where it was not run.
by_letter(drive) = int(system(sprintf("test -e '%s/%s-%s.csv'; echo $?", samples, probe, drive))) == 0
folder(drive) = by_letter(drive) ? samples : samples."/adaptive"
file(drive, suffix) = sprintf("%s/%s-%s%s", folder(drive), probe, drive, suffix)
adaptive(drive) = sprintf("%s/adaptive/%s-%s.txt", samples, probe, drive)
# What our own run says of a parameter: "16 KiB", "absent", "inconclusive".
said(text, name) = system(sprintf("awk '$1==\"%s\" { if ($2==\"-\" || $2==\"up\") print $NF; else { value=$2; if ($3 ~ /^.i?B$/ || $3 ~ /^[kKMG]iB$/) value=value \" \" $3; print value } exit }' %s", name, text))
kim_claim(i, name, what, paper) = sprintf("print 'SSD-%s: %s, adaptive|%s|%s|'; print 'SSD-%s: %s, by the letter|%s|%s|'", word(letters, i), what, paper, said(adaptive(word(drives, i)), name), word(letters, i), what, by_letter(word(drives, i)) ? paper : "", by_letter(word(drives, i)) ? said(file(word(drives, i), ".txt"), name) : "only with --full")
# "16 KiB", "4 MiB": sizes of the papers as our reports write them.
panel(i) = sprintf("set origin %g,%g; set size 0.5,0.475", i % 2 == 1 ? 0 : 0.5, i <= 2 ? 0.525 : 0.045)
set lmargin 9
set rmargin 2
set tmargin 1.8
set bmargin 3.4
set key off
panel_title(i) = sprintf("set title \"(%s) SSD-%s\" offset 0,-0.6 tc rgb ink", word("a b c d", i), word(letters, i))
legend(n, text, colour, place) = sprintf("set label %d \"%s %s\" at screen %g, screen 0.022 tc rgb '%s' front", 70 + n, n == 1 ? "o" : "x", text, place, colour)
