#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_foreign.sh SOURCE_DIR BUILD_DIR: files that somebody else has made.
# Run directories, recordings and drive files may hold anything: escape
# sequences for the terminal, links to other places, numbers beyond all bounds.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
ssdprobe=$build_dir/ssdprobe
flashemu=$build_dir/flashemu
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# tame FILE...: nothing in them does anything to a terminal.
cat >tame.py <<'END'
import re, sys
control = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f"
                     "\u2028-\u202e\u2066-\u2069]")
for name in sys.argv[1:]:
    text = open(name, encoding="utf-8").read()
    assert text, name + " is empty"
    found = control.search(text)
    assert not found, (name, text[found.start() - 40:found.end() + 40])
END
tame() { python3 tame.py "$@"; }

# says STATUS COMMAND...: its exit status, and whether what it said is tame.
says()
{
    local wanted=$1 status=0
    shift
    "$@" >out 2>err </dev/null || status=$?
    cat out err >both
    echo "status $status, wanted $wanted"
    head -n 5 err
    [[ $status -eq $wanted ]] && tame both
}

"$ssdprobe" run read-buffer,large-request sim:ssd-a -q --output-dir=own \
    >/dev/null 2>&1
check "there is a run" test -s own/report.json -a -d own/figures

## A run directory.
cp -r own evil
cat >evil.py <<'END'
import json
d = json.load(open("own/report.json"))
evil = "\x1b]0;owned\x07\x1b[2J\x7f\u009b31m\u202ex\n\u2066y"
device = d["device"]
for key in ("path", "model", "serial", "firmware", "bus", "driver", "engine",
            "flush", "write_cache"):
    device[key] = key + evil
device["declared"] = [{"name": "physical_block_size", "bytes": 4096,
                       "source": evil}]
device["health"] = [{"when": "before", "text": evil, "source": evil},
                    {"when": "after", "text": evil, "source": evil}]
d["conditions"] = {"grade": "red", "items": [
    {"name": "n" + evil, "value": evil, "grade": "red", "reason": evil}]}
d["ssdprobe"]["messages"] = [{"severity": "warning", "text": evil}]
for finding in d["findings"]:
    finding["why"] = "why" + evil
    finding["<b>" + evil[:4]] = 1
    finding["p\u009b"] = 1
d["findings"].append(dict(d["findings"][0], parameter="nand_type", unit="",
                          value=evil[:9], low=evil[:9], high=evil[:9]))
json.dump(d, open("evil/report.json", "w"))
END
python3 evil.py
check "diff of it" says 0 "$ssdprobe" diff evil own
check "as a document" says 0 "$ssdprobe" diff --json evil own
check "report of it" says 0 "$ssdprobe" report evil
check "its text and its page" tame evil/report.txt evil/report.html
check "its page has no tags of others" bash -c '! grep -q "<b>?" evil/report.html'
python3 evil.py
check "report of it, as a document" says 0 "$ssdprobe" report --json evil
check "a name that holds such" says 2 "$ssdprobe" report $'no\e[2J\xc2\x9bwhere'

## Numbers that cannot be: refused where they are read.
cp -r own wild
# wild PART: own/report.json with one wrong number.
cat >wild.py <<'END'
import json, sys
d = json.load(open("own/report.json"))
part = sys.argv[1]
if part == "list":
    d["findings"].append(dict(d["findings"][0], parameter="log_list",
                              unit="count", verdict="found", value=-1,
                              low=None, high=None, confidence=0.9))
elif part == "cost":
    d["cost"]["wall_seconds"] = 1e300
elif part == "pilot":
    d["cost"]["pilot"] = {"bytes_written": 1, "requests": 1, "seconds": -1e300}
elif part == "plan":
    d["plan"]["seconds"] = float("inf")
elif part == "levels":
    d["findings"][0]["levels"] = [1e300, 1]
else:
    d["findings"][0][part] = float("nan")
json.dump(d, open("wild/report.json", "w"))
END
# refused PART COMMAND...: within a memory and a time that suffice for a card.
refused()
{
    python3 wild.py "$1"
    shift
    says 2 timeout -k 1 20 "$@" && grep -q 'wild.*damaged' err
}
for part in list cost pilot plan levels value low high confidence; do
    check "report: $part" refused "$part" "$ssdprobe" report wild
done
check "card" refused list "$ssdprobe" card wild/report.json
check "which names the parameter and the number" \
    grep -q "'value' of log_list is -1," err
check "diff" refused list "$ssdprobe" diff wild own
check "as a document" refused list "$ssdprobe" diff --json wild own
check "which is one" python3 -c 'import json; json.load(open("out"))'
check "summarise" refused list "$ssdprobe" summarise wild own

## What would wait for ever.
mkfifo fifo.ini fifo
# interruptible COMMAND...: a signal ends it while it waits. It is sent again,
# because the first may come before it waits.
cat >interruptible.py <<'END'
import signal, subprocess, sys, time
job = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL,
                       stderr=open("err", "w"))
def catches():
    with open(f"/proc/{job.pid}/status") as status:
        caught = [line for line in status if line.startswith("SigCgt")][0]
    return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1
while job.poll() is None and not catches():
    time.sleep(0.01)
for i in range(400):
    if job.poll() is not None:
        break
    job.send_signal(signal.SIGINT)
    time.sleep(0.05)
job.kill()
print("status", job.wait())
sys.exit(job.wait() != 130 or "interrupted" not in open("err").read())
END
interruptible() { python3 interruptible.py "$@"; }
check "a drive file that is a FIFO" interruptible "$ssdprobe" sim:./fifo.ini
printf '[drive]\nbase = ./fifo.ini\nname = x\n' >based.ini
check "or one that is its base" interruptible "$ssdprobe" sim:./based.ini
check "a FIFO for rows" interruptible "$ssdprobe" run read-buffer sim:ssd-a \
    --csv=fifo
check "a FIFO for a document" interruptible "$ssdprobe" run read-buffer \
    sim:ssd-a --json=fifo
check "a FIFO for samples" interruptible "$ssdprobe" infer fifo
# shellcheck disable=SC2016
check "a drive file through a pipe is read" bash -c \
    '"$1" run basic sim:<(cat "$2/lib/flash/drives/ssd-a.ini"; sleep 0.1)' \
    bash "$ssdprobe" "$source_dir"
cp -r own waiting
for samples in samples.csv.zst samples.csv; do
    rm -f waiting/samples.csv*
    mkfifo "waiting/$samples"
    for command in report plot twin; do
        check "$command of a run whose $samples is a FIFO" \
            says 2 timeout -k 1 20 "$ssdprobe" $command waiting
        check "and says so" grep -q "$samples is not a regular file" err
    done
done

## Links.
cp -r own linked
mkdir elsewhere
rm -r linked/figures
ln -s ../elsewhere linked/figures
check "report follows no link in place of its folder" \
    says 2 "$ssdprobe" report linked
check "and says so" grep -q 'linked/figures is a link' err
check "plot follows none" says 2 "$ssdprobe" plot linked
check "nothing was written through it" test -z "$(ls elsewhere)"
check "where the user names a link it is followed" \
    says 0 "$ssdprobe" plot linked --output-dir=linked/figures
check "to where it leads" test -s elsewhere/read_buffer.svg
rm -r elsewhere/* linked/figures
mkdir linked/figures
echo precious >elsewhere/file
ln -s ../../elsewhere/file linked/figures/read_buffer.svg
check "report replaces a link in place of a figure" \
    says 0 "$ssdprobe" report linked
ln -sf ../../elsewhere/file linked/figures/read_buffer.svg
check "so does plot" says 0 "$ssdprobe" plot linked
check "and writes nothing through it" grep -qx precious elsewhere/file

## Recordings.
printf 'run,card,device_bytes,repeat,align,pre_ns,on_ns,post_ns,diff_ns\n' \
    >cards.csv
sed -n '3,$s/^\([^,]*\),\([^,]*\),/\1\x1b[2J,\2\xc2\x9b31m,/p' \
    "$source_dir/tests/recordings/sdcard-align.csv" | head -n 200 >>cards.csv
check "a table of cards" says 2 "$ssdprobe" infer cards.csv
check "whose names it quotes" grep -q "'1_2?\[2J' is not the name" err
check "a table of cards, as a document" says 2 "$ssdprobe" infer --json cards.csv
printf 'align 4096 pre \e[2J1us on 2us\n' >pasted.txt
check "a line that is wrong" says 2 "$ssdprobe" infer pasted.txt

## Drive files.
sed $'s/^description = .*/description = a\e]0;x\a \xc2\x9b31m\xe2\x80\xae drive/
    s/^name = .*/name = n\e[2J/
    s/^nand_type = .*/nand_type = \e[2J/' \
    "$source_dir/lib/flash/drives/ssd-a.ini" >drive.ini
check "show" says 0 "$flashemu" show ./drive.ini
check "which shows the rest" grep -q '^description = a?\]0;x? ?31m? drive$' out
check "show as a document" says 0 "$flashemu" show --json ./drive.ini
check "the plan of a run on it" says 0 "$ssdprobe" --dry-run sim:./drive.ini
check "a run on it" says 0 "$ssdprobe" run read-buffer sim:./drive.ini
for file in "$source_dir"/lib/flash/drives/*.ini; do
    "$flashemu" show "$file" >shown.ini 2>>shows
    "$flashemu" show ./shown.ini 2>>shows | cmp - shown.ini >>shows 2>&1
done
check "what is shown of each drive can be read back" test ! -s shows
check "comments are folded" test "$(grep '^; ' shown.ini | wc -L)" -le 78
check "as many keys as there are" says 0 "$flashemu" random --seed=1 \
    --keys="$(printf 'jitter_sigma=0,%.0s' {1..100})drift_share=0.25"
check "which are all used" grep -qx 'drift_share = 0.25' out
check "truths follow the keys" says 0 "$flashemu" show \
    ssd-a,read_buffer_bytes=0,mapping_cache_bytes=4KiB
check "what is another one" grep -qx 'read_buffer = absent' out
check "what is not" grep -qx 'write_buffer = 261120' out
check "and what is not known is left out" bash -c '! grep spare_share out'
check "noise is no other drive" says 0 "$flashemu" show ssd-a,noise=heavy
check "which has all of its truths" grep -q spare_share out
printf '[drive]\nname = x\n\e[2J = 1\n' >wrong.ini
check "a key that there is not" says 2 "$flashemu" show ./wrong.ini

summary
