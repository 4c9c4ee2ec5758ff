# SPDX-License-Identifier: GPL-3.0-or-later
# Series that more than one figure draws: each function names a command that
# prints "x y" lines from a file of samples.

# Sequential writes, one line for each `step` bytes: MB since the pass began,
# MB/s. Requests of one queue may end in any order, so what counts is the last end
# so far.
written_series(file, phase, step) = sprintf("awk -F, '$3==\"sustained-write\" && $4==\"%s\" && $5==\"w\" { \
if (!begun) { begun = 1; end = from = $10 } if ($11 > end) end = $11; \
bytes += $9; all += $9; if (bytes >= %.9g) { if (end > from) print all/1e6, bytes*1000/(end - from); from = end; bytes = 0 } }' %s", phase, step, file)

# A full cache that is copied out piece by piece is fast in between: the size of
# such pieces from lines of a MiB whose fastest is `top`, in MB; 0: there are none.
piece_of(series, top) = real(system(series.sprintf(" | awk '$2 < %.9g { if (at && $1 - at > 2) print $1 - at; at=$1 }' | sort -g | awk '{ v[NR]=$1 } END { print (NR > 2 ? v[int((NR+1)/2)] : 0) }'", top/8)))
# MB, rounded up to whole pieces.
whole_pieces(part, piece) = piece > 0 ? piece*ceil(part/piece) : part

# Random reads: queue depth, us; once the queue of a block is full.
depth_series(file) = sprintf("awk -F, '$3==\"throughput\" && $5 ~ /^(random|double)/ { \
key=$4 \" \" $5 \" \" $6; if (key != last) { last=key; n=0 } if (++n > $14 || $14 == 1) print $14, ($11-$10)/1000 }' %s", file)
# Of each x with at least `enough` lines: that quantile.
quantile_of(series, share, enough) = series.sprintf(" | sort -k1,1g -k2,2g | awk 'function put() { if (n >= %d) { r = int(%g*n); if (r < %g*n) r++; print x, v[r] } } $1 != x { put(); x = $1; n = 0 } { v[++n] = $2 } END { put() }'", enough, share, share)
# So many reads show a p99 with 95 % confidence.
p99_least = 299
# Queue depth, random reads per second: one is sent when another ends.
iops_series(file) = sprintf("awk -F, '$3==\"throughput\" && $5 ~ /^(random|double)/ { \
key=$4 \" \" $5 \" \" $6; if (key != last) { last=key; n=0 } \
if (++n > $14 + 1) { t[$14]+=$10-at; c[$14]++ } at=$10 } END { for (d in t) if (t[d] > 0) print d, c[d]*1e9/t[d] }' %s | sort -g", file)

# Of other tools' results: queue depth, the most MB a second of requests of so many
# bytes; `operation`: read or write.
matrix_series(file, operation, bytes) = sprintf("awk -F, '$3==\"matrix\" && $4==\"%s\" && $5==\"%s\" && $7 > most[$6] { most[$6]=$7 } END { for (d in most) print d, most[d]/1e6 }' %s | sort -g", operation, bytes, file)

# Requests over their size, a write with its flush: KiB, ms. `name`: read or write.
size_series(file, name) = sprintf("awk -F, '$3==\"large-request\" && ($4==\"section-4-4-%s\" && $5 ~ /^s/ || $5 ~ /^%s-/) { \
if ($5 ~ /^s/) { print $9/1024, ($11-$10)/1e6; next } \
if ($7!=\"flush\") { size=$9; ms=0 } ms+=($11-$10)/1e6; \
if ($7!=\"write\") print size/1024, ms }' %s", name, name, file)

# Requests beside writes: 0 (alone), 1 (beside one write), 2 (4) or 3 (16), and us.
# The first of each block fill the queue.
beside_series(file, operation) = sprintf("awk -F, '$3==\"interference\" && $5!=\"\" { key=$4 \" \" $5 \" \" $6; if (key != last) { last=key; n=0 } n++; \
lead=$14 > 1 ? $14 : 2; if (n > lead && $7==\"%s\") print index(\"abcd\", substr($5, length($5))) - 1, ($11-$10)/1000 }' %s", operation, file)

# Random writes, one line for each `count`: how many there were, us per write. They
# may end in any order, too. Fewer than 1024 only show that it would take too long.
steady_series(file, count) = sprintf("awk -F, '$3==\"steady-state\" && $4==\"steady\" && $5==\"w\" { \
if (!begun) { begun = 1; end = from = $10 } if ($11 > end) end = $11; \
if (++n %% %d == 0) { line[++lines] = n \" \" (end - from)/%d/1000; from = end } } \
END { for (i = 1; n >= 1024 && i <= lines; i++) print line[i] }' %s", count, count, file)
