#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_manual.sh SOURCE_DIR BUILD_DIR: do help, manual pages and completions
# say the same, and do the shells take what they are given?
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
export PATH=$build_dir:$PATH
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# Names of options, one a line, in what is read.
options_in()
{
    grep -oE -- '--[a-z0-9][a-z0-9-]*' | sort -u
}

help_options()
{
    "$1" --help | grep -E '^ +(-[a-zA-Z], )?--' | sed 's/^ *\(-., \)\?//; s/[^a-z0-9-].*//' |
        options_in
}

# The tags of a page's section OPTIONS; hyphens are written \-.
page_options()
{
    sed -n '/^\.SH OPTIONS/,/^\.SH /p' "$1" | grep -A1 -x '\.TP' |
        grep '\\-\\-' | sed 's/\\f.//g; s/\\-/-/g; s/^-., //; s/[^a-z0-9-].*//' |
        options_in
}

bash_options()
{
    sed -n 's/.*set --//p' "$1" | options_in
}

zsh_options()
{
    grep -oE "^ +'--[a-z0-9-]+" "$1" | options_in
}

fish_options()
{
    grep -oE -- ' -l [a-z0-9-]+' "$1" | sed 's/ -l /--/' | options_in
}

# same PROGRAM LISTER FILE: the options of the help and no others.
same()
{
    diff <(help_options "$1") <("$2" "$3")
}

# commands PROGRAM
commands()
{
    "$1" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p' | grep .
}

has_commands()
{
    local command
    for command in $(commands "$1"); do
        grep -qE "(^|[^a-z])$command([^a-z]|\$)" "$2" || {
            echo "no '$command' in $2"
            return 1
        }
    done
}

# Renders without a complaint, and is more than its headings.
renders()
{
    local lines
    lines=$(man --warnings -E UTF-8 -Tutf8 -l "$1" 2>&1 >"$scratch/page") ||
        return
    printf '%s' "$lines"
    [[ -z $lines ]] && (($(wc -l <"$scratch/page") > 40)) &&
        [[ $(grep -cxE '\.SH (BUGS|AUTHORS)' "$1") == 2 ]] &&
        ! grep -n '@[A-Z]*@' "$1"
}

for program in ssdprobe flashemu; do
    section=8
    [[ $program == ssdprobe ]] || section=1
    page=$build_dir/man/$program.$section
    check "$program: help has options" test -n "$(help_options "$program")"
    check "$program: the page has the options of the help" \
        same "$program" page_options "$page"
    check "$program: the page has its commands" has_commands "$program" "$page"
    for shell in bash zsh fish; do
        file=$program
        [[ $shell != zsh ]] || file=_$program
        [[ $shell != fish ]] || file=$program.fish
        script=$build_dir/completions/$shell/$file
        check "$program: $shell completes the options of the help" \
            same "$program" "${shell}_options" "$script"
        check "$program: $shell completes its commands" \
            has_commands "$program" "$script"
        check "$program: $shell takes the script" "$shell" -n "$script"
    done
done
for page in "$build_dir"/man/*.[1578]; do
    check "${page##*/} renders" renders "$page"
done

# The columns that the page of the CSV describes are those of the CSV.
csv_columns()
{
    ssdprobe run basic sim:ram-disk --csv -q 2>/dev/null | grep -v '^#' |
        head -n 1 | tr ',' '\n'
}
page_columns()
{
    sed -n '/^\.SH COLUMNS/,/^\.SH SEE/p' "$build_dir/man/ssdprobe-csv.5" |
        grep -A1 -x '\.TP' |
        sed -n 's/^\.B \([a-z_]*\)$/\1/p'
}
check "ssdprobe-csv.5 describes every column, in order" \
    diff <(csv_columns) <(page_columns)

# Every key that a drive file may have.
shown_keys()
{
    flashemu show ram-disk | sed '/^\[truth\]/,$d' |
        sed -n 's/^\([a-z_]*\) = .*/\1/p' | sort
}
page_keys()
{
    sed -n '/^\.SH KEYS/,/^\.SH TRUTH/p' "$build_dir/man/flashemu-drive.5" |
        sed -n 's/^\\fB\(.*\)\\fR$/\1/p' | sort
}
check "flashemu-drive.5 describes every key" diff <(shown_keys) <(page_keys)

# ---- what a user gets by the tab key -----------------------------------

# bash_completes PROGRAM WORD... : the choices for the last word.
bash_completes()
{
    bash -c '
        source /usr/share/bash-completion/bash_completion
        source "$1"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
        "_$1" "$1" "${!#}" ""
        printf "%s\n" "${COMPREPLY[@]}"' - \
        "$build_dir/completions/bash/$1" "$@" 2>/dev/null
}

# offers SHELL CHOICE PROGRAM WORD...
offers()
{
    local shell=$1 choice=$2
    shift 2
    if [[ $shell == bash ]]; then
        bash_completes "$@"
    else
        fish -c "source $build_dir/completions/fish/$1.fish
            complete -C '$*'" | cut -f1
    fi >"$scratch/choices"
    cat "$scratch/choices"
    grep -qx -- "$choice" "$scratch/choices"
}

for shell in bash fish; do
    check "$shell offers a command" offers "$shell" check ssdprobe ch
    check "$shell offers an emulated drive" \
        offers "$shell" '\(sim:\)\?usb-pny-2g' ssdprobe sim:usb-p
    check "$shell offers a probe" offers "$shell" write-buffer ssdprobe run wri
    check "$shell offers a drive after the probe" \
        offers "$shell" '\(sim:\)\?ssd-c' ssdprobe run basic sim:ssd-c
    check "$shell offers an option" offers "$shell" --read-only ssdprobe --read
    check "$shell offers a drive to serve" offers "$shell" ssd-b flashemu \
        serve ssd-b
done
check "bash offers the values of an option" \
    offers bash paper ssdprobe --method=pa
check "bash offers no option of another command" \
    test -z "$(bash_completes flashemu list --dep)"
check "a kind that is none is refused" \
    bash -c '! ssdprobe --describe=csh 2>/dev/null'

summary
