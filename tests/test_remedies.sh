#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_remedies.sh SOURCE_DIR BUILD_DIR: a message that names an option as
# the remedy is provoked, the remedy is tried, and the message must be gone.
# Not here: those that need a real disk (--tune, --flush, --write-cache,
# --force-..., --confirm, --allow-virtual).
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

cat >remedy.py <<'END'
"""remedy.py SSDPROBE PHRASE REMEDY ARGUMENT...: REMEDY is what replaces or joins
the arguments; "named": what the message itself names, tried twice at most,
because a first remedy may show what a second one is needed for."""
import json, re, subprocess, sys

program, phrase, remedy, *arguments = sys.argv[1:]

def said(arguments):
    done = subprocess.run([program, *arguments, "-q"], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return done.stderr.splitlines()
    return ([m["text"] for m in document["ssdprobe"]["messages"]] +
            [f["why"] or "" for f in document["findings"]])

def with_options(arguments, options):
    names = {option.split("=")[0] for option in options if "=" in option}
    kept = [a for a in arguments
            if a.split("=")[0] not in names or a.startswith("--assume")]
    return kept + options

if "--csv=-" not in arguments:
    arguments.append("--json")
first = [text for text in said(arguments) if phrase in text]
assert first, ("not provoked", said(arguments))
print(first[0])
tried = arguments
for i in range(2):
    texts = first if i == 0 else still
    options = remedy.split() if remedy != "named" else sorted(set(re.findall(
        r"--(?:patience|write-budget|region)=[0-9]\w*", " ".join(texts))))
    assert options, ("no remedy is named", texts)
    tried = with_options(tried, [o for o in options if not o.startswith("-!")])
    tried = [a for a in tried
             if "-!" + a.split("=")[0].lstrip("-") not in options]
    print("tried:", *tried)
    still = [text for text in said(tried) if phrase in text]
    if not still:
        sys.exit(0)
    if remedy != "named":
        break
sys.exit("still: " + still[0])
END

# remedy NAME PHRASE REMEDY ARGUMENT...
remedy()
{
    local name=$1
    shift
    check "$name" python3 remedy.py "$build_dir/ssdprobe" "$@"
}

patient='use up the spare area'
remedy "time for the spare flash" "$patient" named \
    run steady-state sim:usb-tlc
remedy "time for a card" "$patient" named run steady-state sim:sd-card
remedy "writes for the spare flash" "$patient" named run steady-state sim:ssd-c
remedy "a rate that has not fallen yet" "may not be used up yet" named \
    run steady-state sim:sata-mlc
hot=sim:ssd-c,capacity_bytes=1GiB,spare_permille=100,noise=none
remedy "writes for skewed writes" "to write the span" named \
    run steady-state,hot-cold $hot --assume=write_buffer=4096 --patience=20 \
    --write-budget=1GiB
remedy "time for skewed writes" "skewed writes would need" named \
    run steady-state,hot-cold $hot --assume=write_buffer=4096 --patience=15 \
    --write-budget=64GiB
remedy "a budget for a probe" "of the write budget are left" --write-budget=2GiB \
    run clustered-block,read-buffer sim:ssd-a --write-budget=64MiB
remedy "a budget for any probe" "no probe fits in the write budget" \
    --write-budget=2GiB run write-buffer sim:ssd-a --write-budget=1MiB
remedy "a budget for all probes" "not everything fitted" --write-budget=2GiB \
    run clustered-page,read-buffer sim:ssd-a --write-budget=300KiB
remedy "a budget for a fast cache" "an SLC cache may be larger" \
    --write-budget=64GiB run sustained-write sim:usb-tlc --write-budget=512MiB
remedy "a budget for a search" "of writes, too early" named \
    run clustered-page sim:ssd-a --write-budget=320MiB
fresh=sim:ssd-a,initial_state=fresh,capacity_bytes=1GiB
remedy "a budget for a fill" "is too much: allow" named \
    run clustered-page $fresh --write-budget=600MiB
remedy "a budget for all of a fill" "for all of it allow" named \
    run clustered-page $fresh --write-budget=1GiB
remedy "a smaller region for it" "for all of it allow" --region=0,256MiB \
    run clustered-page $fresh --write-budget=1GiB
remedy "more time" "the time limit was reached" --time-limit=1h \
    run clustered-page sim:ssd-a --time-limit=1s
remedy "a page that is known" "it needs clustered_page" \
    "--assume=clustered_page=16384 --assume=clustered_block=4194304" \
    run nand-type sim:ssd-a
remedy "a rate that is known" "it needs steady_random_write" \
    --assume=steady_random_write=1000000 run hot-cold sim:ssd-a
remedy "logs that are known" "blocks with a log is not known" \
    "--assume=log_list=4 --assume=log_block=4194304" run content sim:ssd-a
remedy "a page to write in order" "needs clustered_page, which is not known" \
    --assume=clustered_page=16384 run clustered-block sim:ram-disk \
    --write-budget=1TB
remedy "all of the drive" "repeat the run without --region" "-!region" \
    run capacity sim:ssd-a,capacity_bytes=4GiB --region=0,1GiB
remedy "a file for the samples" "cannot both have stdout" --csv=rows.csv \
    run read-buffer sim:ssd-a --json --csv=-
remedy "no switch of the cache" "leave out one of them" "-!write-cache" \
    run read-buffer sim:ssd-a --read-only --write-cache=off
mkdir kept
touch kept/file
remedy "another folder" "name a new directory with --output-dir" \
    --output-dir=fresh run read-buffer sim:ssd-a --output-dir=kept
check "what takes no remedy is noticed" bash -c "! python3 remedy.py \
    '$build_dir/ssdprobe' 'it needs clustered_page' --seed=2 \
    run nand-type sim:ssd-a"
summary
