#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often is ssdprobe right? Random drives x noise, against their truth.

Draws drives (flashemu random), probes each (ssdprobe --json) at each level of
noise and compares every finding with the drive's [truth]. So are the controls,
which are no flash: a plain disk, a RAM disk, and a disk of noise alone. Prints,
for each level, a row for each parameter:

  exact         found, and the value is the truth's
  absent        rightly absent (or false); on a parameter that no probe can see
                also "hidden", which claims no more than that
  inconclusive  no answer: also where a probe was skipped for want of another's
                or of write budget
  missing       the run says nothing of what the drive file states, as after
                one that failed
  rightly       either of these, where the truth is `unidentifiable`
  wrong         anything else that was stated, also any value of what is
                `unidentifiable`, the drive's own among them; and how often with
                a confidence of 0.99 or more

then how far stated confidence can be believed, by bins and by kinds of evidence
(a parameter and the reason of its finding), and each wrong answer with the
command that repeats it. The folder (--output-dir) holds the drives, a row for
each finding (findings.tsv), one for each kind of evidence (evidence.tsv) and the
reliability diagram. With --papers, the
drives that two papers measured instead, with so many seeds of noise (--seeds),
and a table of their values. Needs Python 3, and gnuplot for the diagram.

A signal (Ctrl-C, SIGTERM) stops it: what has run is counted, and --continue goes
on from there with the same program (runs/ in the folder).
"""
import argparse
import collections
import concurrent.futures
import contextlib
import copy
import datetime
import hashlib
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from accuracy_evidence import Evidence, wilson
from accuracy_papers import NAMES, print_papers

CONFIDENT = 0.99
NANOSECONDS_SHARE = 0.10  # times are right within this
INTERVAL_MOST = 1.3  # or within their interval, if that is no wider
RANGE_MOST = 2  # or within what is stated in place of a value: two neighbours
# What a drive delivers depends on its outliers, too; what holds up writes from
# outside is told apart.
RATES = ("sequential_read_rate", "random_read_rate", "read_parallelism",
         "sync_write_p99", "sync_write_p999", "sync_write_rate",
         "sync_write_rate_16")
# What has no number of its own is absent up to where its whole is.
PARTS = {"fast_write_rate": "fast_cache"}
# What memory in the drive adds to it depends on how it is written.
ROUGH_SHARES = {"fast_cache": 0.15}
BINS = (0.0, 0.5, 0.9, 0.95, 0.99, 0.999)
COLUMNS = ("exact", "absent", "hidden", "inconclusive", "missing", "unseen",
           "wrong", "confident")
HEADINGS = ("exact", "absent", "hidden", "incon-", "missing", "rightly",
            "wrong", ">=.99")
RIGHT = ("exact", "absent", "hidden")
STATED = RIGHT + ("wrong",)
DONE = (0, 9)  # exit status: it ended; the drive is fake
TYPES = ("SLC", "MLC", "TLC", "QLC")
UNSAID = "unsaid"  # no finding of what the drive file states
NOISE = "none,realistic,heavy,hostile"
KINDS = ("nvme", "sata", "card", "stick")  # as they are sold
TIMEOUT_SECONDS = 300  # of processor time: the machine may be busy
FIELDS = ("noise", "drive", "kind", "parameter", "verdict", "value",
          "confidence", "truth", "mechanism", "column", "why")
# No flash behind them: nothing may be found. The last has no times of its own.
CONTROLS = ("plain-disk", "ram-disk",
            "plain-disk,jitter_sigma=1,background_share=0.4,burst_share=0.1")


def output_of(command, path=None):
    """Exit status, what it said, the processor time it took. `path`: where it
    finds other programs, such as gnuplot."""
    environment = dict(os.environ, PATH=path) if path else None
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   stdout=said, stderr=errors,
                                   env=environment)
        try:
            resource.prlimit(process.pid, resource.RLIMIT_CPU,
                             (TIMEOUT_SECONDS, TIMEOUT_SECONDS))
        except ProcessLookupError:
            pass  # it is done already
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        errors.seek(0)
        return (process.returncode, said.read().decode(),
                errors.read().decode(), usage.ru_utime + usage.ru_stime)


def number(text):
    """A size or a time as `flashemu show` writes it, in bytes or ns."""
    for unit, factor in (("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
                         ("ns", 1), ("us", 1000), ("ms", 1000000)):
        if text.endswith(unit):
            return int(text[:-len(unit)]) * factor
    return int(text)


def program_pages(keys):
    """How many pages one program of a bank writes, or parts of pages where
    these are mapped apart."""
    page = number(keys["page_bytes"]) * int(keys["superblock_chips_count"])
    return (int(keys["program_pages_count"]) * int(keys["planes_count"]) *
            max(page // number(keys["clustered_page_bytes"]), 1))


def flush_honesty(keys):
    """What a flush is, seen or not: of no flash nobody knows."""
    if keys["mapping"] == "direct":
        return None
    kept = number(keys["write_buffer_bytes"]) + number(
        keys["first_level_bytes"])
    if kept < 512:  # a page may wait for those programmed with it, or the map
        waits = program_pages(keys) > 1 or number(keys["flush_work_ns"]) > 0
        return "real" if waits else "write-through"
    return "free" if "on" in (keys["flush_lies"],
                              keys["write_buffer_protected"]) else "real"


def write_buffer(keys):
    """Bytes of memory; None: pages that are programmed with others wait, too."""
    size = sum(number(keys[name]) for name in (
        "write_buffer_bytes", "first_level_bytes", "second_level_bytes"))
    return None if not size and program_pages(keys) > 1 else size


def stripe_unit(keys, bank, block):
    """How much lies on one bank, seen or not; None: in no simple order."""
    if int(keys["stripe_banks_count"]) == 1:
        return block
    return bank if program_pages(keys) == 1 else None


def mapping_reach(keys):
    """What the mapping at hand covers, the host's memory included."""
    entries = (number(keys["mapping_cache_bytes"]) +
               number(keys["host_memory_bytes"])) // int(
                   keys["mapping_entry_bytes"])
    return entries * number(keys["clustered_page_bytes"]) or None


class Drive:
    """A drive: its file, its truth, and what its keys say."""

    def __init__(self, name, options):
        status, text, error, _ = output_of(
            [options.flashemu, "show", "--json", name])
        if status:
            raise RuntimeError("show %s: %s" % (name, error))
        shown = json.loads(text)
        self.path = name
        self.name = shown["name"]
        self.kind = shown["name"].split("-")[0]
        self.seed = 1
        self.truth = shown["truth"]
        self.keys = {key["name"]: key["value"] for key in shown["keys"]}

    def mechanism(self, parameter):
        """The value behind an unidentifiable truth; None: not known."""
        keys = self.keys
        bank = number(keys["page_bytes"]) * int(keys["superblock_chips_count"])
        block = (bank * int(keys["planes_count"]) *
                 int(keys["pages_per_block_count"]) *
                 int(keys["stripe_banks_count"]))
        return {
            "clustered_page": number(keys["clustered_page_bytes"]),
            "read_modify_write": True,
            "clustered_block": block,
            "log_block": block,
            "log_list": 1 if keys["log_victim"] == "newest"
                        else int(keys["log_blocks_count"]),
            "nand_type": TYPES[int(keys["program_levels_count"]) - 1],
            "read_buffer": number(keys["read_buffer_bytes"]) // bank * bank,
            "smallest_request":
                number(keys["read_buffer_smallest_request_bytes"]),
            "write_buffer": write_buffer(keys),
            "flush_honesty": flush_honesty(keys),
            "segment_groups": int(keys["segment_groups_count"]),
            "group_switch": number(keys["group_switch_ns"]),
            "stripe_unit": stripe_unit(keys, bank, block),
            "parallel_units": int(keys["channels_count"]) *
                              int(keys["banks_per_channel_count"]),
            "content_dependence": number(keys["content_unit_bytes"]) > 0,
            "content_unit": number(keys["content_unit_bytes"]),
            "mapping_reach": mapping_reach(keys),
            "trim_reads": "old" if keys["discard"] == "ignored"
                          else keys["discard"],
        }.get(parameter)

    def expected(self, parameter):
        """What would be right to state."""
        truth = self.truth.get(parameter)
        return self.mechanism(parameter) if truth == "unidentifiable" else truth


def kind_of(seed, options):
    return KINDS[seed % len(KINDS)] if options.mixed else options.kind


def random_drive(seed, options, noise=None):
    name = "random-%d" % seed + ("-" + noise if noise else "")
    path = os.path.join(options.output_dir, name + ".ini")
    command = [options.flashemu, "random", "--seed=%d" % seed]
    keys = ["noise=" + noise] if noise else []
    keys += [options.keys] if options.keys else []
    kind = kind_of(seed, options)
    if kind:
        command.append("--kind=" + kind)
    if keys:
        command.append("--keys=" + ",".join(keys))
    if not (options.go_on and os.path.exists(path)):
        status, text, error, _ = output_of(command)
        if status and options.keys:  # do not fit this drive
            print("left out: %s" % error.strip(), file=sys.stderr)
            return None
        if status:
            raise RuntimeError("%s: %s" % (" ".join(command), error))
        with open(path + ".part", "w", encoding="ascii") as file:
            file.write(text)
        os.replace(path + ".part", path)
    drive = Drive(path, options)
    drive.seed = seed
    return drive


def under_noise(drive, noise, options):
    """The drive, with what many reads get of it with this noise, which takes
    the place of what it was drawn with."""
    if drive.path in CONTROLS or options.papers:
        return drive
    there = random_drive(drive.seed, options, noise)
    if there is None:
        sys.exit("seed %d: drawn without noise, but not with it" % drive.seed)
    noisy = copy.copy(drive)
    noisy.truth = dict(drive.truth, **{
        name: there.truth[name] for name in RATES if name in there.truth})
    return noisy


def covers(finding, truth):
    """Is the truth in the interval, which says something?"""
    low, high = finding.get("low"), finding.get("high")
    most = RANGE_MOST if finding["value"] is None else INTERVAL_MOST
    try:
        return low <= float(truth) <= high <= most * low
    except (TypeError, ValueError):
        return False


def is_time(unit):
    return unit in ("ns", "thousandths") or unit.endswith("_per_second")


def is_between(finding, truth):
    """A truth of "16 to 32" may be told as either, or as between them; of a
    rate or a time, as nearly as one value is."""
    rough = NANOSECONDS_SHARE if is_time(finding["unit"]) else 0
    try:
        least, most = (float(end) for end in truth.split(" to "))
        return ((1 - rough) * least <= finding["low"] <=
                finding["high"] <= (1 + rough) * most)
    except (AttributeError, TypeError, ValueError):
        return False


def same(value, unit, truth, rough=0):
    if isinstance(value, bool) or truth in ("true", "false"):
        return str(value).lower() == str(truth).lower()
    try:
        expected = float(truth)
    except (TypeError, ValueError):
        return value == truth
    if not isinstance(value, (int, float)):
        return False
    if is_time(unit):
        return abs(value - expected) <= NANOSECONDS_SHARE * expected
    return abs(value - expected) <= rough * expected


def holds(finding, truth):
    """Is the truth between the ends, however far apart these are?"""
    try:
        return finding["low"] <= float(truth) <= finding["high"]
    except (TypeError, ValueError, KeyError):
        return False


def is_beyond(up_to, truth):
    """Does it lie where nobody has looked?"""
    try:
        return up_to is not None and float(truth) > up_to
    except (TypeError, ValueError):
        return False


def judge(drive, finding):
    """Which column a finding belongs in; None: nothing is known about it."""
    truth = drive.truth.get(finding["parameter"])
    verdict, value = finding["verdict"], finding["value"]
    if truth is None:
        return None
    unseen = truth == "unidentifiable"
    if verdict in ("inconclusive", "skipped", UNSAID):
        return ("unseen" if unseen else
                "missing" if verdict == UNSAID else "inconclusive")
    if verdict == "absent" or value is False:
        if unseen:
            return "hidden"
        whole = PARTS.get(finding["parameter"])
        if is_beyond(finding.get("up_to"), drive.truth.get(whole, truth)):
            return "inconclusive"  # none so far: right, and no answer
        either = isinstance(truth, str) and truth.startswith("1 to ")
        return ("absent" if either or truth in ("absent", "false")
                else "wrong")
    if is_between(finding, truth):
        return "exact"
    if value is None and not covers(finding, truth) and \
            holds(finding, truth):
        return "inconclusive"  # a range so wide that it is no answer
    if unseen and value is None:
        return "unseen"  # a range of what has no one value
    # Of what no probe can see, the drive's own value is a guess: wrong, too.
    rough = ROUGH_SHARES.get(finding["parameter"], 0)
    return ("exact" if same(value, finding["unit"], truth, rough) or
            covers(finding, truth) else "wrong")


def findings_of(document):
    """Its findings; what another finding says by the way is one of its own. What
    is a part of another is absent up to where that is."""
    up_to = {finding["parameter"]: finding.get("up_to")
             for finding in document.get("findings") or []}
    for finding in document.get("findings") or []:
        whole = PARTS.get(finding["parameter"])
        yield dict(finding, up_to=up_to.get(whole)) if whole else finding
        if finding["parameter"] == "read_buffer" and \
                finding["verdict"] in ("found", "absent"):
            least = finding.get("smallest_request")
            yield dict(finding, parameter="smallest_request", value=least,
                       verdict="absent" if least is None else "found")


def asked_parameters(options):
    """What the probes of a full run answer, and those of this one: the rest of a
    truth is asked by none, and is named rather than counted."""
    status, text, error, _ = output_of([options.ssdprobe, "list", "--json"])
    if status:
        raise RuntimeError("list: %s" % error)
    answers = {probe["name"]: set(probe["answers"])
               for probe in json.loads(text)["probes"]}
    answers["read-buffer"].add("smallest_request")
    chosen = options.probes.split(",") if options.probes else answers
    return (set().union(*answers.values()),
            set().union(*(answers.get(name, set()) for name in chosen)))


def unsaid(case, findings, complaint, options):
    """What the drive file states and the run does not speak of, as after a run
    that failed: that counts as no answer."""
    said = {finding["parameter"] for finding in findings}
    for name in case.drive.truth:
        if name in options.asked_now and name not in said:
            yield {"parameter": name, "verdict": UNSAID, "value": None,
                   "unit": "", "confidence": 0,
                   "why": complaint or "the run says nothing of it"}


def command_for(drive, noise, options):
    spec = "sim:%s,noise=%s" % (drive.path, noise)
    if "," in drive.path:  # its own noise comes after
        name, keys = drive.path.split(",", 1)
        spec = "sim:%s,noise=%s,%s" % (name, noise, keys)
    if options.keys:  # noise among them too
        spec += "," + options.keys
    command = [options.ssdprobe]
    if options.probes:
        command += ["run", options.probes]
    if options.given:
        command += ["--assume=%s=%s" % (name, drive.expected(name))
                    for name in options.given.split(",")]
    if options.write_budget:
        command.append("--write-budget=" + options.write_budget)
    if options.twin:
        command.append("--twin=yes")
    return command + ["--json", "--progress=none", "--seed=%d" % drive.seed,
                      "%s,seed=%d" % (spec, drive.seed)]


STOPPED = threading.Event()


def probe(case, options):
    """Runs ssdprobe once: (findings, device s, processor s, complaint)."""
    command, path = case.command, None
    with contextlib.ExitStack() as stack:
        if options.twin:  # it is fitted to the rows of a run that is kept
            kept = stack.enter_context(tempfile.TemporaryDirectory())
            command = command + ["--output-dir=" + os.path.join(kept, "run")]
            path = kept  # nobody looks at figures
        status, text, error, seconds = output_of(command, path)
    try:
        document = json.loads(text)
    except ValueError:
        return [], 0, seconds, "status %d: %s" % (status, error.strip()[-200:])
    complaint = "" if status in DONE else "status %d" % status
    cost = document.get("cost") or {}
    return (list(findings_of(document)), cost.get("device_seconds") or 0,
            seconds, complaint)


def probe_or_recall(case, options):
    """The same; from the folder if it was there before; None once stopped."""
    drive = case.drive.path.split(",")[0]
    hashed = hashlib.sha256(options.version + shlex.join(case.command).encode())
    if os.path.exists(drive):
        with open(drive, "rb") as file:  # what is true of it, may change
            hashed.update(file.read().split(b"[truth]")[0])
    path = os.path.join(options.output_dir, "runs", hashed.hexdigest()[:24])
    if os.path.exists(path):
        with open(path, encoding="utf8") as file:
            return json.load(file)
    if STOPPED.is_set():
        return None
    result = probe(case, options)
    if STOPPED.is_set():  # and the run with it, perhaps
        return None
    with open(path + ".new", "w", encoding="utf8") as file:
        json.dump(result, file)
    os.rename(path + ".new", path)
    return result


Case = collections.namedtuple("Case", "drive noise command")


class Tally:
    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)
        self.bins = [[0, 0, 0.0] for _ in BINS]
        self.cases, self.failed = [], []
        self.runs = 0
        self.device_seconds = self.seconds = 0.0

    def add(self, case, result, options):
        findings, device_seconds, seconds, complaint = result
        self.runs += 1
        self.device_seconds += device_seconds
        self.seconds += seconds
        if seconds > options.slow:
            print("%.0f s: %s" % (seconds, shlex.join(case.command)),
                  file=sys.stderr)
        if complaint:
            self.failed.append((case, complaint))
        findings = findings + list(unsaid(case, findings, complaint, options))
        for finding in findings:
            column = judge(case.drive, finding)
            if column is None or (options.parameter and
                                  finding["parameter"] not in
                                  options.parameter.split(",")):
                continue
            self.count(case, finding, column)
            yield finding, column

    def count(self, case, finding, column):
        confident = finding["confidence"] >= CONFIDENT
        for kind in (case.drive.kind, "all"):
            row = self.rows[(kind, finding["parameter"])]
            row[column] += 1
            row["confident"] += column == "wrong" and confident
            if case.drive.truth[finding["parameter"]] != "unidentifiable":
                row["asked"] += 1
                row["answered"] += column in ("exact", "absent")
        if column in STATED:
            low = self.bins[max(i for i, b in enumerate(BINS)
                                if finding["confidence"] >= b)]
            low[0] += 1
            low[1] += column in RIGHT
            low[2] += finding["confidence"]
        self.cases.append((case, finding, column))


def print_table(noise, tally, options):
    print("\n%s: %d drives; %.0f s of their time and %.1f s of ours each" %
          (noise, tally.runs, tally.device_seconds / tally.runs,
             tally.seconds / tally.runs))
    print("%-5s %-18s" % ("kind", "parameter") +
          "".join("%8s" % name for name in HEADINGS))
    for (kind, parameter), row in sorted(
            tally.rows.items(),
            key=lambda item: (item[0][0] == "all", item[0])):
        if options.by_kind or kind == "all":
            print("%-5s %-18s" % (kind, parameter) +
                  "".join("%8d" % row[name] for name in COLUMNS))
    seen = collections.Counter()
    for (kind, _), row in tally.rows.items():
        if kind == "all":
            seen.update(row)
    stated = sum(seen[c] for c in STATED)
    if seen["asked"]:
        print("of %d that a probe could see, %.2f %% exact or rightly absent" %
              (seen["asked"], 100 * seen["answered"] / seen["asked"]))
    if stated:
        print("of %d stated, %d wrong, %d of them with %g or more" %
              (stated, seen["wrong"], seen["confident"], CONFIDENT))
    asked_by_none = {name for case, _, _ in tally.cases
                     for name in case.drive.truth} - options.asked
    if asked_by_none:
        print("stated by drive files, but asked by no probe: %s" %
              ", ".join(sorted(asked_by_none)))
    sys.stdout.flush()


def reliability(tallies):
    """Rows: low, high, mean confidence, stated, right, low and high share."""
    for i, low in enumerate(BINS):
        count = sum(t.bins[i][0] for t in tallies)
        right = sum(t.bins[i][1] for t in tallies)
        high = BINS[i + 1] if i + 1 < len(BINS) else 1
        if count:
            yield (low, high, sum(t.bins[i][2] for t in tallies) / count,
                   count, right) + wilson(right, count)


def arguments(options):
    """What made the page, as it would be typed."""
    return " ".join(
        (["--mixed"] if options.mixed else []) +
        ["--drives=%d" % options.drives, "--first=%d" % options.first,
         "--noise=" + options.noise, "--page=docs/accuracy.md"])


def least_known(tally):
    """The ten parameters of which most of what could be seen is not told."""
    rows = []
    for (kind, parameter), row in tally.rows.items():
        seen = row["asked"]
        if kind == "all" and seen:
            rows.append((seen - row["answered"], seen, parameter, row["wrong"]))
    rows.sort(key=lambda row: (-row[0], row[2]))
    return ["", "## Least known", "",
            "| parameter | drives that show it | open or wrong | stated wrongly |",
            "| --- | ---: | ---: | ---: |"] + [
                "| `%s` | %d | %d | %d |" % (parameter, seen, lost, wrong)
                for lost, seen, parameter, wrong in rows[:10]]


def write_page(tallies, options):
    """docs/accuracy.md: what a user may expect, and how it was counted."""
    drives = sum(tally.runs for tally in tallies.values())
    lines = [
        "# How often answers are right", "",
        "Written on %s by `./bootstrap accuracy %s` from %d runs of emulated "
        "drives drawn at random (%s; seeds %d to %d), each with the default "
        "write budget. Do not edit." %
        (datetime.date.today().isoformat(), arguments(options), drives,
         options.kind or ", ".join(KINDS), options.first,
         options.first + options.drives - 1), "",
        "*Answered* counts what a probe could see in a drive: exact, or rightly "
        "absent. All else is wrong, or inconclusive. *Wrong* also counts a value "
        "that was stated where no probe could see it.", "",
        "| noise | answered | stated | wrong | wrong at 99 % or more |",
        "| --- | ---: | ---: | ---: | ---: |"]
    for noise, tally in tallies.items():
        seen = collections.Counter()
        for (kind, _), row in tally.rows.items():
            if kind == "all":
                seen.update(row)
        lines.append("| %s | %.1f %% | %d | %d | %d |" % (
            noise.split()[-1], 100 * seen["answered"] / max(seen["asked"], 1),
            sum(seen[c] for c in STATED), seen["wrong"], seen["confident"]))
    lines += ["", "## Can the confidence be believed?", "",
              "| stated confidence | answers | right | share (95 % interval) |",
              "| --- | ---: | ---: | --- |"]
    for low, high, _, count, right, least, most in reliability(tallies.values()):
        lines.append("| %g to %g | %d | %d | %.3f (%.3f to %.3f) |" % (
            low, high, count, right, right / count, least, most))
    for noise, tally in tallies.items():
        lines += ["", "## By parameter, noise %s" % noise.split()[-1], "",
                  "| parameter | exact | absent | inconclusive | wrong |",
                  "| --- | ---: | ---: | ---: | ---: |"]
        for (kind, parameter), row in sorted(tally.rows.items()):
            if kind == "all":
                lines.append("| `%s` | %d | %d | %d | %d |" % (
                    parameter, row["exact"], row["absent"] + row["hidden"],
                    row["inconclusive"] + row["missing"], row["wrong"]))
        lines += least_known(tally)
    with open(options.page, "w", encoding="utf8") as file:
        file.write("\n".join(lines) + "\n")


def print_reliability(tallies, options):
    rows = list(reliability(tallies))
    print("\nconfidence     stated    right  share right (95 %)")
    for low, high, _, count, right, least, most in rows:
        print("%5.3f to %5.3f %7d %8d  %.4f (%.4f to %.4f)" %
              (low, high, count, right, right / count, least, most))
    path = os.path.join(options.output_dir, "reliability")
    with open(path + ".tsv", "w", encoding="ascii") as file:
        for row in rows:
            file.write("\t".join("%g" % value for value in row) + "\n")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "../plots/accuracy.gp")
    for suffix in (".svg", ".png"):
        status, _, error, _ = output_of(
            ["gnuplot", "-c", script, path + ".tsv", path + suffix])
        if status:
            print("accuracy: no diagram: " + error, file=sys.stderr)
    print("diagram: %s.svg and .png" % path)


def print_cases(tally, columns):
    for case, finding, column in sorted(
            tally.cases,
            key=lambda c: (c[2], c[1]["parameter"], -c[1]["confidence"])):
        if column not in columns:
            continue
        parameter = finding["parameter"]
        print("\n%s at noise %s, seed %d (%s): %s" %
              (column, case.noise, case.drive.seed, case.drive.name, parameter))
        print("  %s %s with %.4g, truth %s (mechanism %s)" %
              (finding["verdict"], finding["value"], finding["confidence"],
               case.drive.truth[parameter], case.drive.mechanism(parameter)))
        print("  why: %s" % finding["why"])
        print("  %s" % shlex.join(case.command))
    for case, complaint in tally.failed:
        print("\nfailed: %s\n  %s" % (complaint, shlex.join(case.command)))


def run_all(cases, options):
    """Tallies: those of the levels of noise, and that of the controls."""
    tallies = collections.defaultdict(Tally)
    path = os.path.join(options.output_dir, "findings.tsv")
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: STOPPED.set())
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, \
            open(path, "w", encoding="utf8") as file:
        file.write("\t".join(FIELDS) + "\n")
        for case, result in zip(cases, pool.map(
                lambda case: probe_or_recall(case, options), cases)):
            if not result:
                continue
            control = case.drive.path.split(",")[0] in CONTROLS
            tally = tallies["controls" if control else "noise " + case.noise]
            for finding, column in tally.add(case, result, options):
                name = finding["parameter"]
                file.write("\t".join(str(field) for field in (
                    case.noise, case.drive.seed, case.drive.name, name,
                    finding["verdict"], finding["value"],
                    finding["confidence"], case.drive.truth[name],
                    case.drive.mechanism(name), column,
                    finding["why"])) + "\n")
            file.flush()
    return tallies


def programs(options):
    """Beside each other, where the build puts them, unless said otherwise."""
    for name in ("ssdprobe", "flashemu"):
        path = os.path.join(options.build, name)
        if not os.access(path, os.X_OK):
            sys.exit("accuracy: there is no program %s; --build=FOLDER says "
                     "where it was built" % path)
        setattr(options, name, path)
    with open(options.ssdprobe, "rb") as file:
        options.version = hashlib.sha256(file.read()).digest()


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build/release", metavar="FOLDER",
                        help="where ssdprobe and flashemu are (build/release)")
    parser.add_argument("--drives", type=int, default=30, metavar="N",
                        help="how many random drives (30)")
    parser.add_argument("--first", type=int, default=1, metavar="SEED",
                        help="seed of the first drive (1)")
    parser.add_argument("--controls", type=int, default=1, metavar="N",
                        help="each control with so many seeds (1)")
    parser.add_argument("--papers", action="store_true",
                        help="the drives of the two papers, not random ones")
    parser.add_argument("--seeds", type=int, default=100, metavar="N",
                        help="of noise for each of the papers' drives (100)")
    parser.add_argument("--noise",
                        help="levels, separated by commas (%s; for the papers' "
                        "drives realistic)" % NOISE)
    parser.add_argument("--kind", help="only drives of this kind")
    parser.add_argument("--mixed", action="store_true",
                        help="drives of all kinds in turn, each at one level "
                        "of noise")
    parser.add_argument("--minutes", type=float, metavar="N",
                        help="stop after so long; --continue goes on")
    parser.add_argument("--probes", help="only these, separated by commas")
    parser.add_argument("--given", metavar="PARAMETERS",
                        help="tell the probes the truth about these")
    parser.add_argument("--parameter", metavar="PARAMETERS",
                        help="count only these")
    parser.add_argument("--keys", metavar="KEY=VALUE,...",
                        help="of the drive file, for every drive: what random "
                             "drives never have; the truth follows")
    parser.add_argument("--write-budget", metavar="SIZE",
                        help="of each run (what ssdprobe takes by default, "
                             "which is less on a small drive); 20TB, so that "
                             "none ends for want of it")
    parser.add_argument("--twin", action="store_true",
                        help="with what the twin of each run says of the "
                             "findings: it decides some and doubts others")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--by-kind", action="store_true",
                        help="a row for each kind of drive as well")
    parser.add_argument("--list", default="wrong", metavar="COLUMNS",
                        help="cases to print: wrong,inconclusive,... (wrong)")
    parser.add_argument("--slow", type=float, default=20, metavar="SECONDS",
                        help="name runs that took longer (20)")
    parser.add_argument("--continue", dest="go_on", action="store_true",
                        help="do not repeat what the folder has, of the same "
                        "program and drive")
    parser.add_argument("--page", metavar="FILE",
                        help="write the tables as Markdown, too")
    parser.add_argument("--evidence", metavar="FILE",
                        help="count findings as the probes state them, and "
                        "write how often each kind of evidence was right, as "
                        "probes/evidence.tsv has it")
    parser.add_argument("--more", action="store_true",
                        help="add to what --evidence=FILE has")
    parser.add_argument("--output-dir", default="build/accuracy",
                        metavar="FOLDER")
    options = parser.parse_args()
    if options.noise is None:
        options.noise = "realistic" if options.papers else NOISE
    programs(options)
    if options.evidence:
        os.environ["SSDPROBE_UNCOUNTED"] = "1"
        options.version += b"uncounted"
    options.asked, options.asked_now = asked_parameters(options)
    runs = os.path.join(options.output_dir, "runs")
    if not options.go_on:
        shutil.rmtree(runs, ignore_errors=True)
    os.makedirs(runs, exist_ok=True)
    return options


def seeded(name, options, seeds):
    """A drive with each of these seeds."""
    drive = Drive(name, options)
    for seed in seeds:
        drive = copy.copy(drive)
        drive.seed = seed
        yield drive


def drives_of(options):
    seeds = range(options.first, options.first + options.drives)
    if options.papers:
        seeds = range(options.first, options.first + options.seeds)
        return [drive for name in NAMES
                for drive in seeded(name, options, seeds)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        drives = [drive for drive in
                  pool.map(lambda seed: random_drive(seed, options), seeds)
                  if drive]
    for name in CONTROLS:
        drives += seeded(name, options, range(1, options.controls + 1))
    return drives


def cases_of(drives, options):
    """Each drive at each level; or at one of them, as each kind in turn."""
    levels = options.noise.split(",")
    if not options.mixed:
        return [(drive, noise) for noise in levels for drive in drives]
    return [(drive, levels[number // len(KINDS) % len(levels)])
            for number, drive in enumerate(drives)]


def main():
    options = parse()
    drives = drives_of(options)
    seldom = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cases = list(pool.map(
            lambda case: Case(under_noise(*case, options), case[1],
                              command_for(*case, options)),
            cases_of(drives, options)))
    if options.minutes:
        timer = threading.Timer(60 * options.minutes, STOPPED.set)
        timer.daemon = True
        timer.start()
    tallies = run_all(cases, options)
    runs = sum(tally.runs for tally in tallies.values())
    if STOPPED.is_set():
        print("stopped after %d of %d runs; --continue goes on" %
              (runs, len(cases)))
    for noise, tally in tallies.items():
        if options.papers:
            seldom += print_papers(noise.split()[1], tally, options.seeds)
        else:
            print_table(noise, tally, options)
    print_reliability(tallies.values(), options)
    if options.page:
        write_page(tallies, options)
    evidence = Evidence()
    for tally in tallies.values():
        for case, finding, column in tally.cases:
            if column in STATED:
                own = case.drive.mechanism(finding["parameter"])
                evidence.add(finding, column in RIGHT or
                             (own is not None and finding["value"] == own))
    evidence.show(os.path.join(options.output_dir, "evidence.tsv"))
    if options.evidence and runs == len(cases):
        evidence.table(options.evidence, options.more)
    elif options.evidence:
        print("%s stays as it is until all have run" % options.evidence)
    for tally in tallies.values():
        print_cases(tally, options.list.split(","))
    failed = any(tally.failed for tally in tallies.values())
    return 1 if seldom or failed or runs < len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
