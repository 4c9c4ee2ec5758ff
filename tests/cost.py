#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What does probing cost a drive? Adaptive beside the papers' procedures.

Runs `ssdprobe sim:DRIVE` by both methods and prints what the drive's own clock
and counters say, for each probe and in all: bytes written (the fills of the
procedures among them) and read, requests, seconds. The procedures take minutes
of processor time on a large drive; with --planned they are not run, and what
they plan to write, read and ask is shown instead. The adaptive method gets the
budget that users have: one drive write.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys

METHODS = ("adaptive", "paper")
COLUMNS = (("written", "bytes_written"), ("read", "bytes_read"),
           ("requests", "requests"), ("seconds", "device_seconds"))
UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
DONE = (0, 9)  # exit status: it ended; the drive is fake
ENOUGH = "1000TiB"


def document_of(options, drive, method, planned):
    spec = "sim:%s,noise=%s,seed=%d" % (drive, options.noise, options.seed)
    command = [options.ssdprobe] + ["check"] * planned + ["--json"]
    if not planned:
        command += ["--progress=none", "--yes", "--seed=%d" % options.seed]
    if method == "paper":
        command += ["--method=paper", "--write-budget=" + ENOUGH]
    done = subprocess.run(command + [spec], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode not in DONE:
        sys.exit("cost: %s: %s" % (" ".join(command + [spec]),
                                   done.stderr.decode()))
    return json.loads(done.stdout.decode())


def costs_of(options, drive, method):
    """What it cost, by probe and for 'all'."""
    planned = options.planned and method == "paper"
    document = document_of(options, drive, method, planned)
    cost = document["plan" if planned else "cost"]
    rows = {row["probe"]: row for row in cost["probes"]}
    rows["all"] = cost
    return rows


def amount(key, value):
    if value is None:
        return "-"
    if not key.startswith("bytes"):
        return "{:,.0f}".format(value) if value >= 10 else "%.1f" % value
    for name, factor in UNITS:
        if value >= factor:
            return "%.3g %s" % (value / factor, name)
    return "%d B" % value


def show(drive, adaptive, paper):
    print("\n%s: adaptive | paper" % drive)
    print("%-24s" % "probe" + "".join("%10s |%10s" % (name, "")
                                      for name, _ in COLUMNS))
    for probe, row in adaptive.items():
        other = paper.get(probe) or {}
        print("%-24s" % probe + "".join(
            "%10s |%10s" % (amount(key, row.get(key)),
                            amount(key, other.get(key)))
            for _, key in COLUMNS))
    written = adaptive["all"]["bytes_written"]
    moved = sum(adaptive["all"][key] for key in ("bytes_written", "bytes_read"))
    print("the papers' procedures write %.0f times as many bytes, and write and "
          "read %.0f times as many" %
          (paper["all"]["bytes_written"] / written,
           sum(paper["all"][key] for key in ("bytes_written", "bytes_read")) /
           moved))


def write_page(options, costs):
    """docs/cost.md: a row for each drive."""
    lines = [
        "# What probing costs a drive", "",
        "Written on %s by `./bootstrap cost --planned --page=docs/cost.md` from "
        "full runs of emulated drives (noise %s, default write budget), beside "
        "what the papers' procedures plan. Do not edit." %
        (datetime.date.today().isoformat(), options.noise), "",
        "| drive | written | by the papers | read | by the papers | drive time |",
        "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for drive, adaptive, paper in costs:
        ours, theirs = adaptive["all"], paper["all"]
        lines.append("| %s | %s | %s | %s | %s | %.0f min |" % (
            drive, amount("bytes", ours["bytes_written"]),
            amount("bytes", theirs["bytes_written"]),
            amount("bytes", ours["bytes_read"]),
            amount("bytes", theirs["bytes_read"]),
            ours["device_seconds"] / 60))
    with open(options.page, "w", encoding="utf8") as file:
        file.write("\n".join(lines) + "\n")


def show_worst(rows, count):
    """The probes that make most of the error, as shares of the run's time."""
    def error(row):
        return row["device_seconds"] - row["expected"]["seconds"]

    seconds = sum(row["device_seconds"] for row in rows) or 1
    for row in sorted(rows, key=lambda row: -abs(error(row)))[:count]:
        print("  %-22s%+9.0f %%%10.0f of%8.0f s%9.0f of%8.0f MiB" %
              (row["probe"], 100 * error(row) / seconds, row["device_seconds"],
               row["expected"]["seconds"], row["bytes_written"] / 2 ** 20,
               row["expected"]["bytes_written"] / 2 ** 20))


def show_expected(options, drive):
    """Done over what was foreseen after the pilot, and as each probe began."""
    rows = document_of(options, drive, "adaptive", False)["cost"]["probes"]
    ratios = []
    for when in ("foreseen", "expected"):
        for done, key in (("bytes_written", "bytes_written"),
                          ("device_seconds", "seconds")):
            expected = sum(row[when][key] for row in rows)
            ratios.append(sum(row[done] for row in rows) / (expected or 1))
    print("%-20s" % drive + "%10.2f" * 4 % tuple(ratios))
    show_worst(rows, options.worst)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build", metavar="FOLDER",
                        help="where ssdprobe is (build)")
    parser.add_argument("--drives", default="ssd-a,ssd-b,usb-unknown-1g",
                        help="names or files, separated by commas")
    parser.add_argument("--noise", default="realistic")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--planned", action="store_true",
                        help="do not run the papers' procedures: what they plan")
    parser.add_argument("--expected", action="store_true",
                        help="only what was done over what was expected, "
                        "after the pilot, and as each probe began")
    parser.add_argument("--worst", type=int, default=0, metavar="COUNT",
                        help="with --expected, so many probes of each drive: "
                        "those with the largest error")
    parser.add_argument("--page", metavar="FILE",
                        help="write the totals as Markdown, too")
    options = parser.parse_args()
    options.ssdprobe = os.path.join(options.build, "ssdprobe")
    if not os.access(options.ssdprobe, os.X_OK):
        sys.exit("cost: there is no program %s; --build=FOLDER says where it "
                 "was built" % options.ssdprobe)
    if options.expected:
        print("noise %s, seed %d; done over foreseen | over expected\n"
              "%-20s" %
              (options.noise, options.seed, "") +
              "%10s" * 4 % (("bytes", "seconds") * 2))
        for drive in options.drives.split(","):
            show_expected(options, drive)
        return 0
    print("noise %s, seed %d; the papers' procedures %s" %
          (options.noise, options.seed,
           "as they are planned" if options.planned else "as they ran"))
    costs = []
    for drive in options.drives.split(","):
        costs.append([drive] + [costs_of(options, drive, method)
                                for method in METHODS])
        show(*costs[-1])
        sys.stdout.flush()
    if options.page:
        write_page(options, costs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
