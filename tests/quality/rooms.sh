# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Part of test_quality.sh: does `ls` explain what is inside a layer?

room_files_max=25 # what a reader takes in at one look

# Has each folder few enough files?
check_rooms_size()
{
    sources "$1" lib probes cmd | xargs -rn1 dirname | sort | uniq -c |
        awk -v most="$room_files_max" '$1 > most {
            print $2 ": " $1 " source files, more than " most
        }'
}

break_rooms_size()
{
    local i
    mkdir lib/base/crowd
    for ((i = 0; i <= room_files_max; i++)); do
        touch "lib/base/crowd/file_$i.c"
    done
}

# The rooms' include lines as 'FILE HEADER'.
room_includes()
{
    sources "$1" lib probes cmd | (cd -- "$1" && xargs -r grep -H \
        '^#include "') | sed 's/:#include "/ /; s/".*//'
}

# Does one folder include another that includes it, directly or not?
check_rooms_circle()
{
    room_includes "$1" | awk '
        { sub(/\/[^\/]*$/, "", $1); sub(/\/[^\/]*$/, "", $2) }
        $1 != $2 { print $1, $2 }' | sort -u | tsort 2>&1 >/dev/null |
        sed 's/^tsort: -: /circle: /; s/^tsort: /circle: /'
}

break_rooms_circle()
{
    echo '#include "lib/flash/controller/serve.h"' \
        >>lib/flash/nand/divisor.h
}

# Do two files call each other, directly or not? A function's definition stands
# at the beginning of a line that does not end in `;`.
check_rooms_files()
{
    local files
    mapfile -t files < <(sources "$1" lib probes | grep '\.c$')
    (cd -- "$1" && awk '
        pass == 1 && /^[a-z]/ && !/;$/ && match($0, /[a-z_0-9]+\(/) {
            name = substr($0, RSTART, RLENGTH - 1)
            if (/^static/)
                own[FILENAME, name]
            else
                defined[name] = FILENAME
        }
        pass == 2 && !/^ *\*|^\/\*|^[a-z]/ {
            gsub(/"[^"]*"|(->|\.)[a-z_0-9]+/, "")
            while (match($0, /[a-z_0-9]+\(/)) {
                name = substr($0, RSTART, RLENGTH - 1)
                $0 = substr($0, RSTART + RLENGTH)
                if (name in defined && defined[name] != FILENAME &&
                    !((FILENAME, name) in own))
                    print FILENAME, defined[name]
            }
        }' pass=1 "${files[@]}" pass=2 "${files[@]}") | sort -u |
        tsort 2>&1 >/dev/null |
        sed 's/^tsort: -: /circle: /; s/^tsort: /circle: /'
}

break_rooms_files()
{
    printf 'void bad_a(void)\n{\n    bad_b();\n}\n' >>lib/base/units.c
    printf 'void bad_b(void)\n{\n    bad_a();\n}\n' >>lib/base/random.c
}

# Is a folder's inner header included from outside? Each layer's README.md has
# a table: its first column names a folder, its last one the folder's headers
# that others may include.
check_rooms_inner()
{
    (
        cd -- "$1" || exit
        {
            awk -F'|' '
                /^\| `(lib|probes|cmd)[a-z_\/]*\/` \|/ {
                    split($2, folder, "`")
                    count = split($(NF - 1), header, "`")
                    for (i = 2; i <= count; i += 2)
                        print "public", folder[2] header[i]
                }' cmd/README.md probes/README.md lib/*/README.md
            room_includes .
        } | awk '
            $1 == "public" { public[$2]; next }
            {
                from = $1
                to = $2
                sub(/\/[^\/]*$/, "", from)
                sub(/\/[^\/]*$/, "", to)
                if (from != to && !($2 in public))
                    print $1 ": includes the inner header " $2
            }'
    )
}

break_rooms_inner()
{
    echo '#include "lib/flash/ftl/block_pool.h"' >>lib/flash/flash.c
}
