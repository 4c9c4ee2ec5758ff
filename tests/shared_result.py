# SPDX-License-Identifier: GPL-3.0-or-later
"""shared_result.py SCHEMA FILE...: may a result join the known models?

It was made with --no-serial, fits the schema, is small, names its model, and
answers enough to be told from others. Says what is wrong, and ends in 1."""
import json
import os
import sys

import jsonschema

SIZE_MOST = 20000  # bytes: a thousand of them are read at each report
ANSWERS_LEAST = 8  # findings: two models share a few by chance


def faults(path, validator):
    document = json.load(open(path, encoding="utf-8"))
    for error in validator.iter_errors(document):
        yield f"does not fit the schema: {error.message[:200]}"
        return
    device = document["device"] or {}
    run = document.get("run") or {}
    answers = [f for f in document["findings"]
               if f["verdict"] in ("found", "absent") and not f.get("assumed")]
    if os.path.getsize(path) > SIZE_MOST:
        yield f"has more than {SIZE_MOST} bytes: leave out plan, cost and advice"
    if not device.get("model"):
        yield "does not name its model"
    if device.get("serial") or run.get("host") or "by-id" in json.dumps(document):
        yield "names a drive or a host: make it again with --no-serial"
    if len({f["parameter"] for f in answers}) < ANSWERS_LEAST:
        yield f"has fewer than {ANSWERS_LEAST} answers"
    if (document["conditions"] or {}).get("grade") == "red":
        yield "was measured under red conditions"


def main(schema, *paths):
    validator = jsonschema.Draft202012Validator(json.load(open(schema)))
    wrong = 0
    for path in paths:
        for fault in faults(path, validator):
            print(f"{path}: {fault}")
            wrong = 1
    return wrong


sys.exit(main(*sys.argv[1:]))
