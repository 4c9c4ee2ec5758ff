#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_papers.sh SOURCE_DIR BUILD_DIR: are the published figures drawn from
# our own runs, and do their numbers come out? With SSDPROBE_TEST_LONG the
# procedures of Kim et al. run by the letter as well.
set -u

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"
# Kim figures 5 to 9, Sun & Zhang figures 2 to 19.
figures=23
# The papers' numbers are read off figures and texts: within a quarter.
cat >judge.awk <<'END'
BEGIN { FS = "|" }
$3 == "" { next }
$3 ~ /^[0-9.]+$/ { ratio = $4/$3; if (ratio < 0.75 || ratio > 1.25) print; next }
$3 != $4 { print }
END

drawn()
{
    local svg count=0
    for svg in page/*.svg; do
        python3 -c 'import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
marks = [e for e in root.iter() if e.tag.endswith(("}use", "}path", "}polygon"))]
sys.exit(len(marks) < 20)' "$svg" || return
        grep -qF "src=\"${svg#page/}\"" page/index.html || return
        ((count += 1))
    done
    ((count == figures))
}

numbers()
{
    local off
    off=$(awk -f judge.awk page/claims.txt)
    printf '%s\n' "$off"
    [[ -z $off ]] && (($(wc -l <page/claims.txt) >= 40))
}

check "the page is made" \
    bash "$source_dir/plots/papers.sh" "$build_dir" page
check "each figure is drawn, and on the page" drawn
check "the papers' numbers come out" numbers
sed -i '0,/|0.75|/s//|7.5|/' page/claims.txt
check "a number that is off is noticed" test -n "$(awk -f judge.awk page/claims.txt)"
if [[ -n ${SSDPROBE_TEST_LONG-} ]]; then
    rm -rf page
    check "the page is made by the letter" \
        bash "$source_dir/plots/papers.sh" "$build_dir" page --full
    check "and each figure is drawn" drawn
fi
summary
