# SPDX-License-Identifier: GPL-3.0-or-later
# What the figures of Sun & Zhang share: rows of the literal procedures.
load plots_folder."/papers.gp"
# Of the requests of a cell: which one, counted from 0, and ms.
rows(probe, phase, cell) = sprintf("awk -F, '$3==\"%s\" && $4==\"%s\" && $5==\"%s\" { print n++, ($11-$10)/1e6 }' %s", probe, phase, cell, samples)
# From each to the sum of all so far: KiB, ms.
summed = " | awk '{ print ($1+1)*4, sum+=$2 }'"
# The middle of what falls between two times.
middle(rows, from, to) = real(system(sprintf("%s | awk '$2>=%g && $2<%g { print $2 }' | sort -g | awk '{ v[NR]=$1 } END { print NR ? v[int((NR+1)/2)] : \"NaN\" }'", rows, from, to)))
# Of each size in blocks the middle of the trials, ms: in one request (cells s1 to
# s30), or one by one (b1 to b30).
sizes(operation, letter) = sprintf("awk -F, '$3==\"large-request\" && $4==\"section-4-4-%s\" && $5 ~ /^%s/ { k=substr($5, 2)+0; sum+=($11-$10)/1e6; if (++n==k || \"%s\"==\"s\") { print k, sum; sum=n=0 } }' %s", operation, letter, letter, samples).medians
of_30(rows) = real(system(rows." | awk '$1==30 { print $2 }'"))
