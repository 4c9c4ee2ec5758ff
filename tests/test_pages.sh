#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_pages.sh SOURCE_DIR BUILD_DIR: what a run leaves for people: the run
# directory, report, plot and diff; also with less than everything at hand.
set -u
export LC_ALL=C
unset COLUMNS NO_COLOR

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
ssdprobe=$build_dir/ssdprobe
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"
# What is said of a finding is judged, and not how often its kind was right.
export SSDPROBE_UNCOUNTED=1

# Debian's Python has the validator; another may come first in the path.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import jsonschema' 2>/dev/null && break
done

cat >valid.py <<'END'
"""valid.py SCHEMA FILE STATUS [EXPRESSION...]: `d` is the document."""
import json, sys
import jsonschema
document = json.load(open(sys.argv[2], encoding="utf-8"))
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(document)
assert document["ssdprobe"]["exit_status"] == int(sys.argv[3]), document
for expression in sys.argv[4:]:
    assert eval(expression, {"d": document}), expression
END

cat >page.py <<'END'
"""page.py FILE FIGURES: is the page whole, by itself, and for everybody?"""
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()

class Page(html.parser.HTMLParser):
    void = {"meta", "br", "link", "input", "img", "hr"}
    drawn = {"path", "circle", "rect", "use", "image", "line", "feflood",
             "fecomposite", "stop"}
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.open, self.plots = [], [], [], []
        self.headers, self.cards = 0, []
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if "id" in a:
            self.ids.append(a["id"])
        for name in ("href", "src", "xlink:href"):
            if name in a:
                self.links.append(a[name])
        if a.get("role") == "img" and a["aria-label"].startswith("A drawing"):
            self.cards.append([])
        elif a.get("role") == "img":
            self.plots.append(a.get("aria-label", ""))
        if self.cards and not self.plots and tag in ("svg", "rect", "text"):
            self.cards[-1].append((tag, a))
        if tag == "th":
            assert a.get("scope") in ("row", "col", "rowgroup"), a
            self.headers += 1
        assert tag not in ("script", "iframe", "link", "img"), tag
        if tag not in self.void:
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.void:
            self.open.pop()
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

page = Page()
page.feed(text)
assert not page.open, page.open
assert len(set(page.ids)) == len(page.ids), "an id is there twice"
for link in page.links:
    assert link.startswith("#") and link[1:] in page.ids, link
assert not re.search(r"url\((?!#|'#)", text), "something is fetched"
assert len(page.plots) == int(sys.argv[2]), page.plots
assert all("found" in p or "probably" in p or "perhaps" in p or "absent" in p or "inconclusive" in p
           for p in page.plots), page.plots
assert page.headers > 5
# A card for wide pages, and one for phones; each holds all that it draws.
assert len(page.cards) == 2, page.cards
for card, most in zip(page.cards, (760, 375)):
    left, _, width, height = map(float, card[0][1]["viewbox"].split())
    assert width <= most, (width, most)
    for tag, a in card[1:]:
        x, y = float(a["x"]), float(a.get("y", 0))
        assert left <= x <= x + float(a.get("width", 0)) <= left + width, a
        assert 0 <= y <= y + float(a.get("height", 0)) <= height, a
assert ".card.wide{display:none}.card.narrow{display:block}" in text
for section in ("glance", "findings", "conditions", "cost", "how"):
    assert section in page.ids, section
assert "prefers-color-scheme:dark" in text and "@media print" in text
END

cat >heard.py <<'END'
"""heard.py FILE: can who hears the page, or sees little, find their way in it?"""
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()

class Heard(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.level, self.bad = [], [], 0, []
        self.words, self.links = {}, {}
    def want(self, holds, what):
        if not holds:
            self.bad.append(what)
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        # What a pointer over a mark says is within a picture that has a text.
        if not self.open or self.open[-1][0] != "circle":
            self.tags.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.want(int(tag[1]) <= self.level + 1, f"{tag} below h{self.level}")
            self.level = int(tag[1])
        if tag == "html":
            self.want(a.get("lang") == "en", "no language")
        if tag == "nav":
            self.want(a.get("aria-label"), "a nav without a name")
        if tag == "svg":
            around = [b for t, b in self.open if b.get("role") == "img"]
            self.want(around and len(around[0].get("aria-label", "")) > 20,
                      "a drawing without a text")
            self.want(around and around[0].get("tabindex") == "0",
                      "a drawing that no key scrolls")
        if tag == "table":
            self.want("<caption>" in self.rest()[:20], "a table without a caption")
        if tag == "th":
            self.want(a.get("scope"), "a head of nothing")
        self.open.append((tag, a))
        self.words[len(self.open)] = ""
    def rest(self):
        line, column = self.getpos()
        return "\n".join(self.lines[line - 1:line + 2])[column:].split(">", 1)[1]
    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
    def handle_data(self, data):
        for depth in range(1, len(self.open) + 1):
            self.words[depth] += data
    def handle_endtag(self, tag):
        said = self.words[len(self.open)].strip()
        a = self.open.pop()[1]
        if tag in ("a", "h1", "h2", "h3", "h4", "title", "caption", "dt"):
            self.want(said, f"an empty {tag}")
        if tag == "a":
            self.want(self.links.setdefault(said, a["href"]) == a["href"],
                      f"two links called {said}")

heard = Heard()
heard.lines = text.split("\n")
heard.feed(re.sub(r"<(meta|br)([^>]*)>", r"<\1\2/>", text))
for tag in ("h1", "main", "header", "footer", "title"):
    heard.want(heard.tags.count(tag) == 1, f"not one {tag}")
heard.want('name="viewport"' in text, "no viewport")
heard.want("user-scalable" not in text, "it cannot be enlarged")

def contrast(a, b):
    def light(code):
        code = "".join(c * 2 for c in code) if len(code) == 3 else code
        rgb = [int(code[i:i + 2], 16) / 255 for i in (0, 2, 4)]
        return sum(w * (c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4)
                   for w, c in zip((.2126, .7152, .0722), rgb))
    low, high = sorted((light(a), light(b)))
    return (high + .05) / (low + .05)

looks = re.findall(r":root\{(.*?)\}", text)
heard.want(len(looks) == 3, "not light, dark and print")
base = {}
for look in looks:
    # The print has the light one's colours but where it names its own.
    own = dict(re.findall(r"--(\w+):#(\w+)", look))
    colours = {**base, **own}
    base = base or own
    for name in ("ink", "soft", "found", "absent", "open", "skipped"):
        for ground in ("paper", "wash"):
            seen = contrast(colours[name], colours[ground])
            heard.want(seen >= 4.5, f"{name} on {ground}: {seen:.2f}")
sys.exit("\n".join(heard.bad) or 0)
END

# expect SENTENCE STATUS [EXPRESSION...] -- ARGUMENTS...: stdout is a document.
expect()
{
    local sentence=$1 wanted=$2 conditions=() status=0
    shift 2
    while [[ $1 != -- ]]; do
        conditions+=("$1")
        shift
    done
    shift
    "$ssdprobe" "$@" >out 2>err </dev/null || status=$?
    check "$sentence (exit status $status)" test "$status" -eq "$wanted"
    check "and its document is valid" "$python" valid.py \
        "$source_dir/lib/report/ssdprobe.schema.json" out "$wanted" \
        "${conditions[@]}"
}

run()
{
    "$ssdprobe" run "$@" --quiet --progress=none </dev/null
}

widest()
{
    awk -v most="$1" '!/^      / && length > most { print; bad = 1 } END { exit bad }'
}

probes=read-buffer,log-list

## A run directory.
check "a run is kept" run $probes sim:ssd-a,noise=realistic --output-dir=kept
check "with every file" test -s kept/samples.csv.zst -a -s kept/report.json \
    -a -s kept/report.txt -a -s kept/figures/log_list.svg
check "the page is whole" python3 page.py kept/report.html 2
check "and can be heard, and read by who sees little" \
    "$python" heard.py kept/report.html
check "figures too, in everyday words" grep -q \
    'aria-label="Figure: open units: 8, found' kept/report.html
check "and small, for what it draws" \
    test "$(stat -c %s kept/report.html)" -lt 75000
check "with as many marks as the figures have, each where it was" "$python" -c '
import glob, re, sys
def marks(text):
    text = re.sub(r"<(defs|marker).*?</\1>", "", text, flags=re.S)
    found = re.findall(r"<use [^>]*translate\(([\d.]+),([\d.]+)\)", text)
    for line in re.findall(r"<polyline [^>]*marker[^>]*points=\"(.*?)\"", text):
        found += [point.split(",") for point in line.split(" ")]
    return sorted(round(float(c), 1) for point in found for c in point)
page = marks(open("kept/report.html").read())
drawn = marks("".join(open(f).read() for f in glob.glob("kept/figures/*.svg")))
print(len(page), len(drawn))
sys.exit(not (len(drawn) > 600 and len(page) == len(drawn) and
              all(abs(a - b) < 0.11 for a, b in zip(page, drawn))))'
check "the same run says the same on stdout" bash -c "'$ssdprobe' run $probes \
    sim:ssd-a,noise=realistic -qv 2>/dev/null </dev/null | cmp - kept/report.txt"
cp -r kept again
rm -rf again/report.html again/report.txt again/figures
sed -i 's/"verdict": "found"/"verdict": "inconclusive"/' again/report.json
expect "report makes it again" 0 "d['findings'][0]['verdict'] == 'found'" \
    -- report --json again
check "to the byte" diff -r kept again
expect "report of no directory" 2 -- report --json nowhere
expect "report of another directory" 2 -- report --json /tmp
"$ssdprobe" report --markdown again >shown.md 2>err
check "report for an issue" test $? -eq 0
check "has a heading" bash -c 'head -n 1 shown.md | grep -qx "## ssd-a"'
check "and a table" grep -qE '^\| log_list: [^|]+ \| 8 \| .*%.* found \| $' \
    shown.md
check "and not the path" bash -c '! grep -q sim: shown.md'
"$ssdprobe" infer --markdown kept/samples.csv.zst s.csv >shown.md 2>err
check "so do several recordings" bash -c \
    'grep -c "^# .*samples.csv.zst$" shown.md | grep -qx 1'
cp -r kept plainly
samples kept >plainly/samples.csv
rm plainly/samples.csv.zst
check "plain samples say the same, in samples.csv" bash -c "cmp \
    <('$ssdprobe' report -v kept) <('$ssdprobe' report -v plainly)"
check "the latency of each is in its last column" awk -F, '
    /^run,/ { named = $NF == "latency_ns" }
    /^[^#]/ && !/^run,/ { rows++; if ($NF != $11 - $10) exit bad = 1 }
    END { exit bad || !named || rows < 1000 }' plainly/samples.csv
cp -r kept damaged
printf '\1\1\1\1' | dd of=damaged/samples.csv.zst bs=1 seek=2000 conv=notrunc \
    status=none
expect "report of damaged samples" 2 \
    "'compressed file is damaged' in d['ssdprobe']['messages'][0]['text']" \
    "'damaged/samples.csv.zst:' in d['ssdprobe']['messages'][0]['text']" \
    -- report --json damaged
cp -r kept lost
truncate -s $(($(stat -c %s kept/samples.csv.zst) * 6 / 10)) lost/samples.csv.zst
expect "report of compressed samples that were cut off" 0 \
    "any('cut off in line' in m['text'] for m in d['ssdprobe']['messages'])" \
    "all(f['confidence'] <= 0.75 for f in d['findings'])" \
    -- report --json lost
cp -r kept broken
rm broken/samples.csv.zst
samples kept | sed 300q >broken/samples.csv
expect "report of a file that was cut off" 0 \
    "any('cut off in line' in m['text'] for m in d['ssdprobe']['messages'])" \
    "all(f['confidence'] <= 0.75 for f in d['findings'])" \
    -- report --json broken
check "its page says so" grep -q 'cut off in line' broken/report.html
echo '{}' >again/report.json
expect "report of a document that is none of ours" 2 -- report --json again

## What is at the top of a page: what makes its values doubtful.
cp -r kept red
"$python" - <<'END'
import json
d = json.load(open("red/report.json"))
d["conditions"] = {"grade": "red", "items": [
    {"name": "drift", "value": "31 %", "grade": "red",
     "reason": "the drive became slower"}]}
json.dump(d, open("red/report.json", "w"))
END
expect "a report under bad conditions" 0 -- report --json red
# before FIRST SECOND FILE: both are there, in this order.
before()
{
    "$python" -c 'import sys
text = open(sys.argv[3]).read()
sys.exit(not 0 <= text.find(sys.argv[1]) < text.find(sys.argv[2]))' "$@"
}
check "the text tells it before all else of it" \
    before 'Red: drift is 31 %' 'What to do' red/report.txt
check "the page does too" before \
    '<p class="warning"><strong>Red:</strong> drift is 31&nbsp;%: the drive' \
    '<main' red/report.html
"$ssdprobe" report --markdown red >red.md 2>err
check "and the text for an issue" before '> **Red**: drift is 31 %' '- **Bus**' red.md
check "and its first line says so" \
    grep -q 'Conditions were red' <(head -n 4 red/report.txt)
check "and in the page, before all else" before 'Conditions were red' '<main' \
    red/report.html
check "a page of a good run has no such line" \
    bash -c "! grep -q 'Conditions were' kept/report.html"
run read-buffer sim:ssd-a --assume=log_list=8 --output-dir=assumed \
    >/dev/null 2>&1
check "what is assumed is called so in the text" \
    grep -qE '^log_list +8 +- +- +assumed$' assumed/report.txt
check "which can be heard, too" "$python" heard.py assumed/report.html
check "and in the page" before '1 found, 1 assumed.' \
    '</b>assumed</td>' assumed/report.html
expect "and to programs, when it is made again" 0 \
    "[f.get('assumed') for f in d['findings']] == [True, None]" \
    -- report --json assumed
expect "and in a comparison" 0 -- diff --json assumed assumed
check "and in its words" \
    grep -q '8 assumed' <("$ssdprobe" diff assumed assumed)

## A bad drive comes first, in every form.
for fake in fake-64g fake-drop; do
    expect "$fake ends in 9" 9 "d['verdict'] == 'fake'" \
        "d['summary'].startswith('FAKE: sold as 64 GiB, holds 8 GiB; ')" \
        "[a['topic'] for a in d['advice']] == ['return this drive']" \
        "'sfdisk' in d['advice'][0]['command']" \
        "'resembles' not in d or d['resembles']['verdict'] == 'open'" \
        -- run capacity sim:$fake --json --output-dir=$fake
    check "$fake: so says the first line of the text" \
        grep -q '^FAKE: sold as 64 GiB, holds 8 GiB; ' <(head -n 1 $fake/report.txt)
    check "$fake: and of the last screen" grep -q '^FAKE: ' \
        <("$ssdprobe" report $fake 2>&1 | head -n 1)
    check "$fake: and of the Markdown" grep -q '^\*\*FAKE: ' \
        <("$ssdprobe" report --markdown $fake 2>&1 | head -n 1)
    check "$fake: and the page, before its heading" \
        before '<p class="banner" role="alert">FAKE: sold as 64' '<h1' \
        $fake/report.html
    "$ssdprobe" card $fake --output=$fake.svg >out 2>err
    check "$fake: and the card, before its name" \
        before '>FAKE: sold as 64 GiB, holds 8 GiB<' ">$fake<" $fake.svg
    "$ssdprobe" diff kept $fake >words 2>err
    check "$fake: and a comparison, which finds no one model" bash -c \
        'head -n 1 words | grep -q ": FAKE: " && grep -q "^One model? Unlikely" words'
done

## What was found to 75 % has not the tick of what is certain.
run nand-type sim:ssd-a --assume=clustered_page=16KiB \
    --assume=clustered_block=4MiB --output-dir=cells >/dev/null 2>&1
check "a confidence of 75 % is stated with perhaps" \
    grep -q '^Perhaps SLC (75 %)' cells/report.txt
check "and has another mark in the page" grep -q \
    'class="verdict likely"><b aria-hidden="true">≈</b>perhaps' cells/report.html
check "and another word in the text" \
    grep -qE '^nand_type .* 75\.0 % *perhaps$' cells/report.txt
run basic,log-list sim:ssd-a --read-only --output-dir=reads >/dev/null 2>&1
check "what was skipped stands in one line" \
    grep -qE '^Skipped: .*log_list' reads/report.txt
check "and in one of the page" grep -q \
    'Skipped: .*<a href="#log_list">open units</a>' reads/report.html
check "and why it has no figure" \
    grep -q 'No figure: it was skipped' reads/report.html

## Figures.
expect "plot" 0 "len(d['figures']) == 4" -- plot --json kept --output-dir=drawn
check "as PNG too" grep -q PNG <(head -c 8 drawn/read_buffer.png)
check "plot of a CSV" bash -c "cp plainly/samples.csv s.csv &&
    '$ssdprobe' plot s.csv | grep -qx s-figures/log_list.svg"
check "and of a compressed one" bash -c "cp kept/samples.csv.zst z.csv.zst &&
    '$ssdprobe' plot z.csv.zst | grep -qx z-figures/log_list.svg &&
    cmp {s,z}-figures/log_list.svg"
COLUMNS=44 "$ssdprobe" plot --terminal kept >picture 2>err
check "in ASCII" bash -c '! LC_ALL=C grep -q "[^ -~]" picture &&
    grep -q "pen units.*: 8" picture'
check "as wide as asked" bash -c "awk 'length > 44 { exit 1 }' picture"
run log-list,clustered-block sim:ssd-a --assume=clustered_page=16KiB \
    --output-dir=known >/dev/null 2>&1
check "a probe that needs no requests of its own has no figure" \
    test -s known/figures/log_list.svg -a ! -e known/figures/clustered_block.svg
check "which the page says" \
    grep -q 'No figure: it sent no requests of its own' known/report.html
check "and says it of no other" test "$(grep -c 'No figure' known/report.html)" -eq 1
expect "plot of nothing" 2 -- plot --json nowhere
run write-buffer sim:ssd-a --read-only --csv=few.csv >/dev/null 2>&1
expect "plot of a run that skipped all" 2 \
    "'nothing to draw' in d['ssdprobe']['messages'][0]['text']" \
    -- plot --json few.csv

## The card.
for tool in timeout env; do
    mkdir -p no-png
    ln -sf "$(command -v $tool)" no-png/
done
PATH=$scratch/no-png "$ssdprobe" card kept >out 2>err
check "without rsvg-convert the card is an SVG" grep -qx kept/card.svg out
check "and it is said why there is no PNG" grep -q 'not installed' err
check "which is well-formed, and says what the text says" "$python" -c '
import sys, xml.etree.ElementTree as tree
words = [t.text for t in tree.parse("kept/card.svg").iter() if t.text]
sys.exit(not ("open units: 8" in words and words.count("not asked") > 3))'
# It reads the picture whole, and what it writes is kept.
printf '%s\n' '#!/bin/sh' 'grep -q "</svg>" && echo PNG of "$@"' \
    >no-png/rsvg-convert
for tool in sh grep; do
    ln -s "$(command -v $tool)" no-png/
done
chmod +x no-png/rsvg-convert
PATH=$scratch/no-png:$PATH expect "with it there are both" 0 \
    "d['figures'] == ['drawing.svg', 'drawing.png']" \
    -- card --json kept/report.json --output=drawing.svg
check "the PNG is what it wrote" grep -qx 'PNG of --zoom=2' drawing.png
printf '#!/bin/sh\nexit 1\n' >no-png/rsvg-convert
PATH=$scratch/no-png "$ssdprobe" card kept/report.json >out 2>err
check "where it fails, it is said" grep -q 'could not draw' err
check "and the SVG stays" test \
    -s kept/report-card.svg -a ! -e kept/report-card.png

## Two runs.
run $probes sim:ssd-a,noise=realistic,seed=2 --seed=2 --output-dir=second \
    >/dev/null 2>&1
for seed in 1 2; do
    run basic,large-request sim:ssd-a,noise=realistic,seed=$seed --seed=$seed \
        --json=times-$seed.json >/dev/null 2>&1
done
run basic,large-request sim:ssd-d --json=times-other.json >/dev/null 2>&1
expect "diff of times that only drifted" 0 "d['diff']['one_model'] > 0.9" \
    "all(r['comparison'] == 'same' for r in d['diff']['findings'])" \
    "any(r['ratio'] != 1 for r in d['diff']['findings'])" \
    -- diff --json times-1.json times-2.json
expect "diff of other times" 0 "d['diff']['one_model'] < 0.1" \
    "[r['comparison'] for r in d['diff']['findings']].count('different') > 2" \
    -- diff --json times-1.json times-other.json
check "diff: what has become more is a multiple" grep -qE \
    'different, [1-9][0-9.e+]* times$' <("$ssdprobe" diff times-{1,other}.json)
check "diff: what has become less is a part" grep -qE \
    'different, 1/[1-9][0-9.e+]* of it$' <("$ssdprobe" diff times-{other,1}.json)
# Is the probability calibrated? Each drive against itself, and against all.
cat >calibrated.py <<'END'
"""calibrated.py SSDPROBE DRIVE...: of each drive there are DRIVE-1 and -2."""
import itertools, json, subprocess, sys
def one_model(*names):
    said = subprocess.run([sys.argv[1], "diff", "--json", *names],
                          stdout=subprocess.PIPE, check=True).stdout
    return json.loads(said)["diff"]["one_model"]
drives = sys.argv[2:]
same = [one_model(f"{d}-1.json", f"{d}-2.json") for d in drives]
other = [one_model(f"{a}-1.json", f"{b}-2.json")
         for a, b in itertools.permutations(drives, 2)]
print(same, other)
# None is sure of what is not so.
sys.exit(not (min(same) > 0.2 and max(other) < 0.5 and
              sum(p > 0.9 for p in same) >= len(same) - 1 and
              sum(p < 0.1 for p in other) >= 0.9 * len(other)))
END
drives=(ssd-a ssd-b ssd-c ssd-d usb-pny-2g)
[[ -z ${SSDPROBE_TEST_LONG-} ]] ||
    drives+=(usb-unknown-1g emmc qlc)
for drive in "${drives[@]}"; do
    for seed in 1 2; do
        run basic,read-buffer,large-request \
            "sim:$drive,noise=realistic,seed=$seed" --seed=$seed \
            --json="$drive-$seed.json" >/dev/null 2>&1
    done
done
check "the probability of one model is calibrated" \
    "$python" calibrated.py "$ssdprobe" "${drives[@]}"
# Of the same runs, with one of a drive of which there is no other.
run basic,read-buffer,large-request sim:sata-mlc --json=odd.json >/dev/null 2>&1
expect "as many models as there are drives, and the odd one named" 0 \
    "len(d['models']) == ${#drives[@]}" \
    "all(len({r.rsplit('-', 1)[0] for r in m['runs']}) == 1 for m in d['models'])" \
    "[(o['run'], o['kind']) for o in d['outliers']] == [('odd.json', 'outlier')]" \
    -- summarise --json odd.json "${drives[@]/%/-1.json}" "${drives[@]/%/-2.json}"
"$python" - <<'END'
import json
d = json.load(open("kept/report.json"))
d["conditions"] = {"grade": "yellow", "items": [
    {"name": "scheduler", "value": "bfq", "grade": "green", "reason": None},
    {"name": "load", "value": "0.2", "grade": "green", "reason": None}]}
json.dump(d, open("bfq.json", "w"))
d["conditions"]["items"][0]["value"] = "none"
d["conditions"]["items"][1] = {"name": "load", "value": "9", "grade": "yellow",
                               "reason": "too much"}
json.dump(d, open("none.json", "w"))
d["conditions"]["items"][1] = {"name": "load", "value": "0.3",
                               "grade": "green", "reason": None}
json.dump(d, open("calm.json", "w"))
END
expect "diff of other conditions" 0 "[c['name'] for c in d['diff']['conditions']] \
== ['scheduler', 'load']" -- diff --json bfq.json none.json
expect "a load that is another number is no other condition" 0 \
    "[c['name'] for c in d['diff']['conditions']] == ['scheduler']" \
    -- diff --json bfq.json calm.json
run $probes sim:ssd-b --output-dir=other >/dev/null 2>&1
expect "diff of two runs of a drive" 0 "d['diff']['one_model'] > 0.5" \
    "not d['diff']['conditions']" \
    "all(r['comparison'] == 'same' for r in d['diff']['findings'])" \
    -- diff --json kept second
expect "diff of two drives" 0 "d['diff']['one_model'] < 0.1" \
    "d['diff']['conditions'][0]['name'] == 'model'" \
    "any(r['comparison'] == 'different' for r in d['diff']['findings'])" \
    -- diff --json kept other
expect "diff with itself" 0 "all(r['ratio'] in (None, 1) \
for r in d['diff']['findings'])" -- diff --json kept kept/report.json
expect "a status for what agrees" 0 -- diff --json --exit-code kept second
expect "for what differs" 8 "not d['ssdprobe']['messages']" \
    -- diff --json --exit-code kept other
expect "which is 0 unless it is asked for" 0 -- diff --json kept other
expect "for times that only drifted" 0 \
    -- diff --json --exit-code times-1.json times-2.json
expect "for what cannot be compared" 5 \
    -- diff --json --exit-code kept times-1.json
expect "but no file is still no file" 2 -- diff --json --exit-code kept nowhere
expect "diff with nothing" 2 -- diff --json kept nowhere
"$ssdprobe" diff kept other >words 2>err
check "where neither is better, that comes first" grep -q '^Neither is better' \
    <(head -n 1 words)
check "else which one, and in what" grep -q '^ssd-[ad] is better: .* times' \
    <("$ssdprobe" diff times-1.json times-other.json)
check "and is marked" grep -qE '^Parameter +ssd-a +ssd-b ' words
check "then the conditions that differ" grep -q '^Conditions that differ' words
run throughput sim:ssd-a --output-dir=rate-a >/dev/null 2>&1
run throughput sim:nvme-tlc --output-dir=rate-b >/dev/null 2>&1
cat >both.py <<'END'
"""both.py PAGE FIGURES NAME...: has it so many figures, each with all the names?"""
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
class Page(html.parser.HTMLParser):
    ids, open = [], []
    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in ("meta", "br", "use"):
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
    def handle_endtag(self, tag):
        if tag != "use":
            assert self.open.pop() == tag, tag
page = Page()
page.feed(text)
assert not page.open and len(set(page.ids)) == len(page.ids)
assert not re.search(r"url\((?!#|'#)|src=|href=\"http", text), "is fetched"
figures = re.findall(r"<figure>.*?</figure>", text, flags=re.S)
assert len(figures) == int(sys.argv[2]), len(figures)
for figure in figures:
    for name in sys.argv[3:]:
        assert figure.count(">" + name + "<") == 1, name
    assert figure.count("<polyline") >= 2, "a series is lost"
END
check "diff: a page with the figures of both" bash -c \
    "'$ssdprobe' diff rate-a rate-b --output=both.html | cmp - \
        <('$ssdprobe' diff rate-a rate-b)"
check "each with both drives" "$python" both.py both.html 2 ssd-a nvme-tlc
check "and a screen reader says so" grep -q \
    'aria-label="Figure: throughput of ssd-a and nvme-tlc"' both.html
check "with the findings of both, the better one marked" grep -q \
    '>[0-9]*k IOPS \*</td>' both.html
check "two runs of one drive are the first and the second" bash -c \
    "'$ssdprobe' diff rate-a rate-a --output=same.html &&
        $python both.py same.html 2 first second"
expect "diff: documents have no figures" 0 \
    "'no run directory with samples' in d['ssdprobe']['messages'][0]['text']" \
    -- diff --json rate-a rate-b/report.json --output=none.html
check "which their page says" grep -q 'There are no figures: rate-b/report' \
    none.html
check "and so it does where no figure is of both" bash -c \
    "'$ssdprobe' diff rate-a kept --output=none.html &&
        grep -q 'no figures: the runs share no probe' none.html"
cp -r rate-b torn
printf '\1\1\1\1' | dd of=torn/samples.csv.zst bs=1 seek=2000 conv=notrunc \
    status=none
expect "diff: damaged samples are not drawn" 2 \
    "'torn/samples.csv.zst:' in d['ssdprobe']['messages'][0]['text']" \
    -- diff --json rate-a torn --output=torn.html
check "and no page is left" test ! -e torn.html
check "the answer last" bash -c 'tail -n 2 words | grep -qE "One model|odds"'

## Less than everything.
mkdir bare
for tool in timeout env sh bash awk sort sed wc head; do
    ln -s "$(command -v $tool)" bare/
done
PATH=$scratch/bare run read-buffer sim:ssd-a --output-dir=plain >out 2>err
check "without gnuplot a run succeeds" test $? -eq 0
check "and says what is missing" grep -q 'gnuplot is not installed' err
check "in the page as well" grep -q 'gnuplot is not installed' plain/report.html
check "which is whole but for the figures" python3 page.py plain/report.html 0
PATH=$scratch/bare "$ssdprobe" plot plain >out 2>err
check "without gnuplot there is no plot" test $? -eq 2
truncate -s 64M disk.img
disk=$(losetup --find --show disk.img)
trap 'losetup -d "$disk"; rm -rf -- "$scratch"' EXIT
"$python" "$source_dir/tests/no_io_uring.py" "$ssdprobe" run read-buffer "$disk" \
    --allow-virtual --read-only --time-limit=2s --output-dir=without \
    >out 2>err </dev/null
check "without io_uring a run comes to its end" test $? -eq 0
check "by pread and pwrite" grep -q 'Requests sent by *pread/pwrite' without/report.txt
check "and says what is missing" grep -q 'Yellow: io_uring is missing' out
check "in the page as well" grep -q '<dd>missing (yellow)' without/report.html
check "with rows" test "$(samples without | wc -l)" -gt 10
run basic "$disk" --allow-virtual --read-only --dry-run >out 2>err
check "with it nothing is missing" bash -c '! grep -q "io_uring is missing" out err'
# A loop device has no SMART, and nothing that could be asked for it.
check "without SMART it says what is missing" \
    grep -q 'Health before *a disk of its kind has no SMART' without/report.txt
check "in the page as well" grep -q '<dd>a disk of its kind has no SMART' \
    without/report.html
check "and to programs" "$python" -c 'import json
before, after = json.load(open("without/report.json"))["device"]["health"]
assert before["source"] is before["failing"] is after["failing"] is None
assert "has no SMART" in before["text"]'
COLUMNS=36 run $probes sim:ssd-a >narrow 2>/dev/null
check "a narrow terminal is kept to" bash -c "$(declare -f widest)
    widest 36 <narrow"
check "and reads on" grep -q '8 open units' narrow
TERM=xterm script -qec "'$ssdprobe' run read-buffer sim:ssd-a -qv" /dev/null \
    >colour </dev/null 2>&1
check "a terminal has colour" grep -q $'\033\[32mfound' colour
NO_COLOR=1 TERM=xterm script -qec "'$ssdprobe' run read-buffer sim:ssd-a -q" \
    /dev/null >plain.txt </dev/null 2>&1
check "without a terminal there is no colour and no bar" \
    bash -c "! grep -q $'[\033\r]' kept/report.txt narrow"
check "NO_COLOR has none" bash -c "! grep -q $'\033' plain.txt"
TERM=dumb script -qec "'$ssdprobe' run read-buffer sim:ssd-a -q" /dev/null \
    >dumb.txt </dev/null 2>&1
check "TERM=dumb has none" bash -c "! grep -q $'\033' dumb.txt"

## Nobody's serial number.
hidden=/dev/disk/by-id/ata-Foo_S3CR3T
expect "--no-serial" 2 "'S3CR3T' not in str(d)" "'/dev/disk/...' in str(d)" \
    -- check --json --no-serial --confirm=S3CR3T $hidden
check "nor on stderr" bash -c '! grep -q S3CR3T err'
expect "without it" 2 "'S3CR3T' in str(d)" -- check --json $hidden

## axe-core, which is optional: it comes from npm, and wants a browser.
for browser in chromium chromium-browser google-chrome; do
    command -v "$browser" >/dev/null && break
done
if ! command -v "$browser" >/dev/null || ! command -v npm >/dev/null; then
    echo "skip axe-core, which is optional: no Chromium, or no npm"
elif ! timeout 90 npm pack --silent axe-core@4 >said 2>&1 ||
    ! tar -xzf axe-core-4*.tgz; then
    echo "skip axe-core, which is optional: $(tail -n 1 said)"
else
    check "axe-core finds nothing in pages, light and dark" \
        "$python" "$source_dir/tests/axe.py" package/axe.min.js "$browser" \
        kept/report.html red/report.html
    sed 's/<html lang="en"/<html/; s/--ink:[^;]*;/--ink:#999;/' red/report.html \
        >unread.html
    check "and what is wrong in one" bash -c "! '$python' \
        '$source_dir/tests/axe.py' package/axe.min.js '$browser' unread.html >said &&
        grep -q html-has-lang said && grep -q color-contrast said"
fi
summary
