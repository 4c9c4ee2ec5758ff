#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# plots/papers.sh BUILD_DIR OUT_DIR [--full]: the figures of Kim et al. (5 to 9)
# and of Sun & Zhang (2 to 19) from our own runs of the emulated drives, on one
# page, OUT_DIR/index.html, beside the papers' numbers. The numbers go into
# OUT_DIR/claims.txt as well: figure|what|paper|ours|unit|as in the paper, which is
# empty where the paper has no number.
# The procedures run by the letter, under noise, and beside those of Kim the adaptive
# method that measures the same. What takes minutes runs with --full only: figure 9,
# and figure 6 as long as in the paper.
set -euo pipefail
export LC_ALL=C.UTF-8

build_dir=$(realpath -- "$1")
plots=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
mkdir -p -- "$2"
cd -- "$2"
full=${3-}
: >claims.txt

# measure NAME PROBE[,PROBE...] DRIVE [OPTION...]: samples and report of a run, as
# NAME.csv and NAME.txt.
measure()
{
    local status=0
    # Inconclusive (5) is an answer as well.
    "$build_dir/ssdprobe" run "$2" "sim:$3,noise=realistic" --quiet -v \
        --progress=none "--csv=$1.csv" "${@:4}" </dev/null >"$1.txt" \
        2>said || status=$?
    ((status == 0 || status == 5)) || {
        cat said >&2
        return 1
    }
}

# by_the_letter NAME PROBE[,PROBE...] DRIVE LENGTH [OPTION...]: the same of a
# paper's procedures, in the first LENGTH of the drive.
by_the_letter()
{
    measure "$1" "$2" "$3" --method=paper --write-budget=4TB \
        "--region=0,$4" "${@:5}"
}

# draw NAME SAMPLES: NAME.svg, and what the script claims.
draw()
{
    gnuplot -c "$plots/$1.gp" "$2" "$1.svg" >said
    sed "s/^/$1|/" said >>claims.txt
    rm -f said
}

mkdir -p kim/adaptive
# What procedure 2 writes of each size.
written=512MiB shortened=', of 512 MiB a size, where the paper writes 8 GiB (--full)'
[[ $full != --full ]] || written=8GiB shortened=
while read -r drive page block; do
    for probe in clustered-page clustered-block nand-type read-buffer \
        write-buffer; do
        known=() length=2GiB
        case $probe in
            clustered-block)
                known=("--assume=clustered_page=$page") length=$written
                ;;
            nand-type)
                known=("--assume=clustered_page=$page"
                    "--assume=clustered_block=$block")
                ;;
        esac
        measure "kim/adaptive/$probe-$drive" "$probe" "$drive" "${known[@]}"
        [[ $probe != write-buffer || $full == --full ]] || continue
        by_the_letter "kim/$probe-$drive" "$probe" "$drive" "$length" \
            "${known[@]}"
    done
done <<'END'
ssd-a 16384 4194304
ssd-b 131072 16777216
ssd-c 4096 5242880
ssd-d 131072 16777216
END
# In the order of the paper. The stick is in use: random data fills it.
by_the_letter sun_zhang \
    fill,basic,inter-request-distance,content,log-list,large-request \
    usb-unknown-1g 960MiB
for script in "$plots"/kim_[0-9]*.gp; do
    draw "$(basename -- "$script" .gp)" kim
done
for script in "$plots"/sun_zhang_[0-9]*.gp; do
    draw "$(basename -- "$script" .gp)" sun_zhang.csv
done
# Table 2 has no figure: m writes, and once more.
awk -F, '$3 == "log-list" && $4 == "section-4-3" {
    ms = ($11 - $10) / 1e6
    if ($5 == "" && count++ == 0) first = ms
    if ($5 != "" && count > 0) {
        times[$5 1] = first; times[$5 2] = ms; count = 0
    }
}
END {
    split("28.994 2.6 29.296 28.594", paper, " ")
    for (i = 1; i <= 4; i++) {
        m = i < 3 ? 3 : 4; odd = i % 2
        printf "table_2|%s round of %d writes in turn, the first|%g|%.4g|ms\n",
            odd ? "first" : "second", m, paper[i], times["m" m (odd ? 1 : 2)]
    }
}' sun_zhang.csv >>claims.txt

# why "SSD-A: read buffer, adaptive": what the report of the run says of it, on
# one line.
why()
{
    local drive=${1%%:*} parameter=${1#*: } folder=kim
    [[ $parameter != *adaptive ]] || folder=kim/adaptive
    parameter=${parameter%,*}
    parameter=${parameter// /_}
    cat "$folder/"*"-${drive,,}.txt" | awk -v name="${parameter,,}:" '
        /^Why:/ { on = 1 }
        /^  [^ ]/ { if ($1 ~ /:$/) it = on && $1 == name; next }
        /^[^ ]/ { it = 0 }
        on && it && !/assumed by the user/ { sub(/^ +/, ""); printf "%s%s", said++ ? " " : "", $0 }'
}

# The papers' numbers are read off figures and texts: within a quarter, but for
# what is less than one, and sizes, of which noise may move 3 MiB by a step of 1 KiB.
while IFS='|' read -r figure what paper ours unit reason; do
    verdict=$(awk -v what="$what" -v paper="$paper" -v ours="$ours" '
    function bytes(text) {
        return text ~ / KiB$/ ? text * 1024 : text ~ / MiB$/ ? text * 1048576 : 0
    }
    BEGIN {
        same = ours == paper
        if (paper ~ /^[0-9.]+$/)
            same = ours >= 0.75 * paper && ours <= 1.25 * paper
        if (bytes(paper) && bytes(ours))
            same = (bytes(ours) / bytes(paper) - 1) ^ 2 < 1 / 2048 ^ 2
        if (what ~ /less than$/)
            same = ours + 0 < paper + 0
        if (paper != "")
            print same ? "yes" : "no"
    }')
    [[ $figure != kim_* || $verdict != no ]] || reason=$(why "$what")
    [[ $figure != kim_06 || $what == *adaptive ]] || reason=${reason% }$shortened
    # The paper reads a figure once. Our reader wants both halves of the
    # measurement to agree, and says so of a reading that is as the paper's.
    if [[ $verdict == no && $reason == *" $paper; "* ]]; then
        ours=$paper
        verdict="yes, read once: ${reason#* "$paper"; }"
    fi
    case $verdict in
        no) verdict="no: $reason" ;;
        '') verdict=$reason ;; # a remark
    esac
    echo "$figure|$what|$paper|$ours|$unit|$verdict"
done <claims.txt >judged
mv judged claims.txt

escaped()
{
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
}

# rows NAME: the claims of a figure as rows of a table.
rows()
{
    grep "^$1|" claims.txt | escaped | awk -F'|' '{
        printf "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td>" \
            "</tr>\n", $2, $3 == "" ? "no number" : $3 " " $5, $4 " " $5, $6
    }'
}

# What the papers call it.
title()
{
    sed -n '2s/^# //p' "$plots/$1.gp" | escaped
}

page()
{
    cat <<'END'
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The figures of two papers, from our own runs</title>
<style>
:root{color-scheme:light dark}
body{max-width:50rem;margin:0 auto;padding:1.5rem 1rem;line-height:1.5;
font-family:system-ui,"DejaVu Sans",sans-serif}
figure{margin:2.5rem 0;break-inside:avoid}
img{width:100%;height:auto;background:#fff;border-radius:6px}
figcaption{font-weight:600}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;padding:.25rem .75rem .25rem 0;
border-bottom:1px solid #8885;font-weight:400}
thead th{font-weight:600}
</style></head><body><main>
<h1>The figures of two papers, from our own runs</h1>
<p>Kim et al., "A methodology for extracting performance parameters in solid
state disks": the SSDs ssd-a to ssd-d. Sun &amp; Zhang, "Flash drives:
performance study based on benchmarks": the stick usb-unknown-1g. All are
emulated; no latency of these figures is written down in them. A dashed line
marked "paper" is the paper's number.</p>
END
    echo '<p>All of it is measured under noise (noise=realistic), by the letter'
    echo '(--method=paper): Kim et al. in a region of 2 GiB, and beside it what the'
    echo 'adaptive method finds; Sun &amp; Zhang on a stick full of random data.'
    [[ $full == --full ]] ||
        echo 'Figure 9 shows the adaptive method; its procedures take minutes: --full.'
    echo '</p>'
    local svg name
    for svg in kim_*.svg sun_zhang_*.svg; do
        name=${svg%.svg}
        printf '<figure id="%s"><figcaption>%s</figcaption>\n' "$name" \
            "$(title "$name")"
        printf '<img src="%s" alt="%s. The numbers are in the table below.">\n' \
            "$svg" "$(title "$name")"
        echo '<table><thead><tr><th scope="col">What</th><th scope="col">Paper</th><th scope="col">Ours</th><th scope="col">As in the paper</th></tr></thead><tbody>'
        rows "$name"
        echo '</tbody></table></figure>'
    done
    echo '<h2>Sun &amp; Zhang table 2: the log list</h2>'
    echo '<table><thead><tr><th scope="col">What</th><th scope="col">Paper</th><th scope="col">Ours</th><th scope="col">As in the paper</th></tr></thead><tbody>'
    rows table_2
    echo '</tbody></table></main></body></html>'
}
page >index.html
echo "$PWD/index.html"
