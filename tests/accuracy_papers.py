# SPDX-License-Identifier: GPL-3.0-or-later
"""The drives of the two papers, and what must come out of them: a part of
tests/accuracy.py (--papers)."""
import collections

# Kim et al., table IV; Sun & Zhang, table 3. What a drive has is its [truth].
PAPERS = (
    ("Kim et al.", ("ssd-a", "ssd-b", "ssd-c", "ssd-d"),
     ("clustered_page", "clustered_block", "nand_type", "read_buffer",
      "write_buffer")),
    ("Sun & Zhang", ("usb-unknown-1g", "usb-kingston-1g", "usb-pny-2g"),
     ("segment_groups", "log_block", "log_list", "content_dependence")),
)
NAMES = tuple(name for _, names, _ in PAPERS for name in names)
SHARE_LEAST = 0.99
# What no probe can see must not be stated.
RIGHT = ("exact", "absent", "hidden", "unseen")


def print_papers(noise, tally, seeds):
    """A row for each parameter, a column for each drive: of all seeds,
    right, inconclusive, wrong. Returns how many values come out too seldom."""
    cells = collections.defaultdict(collections.Counter)
    for case, finding, column in tally.cases:
        cells[(case.drive.name, finding["parameter"])][
            "right" if column in RIGHT else
            "inconclusive" if column == "missing" else column] += 1
    often = values = 0
    for paper, names, parameters in PAPERS:
        print("\n%s at noise %s: right/inconclusive/wrong" % (paper, noise))
        print("%-18s" % "" + "".join("%17s" % name for name in names))
        for parameter in parameters:
            line = "%-18s" % parameter
            for name in names:
                cell = cells[(name, parameter)]
                often += cell["right"] >= SHARE_LEAST * seeds
                values += 1
                line += "%17s" % "/".join(
                    str(cell[key]) for key in ("right", "inconclusive",
                                               "wrong"))
            print(line)
    print("\n%d of %d values come out in %g %% of the runs or more" %
          (often, values, 100 * SHARE_LEAST))
    return values - often
