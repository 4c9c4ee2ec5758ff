#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_quality.sh SOURCE_DIR BUILD_DIR: what must hold of the code itself.
#
# A check is a function that is given a source tree and prints a line for each
# thing that is wrong; silence is success. For each there is at least one way to
# break a copy of the tree, and the check must name what was broken: a check
# that cannot fail is a failure.
set -u

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

# --- The rules, as tables ---------------------------------------------------

# Files that begin so : what they may include. The first row that fits rules.
layers='
lib/base/       : lib/base
lib/infer/      : lib/infer lib/base
lib/flash/      : lib/flash lib/base
lib/device/sim. : lib/device lib/flash lib/base
lib/device/     : lib/device lib/base
lib/session/    : lib/session lib/device lib/infer lib/base
lib/report/     : lib/report lib/infer lib/device lib/base
probes/         : probes lib/infer lib/base
cmd/flashemu    : cmd lib
cmd/            : cmd probes lib/session lib/report lib/infer lib/device lib/base
tests/          : tests cmd probes lib
'

# Folder : functions that must not be called in it.
banned='
lib    : exit _exit quick_exit err errx verr warn warnx perror printf vprintf puts putchar
probes : exit _exit quick_exit err errx verr warn warnx perror printf vprintf puts putchar
lib/base    : clock_gettime gettimeofday clock sleep usleep nanosleep clock_nanosleep
lib/infer   : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep getenv
lib/flash   : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep
lib/session : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep
lib/report  : clock_gettime gettimeofday clock sleep usleep nanosleep clock_nanosleep
probes      : clock_gettime gettimeofday time clock sleep usleep nanosleep clock_nanosleep getenv
tests       : clock_gettime gettimeofday clock sleep usleep nanosleep clock_nanosleep
lib probes cmd tests : atoi atol atoll atof gets sprintf vsprintf strcpy strcat strtok rand srand random srandom drand48 alloca
'

file_lines_max=1200 # files fit a concept; this is where one surely ends

# Each row: a check, what breaks it, and what it must then say.
self_tests='
layers    break_layers_upward    lib/base/bad.h
layers    break_layers_flash     lib/device/bad.c
layers    break_layers_missing   no_such.h
truth     break_truth            probes/bad.c
probes    break_probes_plot      plots/bad_probe.gp
probes    break_probes_row       probes/probes.c
probes    break_probes_question  question
probes    break_probes_proof     no_such_answer
calls     break_calls_lib        printf
calls     break_calls_any        sprintf
text      break_text_spdx        SPDX
text      break_text_length      lines
format    break_format           lib/base/bad.c
scripts   break_scripts          bad.sh
tidy      break_tidy             misc-redundant-expression
cppcheck  break_cppcheck         arrayIndexOutOfBounds
readme    break_readme_command   no-such-command
readme    break_readme_option    no-such-option
readme    break_readme_status    exit
readme    break_readme_output    differs
readme    break_readme_path      no/such/path
'

# --- Helpers ----------------------------------------------------------------

# sources TREE [FOLDER...]: C files, relative to the tree.
sources()
{
    local tree=$1
    shift
    (($# > 0)) || set -- lib probes cmd tests
    (cd -- "$tree" && find "$@" -name '*.[ch]' 2>/dev/null | sort)
}

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

# --- The checks -------------------------------------------------------------

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

# Can a probe learn the answer from anything but timing?
check_truth()
{
    (cd -- "$1" && grep -rnE --include='*.[ch]' \
        'drives/|drive_(load|truth)|struct drive|\btruths?\b|clock_gettime|lib/flash|lib/device' \
        probes lib/infer)
}

# Is each probe complete: name, question, table row, plot, proof?
check_probes()
{
    local tree=$1 file stem symbol text answer count=0
    for file in "$tree"/probes/*.c; do
        symbol=$(sed -n 's/^const struct probe \(probe_[a-z0-9_]*\) = {.*/\1/p' \
            "$file")
        [[ -n $symbol ]] || continue
        ((count += 1))
        stem=$(basename -- "$file" .c)
        file=probes/$stem.c
        text=$(tr '\n' ' ' <"$tree/$file")
        [[ $symbol == "probe_$stem" ]] ||
            echo "$file: defines $symbol, not probe_$stem"
        [[ -s $tree/plots/$stem.gp ]] ||
            echo "$file: has no plot plots/$stem.gp"
        grep -q "&$symbol\b" "$tree/probes/probes.c" ||
            echo "$file: has no row in probes/probes.c"
        [[ $text =~ \.name\ *=\ *\"${stem//_/-}\" ]] ||
            echo "$file: its name is not ${stem//_/-}"
        [[ $text =~ \.question\ *=\ *(\"[^\"]*\"\ *)*\"[^\"]*\?\" ]] ||
            echo "$file: its question does not end in '?'"
        if ! [[ $text =~ \.answers\ *=\ *\{([^}]*)\} ]]; then
            echo "$file: answers nothing"
            continue
        fi
        for answer in $(tr -cs 'a-z0-9_' ' ' <<<"${BASH_REMATCH[1]}"); do
            proved "$tree" "$answer" ||
                echo "$file: no drive and no test proves $answer"
        done
    done
    ((count > 0)) || echo "probes/: no probe found"
}

# Does a drive's [truth] or a test speak of the parameter?
proved()
{
    awk -v answer="$2" '
        /^\[/ { truth = /^\[truth\]/ }
        truth && $1 == answer { found = 1 }
        END { exit !found }' "$1"/lib/flash/drives/*.ini 2>/dev/null ||
        grep -qw -- "$2" "$1"/tests/test_*.c 2>/dev/null
}

# Is a function called where it must not be?
check_calls()
{
    local folders functions
    while IFS=: read -r folders functions; do
        [[ -n $functions ]] || continue
        # Benchmarks measure real time; that is what they are for.
        # shellcheck disable=SC2086
        sources "$1" $folders | grep -v '^tests/bench/' | code "$1" |
            grep -E "(^|[^A-Za-z0-9_>.])(${functions// /|}) *\(" |
            sed "s|\$|   <- banned in $folders|"
    done < <(sed 's/ *: */:/; s/ *$//' <<<"$banned")
    sources "$1" | code "$1" |
        grep -E 'fprintf *\( *std(out|err)|__attribute__ *\(\( *constructor' |
        grep -vE '^(cmd|tests)/.*fprintf'
}

# Does each file name its licence, and end before it holds two concepts?
check_text()
{
    local file
    (
        cd -- "$1" || exit
        find lib probes cmd tests plots .ci bootstrap CMakeLists.txt \
            -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.cmake' \
            -o -name '*.gp' -o -name run -o -name bootstrap \
            -o -name CMakeLists.txt \) | sort | while read -r file; do
            head -n 2 -- "$file" |
                grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
                echo "$file: no SPDX line"
            (($(wc -l <"$file") <= file_lines_max)) ||
                echo "$file: more than $file_lines_max lines"
        done
    )
}

check_format()
{
    sources "$1" | (cd -- "$1" &&
        xargs -r clang-format --dry-run -Werror 2>&1)
}

check_scripts()
{
    (cd -- "$1" &&
        shellcheck --severity=warning -f gcc bootstrap .ci/run tests/*.sh)
}

check_tidy()
{
    local database=$build_dir
    [[ ! -e $1/compile_commands.json ]] || database=$1
    sources "$1" lib probes cmd | grep '\.c$' |
        (cd -- "$1" && xargs -r -P 2 -n 3 \
            clang-tidy --quiet -p "$database" 2>/dev/null)
}

# Suppressed: what it gets wrong, and others here see better (the analyzer,
# valgrind, the sanitizers): ownership that is returned ('-errno or fd', mmap), an
# fd of -1 for mmap, results through pointers; readdir on a stream of one's own.
check_cppcheck()
{
    (cd -- "$1" && cppcheck --quiet -j 2 --std=c11 --library=posix \
        --enable=warning,performance,portability --inline-suppr \
        --suppress={missingInclude,missingIncludeSystem} \
        --suppress={unmatchedSuppression,readdirCalled,legacyUninitvar} \
        --suppress={resourceLeak,memleak,invalidFunctionArg} \
        --template='{file}:{line}: {id}: {message}' -I . \
        lib probes cmd 2>&1 | sort -u)
}

# Do the README's commands work, and print what it shows?
check_readme()
{
    local tree=$1 line command='' output=''
    if [[ ! -r $tree/README.md ]]; then
        echo "there is no README.md"
        return
    fi
    while IFS= read -r line; do
        case $line in
            '$ '* | '```')
                [[ -z $command ]] || readme_command "$command" "$output"
                command=${line#'$ '} output=''
                [[ $line != '```' ]] || command=''
                ;;
            *) output+=$line$'\n' ;;
        esac
    done < <(sed -n '/^```console/,/^```$/{/^```console/!p}' \
        "$tree/README.md")
    grep -oE '`[a-z.][A-Za-z0-9_./-]*/`' "$tree/README.md" | tr -d '`' |
        sort -u | while read -r line; do
        [[ $line == build/* || -d $tree/$line ]] ||
            echo "README.md: there is no $line"
    done
}

# readme_command COMMAND OUTPUT: where it may, runs it.
readme_command()
{
    local command=${1#sudo } help words word expected=0
    [[ $command =~ \#\ exits\ ([0-9]+) ]] && expected=${BASH_REMATCH[1]}
    command=${command%%  #*}
    read -r -a words <<<"$command"
    case ${words[0]} in
        ./bootstrap) help=$("$tree/bootstrap" help) ;;
        build/release/*)
            help=$("$build_dir/$(basename -- "${words[0]}")" --help 2>&1)
            ;;
        *) return ;;
    esac
    if [[ ${words[0]} == ./bootstrap ]] &&
        ! grep -qE "^ +${words[1]}( |\$)" <<<"$help"; then
        echo "README.md: ./bootstrap has no command ${words[1]}"
        return
    fi
    if [[ $command == './bootstrap probe'* ]]; then
        [[ ${#words[@]} -gt 2 ]] || command+=' sim:ssd-a'
        command=${command/'./bootstrap probe'/build/release/ssdprobe}
        help=$("$build_dir/ssdprobe" --help 2>&1)
    fi
    for word in "${words[@]:1}"; do
        [[ $word != --* ]] || grep -qF -- "${word%%=*}" <<<"$help" ||
            echo "README.md: '$command': no option ${word%%=*}"
    done
    # What needs a drive, root, or a build is not run here.
    if [[ $command == build/release/* && $command != */dev/* &&
        $command != *' serve '* ]]; then
        readme_run "${command//'build/release/'/"$build_dir/"}" "$2" "$expected"
    fi
}

# readme_run COMMAND OUTPUT STATUS
readme_run()
{
    local folder status=0
    folder=$(mktemp -d -p "$scratch")
    (cd -- "$folder" && timeout 120 bash -c "$1" </dev/null >output \
        2>messages) || status=$?
    if ((status != $3)); then
        echo "README.md: '$1': exit status $status, not $3"
        sed 's/^/    /' "$folder/messages"
    elif [[ -n $2 ]] && ! shown "$2" "$folder/output"; then
        echo "README.md: '$1': its output differs from what is shown"
    fi
}

# Is the text in the README, with '...' for any lines, the file's content?
shown()
{
    local pattern='' line
    while IFS= read -r line; do
        if [[ $line == '...' ]]; then
            pattern+='(.*\n)*'
        else
            pattern+="$(sed 's/[][\\.*^$+?(){}|]/\\&/g' <<<"$line")\n"
        fi
    done < <(printf '%s' "$1")
    python3 -c 'import re, sys
sys.exit(not re.fullmatch(sys.argv[1], open(sys.argv[2]).read()))' \
        "$pattern" "$2"
}

# --- What breaks them: each is called in a copy of the tree -------------------

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

break_truth()
{
    echo '/* reads lib/flash/drives/ssd-a.ini */' >probes/bad.c
}

# A probe that lacks nothing but what the caller then takes away.
good_probe()
{
    cat >probes/bad_probe.c <<'END'
const struct probe probe_bad_probe = {
    .name = "bad-probe",
    .question = "Is it "
                "bad?",
    .answers = { "write_buffer" },
};
END
    echo '&probe_bad_probe,' >>probes/probes.c
    echo 'plot' >plots/bad_probe.gp
    printf '[truth]\nwrite_buffer = absent\n' >lib/flash/drives/bad.ini
    if check_probes . | grep -q bad; then
        echo "a good probe is refused" >&2
    fi
}

break_probes_plot()
{
    good_probe
    rm plots/bad_probe.gp
}

break_probes_row()
{
    good_probe
    sed -i '/bad_probe/d' probes/probes.c
}

break_probes_question()
{
    good_probe
    sed -i 's/bad?/bad./' probes/bad_probe.c
}

break_probes_proof()
{
    good_probe
    sed -i 's/"write_buffer"/"write_buffer", "no_such_answer"/' \
        probes/bad_probe.c
}

break_calls_lib()
{
    echo 'static void bad(void) { printf("bad"); }' >>lib/base/units.c
}

break_calls_any()
{
    echo 'static void bad(char *x) { sprintf(x, "bad"); }' >cmd/bad.c
}

break_text_spdx()
{
    echo 'int bad;' >lib/base/bad.c
}

break_text_length()
{
    yes '' | head -n $((file_lines_max + 1)) >>lib/base/units.c
}

break_scripts()
{
    echo 'if true; then' >tests/bad.sh
}

# The tree becomes one file, for checks that take long.
only_bad_file()
{
    rm -rf lib probes cmd tests
    mkdir -p lib/base probes cmd tests
    cat >lib/base/bad.c
    printf '[{"directory": "%s", "file": "lib/base/bad.c", %s}]\n' "$PWD" \
        '"command": "cc -std=c11 -c lib/base/bad.c"' >compile_commands.json
}

break_format()
{
    only_bad_file <<<'int  bad( void ){return 0;}'
}

break_tidy()
{
    only_bad_file <<'END'
int bad(int one, int two);

int bad(int one, int two)
{
    return one == two && one == two;
}
END
}

break_cppcheck()
{
    only_bad_file <<'END'
int bad(void)
{
    int items[2] = { 1, 2 };
    return items[2];
}
END
}

readme_says()
{
    printf '\n```console\n%s\n```\n' "$1" >README.md
}

break_readme_command()
{
    readme_says '$ ./bootstrap no-such-command'
}

break_readme_option()
{
    readme_says '$ ./bootstrap probe /dev/sdX --no-such-option'
}

break_readme_status()
{
    readme_says '$ build/release/ssdprobe --no-such-thing'
}

break_readme_output()
{
    readme_says '$ build/release/ssdprobe --version
not what it prints'
}

break_readme_path()
{
    # shellcheck disable=SC2016
    echo 'See `no/such/path/`.' >README.md
}

# --- Run them ---------------------------------------------------------------

passed=0 failed=0

# verdict WHAT COMPLAINTS: passes when there are none.
verdict()
{
    if [[ -z $2 ]]; then
        echo "ok   $1"
        ((passed += 1))
    else
        printf 'FAIL %s\n%s\n' "$1" "$2"
        ((failed += 1))
    fi
}

# breaks CHECK HOW WHAT: does the check notice?
breaks()
{
    local tree complaints
    tree=$(mktemp -d -p "$scratch")
    (cd -- "$source_dir" && tar -cf - --exclude='./build*' --exclude=./.git .) |
        tar -xf - -C "$tree"
    mkdir -p "$tree/lib/flash/drives" "$tree/plots"
    complaints=$(cd -- "$tree" && "$2" 2>&1)
    complaints+=$("check_$1" "$tree" | grep -F -- "$3" >/dev/null ||
        echo "check_$1 did not mention '$3' after $2")
    rm -rf -- "$tree"
    verdict "$1 notices ${2#break_}" "$complaints"
}

for check in $(awk 'NF { print $1 }' <<<"$self_tests" | uniq); do
    SECONDS=0
    complaints=$("check_$check" "$source_dir")
    verdict "$check ($SECONDS s)" "$complaints"
done
while read -r check how what; do
    [[ -z $check ]] || breaks "$check" "$how" "$what"
done <<<"$self_tests"

echo "$passed passed, $failed failed"
((failed == 0))
