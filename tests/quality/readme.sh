# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Part of test_quality.sh: does the README say what is so?

# Do the commands of the README and of docs/ work, and print what is shown?
check_readme()
{
    local tree=$1 page
    # One command may leave a file for the next.
    rm -rf -- "$scratch/readme"
    mkdir "$scratch/readme"
    if [[ ! -r $tree/README.md ]]; then
        echo "there is no README.md"
        return
    fi
    for page in "$tree"/README.md "$tree"/docs/*.md; do
        [[ ! -r $page ]] || readme_page "$page"
    done
    readme_paths "$tree"
}

readme_page()
{
    local line command='' output=''
    while IFS= read -r line; do
        case $line in
            '$ '* | '```')
                [[ -z $command ]] || readme_command "$command" "$output"
                command=${line#'$ '} output=''
                [[ $line != '```' ]] || command=''
                ;;
            *) output+=$line$'\n' ;;
        esac
    done < <(sed -n '/^```console/,/^```$/{/^```console/!p}' "$1")
}

# Do the folders exist that it names?
readme_paths()
{
    grep -oE '`[a-z.][A-Za-z0-9_./-]*/`' "$1/README.md" | tr -d '`' |
        sort -u | while read -r path; do
        [[ $path == build/* || -d $1/$path ]] ||
            echo "README.md: there is no $path"
    done
}

# Does the table of questions hold each probe, and no other?
check_questions()
{
    diff <(sed -n '/^| question/,/^$/s/.*| \([a-z-]*\) |$/\1/p' \
        "$1/docs/findings.md" | grep -vx -e probe -e '-*' | sort) \
        <(sed -n 's/^const struct probe probe_\([a-z0-9_]*\) = {.*/\1/p' \
            "$1"/probes/*/*.c 2>/dev/null | tr _ - | sort) |
        sed -n 's/^</docs\/findings.md: there is no probe/p
            s/^>/docs\/findings.md: its table lacks the probe/p'
}

# readme_command COMMAND OUTPUT: where it may, runs it.
readme_command()
{
    local command=${1#sudo } help words word expected=0
    [[ $command =~ \#\ exits\ ([0-9]+) ]] && expected=${BASH_REMATCH[1]}
    command=${command%%  #*}
    read -r -a words <<<"$command"
    case ${words[0]} in
        cc) # from the root of the tree, where its paths begin
            (cd -- "$tree" &&
                bash -c "${command//'build/release/'/"$build_dir/"}" 2>&1) ||
                echo "README.md: '$command' fails"
            return
            ;;
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
    (cd -- "$scratch/readme" && timeout 120 bash -c "$1" </dev/null \
        >"$folder/output" 2>"$folder/messages") || status=$?
    if ((status != $3)); then
        echo "README.md: '$1': exit status $status, not $3"
        sed 's/^/    /' "$folder/messages"
    elif [[ -n $2 ]] && ! shown "$2" "$folder/output"; then
        echo "README.md: '$1': its output differs from what is shown; it is:"
        cat -- "$folder/output"
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

# Are the tables that commands write older than a season of work?
check_age()
{
    local page written
    for page in accuracy cost; do
        written=$(sed -n 's/^Written on \([0-9-]*\) by .*/\1/p' \
            "$1/docs/$page.md" 2>/dev/null)
        if [[ -z $written ]]; then
            echo "docs/$page.md: no date; write it with ./bootstrap $page"
        elif (($(date +%s) - $(date -d "$written" +%s) > 120 * 86400)); then
            echo "docs/$page.md is of $written: write it anew with ./bootstrap" \
                "$page --page=docs/$page.md"
        fi
    done
}

break_age_old()
{
    sed -i 's/^Written on [0-9-]* by/Written on 2020-01-01 by/' docs/cost.md
}

break_age_lost()
{
    rm docs/accuracy.md
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

break_readme_compile()
{
    readme_says '$ cc -c no_such_file.c -o build/release/no_such_file.o'
}

break_readme_path()
{
    # shellcheck disable=SC2016
    echo 'See `no/such/path/`.' >README.md
}

break_questions_lost()
{
    sed -i '/| read-buffer |$/d' docs/findings.md
}

break_questions_made_up()
{
    sed -i 's/| read-buffer |$/| mind-reading |/' docs/findings.md
}
