#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often is ssdprobe right? Random drives x noise, against their truth.

Draws drives (flashemu random), probes each (ssdprobe --json) at each level of
noise and compares every finding with the drive's [truth]. Prints, for each
level, a row for each kind of drive and parameter:

  exact         found, and the value is the truth's
  absent        rightly absent (or false); on a parameter that no probe can see
                also "hidden", which claims no more than that
  inconclusive  no answer; rightly so where the truth is `unidentifiable`
  wrong         anything else that was stated, and how often with a confidence
                of 0.99 or more

then how far stated confidence can be believed, and every wrong answer with the
command that repeats it. Needs nothing but Python 3.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile

CONFIDENT = 0.99
NANOSECONDS_SHARE = 0.10  # times are right within this
BINS = (0.0, 0.5, 0.9, 0.95, 0.99, 0.999)
COLUMNS = ("exact", "absent", "hidden", "inconclusive", "unseen", "wrong",
           "confident")
HEADINGS = ("exact", "absent", "hidden", "incon-", "rightly", "wrong", ">=.99")
RIGHT = ("exact", "absent", "hidden")
DONE = (0, 5)  # exit status: all answered; something inconclusive
LEVELS = ("SLC", "MLC", "TLC", "QLC")
TIMEOUT_SECONDS = 60


def output_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def size(text):
    """A size as `flashemu show` writes it."""
    for unit, factor in (("KiB", 1024), ("MiB", 1 << 20), ("GiB", 1 << 30)):
        if text.endswith(unit):
            return int(text[:-len(unit)]) * factor
    return int(text)


class Drive:
    """A drawn drive: its file, its truth, and what its keys say."""

    def __init__(self, seed, options, folder):
        self.seed = seed
        self.path = os.path.join(folder, "random-%d.ini" % seed)
        command = [options.flashemu, "random", "--seed=%d" % seed]
        if options.kind:
            command.append("--kind=" + options.kind)
        status, text, error = output_of(command)
        if status:
            raise RuntimeError("%s: %s" % (" ".join(command), error))
        with open(self.path, "w", encoding="ascii") as file:
            file.write(text)
        status, text, error = output_of(
            [options.flashemu, "show", "--json", self.path])
        if status:
            raise RuntimeError("show %s: %s" % (self.path, error))
        shown = json.loads(text)
        self.kind = shown["name"].split("-")[0]
        self.truth = shown["truth"]
        self.keys = {key["name"]: key["value"] for key in shown["keys"]}

    def mechanism(self, parameter):
        """The value behind an unidentifiable truth; None: not known."""
        keys = self.keys
        bank = size(keys["page_bytes"]) * int(keys["superblock_chips_count"])
        block = (bank * int(keys["pages_per_block_count"]) *
                 int(keys["stripe_banks_count"]))
        return {
            "clustered_page": size(keys["clustered_page_bytes"]),
            "read_modify_write": True,
            "clustered_block": block,
            "log_block": block,
            "log_list": int(keys["log_blocks_count"]),
            "nand_type": LEVELS[int(keys["program_levels_count"]) - 1],
            "read_buffer": size(keys["read_buffer_bytes"]) // bank * bank,
            "smallest_request":
                size(keys["read_buffer_smallest_request_bytes"]),
            "write_buffer": size(keys["write_buffer_bytes"]),
        }.get(parameter)


def same(value, unit, truth):
    if isinstance(value, bool) or truth in ("true", "false"):
        return str(value).lower() == str(truth).lower()
    try:
        number = float(truth)
    except (TypeError, ValueError):
        return value == truth
    if not isinstance(value, (int, float)):
        return False
    if unit == "ns":
        return abs(value - number) <= NANOSECONDS_SHARE * number
    return value == number


def judge(drive, finding):
    """Which column a finding belongs in; None: nothing is known about it."""
    truth = drive.truth.get(finding["parameter"])
    verdict, value = finding["verdict"], finding["value"]
    if truth is None or verdict == "skipped":
        return None
    if verdict == "inconclusive":
        return "unseen" if truth == "unidentifiable" else "inconclusive"
    if verdict == "absent" or value is False:
        if truth == "unidentifiable":
            return "hidden"
        return "absent" if truth in ("absent", "false") else "wrong"
    if truth == "unidentifiable":
        truth = drive.mechanism(finding["parameter"])
    return "exact" if same(value, finding["unit"], truth) else "wrong"


def probe(drive, noise, options):
    """Runs ssdprobe once: (command, findings, device seconds, complaint)."""
    spec = "sim:%s,noise=%s,seed=%d" % (drive.path, noise, drive.seed)
    command = [options.ssdprobe]
    if options.probes:
        command += ["run", options.probes]
    command += ["--json", "--progress=none", "--seed=%d" % drive.seed, spec]
    try:
        status, text, error = output_of(command)
        document = json.loads(text)
    except subprocess.TimeoutExpired:
        return command, [], 0, "longer than %d s" % TIMEOUT_SECONDS
    except ValueError:
        return command, [], 0, "status %d: %s" % (status, error.strip()[-200:])
    complaint = "" if status in DONE else "status %d" % status
    cost = document.get("cost") or {}
    return (command, document.get("findings") or [],
            cost.get("device_seconds") or 0, complaint)


class Tally:
    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)
        self.bins = [[0, 0] for _ in BINS]
        self.wrong, self.failed = [], []
        self.device_seconds = 0.0

    def add(self, drive, result):
        command, findings, seconds, complaint = result
        self.device_seconds += seconds
        if complaint:
            self.failed.append((command, complaint))
        for finding in findings:
            column = judge(drive, finding)
            if column is None:
                continue
            confident = finding["confidence"] >= CONFIDENT
            for kind in (drive.kind, "all"):
                row = self.rows[(kind, finding["parameter"])]
                row[column] += 1
                row["confident"] += column == "wrong" and confident
            if column not in RIGHT + ("wrong",):
                continue
            low = max(i for i, b in enumerate(BINS)
                      if finding["confidence"] >= b)
            self.bins[low][0] += 1
            self.bins[low][1] += column in RIGHT
            if column == "wrong":
                self.wrong.append((drive, finding, command))


def wilson(right, count):
    """A 95 % interval of a share."""
    z, share = 1.96, right / count
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count +
                         z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def print_table(noise, tally, drives):
    print("\nnoise %s: %d drives, %.0f s of their time" %
          (noise, drives, tally.device_seconds))
    print("%-5s %-18s" % ("kind", "parameter") +
          "".join("%8s" % name for name in HEADINGS))
    for (kind, parameter), row in sorted(
            tally.rows.items(),
            key=lambda item: (item[0][0] == "all", item[0])):
        print("%-5s %-18s" % (kind, parameter) +
              "".join("%8d" % row[name] for name in COLUMNS))
    seen = collections.Counter()
    for (kind, _), row in tally.rows.items():
        if kind == "all":
            seen.update(row)
    asked = sum(seen[c] for c in ("exact", "absent", "inconclusive", "wrong"))
    stated = sum(seen[c] for c in RIGHT + ("wrong",))
    if asked:
        print("of %d that a probe could see, %.2f %% exact or rightly absent" %
              (asked, 100 * (seen["exact"] + seen["absent"]) / asked))
    if stated:
        print("of %d stated, %d wrong, %d of them with %g or more" %
              (stated, seen["wrong"], seen["confident"], CONFIDENT))


def print_reliability(tallies):
    print("\nconfidence     stated    right  share right (95 %)")
    for i, low in enumerate(BINS):
        count = sum(t.bins[i][0] for t in tallies)
        right = sum(t.bins[i][1] for t in tallies)
        high = BINS[i + 1] if i + 1 < len(BINS) else 1
        interval = "%.4f (%.4f to %.4f)" % ((right / count,) +
                                            wilson(right, count)) \
            if count else "-"
        print("%5.3f to %5.3f %7d %8d  %s" % (low, high, count, right,
                                              interval))


def print_wrong(noise, tally):
    for drive, finding, command in sorted(
            tally.wrong,
            key=lambda w: (w[1]["parameter"], -w[1]["confidence"])):
        print("\nwrong at noise %s, seed %d (%s): %s" %
              (noise, drive.seed, drive.kind, finding["parameter"]))
        print("  stated %s %s with %.4g, truth %s (mechanism %s)" %
              (finding["verdict"], finding["value"], finding["confidence"],
               drive.truth[finding["parameter"]],
               drive.mechanism(finding["parameter"])))
        print("  why: %s" % finding["why"])
        print("  %s" % " ".join(command))
    for command, complaint in tally.failed:
        print("\nfailed: %s\n  %s" % (complaint, " ".join(command)))


def programs(options):
    """Beside each other, where the build puts them, unless said otherwise."""
    for name in ("ssdprobe", "flashemu"):
        path = os.path.join(options.build, name)
        if not os.access(path, os.X_OK):
            sys.exit("accuracy: there is no program %s; --build=FOLDER says "
                     "where it was built" % path)
        setattr(options, name, path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build", metavar="FOLDER",
                        help="where ssdprobe and flashemu are (build)")
    parser.add_argument("--drives", type=int, default=50, metavar="N")
    parser.add_argument("--first", type=int, default=1, metavar="SEED",
                        help="seed of the first drive (1)")
    parser.add_argument("--noise", default="none,realistic",
                        help="levels, separated by commas")
    parser.add_argument("--kind", help="only drives of this kind")
    parser.add_argument("--probes", help="only these, separated by commas")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--keep", metavar="FOLDER",
                        help="leave the drive files here")
    options = parser.parse_args()
    programs(options)
    failed = False
    with tempfile.TemporaryDirectory(prefix="accuracy-") as temporary, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        drives = list(pool.map(
            lambda seed: Drive(seed, options, folder),
            range(options.first, options.first + options.drives)))
        tallies = {}
        for noise in options.noise.split(","):
            tally = tallies[noise] = Tally()
            results = pool.map(lambda d, n=noise: probe(d, n, options), drives)
            for drive, result in zip(drives, results):
                tally.add(drive, result)
            print_table(noise, tally, len(drives))
            sys.stdout.flush()
            failed = failed or bool(tally.failed)
        print_reliability(tallies.values())
        for noise, tally in tallies.items():
            print_wrong(noise, tally)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
