#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the twin of a run behave as the drive did, on what was never measured?

Draws drives of each kind (flashemu random), probes each at one level of noise
with the default budget, and fits its twin. Six workloads that no probe sends
are then replayed on the drive and on its twin (flashemu replay): random reads,
one and sixteen at a time; 70 % reads and 30 % writes, four at a time; writes in
order; random writes; skewed writes over half of the drive. Prints for
each workload:

  mean, p99     how far the twin's is from the drive's, both with their noise;
                of one drive with its sign, in the median over the drives without
  tail          the same of the mean of the slowest fiftieth, which is steadier:
                where noise delays one request in a hundred, it is chance on
                which side of the 99th percentile the delayed ones lie
  still         p99 of both without their noise: cleaning, folds and queues, which
                the 99th percentile does not show beside that noise
  near          the share of single requests within 10 %: the twin without its
                noise, for what noise does to one request nobody can predict
  explained     drives whose twin states that it explains requests of that kind
                and depth
  cautious      those where it does not, although the mean is within a tenth
  half          drives whose mean or tail is off by more than half
  silent        those among them whose twin states that it explains them

and the same of a table that a user would write in an hour: the median of what
the run measured, by operation, depth and the nearest size. Last comes the
floor: how far the drive is from itself under another seed of the noise. Nothing
can come closer.

With --probe-twin each twin is probed as its drive was. Of the parameters that
were found in the drive, it counts those that the twin's run finds as well: texts
alike, numbers within a tenth. A parameter that this run leaves open is counted
by itself.

With --keep=FOLDER drives and runs are kept, and found there the next time; only
the twins are fitted anew: two drives a kind take ten minutes the first time, and
three then. With --resume what was judged before is not judged again, so that a
long table can be made in several sittings. With --foreign=PLUGIN a drive of
another simulator (plugin:) and the controls are probed instead, and the twin
must say that it does not explain them. Needs Python 3.
"""
import argparse
import contextlib
import csv
import json
import math
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

DONE = (0, 9)
REQUESTS = 2000
BLOCK = 4096
CONTROLS = ("sim:plain-disk", "sim:ram-disk",
            "sim:plain-disk,jitter_sigma=1,background_share=0.4,"
            "burst_share=0.1")


def run(command, done=(0,)):
    """Its standard output."""
    made = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          check=False)
    if made.returncode not in done:
        sys.exit("%s: %s" % (" ".join(command), made.stderr.decode()[:600]))
    return made.stdout.decode()


def workloads(capacity_bytes, chance):
    """Name, the kind that the twin calls it, requests at once, and (operation,
    offset, length) of each."""
    blocks = capacity_bytes // BLOCK

    def anywhere(length, part=1.0):
        places = int(blocks * part) * BLOCK // length
        return chance.randrange(places) * length

    def skewed():
        part = 0.05 if chance.random() < 0.8 else 0.5
        return anywhere(4 * BLOCK, part)

    start = anywhere(64 * BLOCK, 0.5)
    return (
        ("random read, 1", "read", 1, [("r", anywhere(BLOCK), BLOCK)
                                       for _ in range(REQUESTS)]),
        ("random read, 16", "read", 16, [("r", anywhere(BLOCK), BLOCK)
                                         for _ in range(REQUESTS)]),
        ("70/30 mix, 4", "mixed", 4, [("r" if chance.random() < 0.7 else "w",
                                       anywhere(2 * BLOCK), 2 * BLOCK)
                                      for _ in range(REQUESTS)]),
        ("write in order", "sequential write", 1, [
            ("w", start + i * 16 * BLOCK, 16 * BLOCK)
            for i in range(REQUESTS)]),
        ("random write", "write", 1, [("w", anywhere(BLOCK), BLOCK)
                                      for _ in range(REQUESTS)]),
        ("skewed write", "write", 1, [("w", skewed(), 4 * BLOCK)
                                      for _ in range(REQUESTS)]),
    )


def write_trace(path, requests):
    with open(path, "w", encoding="ascii") as file:
        for i, (operation, offset, length) in enumerate(requests):
            file.write("0,%d,%d,%s,%.6f\n" % (offset // 512, length, operation,
                                              i / 1e6))


def replayed(options, drive, trace, depth):
    """Response times in the order of the trace."""
    text = run([options.flashemu, "replay", drive, trace, "--format=spc",
                "--depth=%d" % depth, "--csv=-", "--progress=none"])
    rows = csv.DictReader(line for line in text.splitlines()
                          if not line.startswith("#"))
    times = {}
    for row in rows:
        arrived = int(row[options.arrive])
        times[int(row["index"])] = int(row["complete_ns"]) - arrived
    return [times[i] for i in sorted(times)]


def table_of(folder):
    """The median of what was measured, by operation, depth and size."""
    times = {}
    samples = os.path.join(folder, "samples.csv")
    command = ["cat", samples] if os.path.exists(samples) else [
        "zstd", "-dcq", samples + ".zst"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as text:
        for row in csv.DictReader(line for line in text.stdout
                                  if not line.startswith("#")):
            if row["operation"] in ("read", "write") and row["error"] == "0":
                key = (row["operation"][0], int(row["depth"] or 1),
                       int(row["length_bytes"]))
                times.setdefault(key, []).append(int(row["latency_ns"]))
    return {key: statistics.median(values) for key, values in times.items()}


def looked_up(table, depth, requests):
    def nearest(operation, length):
        keys = [key for key in table if key[0] == operation]
        return table[min(keys, key=lambda key: (
            abs(math.log(key[2] / length)), abs(math.log(key[1] / depth))))]
    kinds = {one: nearest(*one) for one in {(r[0], r[2]) for r in requests}}
    return [kinds[(operation, length)] for operation, _, length in requests]


def p99(times):
    return sorted(times)[len(times) * 99 // 100]


def tail(times):
    return statistics.mean(sorted(times)[len(times) * 98 // 100:])


def off(predicted, true):
    return predicted / true - 1


def near(predicted, true):
    pairs = list(zip(predicted, true))
    return sum(abs(a / b - 1) <= 0.1 for a, b in pairs) / len(pairs)


def is_explained(twin, kind, depth):
    """Does the twin state that it explains such requests? Where it knows two
    depths, the nearer counts."""
    known = [one for one in twin.get("errors", []) if one["kind"] == kind]
    if not twin["explains"] or ("errors" in twin and not known):
        return False
    return not known or min(known, key=lambda one: abs(math.log(
        one["depth"] / depth)))["explained"]


def compare(options, twin, drive, folder, chance):
    """By workload: [mean, p99, tail, still, near] of the twin, of the table and
    of the drive against itself, and whether the twin states that it explains
    it."""
    table = table_of(os.path.join(folder, "run"))
    file = os.path.join(folder, "twin.ini")
    results = {}
    for name, kind, depth, requests in workloads(options.capacity, chance):
        trace = os.path.join(folder, "trace.spc")
        write_trace(trace, requests)
        noisy = drive + ",noise=" + options.noise
        once, again = (replayed(options, "%s,seed=%d" % (noisy, seed), trace,
                                depth) for seed in (1, 2))
        ours = replayed(options, file, trace, depth)
        quiet, still = (replayed(options, of + ",noise=none", trace, depth)
                        for of in (file, drive))
        looked = looked_up(table, depth, requests)
        results[name] = [
            [off(of(one), of(once)) for of in (statistics.mean, p99, tail)] + [
                off(p99(single), p99(still)), near(single, once)]
            for one, single in ((ours, quiet), (looked, looked),
                                (again, again))] + [
                                    is_explained(twin, kind, depth)]
    return results


def worked():
    """Seconds of a core that commands have taken: a busy machine adds none."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def probe(options, spec, folder):
    """The twin's check, and what the fit took."""
    kept = os.path.join(folder, "run")
    if not os.path.exists(os.path.join(kept, "report.json")):
        run([options.ssdprobe, spec, "--yes", "-q", "--output-dir=" + kept],
            DONE)
    began = worked()
    text = run([options.ssdprobe, "twin", kept, "--json",
                "--output=" + os.path.join(folder, "twin.ini")], DONE)
    return json.loads(text)["twin"], worked() - began


def found_in(folder):
    """Values by parameter."""
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        return {one["parameter"]: one
                for one in json.load(file)["findings"]}


def is_same(one, other):
    try:
        return abs(other["value"] - one["value"]) <= 0.1 * abs(one["value"])
    except TypeError:
        return one["value"] == other["value"]


def probe_twin(options, folder):
    """(same, other, open) of what was found in the drive."""
    probed = os.path.join(folder, "probed-twin")
    shutil.rmtree(probed, ignore_errors=True)
    run([options.ssdprobe, "sim:" + os.path.join(folder, "twin.ini"), "--yes",
         "-q", "--twin=no", "--output-dir=" + probed], DONE)
    before, after = found_in(os.path.join(folder, "run")), found_in(probed)
    counts = [0, 0, 0]
    others = []
    for parameter, one in before.items():
        other = after.get(parameter)
        if one["verdict"] not in ("found", "absent") or not other:
            continue
        if other["verdict"] not in ("found", "absent"):
            counts[2] += 1
        elif other["verdict"] == one["verdict"] and (
                one["verdict"] == "absent" or is_same(one, other)):
            counts[0] += 1
        else:
            counts[1] += 1
            others.append("%s %s" % (parameter, other["value"]))
    print("  findings of the twin: %d the same, %d others, %d open  %s" % (
        *counts, ", ".join(others)), flush=True)
    return counts


def capacity_of(drive):
    with open(drive, encoding="ascii") as file:
        for line in file:
            if line.startswith("capacity_bytes"):
                value = line.split("=")[1].strip()
                return (int(value[:-3]) * 1024 if value.endswith("KiB")
                        else int(value))
    return sys.exit("%s states no capacity" % drive)


def show(name, rows):
    return "  %-16s" % name + "".join(
        "".join(" %6.1f" % (100 * x) for x in one) + "  " for one in rows[:3])


def folder_of(options, kind, seed):
    """Where a drive and its run are kept, and what ends their life."""
    if not options.keep:
        made = tempfile.TemporaryDirectory()
        return made.name, made
    kept = os.path.join(options.keep, "%s-%d" % (kind, seed))
    os.makedirs(kept, exist_ok=True)
    return os.path.abspath(kept), contextlib.nullcontext()


def is_half(rows):
    return max(abs(rows[0][0]), abs(rows[0][2])) > 0.5


def is_silent(rows):
    return rows[3] and is_half(rows)


def is_cautious(rows):
    return not rows[3] and abs(rows[0][0]) <= 0.1


def judge(options, kind, seed):
    """The twin's verdict, the results by workload, the seconds of the fit."""
    folder, life = folder_of(options, kind, seed)
    with life:
        judged = os.path.join(folder, "judged.json")
        if options.resume and os.path.exists(judged):
            with open(judged, encoding="ascii") as file:
                return json.load(file)
        drive = os.path.join(folder, "drive.ini")
        with open(drive, "w", encoding="ascii") as file:
            file.write(run([options.flashemu, "random", "--seed=%d" % seed,
                            "--kind=" + kind]))
        options.capacity = capacity_of(drive)
        twin, seconds = probe(
            options, "sim:%s,noise=%s" % (drive, options.noise), folder)
        results = compare(options, twin, drive, folder, random.Random(seed))
        if options.probe_twin:
            options.probed = [a + b for a, b in zip(
                options.probed, probe_twin(options, folder))]
        verdict = "explained" if twin["explains"] else twin["reason"]
        with open(judged, "w", encoding="ascii") as file:
            json.dump([verdict, results, seconds], file)
    return verdict, results, seconds


def compare_one(options, kind, seed, every):
    """The seconds of the fit."""
    verdict, results, seconds = judge(options, kind, seed)
    print("%s %d: %s, %.1f s" % (kind, seed, verdict, seconds))
    for name, rows in results.items():
        every.setdefault(name, []).append(rows)
        print(show(name, rows) + ("" if rows[3] else " does not explain") +
              (" SILENT" if is_silent(rows) else ""), flush=True)
    return seconds


def draw_and_compare(options):
    every = {}
    seconds = [compare_one(options, kind, seed, every)
               for seed in range(options.seed, options.seed + options.drives)
               for kind in options.kinds.split(",")]
    print("\n%d drives, fits of %.1f s in the middle and %.1f at most; medians "
          "in %%:" % (len(seconds), statistics.median(seconds), max(seconds)))
    print("%-18s%-37s%-37s%-37s%s" % (
        "", "twin: mean p99 tail still near", "table: the same",
        "floor: the same", "explained, cautious, half, silent"))
    for name, rows in every.items():
        middles = [[statistics.median(abs(row[which][i]) for row in rows)
                    for i in range(5)] for which in range(3)]
        print(show(name, middles) + "".join(
            " %3d" % sum(map(has, rows))
            for has in (lambda row: row[3], is_cautious, is_half, is_silent)))


def say_probed(options):
    same, others, left_open = options.probed
    print("\nprobing the twins: %.1f %% of %d findings the same, %.1f %% open"
          % (100 * same / max(same + others + left_open, 1),
             same + others + left_open,
             100 * left_open / max(same + others + left_open, 1)))


def refuse_foreign(options):
    wrong = 0
    for spec in CONTROLS + tuple("plugin:" + file for file in options.foreign):
        with tempfile.TemporaryDirectory() as folder:
            twin, _ = probe(options, spec, folder)
            decided = [one["key"] for one in twin["decisions"]
                       if one["origin"] == "decided"]
            wrong += bool(twin["explains"])
            print("%-50s %s" % (spec, "EXPLAINED" if twin["explains"]
                                else twin["reason"]),
                  "decided: " + " ".join(decided) if decided else "",
                  flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--drives", type=int, default=2, help="a kind")
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--noise", default="realistic")
    parser.add_argument("--kinds", default="nvme,sata,card,stick")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--probe-twin", action="store_true")
    parser.add_argument("--foreign", action="append", metavar="PLUGIN")
    options = parser.parse_args()
    options.arrive = "arrive_ns"
    options.ssdprobe = os.path.join(options.build, "ssdprobe")
    options.flashemu = os.path.join(options.build, "flashemu")
    if options.foreign:
        sys.exit(1 if refuse_foreign(options) else 0)
    options.probed = [0, 0, 0]
    draw_and_compare(options)
    if options.probe_twin:
        say_probed(options)


if __name__ == "__main__":
    main()
