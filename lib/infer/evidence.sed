# SPDX-License-Identifier: GPL-3.0-or-later
# probes/evidence.tsv as C: the heading begins the array, a row is an initializer.
1c\
#include "lib/infer/evidence.h"\
const struct evidence evidence_rows[] = {
s/[\\"]/\\&/g
s/^\([^\t]*\)\t\([^\t]*\)\t\([^\t]*\)\t\([^\t]*\)\t\(.*\)$/{"\1", "\2", \3, \4, "\5"},/
$a\
};\
const size_t evidence_rows_count = sizeof(evidence_rows) / sizeof(evidence_rows[0]);
