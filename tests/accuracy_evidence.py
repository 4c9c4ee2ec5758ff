# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of evidence, and how often what they state is right.

A kind of evidence is a parameter and the sentence that gives the reason of its
finding, without the numbers in it: each way through a probe ends in a sentence
of its own. Right is also the drive's own value where the oracle thinks that no
probe could tell: those that guess are wrong as often as they guess. Where the
share that was right is surely below what was stated, the confidence that the
probe states there is too high.
"""
import collections
import math
import re

# As evidence_form() of lib/infer/evidence.c does it.
NUMBER = re.compile(r"\d[\d.,]*(?<![.,])(?: ?(?:[KMGT]iB|[KMGT]?B|[num]?s|%)"
                    r"(?![0-9A-Za-z]))?")
FEW = 30  # cases, below which a share says little


def wilson(right, count):
    """A 95 % interval of a share."""
    z, share = 1.96, right / count
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count +
                         z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


class Evidence:
    """Counts by parameter and reason."""

    def __init__(self):
        self.kinds = collections.defaultdict(lambda: [0, 0, 0.0])

    def add(self, finding, right):
        reason = NUMBER.sub("N", finding["why"])
        kind = self.kinds[finding["parameter"], finding["verdict"], reason]
        kind[0] += 1
        kind[1] += right
        kind[2] += finding["confidence"]

    def rows(self):
        """(stated too high, parameter, verdict, count, right, mean stated, low
        and high share, reason), the worst first."""
        made = []
        for (parameter, verdict, reason), row in self.kinds.items():
            count, right, stated = row
            low, high = wilson(right, count)
            made.append((stated / count > high, parameter, verdict, count,
                         right, stated / count, low, high, reason))
        return sorted(made, key=lambda row: (not row[0], row[4] - row[3], row))

    def table(self, path, more):
        """What the program is built with (lib/infer/evidence.h). `more`: on top
        of what the table has."""
        if more:
            with open(path, encoding="utf8") as file:
                for line in file.read().splitlines()[1:]:
                    parameter, verdict, count, right, reason = line.split("\t")
                    kind = self.kinds[parameter, verdict, reason]
                    kind[0] += int(count)
                    kind[1] += int(right)
        with open(path, "w", encoding="utf8") as file:
            file.write("parameter\tverdict\tcases\tright\treason\n")
            for (parameter, verdict, reason), row in sorted(self.kinds.items()):
                file.write("%s\t%s\t%d\t%d\t%s\n" %
                           (parameter, verdict, row[0], row[1], reason))

    def show(self, path):
        """Prints what is not always right; all of it goes to the file."""
        rows = self.rows()
        with open(path, "w", encoding="utf8") as file:
            file.write("too_high\tparameter\tverdict\tcount\tright\tstated\t"
                       "low\thigh\treason\n")
            for row in rows:
                file.write("%d\t%s\t%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%s\n" % row)
        print("\nkinds of evidence: %d, %d of them in %d cases or more (%s)" %
              (len(rows), sum(row[3] >= FEW for row in rows), FEW, path))
        for high, parameter, verdict, count, right, stated, low, most, reason \
                in rows:
            if right == count:
                continue
            print("%s %s %s: stated %.3f, right %d of %d (%.3f to %.3f)\n  %s"
                  % ("TOO HIGH" if high else "        ", parameter, verdict,
                     stated, right, count, low, most, reason))
        return any(row[0] and row[3] >= FEW for row in rows)
