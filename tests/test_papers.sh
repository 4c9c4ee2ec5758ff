#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_papers.sh SOURCE_DIR BUILD_DIR: are the published figures drawn from
# our own runs, and do their numbers come out? With SSDPROBE_TEST_LONG what takes
# minutes runs by the letter as well: figure 9, and 8 GiB a size for figure 6.
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

# numbers COUNT ROW...: so many numbers; what is not as in the paper says why, and
# is one of these rows.
numbers()
{
    local said yes count=$1
    shift
    said=$(awk -F'|' '$6 ~ /^no/ { print $6 ~ /^no: ./ ? $1 "|" $2 : $0 }' \
        page/claims.txt | sort)
    yes=$(grep -c '|yes[^|]*$' page/claims.txt)
    comm -13 <(printf '%s\n' "$@" | sort) <(printf '%s\n' "$said") >others
    cat others
    [[ ! -s others ]] && ((yes + $(wc -l <<<"$said") == count))
}
# The text of figure 16 says less than a quarter, its numbers more; what the stick
# of figure 4 held the paper does not say, and its 2 ms are 2.6 in table 2.
stick=('sun_zhang_16|one request of 30 blocks, of the time of 30: less than'
    'sun_zhang_04|a few of them' 'sun_zhang_04|very few')
# Under noise the mean of 64 writes does not tell a page of 16 KiB. SSD-C's figure 5
# "shows no notable drop" in the paper either.
pages=('kim_05|SSD-A: clustered page, by the letter'
    'kim_05|SSD-C: clustered page, by the letter')
# Nor is a sixteenth of what the paper writes enough for the block; all of it is,
# but for SSD-C, which moves next to nothing to clean so small a part of it.
blocks=('kim_06|SSD-A: clustered block, by the letter'
    'kim_06|SSD-B: clustered block, by the letter'
    'kim_06|SSD-C: clustered block, by the letter'
    'kim_06|SSD-D: clustered block, by the letter')

check "the page is made" \
    bash "$source_dir/plots/papers.sh" "$build_dir" page
check "each figure is drawn, and on the page" drawn
check "the papers' numbers come out" numbers 62 "${stick[@]}" \
    "${pages[@]}" "${blocks[@]}"
check "the page says so" test "$(grep -c '<td>yes[^<]*</td></tr>' page/index.html)" -eq \
    "$(grep -c '|yes[^|]*$' page/claims.txt)"
sed -i '0,/|yes/s//|no: it is off/' page/claims.txt
check "a number that is off is noticed" eval \
    '! numbers 62 "${stick[@]}" "${pages[@]}" "${blocks[@]}"'
if [[ -n ${SSDPROBE_TEST_LONG-} ]]; then
    rm -rf page
    check "the page is made by the letter" \
        bash "$source_dir/plots/papers.sh" "$build_dir" page --full
    check "and each figure is drawn" drawn
    check "and each number comes out, but for these, which say why" \
        numbers 66 "${stick[@]}" "${pages[@]}" "${blocks[2]}"
fi
summary
