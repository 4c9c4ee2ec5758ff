# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Part of test_quality.sh: is each probe complete?

# Is each probe complete: name, question, table row, plot, proof?
check_probes()
{
    local tree=$1 file stem symbol text answer count=0
    for file in "$tree"/probes/*/*.c; do
        symbol=$(sed -n 's/^const struct probe \(probe_[a-z0-9_]*\) = {.*/\1/p' \
            "$file")
        [[ -n $symbol ]] || continue
        ((count += 1))
        stem=$(basename -- "$file" .c)
        file=probes/$stem/$stem.c
        text=$(tr '\n' ' ' <"$tree/$file")
        [[ $symbol == "probe_$stem" ]] ||
            echo "$file: defines $symbol, not probe_$stem"
        [[ -s $tree/plots/$stem.gp ]] ||
            echo "$file: has no plot plots/$stem.gp"
        grep -q "^ *ROW($stem)" "$tree/probes/probes.h" ||
            echo "$file: has no row in probes/probes.h"
        grep -q "^| .probes/$stem/" "$tree/probes/README.md" ||
            echo "$file: has no row in probes/README.md"
        [[ $text =~ \.name\ *=\ *\"${stem//_/-}\" ]] ||
            echo "$file: its name is not ${stem//_/-}"
        [[ $text =~ \.question\ *=\ *(\"[^\"]*\"\ *)*\"[^\"]*\?\" ]] ||
            echo "$file: its question does not end in '?'"
        if [[ $text =~ \.prepares\ *=\ *true ]]; then
            [[ ! $text =~ \.answers ]] ||
                echo "$file: what only prepares cannot answer"
            continue
        fi
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

# A probe that lacks nothing but what the caller then takes away.
good_probe()
{
    mkdir probes/bad_probe
    cat >probes/bad_probe/bad_probe.c <<'END'
const struct probe probe_bad_probe = {
    .name = "bad-probe",
    .question = "Is it "
                "bad?",
    .answers = { "write_buffer" },
};
END
    echo 'ROW(bad_probe)' >>probes/probes.h
    echo "| \`probes/bad_probe/\` | is it bad |" >>probes/README.md
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
    sed -i '/bad_probe/d' probes/probes.h
}

break_probes_readme()
{
    good_probe
    sed -i '/bad_probe/d' probes/README.md
}

break_probes_question()
{
    good_probe
    sed -i 's/bad?/bad./' probes/bad_probe/bad_probe.c
}

break_probes_proof()
{
    good_probe
    sed -i 's/"write_buffer"/"write_buffer", "no_such_answer"/' \
        probes/bad_probe/bad_probe.c
}
