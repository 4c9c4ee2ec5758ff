# SPDX-License-Identifier: GPL-3.0-or-later
"""documents.py BUILD_DIR SOURCE_DIR: is every output of every command, failures
and interruptions included, exactly one document that its schema allows?

Prints a line for each check, and 'N passed, N failed'. Run by
test_documents.sh, in a folder of its own."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import jsonschema

build, source = sys.argv[1:3]
EMPTY = {"PATH": "/nonexistent"}  # no gnuplot
INTERRUPT, TERMINATE = signal.SIGINT, signal.SIGTERM  # is sent under way

# A pipe that nobody writes keeps its reader as long as it takes.
# program, exit status, arguments[, environment]; {NAME} is what a run left.
ROWS = [
    # What leaves something for the others.
    ("ssdprobe", 0, "run read-buffer,log-list sim:ssd-a --output-dir=first"),
    ("ssdprobe", 0, "run read-buffer sim:ssd-b --csv=b.csv --json=b.json"),
    ("ssdprobe", 0, "run write-buffer sim:ssd-d --output-dir=open"),
    # ssdprobe, each command: what succeeds, and what fails in each way.
    ("ssdprobe", 0, "--version"),
    ("ssdprobe", 0, "sim:ram-disk --dry-run"),
    ("ssdprobe", 5, "sim:ssd-a --strict"),
    ("ssdprobe", 9, "run capacity sim:fake-64g --yes"),
    ("ssdprobe", 1, "sim:ssd-a --seed=x"),
    ("ssdprobe", 1, ""),
    ("ssdprobe", 2, "/dev/nonexistent"),
    ("ssdprobe", 3, "run clustered-page sim:ssd-a --write-budget=4096"),
    ("ssdprobe", 2, "sim:ssd-a --output-dir=first"),
    ("ssdprobe", 0, "list"),
    ("ssdprobe", 0, "list --known"),
    ("ssdprobe", 2, "list --known=nowhere"),
    ("ssdprobe", 1, "list --seed=1"),
    ("ssdprobe", 0, "check"),
    ("ssdprobe", 0, "check sim:ssd-a"),
    ("ssdprobe", 2, "check /dev/nonexistent"),
    ("ssdprobe", 0, "run basic sim:ssd-a --read-only"),
    ("ssdprobe", 0, "run read-buffer sim:ssd-a --time-limit=1us"),
    ("ssdprobe", 1, "run no-such-probe sim:ssd-a"),
    ("ssdprobe", 2, "run basic sim:no-such-drive"),
    ("ssdprobe", INTERRUPT, "sim:ssd-a,noise=heavy --output-dir=cut"),
    ("ssdprobe", 0, "report first"),
    ("ssdprobe", 0, "report first", EMPTY),
    ("ssdprobe", 0, "report first --markdown"),
    ("ssdprobe", 0, "report open"),
    ("ssdprobe", 2, "report nowhere"),
    ("ssdprobe", 0, "plot first --output-dir=figures"),
    ("ssdprobe", 0, "plot b.csv"),
    ("ssdprobe", 2, "plot first --output-dir=more", EMPTY),
    ("ssdprobe", 2, "plot nowhere"),
    ("ssdprobe", 0, "card first"),
    ("ssdprobe", 0, "card b.json --output=b.svg"),
    ("ssdprobe", 2, "card nowhere"),
    ("ssdprobe", 1, "card"),
    ("ssdprobe", 0, "diff first b.json"),
    ("ssdprobe", 0, "diff first first"),
    ("ssdprobe", 8, "diff first b.json --exit-code"),
    ("ssdprobe", 2, "diff first nowhere"),
    ("ssdprobe", 1, "diff first"),
    ("ssdprobe", 0, "summarise first b.json"),
    ("ssdprobe", 0, "summarise first first b.json"),
    ("ssdprobe", 0, "summarise first"),
    ("ssdprobe", 2, "summarise first nowhere"),
    ("ssdprobe", 1, "summarise"),
    ("ssdprobe", 0, "twin first --output=twin.ini"),
    ("ssdprobe", 0, "twin first --check"),
    ("ssdprobe", 2, "twin nowhere"),
    ("ssdprobe", 1, "twin"),
    ("ssdprobe", 0, "infer b.csv"),
    ("ssdprobe", 0, "infer {recordings}/sdcard-align.csv"),
    ("ssdprobe", 0, "infer {recordings}/sdcard-openau.csv b.csv"),
    ("ssdprobe", 2, "infer nowhere.csv"),
    ("ssdprobe", 2, "infer damaged.csv"),
    ("ssdprobe", 0, "restore first"),
    ("ssdprobe", 2, "restore nowhere"),
    # flashemu.
    ("flashemu", 0, "--version"),
    ("flashemu", 1, ""),
    ("flashemu", 1, "no-such-command"),
    ("flashemu", 0, "list"),
    ("flashemu", 1, "list too-much"),
    ("flashemu", 0, "show ssd-a"),
    ("flashemu", 2, "show no-such-drive"),
    ("flashemu", 0, "random --seed=3"),
    ("flashemu", 1, "random --seed=x"),
    ("flashemu", 0, "bench"),
    ("flashemu", 1, "bench --no-such-option"),
    ("flashemu", 0, "study"),
    ("flashemu", 0, "study memory --scale=0.05"),
    ("flashemu", 1, "study no-such-study"),
    ("flashemu", 0, "replay ssd-a trace.spc --format=spc"),
    ("flashemu", 2, "replay ssd-a nowhere.spc --format=spc"),
    ("flashemu", 2, "replay no-such-drive trace.spc --format=spc"),
    ("ssdprobe", INTERRUPT, "infer pipe"),
    ("ssdprobe", TERMINATE, "infer pipe b.csv --json=infer.json"),
    ("ssdprobe", INTERRUPT, "plot pipe"),
    ("flashemu", INTERRUPT, "show ./pipe"),
    ("flashemu", INTERRUPT, "bench"),
    ("flashemu", TERMINATE, "bench --json=bench.json"),
    ("flashemu", INTERRUPT, "study scheduling"),
    ("flashemu", TERMINATE, "study scheduling"),
    ("flashemu", INTERRUPT, "replay ssd-a pipe --format=spc"),
    ("flashemu", TERMINATE, "replay ssd-a pipe --format=spc --csv=rows.csv"),
    ("flashemu", INTERRUPT, "serve ram-disk --size=32M --via=loop"),
    ("flashemu", TERMINATE, "serve ram-disk --size=32M --via=loop"),
    ("flashemu", 2, "serve no-such-drive"),
    ("flashemu", 1, "serve"),
]

passed = failed = 0


def say(sentence, complaint):
    """One line; silence is success."""
    global passed, failed
    print(f"ok   {sentence}" if not complaint else f"FAIL {sentence}\n"
          + "".join(f"    | {line}\n" for line in str(complaint).split("\n")[:12]))
    if complaint:
        failed += 1
    else:
        passed += 1


def validator(program):
    with open(f"{source}/lib/report/{program}.schema.json",
              encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


validators = {program: validator(program) for program in ("ssdprobe", "flashemu")}


def complaint(program, text, status):
    """What is wrong with a document, or None."""
    try:
        document = json.loads(text)
        validators[program].validate(document)
    except (ValueError, jsonschema.ValidationError) as error:
        return error
    if document[program]["exit_status"] != status:
        return f"it says exit status {document[program]['exit_status']}"
    if status not in (0, 5, 8, 9) and not document[program]["messages"]:
        return "it failed and does not say why"
    return None


def start(program, words, environment):
    return subprocess.Popen(
        [f"{build}/{program}"] + words, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment})


def run(program, status, arguments, environment=None):
    words = arguments.format(
        recordings=f"{source}/tests/recordings").split()
    own_file = any(word.startswith("--json=") for word in words)
    process = start(program, words + ([] if own_file else ["--json"]),
                    environment or {})
    sentence = f"{program} {arguments}" + (" (bare)" if environment else "")
    if isinstance(status, signal.Signals):
        out, wanted = interrupt(program, process, words, status)
        sentence += f", {status.name}"
    else:
        out, wanted = process.communicate(timeout=120)[0], status
    if own_file:
        with open(next(w for w in words if w.startswith("--json="))[7:],
                  encoding="utf-8") as file:
            out = file.read()
    say(f"{sentence}: exit status {wanted}",
        None if process.returncode == wanted else
        f"it was {process.returncode}\n{out[-400:]}")
    say(f"{sentence}: its document", complaint(program, out, wanted))


def interrupt(program, process, words, asked):
    """The output, and the status that is expected."""
    if words[0] == "serve":  # ready when its document is whole
        text = ""
        while not text.endswith("\n}\n"):
            line = process.stdout.readline()
            if not line:
                break
            text += line
        process.send_signal(asked)
        return text + process.communicate(timeout=60)[0], 0
    patience = time.monotonic() + 30
    while (process.poll() is None and time.monotonic() < patience
           and not under_way(program, process.pid, words)):
        time.sleep(0.01)
    process.send_signal(asked)
    return process.communicate(timeout=60)[0], 128 + asked


def under_way(program, pid, words):
    """Does the run keep rows, a reader sleep before its pipe, or flashemu have the
    thread that takes the signals?"""
    if "--output-dir=cut" in words:
        return os.path.exists("cut/samples.csv")
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        status = file.read()
    return ("State:\tS" if program == "ssdprobe" else "Threads:\t2\n") in status


def succeeds(status):
    return isinstance(status, signal.Signals) or status == 0


def commands(program):
    text = subprocess.run([f"{build}/{program}", "--help"], text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    section = text.split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+)", section, re.M)


with open("damaged.csv", "w", encoding="ascii") as made:
    made.write("run,card,device_bytes,repeat,align,pre_ns,on_ns,post_ns,diff_ns\n"
               "a,1,,1,4k,1,2,3,4\n")
with open("trace.spc", "w", encoding="ascii") as made:
    made.write("1,0,4096,w,0.0\n1,8,4096,r,0.5\n")
os.mkfifo("pipe")
with open(f"{build}/CMakeCache.txt", encoding="utf-8") as cache:
    sanitized = "SSDPROBE_SANITIZE:BOOL=ON" in cache.read()
for row in ROWS:
    if sanitized and row[1:] == (0, "bench"):
        print("flashemu bench takes minutes with sanitizers: without them only")
    else:
        run(*row)
for program in validators:
    for command in commands(program):
        rows = [row for row in ROWS
                if row[0] == program and row[2].split()[:1] == [command]]
        say(f"{program} {command}: a success and a failure are in the table",
            None if any(succeeds(row[1]) for row in rows)
            and any(not succeeds(row[1]) for row in rows)
            else [row[1:] for row in rows])
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
