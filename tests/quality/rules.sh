# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Part of test_quality.sh: the project's own rules, which no tool knows.

# Files that begin so : what they may include. The first row that fits rules.
layers='
lib/base/       : lib/base
lib/infer/      : lib/infer lib/base
lib/flash/      : lib/flash lib/base
lib/study/      : lib/study lib/flash lib/base
lib/oracle/     : lib/oracle lib/flash lib/infer lib/base
lib/device/sim/ : lib/device lib/flash lib/base
lib/device/     : lib/device lib/base
lib/session/    : lib/session lib/device lib/infer lib/base
lib/twin/       : lib/twin lib/session lib/infer lib/flash lib/device lib/base
lib/report/     : lib/report lib/infer lib/device lib/base
probes/         : probes lib/infer lib/base
cmd/flashemu/   : cmd lib
cmd/nbdkit/     : cmd lib
cmd/            : cmd probes lib/twin lib/session lib/report lib/infer lib/device lib/base
tests/          : tests cmd probes lib
'

# Folder : functions that must not be called in it.
banned='
lib    : exit _exit quick_exit err errx verr warn warnx perror printf vprintf puts putchar
probes : exit _exit quick_exit err errx verr warn warnx perror printf vprintf puts putchar
lib/base    : clock_gettime gettimeofday clock sleep usleep nanosleep clock_nanosleep
lib/infer   : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep getenv
lib/flash   : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep
lib/oracle  : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep
lib/study   : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep
lib/session : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep
lib/twin    : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep getenv
lib/report  : clock_gettime gettimeofday clock sleep usleep nanosleep clock_nanosleep
probes      : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep getenv
tests       : clock_gettime gettimeofday clock sleep usleep nanosleep clock_nanosleep
lib probes cmd tests : atoi atol atoll atof gets sprintf vsprintf strcpy strcat strtok rand srand random srandom drand48 alloca setlocale
'

file_lines_max=1200 # files fit a concept; this is where one surely ends

# Prints 'FILE:LINE:CODE' of the files named on stdin, comments and the insides
# of strings removed.
code()
{
    (cd -- "$1" && xargs -r awk '
        FNR == 1 { comment = 0 }
        {
            line = $0
            gsub(/\\./, "", line)
            out = ""
            while (line != "") {
                if (comment) {
                    at = index(line, "*/")
                    if (!at) { line = ""; break }
                    line = substr(line, at + 2)
                    comment = 0
                } else if (match(line, /\/\*|\/\/|"|\047/)) {
                    what = substr(line, RSTART, RLENGTH)
                    out = out substr(line, 1, RSTART - 1)
                    line = substr(line, RSTART + RLENGTH)
                    if (what == "/*") comment = 1
                    else if (what == "//") line = ""
                    else {
                        out = out what what
                        at = index(line, what)
                        line = at ? substr(line, at + 1) : ""
                    }
                } else { out = out line; line = "" }
            }
            if (out ~ /[^ \t]/) print FILENAME ":" FNR ":" out
        }')
}

# Do includes name files of this tree, in the same layer or a lower one?
check_layers()
{
    sources "$1" | (cd -- "$1" && xargs -r awk -v table="$layers" '
        BEGIN {
            count = split(table, rows, "\n")
            for (i = 1; i <= count; i++)
                if (split(rows[i], part, /[ \t]+: +/) == 2) {
                    prefix[++n] = part[1]
                    allowed[n] = part[2]
                }
        }
        FNR == 1 {
            for (rule = 1; rule <= n; rule++)
                if (index(FILENAME, prefix[rule]) == 1) break
        }
        /^[ \t]*#[ \t]*include[ \t]*["<]/ {
            at = FILENAME ":" FNR ": "
            split($0, quoted, /["<>]/)
            path = quoted[2]
            if ($0 ~ /</) {
                if (path ~ /^(lib|probes|cmd|tests)\//)
                    print at "our own header in angle brackets: " path
                next
            }
            if ((getline line < path) < 0) {
                print at "not a path from the root of the tree: " path
                next
            }
            close(path)
            folders = split(allowed[rule], folder, " ")
            for (i = 1; i <= folders; i++)
                if (index(path, folder[i] "/") == 1) next
            print at "upward include: " path
        }')
}

break_layers_upward()
{
    echo '#include "lib/device/device.h"' >lib/base/bad.h
}

break_layers_flash()
{
    echo '#include "lib/flash/flash.h"' >lib/device/bad.c
}

break_layers_missing()
{
    echo '#include "no_such.h"' >cmd/bad.c
}

# Can a probe learn the answer from anything but timing?
check_truth()
{
    (cd -- "$1" && grep -rnE --include='*.[ch]' \
        'drives/|drive_(load|truth)|struct drive|\btruths?\b|clock_gettime|lib/(flash|device|oracle)' \
        probes lib/infer)
}

break_truth()
{
    echo '/* reads lib/flash/drives/ssd-a.ini */' >probes/bad.c
}

# Is a function called where it must not be?
check_calls()
{
    local folders functions
    while IFS=: read -r folders functions; do
        [[ -n $functions ]] || continue
        # Benchmarks measure real time; that is what they are for. What works
        # apart is a process of its own, and ends itself.
        # shellcheck disable=SC2086
        sources "$1" $folders | grep -vE '^(tests/bench/|lib/base/apart\.c$)' |
            code "$1" |
            grep -E "(^|[^A-Za-z0-9_>.])(${functions// /|}) *\(" |
            sed "s|\$|   <- banned in $folders|"
    done < <(sed 's/ *: */:/; s/ *$//' <<<"$banned")
    sources "$1" | code "$1" |
        grep -E 'fprintf *\( *std(out|err)|__attribute__ *\(\( *constructor' |
        grep -vE '^(cmd|tests)/.*fprintf'
}

break_calls_lib()
{
    echo 'static void bad(void) { printf("bad"); }' >>lib/base/units.c
}

break_calls_any()
{
    echo 'static void bad(char *x) { sprintf(x, "bad"); }' >cmd/bad.c
}

# Does each file name its licence, and end before it holds two concepts?
check_text()
{
    (
        cd -- "$1" || exit
        find lib probes cmd tests plots .ci bootstrap CMakeLists.txt \
            -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.cmake' \
            -o -name '*.gp' -o -name run -o -name bootstrap \
            -o -name CMakeLists.txt \) | sort |
            xargs awk -v most="$file_lines_max" '
                FNR <= 2 && /SPDX-License-Identifier: GPL-3.0-or-later/ {
                    licensed[FILENAME]
                }
                { lines[FILENAME] = FNR }
                END {
                    for (i = 1; i < ARGC; i++) {
                        if (!(ARGV[i] in licensed))
                            print ARGV[i] ": no SPDX line"
                        if (lines[ARGV[i]] > most)
                            print ARGV[i] ": more than " most " lines"
                    }
                }'
    )
}

break_text_spdx()
{
    echo 'int bad;' >lib/base/bad.c
}

break_text_length()
{
    yes '' | head -n $((file_lines_max + 1)) >>lib/base/units.c
}

# Is a line of C wider than what a reader sees of it? The vectors are made by a
# program.
# Each mutant still breaks something: code moves on.
check_mutants()
{
    local file expression rest
    (
        cd -- "$1" || exit
        eval "$(sed -n '/^table()/,/^}/p' tests/mutants.sh)"
        table | while IFS='|' read -r file expression rest; do
            sed -- "$expression" "$file" 2>&1 | cmp -s -- - "$file" &&
                echo "tests/mutants.sh: nothing in $file changes by $expression"
        done
    )
}

break_mutants()
{
    sed -i 's/half = (count + 1)/half = (number + 1)/' \
        lib/infer/statistics/stats.c
}

check_width()
{
    (cd -- "$1" && find lib probes cmd tests -name '*.[ch]' \
        ! -path 'tests/vectors/*' -exec awk 'length($0) > 80 {
            print FILENAME ":" FNR ": " length($0) " columns, more than 80"
        }' {} +)
}

# Files that comments name are there.
check_named()
{
    (
        cd -- "$1" || exit
        find lib probes cmd tests/*.c tests/*.h -name '*.[ch]' -print0 |
            sort -z | xargs -0 awk '
                NR == FNR { there[$1]; next }
                /# *include/ || /my_/ { next }
                {
                    rest = $0
                    while (match(rest, /[a-z][a-z0-9_]*\.(c|h|sh|md)([^a-z0-9_(]|$)/)) {
                        name = substr(rest, RSTART, RLENGTH)
                        sub(/[^a-z]$/, "", name)
                        rest = substr(rest, RSTART + RLENGTH)
                        if (!(name in there) && name !~ /^(readme|contributing)/)
                            print FILENAME ":" FNR ": " name " is not in the tree"
                    }
                }' <(find lib probes cmd tests plots -type f -printf '%f\n')
    )
}

break_named()
{
    sed -i '2i /* See no_such_room.c. */' lib/base/units.c
}

break_width()
{
    printf '/*%81s */\n' '' >>lib/base/units.h
}

# What may stand at the top; all else is a leftover.
top='probes lib cmd tests plots CMakeLists.txt CMakePresets.json README.md LICENSE
CONTRIBUTING.md CHANGELOG.md bootstrap build docs'

check_top()
{
    find "$1" -mindepth 1 -maxdepth 1 ! -name '.*' ! -name 'build-*' \
        -printf '%f\n' | grep -vxF -- "$(tr ' ' '\n' <<<"$top")" |
        sed 's/$/ does not belong at the top/'
}

break_top()
{
    mkdir fault22
}
