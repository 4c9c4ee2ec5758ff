# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Part of test_quality.sh: does the text keep to English order and to the field's
# words? Each phrase below is a habit of another language. What users read has
# none: string literals, README, docs and manual pages. Comments have at most the
# stated number. Lower it when there are fewer.
prose_comments_most=594

# Each row: what to write instead, and the phrase as a Python expression.
prose_phrases='
subject first       (?:^|[.:;] )Of [a-z]+ |; of %
name the thing      [Ww]hat (?:is|was|are|were|has been) (?:[a-z]+ ){1,4}(?:is|was|are|were|has|had|does|takes|costs) 
say who says it     \b[Ii]t is (?:said|told|noted|stated)\b
so + subject        \bso (?:is|are|was|were|does|do) (?:it|that|they|those|what)\b
determined, known   \b(?:be|is|are|was|were) told\b(?! apart)
the same            \balike\b
cached, available   \bat hand\b
automatically       \bby itself\b
random, any place   (?<![:-])\b[Aa]nywhere\b
queue depth         \bunder way\b
confidence          \bhow sure\b|% sure\b
simultaneously      \b(?:way|all|together|them) at once\b
if, in any place    \b[Ww]herever\b
the project, yours  \bof (?:ours|yours|theirs)\b
restore             \b[Pp]ut(?:s|ting)? (?:[a-z]+ )?back\b
sequential          \b(?:reads?|writes?|written|writing) in order\b
slow, expensive     \bdear(?:er|est)?\b
instead of          \bin place of\b
'

# prose_of TREE KIND: text or comments, as 'FILE: HINT: PHRASE'.
prose_of()
{
    (cd -- "$1" && find README.md docs cmd lib probes tests -type f -print0) |
        PROSE=$prose_phrases python3 -c '
import os, re, sys

tree, kind = sys.argv[1:]
phrases = [(row[:20].strip(), re.compile(row[20:]))
           for row in os.environ["PROSE"].split("\n") if row]
token = re.compile(r"//[^\n]*|/\*.*?\*/|\x22(?:\\.|[^\x22\\\n])*\x22"
                   r"|\x27(?:\\.|[^\x27\\\n])*\x27|[^\s\\]", re.S)

def literals(source):
    """Neighbouring literals are one."""
    text = ""
    for match in token.finditer(source):
        part = match[0]
        if part[0] == "\x22":
            text += part[1:-1]
        elif not part.startswith(("//", "/*")):
            if text:
                yield text
            text = ""

def comments(source):
    for match in token.finditer(source):
        if match[0].startswith(("//", "/*")):
            yield re.sub(r"[\s*/]*\n[\s*/]*| +", " ", match[0].strip("/* "))

def passages(path, source):
    if path.endswith((".c", ".h")):
        room = path.split("/")[0]
        if kind == "comments":
            yield from comments(source)
        elif room in ("cmd", "lib", "probes"):
            yield from literals(source)
    elif kind == "text":
        # Programs and their output are shown as they are.
        source = re.sub(r"(?s)\n```.*?\n```|`[^`]*`|\n\.nf\n.*?\n\.fi", "",
                        source)
        source = re.sub(r"(?m)^\.(?:\\\x22.*|[A-Z]+ )|\\f[A-Z]", "", source)
        yield re.sub(r"\s+", " ", source)

for path in sys.stdin.read().split("\0"):
    if not (re.fullmatch(r"README\.md|docs/.*\.md|cmd/man/.*\.in", path) or
            re.match(r".*\.[ch]$", path)):
        continue
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        for passage in passages(path, file.read()):
            for hint, phrase in phrases:
                for hit in phrase.finditer(passage):
                    print("%s: %s: %s" % (path, hint, hit[0].strip()))
' "$1" "$2"
}

check_prose()
{
    local count
    prose_of "$1" text
    count=$(prose_of "$1" comments | wc -l)
    ((count <= prose_comments_most)) ||
        echo "comments have $count such phrases, not $prose_comments_most"
}

break_prose_message()
{
    cat >lib/base/bad.c <<'END'
static const char why[] = "two reads "
                          "take times that are alike";
END
}

break_prose_page()
{
    printf '\nIt is said how long it takes.\n' >>docs/method.md
}

# Twenty, so that the number above may lag a little behind what was deleted.
break_prose_comment()
{
    local line
    for line in {1..20}; do
        printf '/* Of all walks the longest, %s. */\n' "$line"
    done >>lib/base/units.h
}
