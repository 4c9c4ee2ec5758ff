#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# cmd/package/symbols.sh NM FLASH_ARCHIVE ARCHIVE MAP HEADER: a library
# of a thousand short names would be in the way of its users' own. In the
# installed one the names of the model begin with flashemu_, all others with
# ssdprobe_. MAP is for objcopy --redefine-syms. HEADER lets programs go on
# saying what the headers say.
set -euo pipefail
export LC_ALL=C

nm=$1 flash=$2 archive=$3 map=$4 header=$5

# Names of the sanitizers and of the compiler are left alone.
names()
{
    "$nm" -g --defined-only "$1" | awk 'NF == 3 && $3 ~ /^[a-z]/ { print $3 }' | sort
}

{
    names "$flash" | sed 's/.*/& flashemu_&/'
    comm -13 <(names "$flash") <(names "$archive") | sed 's/.*/& ssdprobe_&/'
} >"$map"
{
    echo '/* SPDX-License-Identifier: GPL-3.0-or-later */'
    echo '/* Generated. What the names of the headers are in libssdprobe. */'
    sed 's/^/#define /' "$map"
} >"$header"
