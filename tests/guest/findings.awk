# SPDX-License-Identifier: GPL-3.0-or-later
# The findings of a document of `ssdprobe --json`, a line each: parameter,
# verdict, value, low, high ('null' where there is none), then its reason.
/^  "findings"/ { inside = 1 }
!inside { next }
/^  \]/ { exit }
match($0, /^      "[a-z0-9_]+": /) {
    key = substr($0, 8, RLENGTH - 10)
    value = substr($0, RLENGTH + 1)
    sub(/,$/, "", value)
    gsub(/^"|"$/, "", value)
    of[key] = value
}
/^    }/ {
    print of["parameter"], of["verdict"], of["value"], of["low"], of["high"],
        of["why"]
    # What not every read buffer has is a finding of its own here, as in [truth].
    if (of["parameter"] == "read_buffer") {
        smallest = "smallest_request" in of ? of["smallest_request"] : "null"
        verdict = of["verdict"]
        if (verdict == "found" && smallest == "null")
            verdict = "absent"
        print "smallest_request", verdict, smallest, smallest, smallest,
            "of the read buffer"
    }
    split("", of)
}
