# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of emulated drives, one by one, mixed, and on drives that are disturbed
at the same time: every run ends clearly, and whatever it finds is true.

    faults.py SSDPROBE FLASHEMU SCHEMA SECONDS [SEED]

goes on until that much of the drives' time has passed; prints what is wrong."""
import itertools
import json
import random
import subprocess
import sys

import jsonschema

PROBES = ("basic,clustered-page,log-list,read-buffer,write-buffer,nand-type,"
          "large-request")
DRIVES = ["ssd-a", "usb-pny-2g"]
FINISHED = (0, 9)
dice = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 3)


def moment():
    return "%dms" % dice.randrange(1, 20000)


FAULTS = [
    lambda: {"read_error_share": "%g" % dice.choice([1e-4, 1e-3, 0.5, 1])},
    lambda: {"write_error_share": "%g" % dice.choice([1e-4, 1e-3, 0.5, 1])},
    lambda: {"vanish_at_ns": moment()},
    lambda: {"power_cut_at_ns": moment(),
             "power_back_ns": "%ds" % dice.choice([1, 5, 60])},
    lambda: {"flush_lies": "on"},
    lambda: {"real_capacity_bytes": "%dMiB" % dice.choice([8, 1000]),
             "fake_capacity": dice.choice(["wraps", "drops"])},
    lambda: {"real_capacity_bytes": "%dMiB" % dice.choice([9, 1000]),
             "fake_capacity": dice.choice(["chain", "errors"])},
    lambda: {"real_capacity_bytes": "8MiB", "fake_capacity": "forgets"},
    lambda: {"real_capacity_bytes": "99MiB", "fake_capacity": "drops",
             "fake_cache_bytes": "3MiB"},
    lambda: {"silent_after_bytes": dice.choice(["1", "5MiB", "100MiB"])},
    lambda: {"stop_at_ns": moment(),
             "stop_ns": dice.choice(["60s", "400s"])},
    lambda: {"read_only_at_ns": moment()},
]

# What makes a drive's times change while it is measured, whatever else it does.
DISTURBANCES = [
    lambda: {"throttle_heat_ns": "%ds" % dice.randrange(1, 5),
             "throttle_factor": dice.choice(["1.4", "2"])},
    lambda: {"drift_share": "0.3",
             "drift_period_ns": "%ds" % dice.choice([10, 60, 240])},
    lambda: {"neighbour_every_ns": "%dms" % dice.choice([2, 20]),
             "neighbour_bytes": dice.choice(["4KiB", "256KiB"]),
             "neighbour_write_share": "1"},
]


def mixed(kinds, most):
    keys = {}
    for _ in range(dice.randrange(1, most + 1)):
        keys.update(dice.choice(kinds)())
    return keys


def truth_of(flashemu, drive):
    shown = subprocess.run([flashemu, "show", drive, "--json"], text=True,
                           capture_output=True, check=True)
    return json.loads(shown.stdout)["truth"]


def with_faults(truth, keys):
    """What the faults change of what a drive truly is."""
    if "silent_after_bytes" in keys:
        return {**truth, "capacity_kind": "drops", "real_capacity": "0"}
    if "fake_capacity" not in keys:
        return truth
    real = int(keys["real_capacity_bytes"][:-3]) << 20
    kind = keys["fake_capacity"]
    return {**truth, "real_capacity": str(real), "capacity_kind":
            {"chain": "wraps", "errors": "drops", "forgets": "drops"}.get(
                kind, kind)}


def plain(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def wrong_ending(status, document):
    errors = [m["text"] for m in document["ssdprobe"]["messages"]
              if m["severity"] == "error"]
    if status not in FINISHED + (2, 4, 7):
        return "status %d" % status
    if status != document["ssdprobe"]["exit_status"]:
        return "status %d, but the document says otherwise" % status
    if (status in FINISHED) != (not errors):
        return "status %d with %s" % (status, errors)
    if any(len(e) < 40 or "\n" in e for e in errors):
        return "no sentence: %s" % errors
    return None


def wrong_finding(truth, document):
    for f in document["findings"] or []:
        right = truth.get(f["parameter"])
        if f["verdict"] == "found" and right and plain(f["value"]) != right:
            return "%s is %s" % (f["parameter"], f["value"])
        if f["verdict"] == "absent" and right and right != "absent":
            return "%s is not absent" % f["parameter"]
        if f["verdict"] == "inconclusive" and len(f["why"]) < 10:
            return "%s has no reason" % f["parameter"]
    return None


def wrong_grade(keys, document):
    """A drive that stopped while it was measured is told of, and why."""
    began = float(keys.get("stop_at_ns", "1e9ms")[:-2]) / 1e3
    if not document["findings"] or document["cost"]["device_seconds"] < began + 6:
        return None
    items = document["conditions"]["items"]
    if any(i["name"] == "silence" and i["grade"] == "red" for i in items):
        return None
    return "it stopped, and nobody noticed"


class Trial:
    def __init__(self, ssdprobe, flashemu, schema):
        self.ssdprobe = ssdprobe
        self.truths = {d: truth_of(flashemu, d) for d in DRIVES}
        with open(schema, encoding="ascii") as file:
            self.schema = json.load(file)
        self.seconds = 0
        self.runs = 0
        self.wrong = []

    def run(self, drive, keys, preserve):
        # What is beyond a faked capacity is no flash: only those who ask can tell.
        loses = {"fake_capacity", "silent_after_bytes"} & set(keys)
        probes = PROBES + ",capacity" * bool(loses)
        spec = "sim:" + ",".join([drive] + ["%s=%s" % k for k in keys.items()])
        argv = [self.ssdprobe, "-q", "--json",
                "--seed=%d" % dice.randrange(1, 1000), "run", probes, spec]
        self.runs += 1
        if preserve:
            argv[2:2] = ["--preserve", "--region=1GiB,64MiB",
                         "--output-dir=fault%d" % self.runs]
        try:
            run = subprocess.run(argv, capture_output=True, text=True,
                                 timeout=300, check=False)
            document = json.loads(run.stdout)
            jsonschema.validate(document, self.schema)
        except (subprocess.TimeoutExpired, ValueError,
                jsonschema.ValidationError) as failure:
            self.wrong.append("%s: %s" % (" ".join(argv), failure))
            return
        self.seconds += (document["cost"] or {}).get("device_seconds", 0)
        wrong = wrong_ending(run.returncode, document) or \
            wrong_finding(with_faults(self.truths[drive], keys),
                          document)
        # While the contents are copied nothing is measured.
        if not wrong and run.returncode in FINISHED and not preserve:
            wrong = wrong_grade(keys, document)
        if wrong:
            self.wrong.append("%s: %s" % (" ".join(argv), wrong))


def main():
    trial = Trial(*sys.argv[1:4])
    for fault in FAULTS:
        for drive in DRIVES:
            trial.run(drive, fault(), False)
    for disturbance, drive in zip(DISTURBANCES, itertools.cycle(DRIVES)):
        trial.run(drive, {**mixed(FAULTS, 2), **disturbance()}, False)
    while trial.seconds < float(sys.argv[4]) or trial.runs < 12:
        keys = mixed(FAULTS, 3)
        if dice.random() < 0.5:
            keys.update(mixed(DISTURBANCES, 2))
        trial.run(dice.choice(DRIVES), keys, dice.random() < 0.2)
    print("%d runs, %.0f s of drive time" % (trial.runs, trial.seconds))
    print("\n".join(trial.wrong))
    return bool(trial.wrong)


if __name__ == "__main__":
    sys.exit(main())
