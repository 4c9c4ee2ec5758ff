#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_plots.sh SOURCE_DIR BUILD_DIR: is each figure of each drive file fit
# to be read, and does each probe's plot draw the samples of its probe?
# SSDPROBE_TEST_LONG=1: all drive files in place of six.
set -u

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# Axes and the key have some marks of their own.
marks_min=50
passed=0 failed=0

# verdict STATUS WHAT
verdict()
{
    if (($1 == 0)); then
        echo "ok   $2"
        ((passed += 1))
    else
        echo "FAIL $2"
        tail -n 20 said 2>/dev/null | sed 's/^/    | /'
        ((failed += 1))
    fi
}

# draws SCRIPT CSV: without a complaint, in ASCII too, and more than the frame?
draws()
{
    local suffix
    rm -f plot.*
    for suffix in txt svg; do
        timeout 60 gnuplot -c "$1" "$2" plot.$suffix >said 2>&1 || return
        [[ ! -s said ]] || return
    done
    python3 -c 'import sys, xml.etree.ElementTree as tree
marks = [e for e in tree.parse("plot.svg").iter() if e.tag.endswith("}use")]
print(len(marks), "marks")
sys.exit(len(marks) < int(sys.argv[1]))' "$marks_min" >>said 2>&1
}

# marks_of TITLE: how many the plot drawn last has of that, the key's included.
marks_of()
{
    awk -v title="<title>$1</title>" 'index($0, title) { on = 1; next }
        /<title>/ { on = 0 }
        on && /<use/ { count++ }
        END { print count + 0 }' plot.svg
}

# needs_of STEM: --assume for what the probe takes from others, as ssd-a has it.
needs_of()
{
    local need source=$source_dir/probes/$1/$1.c
    for need in $({
        tr '\n' ' ' <"$source" |
            sed -n 's/.*\.needs = {\([^}]*\)}.*/\1/p' | tr -d '",'
        echo
        sed -n 's/.*findings_integer(known, "\([a-z_]*\)").*/\1/p' "$source"
    } | tr ' ' '\n' | sort -u); do
        # Where logs are known it sends no requests, and there is no figure.
        [[ $1/$need != clustered_block/log_* ]] || continue
        sed -n "/= unidentifiable$/d; /= absent$/d; s/^$need = /--assume=$need=/p" \
            "$source_dir/lib/flash/drives/ssd-a.ini"
    done
}

## Every figure of a whole run: each legend entry has a mark, no axes are empty,
## it can be read on a telephone, and rsvg-convert takes it (figures.py).
# figures_of DRIVE: the faults of its figures, in DRIVE.faults
figures_of()
{
    local svg count=0
    {
        "$build_dir/ssdprobe" "sim:$1" --quiet --twin=no --output-dir="$1" \
            </dev/null >"$1.out" 2>"$1.err"
        case $? in
            0 | 5 | 9) ;; # 5: open answers, 9: a fake
            *) cat "$1.err" ;;
        esac
        grep 'figure' "$1.err"
        for svg in "$1"/figures/*.svg; do
            rsvg-convert "$svg" -o "$1.png" 2>&1 || echo "$svg is refused"
            ((count += 1))
        done
        ((count >= 15)) || echo "$1 has only $count figures"
        ! grep -l onmousemove "$1"/figures/*.svg
        grep -q '<circle .*<title>[^<]* .*s</title>' "$1/figures/read_ahead.svg" ||
            echo "a pointer over a median says nothing"
        grep -q 'stroke=.none.><title>' "$1/report.html" ||
            echo "and nothing on the page"
        python3 "$source_dir/tests/figures.py" "$1"/figures/*.svg
    } >"$1.faults" 2>&1
    zstd -dcqf -- "$1"/samples.csv* >"$1.csv"
    rm -rf -- "$1"
}
drives=(ssd-a nvme-tlc microsd-a2 fake-64g fake-drop sata-mlc)
if [[ -n ${SSDPROBE_TEST_LONG-} ]]; then
    mapfile -t drives < <(basename -s .ini -a \
        "$source_dir"/lib/flash/drives/*.ini)
fi
for drive in "${drives[@]}"; do
    (($(jobs -pr | wc -l) < 2)) || wait -n
    figures_of "$drive" &
done
wait
for drive in "${drives[@]}"; do
    mv -- "$drive.faults" said
    [[ ! -s said ]]
    verdict $? "$drive: every figure is fit to be read"
done

## Figures of two drives: both have a line with marks and their name in the legend,
## however they are called.
# both_of KIND A B NAME_A NAME_B: the faults of that figure
both_of()
{
    local suffix
    for suffix in txt svg; do
        timeout 60 gnuplot -c "$source_dir/plots/compare.gp" "$2.csv" \
            "both.$suffix" "" "$3.csv" "$1" "$4" "$5" 2>&1 || return
    done
    rsvg-convert both.svg -o both.png 2>&1 &&
        python3 "$source_dir/tests/figures.py" both.svg &&
        python3 -c '
import re, sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
groups = [g for g in tree.parse("both.svg").iter(svg + "g")
          if g.get("id", "").startswith("gnuplot_plot_")]
looks = set()
for name in sys.argv[1:]:
    own = [g for g in groups if [name] == ["".join(t.itertext()).strip()
                                           for t in g.iter(svg + "text")]]
    marks = [u for g in own for u in g.iter(svg + "use")]
    if len(own) != 1 or len(marks) < 4:
        print(f"{name}: {len(own)} lines, {len(marks)} marks")
    looks |= {(u.get("color"), u.get("{http://www.w3.org/1999/xlink}href"))
              for u in marks}
if len(looks) != 2 or len({c for c, _ in looks}) != 2:
    print("both look the same:", looks)' "${4:0:40}" "$5"
}
mapfile -t kinds < <(sed -n '/figure_compared\[\] = {/,/}/p' \
    "$source_dir/lib/report/figure.c" | grep -o '"[a-z-]*"' | tr -d '"')
drawn=0
for kind in "${kinds[@]}"; do
    for other in nvme-tlc microsd-a2; do
        grep -q ",$(sed -n "s/.*{\"$kind\", \"\([a-z-]*\)\".*/\1/p" \
            "$source_dir/lib/report/figure.c" | grep . || echo "$kind")," \
            "$other.csv" || continue
        both_of "$kind" ssd-a $other 'A_1 {b} & <c>' $other >said
        case $? in
            0) [[ ! -s said ]] ;;
            3) continue ;; # the rows are too few
            *) false ;;
        esac
        verdict $? "$kind of ssd-a and $other"
        ((drawn += 1))
    done
done
echo "$drawn figures" >said
((drawn >= 10 && ${#kinds[@]} == 7))
verdict $? "most kinds are there of each pair: $drawn"
cp ssd-a.csv same.csv
both_of throughput ssd-a same "$(printf 'n%.0s' {1..64})" same >said
grep -q "n\{64\}" both.svg
verdict $((1 - $?)) "a long name is cut"
awk -F, '$3 != "throughput"' ssd-a.csv >without.csv
both_of throughput ssd-a without a b >said
[[ $? -eq 3 ]]
verdict $? "what one of them did not measure is not drawn"

for script in "$source_dir"/plots/*.gp; do
    stem=$(basename -- "$script" .gp)
    # Published figures have scripts too; they bring their own tests.
    grep -qs "^const struct probe probe_$stem = " \
        "$source_dir/probes/$stem/$stem.c" || continue
    probes=${stem//_/-} drive=sim:ssd-a,noise=realistic
    mapfile -t needs < <(needs_of "$stem")
    if [[ $stem == steady_state || $stem == hot_cold ]]; then
        # Small enough that it has to clean soon.
        [[ $stem == steady_state ]] || probes=steady-state,$probes
        drive=sim:ssd-c,capacity_bytes=1GiB
        drive+=,spare_permille=100
        needs=(--assume=write_buffer=64KiB --write-budget=64GiB)
    fi
    # They go over the whole of it.
    [[ $stem != scan && $stem != verify ]] ||
        drive=sim:sd-card,capacity_bytes=1GiB,bad_offset_bytes=500MiB
    [[ $stem != verify ]] || drive+=,bad_length_bytes=8MiB
    [[ $stem != scan ]] || drive+=,bad_length_bytes=8MiB,bad_place=fails
    "$build_dir/ssdprobe" run "$probes" "$drive" --quiet "${needs[@]}" \
        --csv=samples.csv </dev/null >said 2>&1
    # 5: what a probe leaves open has samples too; 9: a bad place was found.
    status=$?
    verdict $((status == 9 ? 0 : status % 5)) "$stem: samples"
    draws "$script" samples.csv
    verdict $? "$stem: a plot"
    [[ $stem != basic ]] || cp samples.csv basic.csv
    if [[ $stem == log_list ]]; then
        (($(marks_of 'first write to a block') > 1))
        verdict $? "$stem: what waits for a merge stands apart"
    fi
    # A finding of each is in the lower half.
    halves=2
    case $stem in
        log_list) grep -q 'distance between the two' plot.svg ;;
        throughput) (($(marks_of '16 writes') > 3)) ;;
        clustered_block) # --method=paper has no walk
            grep -v ',clustered-block,walk-' samples.csv >rest.csv
            draws "$script" rest.csv && ! grep -q 'one after another' plot.svg
            ;;
        content) grep -q 'nothing moved' plot.svg ;;
        *) halves=1 ;;
    esac
    status=$?
    ((halves == 1)) || verdict $status "$stem: each of its methods is drawn"
    awk '/^#/ { print; next } !header++' samples.csv >empty.csv
    ! draws "$script" empty.csv
    verdict $? "$stem: without samples it is noticed that nothing is drawn"
done

# Where every write elsewhere merges a block, pages are found by writes in order.
"$build_dir/ssdprobe" run clustered-page sim:ssd-a,mapping=block --quiet \
    --csv=samples.csv </dev/null >said 2>&1
(($? == 0)) # what is read before a write stays hidden there
verdict $? "clustered_page: samples in order"
draws "$source_dir/plots/clustered_page.gp" samples.csv
verdict $? "clustered_page: a plot of them"

# How long a rest makes it fast again, where a drive has a cache of flash.
"$build_dir/ssdprobe" run sustained-write sim:usb-tlc --quiet --csv=samples.csv \
    </dev/null >said 2>&1
marks_min=6
draws "$source_dir/plots/cache_recovery.gp" samples.csv &&
    (($(marks_of 'after this rest') > 4))
verdict $? "cache_recovery: rests of several lengths are drawn"
marks_min=50

# A buffer that no single write fills.
"$build_dir/ssdprobe" run write-buffer \
    sim:ssd-a,noise=realistic,write_buffer_bytes=12MiB \
    --quiet --csv=samples.csv </dev/null >said 2>&1
draws "$source_dir/plots/write_buffer.gp" samples.csv &&
    grep -q 'written since then' plot.svg && (($(marks_of 'write') > 10))
verdict $? "write_buffer: many writes that fill it are drawn"

## The same figures of the papers' literal procedures.
for stem in basic inter_request_distance content large_request \
    nand_type; do
    "$build_dir/ssdprobe" run "${stem//_/-}" \
        sim:usb-unknown-1g,noise=realistic --quiet --method=paper \
        --write-budget=1TB --assume=clustered_page=4096 \
        --assume=clustered_block=262144 --assume=log_block=262144 \
        --assume=log_list=3 --csv=samples.csv </dev/null >said 2>&1
    draws "$source_dir/plots/$stem.gp" samples.csv
    verdict $? "$stem: a plot of --method=paper"
done

## The distributions of latencies: what is marked is said in words, and the
## hundredth of few requests is not.
awk -F, -v OFS=, '/^#/ || /^run,/ { print; next } $3 == "basic" && !row {
    row = 1; $10 = 0
    for (i = 1; i <= 400; i++) { $5 = "random-read-a"
        $11 = (i <= 395 ? 100 + i / 200 : 5000) * 1000; print }
    for (i = 1; i <= 40; i++) { $5 = "random-write-a"
        $11 = (i == 40 ? 70 : 2) * 1000000; print } }' basic.csv >known.csv
draws "$source_dir/plots/basic.gp" known.csv
verdict $? "basic: a plot of two kinds of four"
grep -q 'random read: 101 µs, p99 5 ms<' plot.svg &&
    grep -q 'random write: 2 ms, slowest of 40: 70 ms<' plot.svg
verdict $? "basic: median and p99 in words, of few requests the slowest"

## Marks stand out from the paper, 3:1 or more, also as the page shows them where
## the reader's screen is dark (the filter of lib/report/html/style.c).
python3 - "$source_dir" <<'END' >said 2>&1
import re, sys
def light(rgb):
    return sum(w * (c / 12.92 if c <= .03928 else ((c + .055) / 1.055) ** 2.4)
               for w, c in zip((.2126, .7152, .0722), rgb))
def contrast(a, b):
    low, high = sorted((light(a), light(b)))
    return (high + .05) / (low + .05)
style = open(sys.argv[1] + "/lib/report/html/style.c").read()
share = float(re.search(r"invert\((\.\d+)\) hue-rotate\(180deg\)", style)[1])
turn = ((-.574, 1.43, .144), (.426, .43, .144), (.426, 1.43, -.856))
def dark(rgb):
    rgb = [c * (1 - 2 * share) + share for c in rgb]
    return [min(1, max(0, sum(m * c for m, c in zip(row, rgb)))) for row in turn]
common = open(sys.argv[1] + "/plots/common.gp").read()
paper, bad = (1, 1, 1), []
for name in ("dark", "warm", "pale", "accent", "ink"):
    code = re.search(rf'^{name} = "#(\w+)"', common, re.M)[1]
    rgb = [int(code[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    if min(contrast(rgb, paper), contrast(dark(rgb), dark(paper))) < 3:
        bad.append(name)
sys.exit(f"too little contrast: {bad}" if bad else 0)
END
verdict $? "the palette has a contrast of 3:1, light and dark"

## Of many points few are drawn, and what is rare stays.
awk 'BEGIN { for (i = 0; i < 20000; i++) print i, 100 + i * 7 % 50
    print 5000, 9000 }' >many
printf '%s\n' 'output_file = "thin.txt"; findings = ""' \
    'load common."/common.gp"' 'print system("cat many".once)' >thin.gp
gnuplot -e "common='$source_dir/plots'" thin.gp 2>thinned
drawn=$(wc -l <thinned)
((drawn > 100 && drawn <= 202)) && grep -q ' 9000$' thinned
verdict $? "of 20000 points few are drawn, with the one that stands alone"

printf '%s\n' 'output_file = "thin.txt"; findings = ""' \
    'load common."/common.gp"' \
    'print system("grep -v ^0 many".once_linear)' >thin.gp
gnuplot -e "common='$source_dir/plots'" thin.gp 2>thinned
awk '$1 < 10000 { half++ } END { exit !(NR * 0.4 < half && half < NR * 0.6) }' \
    thinned
verdict $? "on a linear axis no half of it is thinned more than the other"

for rows in '7 8' '0 8'; do
    printf '%s\n' 'output_file = "thin.txt"; findings = ""' \
        'load common."/common.gp"' \
        "print system('echo $rows'.once)" "print system('echo $rows'.medians)" \
        >thin.gp
    gnuplot -e "common='$source_dir/plots'" thin.gp 2>thinned
    printf '%s\n' "$rows" "$rows" | cmp -s - thinned
    verdict $? "a series of one mark keeps it: $rows"
done

## The figure that the README shows.
"$build_dir/ssdprobe" run sustained-write sim:nvme-tlc --quiet \
    --output-dir=example </dev/null >said 2>&1
cmp -s example/figures/sustained_write.svg "$source_dir/plots/example.svg"
verdict $? "plots/example.svg is what a run draws today"

echo "$passed passed, $failed failed"
((failed == 0))
