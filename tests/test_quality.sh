#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_quality.sh SOURCE_DIR BUILD_DIR [CHECK...]: what must hold of the code
# itself. Where checks are named (probes, readme, format: see the table), it is
# only these, and no copy is broken.
#
# A check is a function that is given a source tree and prints a line for each
# thing that is wrong; silence is success. Beside it stands what breaks it, called
# in a copy of the tree: the check must name what was broken, for a check that
# cannot fail is a failure.
set -u

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
named=("${@:3}")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
# shellcheck source=tests/quality/rules.sh
. "$source_dir/tests/quality/rules.sh"
# shellcheck source=tests/quality/rooms.sh
. "$source_dir/tests/quality/rooms.sh"
# shellcheck source=tests/quality/probes.sh
. "$source_dir/tests/quality/probes.sh"
# shellcheck source=tests/quality/tools.sh
. "$source_dir/tests/quality/tools.sh"
# shellcheck source=tests/quality/readme.sh
. "$source_dir/tests/quality/readme.sh"
# shellcheck source=tests/quality/prose.sh
. "$source_dir/tests/quality/prose.sh"

# Each row: a check, what breaks it, and what it must then say.
self_tests='
layers    break_layers_upward    lib/base/bad.h
layers    break_layers_flash     lib/device/bad.c
layers    break_layers_missing   no_such.h
rooms_size   break_rooms_size     lib/base/crowd
rooms_circle break_rooms_circle   lib/flash/nand
rooms_files  break_rooms_files    lib/base/random.c
rooms_inner  break_rooms_inner    block_pool.h
truth     break_truth            probes/bad.c
probes    break_probes_plot      plots/bad_probe.gp
probes    break_probes_row       probes/probes.h
probes    break_probes_readme    probes/README.md
probes    break_probes_question  question
probes    break_probes_proof     no_such_answer
calls     break_calls_lib        printf
calls     break_calls_any        sprintf
top       break_top              fault22
text      break_text_spdx        SPDX
text      break_text_length      lines
width     break_width            lib/base/units.h
mutants   break_mutants          stats.c changes by
named     break_named            no_such_room.c
format    break_format           lib/base/bad.c
scripts   break_scripts          bad.sh
tidy      break_tidy             misc-redundant-expression
tidy      break_clang            constant-conversion
cppcheck  break_cppcheck         arrayIndexOutOfBounds
readme    break_readme_command   no-such-command
readme    break_readme_option    no-such-option
readme    break_readme_status    exit
readme    break_readme_output    differs
readme    break_readme_compile   no_such_file.c
readme    break_readme_path      no/such/path
age       break_age_old          is of 2020-01-01
age       break_age_lost         no date
prose     break_prose_message    the same
prose     break_prose_page       say who says it
prose     break_prose_comment    comments have
questions break_questions_lost     lacks the probe read-buffer
questions break_questions_made_up  no probe mind-reading
'

# sources TREE [FOLDER...]: C files, relative to the tree.
sources()
{
    local tree=$1
    shift
    (($# > 0)) || set -- lib probes cmd tests
    (cd -- "$tree" && find "$@" -name '*.[ch]' 2>/dev/null | sort)
}

passed=0 failed=0 failures=''

# verdict WHAT COMPLAINTS: passes when there are none. Failures come last, where
# they are seen.
verdict()
{
    if [[ -z $2 ]]; then
        echo "ok   $1"
        ((passed += 1))
    else
        failures+="FAIL $1"$'\n'$2$'\n'
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

verdict "every check is in the table" "$(
    comm -3 <(compgen -A function check_ | sort) \
        <(awk 'NF { print "check_" $1 }' <<<"$self_tests" | sort -u)
)"
((${#named[@]} == 0)) || self_tests=$(printf '%s\n' "${named[@]}")
for check in $(awk 'NF { print $1 }' <<<"$self_tests" | uniq); do
    SECONDS=0
    complaints=$("check_$check" "$source_dir")
    verdict "$check ($SECONDS s)" "$complaints"
done
while read -r check how what; do
    [[ -z $how ]] || breaks "$check" "$how" "$what"
done <<<"$self_tests"

printf '%s' "$failures"
echo "$passed passed, $failed failed"
((failed == 0))
