#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_advice.sh SOURCE_DIR BUILD_DIR: do the commands that a report gives do
# what it says? They are run on files, and what they made is looked at.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
export PATH=$PATH:/sbin:/usr/sbin
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

cat >look.py <<'END'
"""The alignments of what was made: prints OK, or what is wrong."""
import json, os, shlex, struct, subprocess, sys

document = json.load(open(sys.argv[1]))
value = {f["parameter"]: f["value"] for f in document["findings"]
         if f["verdict"] == "found"}
page = value.get("clustered_page")
unit = value.get("clustered_block") or value.get("log_block")
capacity = document["device"]["capacity_bytes"]
wrong = []

def sparse(name, size):
    with open(name, "wb") as file:
        file.truncate(size)

def number(name, offset, form):
    with open(name, "rb") as file:
        file.seek(offset)
        return struct.unpack(form, file.read(struct.calcsize(form)))[0]

def demand(what, holds):
    if not holds:
        wrong.append(what)

def partition(command):
    global start, length
    sparse("device", capacity)
    subprocess.run(command.replace("DEVICE", "device"), shell=True, check=True,
                   capture_output=True)
    row = json.loads(subprocess.run(["sfdisk", "--json", "device"], check=True,
                                    capture_output=True).stdout)
    row = row["partitiontable"]["partitions"][0]
    start, length = row["start"] * 512, row["size"] * 512
    demand("the start", start % unit == 0 and start >= 1 << 20)
    demand("the end", (start + length) % unit == 0)
    demand("most of the device", start + length > 0.9 * capacity)

def ext4(name):
    said = subprocess.run(["dumpe2fs", "-h", name], capture_output=True,
                          text=True).stdout
    rows = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
    block = int(rows["Block size"])
    if page and page % block == 0 and page > block: # else one block each
        demand("stride", int(rows.get("RAID stride", 0)) * block == page)
    if page and unit % page == 0 and unit <= 128 << 20:
        demand("stripe width",
               int(rows.get("RAID stripe width", 0)) * block == unit)

def xfs(name):
    said = subprocess.run(["xfs_db", "-r", "-c", "sb 0", "-c",
                           "print unit width logsunit", name],
                          capture_output=True, text=True).stdout
    rows = dict(line.split(" = ") for line in said.splitlines() if " = " in line)
    demand("the unit of XFS", int(rows["unit"]) * 4096 == unit)
    demand("the width of XFS", rows["width"] == rows["unit"])

def f2fs(name):
    section = number(name, 1024 + 24, "<I") * (2 << 20)
    demand("a section", section % unit == 0)
    demand("the main area", number(name, 1024 + 92, "<I") * 4096 % unit == 0)

def fat(name):
    sector, cluster = number(name, 11, "<H"), number(name, 13, "<B")
    data = (number(name, 14, "<H") + number(name, 16, "<B") *
            number(name, 36, "<I")) * sector
    demand("the data of FAT", data % unit == 0)
    demand("the cluster of FAT", page % (cluster * sector) == 0 or
           (cluster * sector) % page == 0)

def exfat(name):
    sector = 1 << number(name, 108, "<B")
    demand("the table of exFAT", number(name, 80, "<I") * sector % unit == 0)
    demand("the data of exFAT", number(name, 88, "<I") * sector % unit == 0)

def said_by(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True)
    demand(" ".join(command) + done.stderr, done.returncode == status)
    return done.stdout

def btrfs(name):
    rows = said_by("btrfs", "inspect-internal", "dump-super", name).splitlines()
    node = next(int(row.split()[1]) for row in rows if row.startswith("nodesize"))
    demand("a node of btrfs", node % page == 0 and node >= 16384)

def luks(name):
    said = said_by("cryptsetup", "luksDump", name)
    offset = int(said.split("offset: ")[1].split()[0])
    demand("the data of LUKS", offset % unit == 0 and offset >= 16 << 20)
    demand("a sector of LUKS", "sector: 4096 [bytes]" in said)

# Where no device can be had, LVM's own reader of options says what it can.
def lvm(command):
    config = "devices{use_devicesfile=0} activation{udev_sync=0 udev_rules=0}"
    loop = subprocess.run(["losetup", "-f", "--show", "partition"],
                          capture_output=True, text=True).stdout.strip()
    for part in command.split(" && "):
        words = part.replace("PARTITION", loop or "/no/device").split()
        said_by(*words, "--config", config, *([] if loop else ["--test"]),
                status=0 if loop else 5)
    if loop:
        row = said_by("pvs", "--noheadings", "--nosuffix", "--units=b",
                      "--config", config, "-o", "pe_start,vg_extent_size", loop)
        demand("the data of LVM", all(int(n) % unit == 0 for n in row.split()))
        said_by("vgremove", "-q", "-f", "--config", config, "GROUP")
        said_by("losetup", "-d", loop)

def swap(name):
    demand("mkswap", number(name, 4086, "10s") == b"SWAPSPACE2")

def page_cluster(command):
    log2 = int(command.split("vm.page-cluster=")[1])
    cost, overhead = value["read_cost_4k"], value["request_overhead"]
    def time(count):
        return overhead + count * cost
    demand("pages of swap", 0 <= log2 <= 5 and
           (log2 == 0 or time(1 << log2) <= 2 * time(1)) and
           (log2 == 5 or time(2 << log2) > 2 * time(1)))
    demand("vm.page-cluster", os.path.exists("/proc/sys/vm/page-cluster"))

# Neither has a tool that reads it without a cluster, or a kernel with CONFIG_
# BLK_CGROUP_IOCOST.
def ceph(command):
    demand("Ceph's option", command ==
           f"ceph config set osd bluestore_min_alloc_size_ssd {page}")

def io_cost(command):
    text = shlex.split(command)[1].split(") ")[1]
    keys = dict(word.split("=") for word in text.split())
    demand("the model of io.cost", keys.pop("ctrl") == "user" and
           keys.pop("model") == "linear")
    writes = value.get("sustained_write_rate", value.get("sequential_write_rate"))
    random = 10**9 // round(value["steady_random_write"])
    wanted = {"rbps": value["sequential_read_rate"], "wbps": writes}
    wanted |= dict.fromkeys(("rseqiops", "rrandiops"), value["random_read_rate"])
    wanted |= dict.fromkeys(("wseqiops", "wrandiops"), random)
    demand("its rates", {k: int(v) for k, v in keys.items()} ==
           {k: round(v) for k, v in wanted.items()})

looks = {"ext4": ext4, "XFS": xfs, "f2fs": f2fs, "FAT": fat, "exFAT": exfat,
         "btrfs": btrfs, "LUKS": luks, "swap": swap}
reads = {"LVM": lvm, "swap": page_cluster, "Ceph": ceph, "io.cost": io_cost}
# What is not run of a command, and what it asks for.
alone = {"swap": lambda command: command.split(" && ")[0],
         "LUKS": lambda command: "echo secret | " +
                 command.replace("luksFormat", "luksFormat -q")}
lines = {row["topic"]: row for row in document["advice"]}
for name in sys.argv[2:]:
    demand("a line for " + name, name in lines)
length = capacity
if "partition" in lines:
    partition(lines["partition"]["command"])
for topic, read in reads.items():
    if topic in lines:
        sparse("partition", length)
        read(lines[topic]["command"])
        demand("a cost of " + topic, "The cost: " in lines[topic]["text"])
for topic, look in looks.items():
    if topic not in lines:
        continue
    sparse("partition", length)
    command = alone.get(topic, str)(lines[topic]["command"])
    done = subprocess.run(command.replace("PARTITION", "partition"),
                          shell=True, capture_output=True, text=True)
    demand(topic + ": " + done.stderr, done.returncode == 0)
    if done.returncode == 0:
        look("partition")
for row in document["advice"]:
    for parameter in row["from"]:
        demand(row["topic"] + " follows from " + parameter, parameter in value)
print("; ".join(wrong) or "OK")
sys.exit(bool(wrong))
END

# advice DRIVE TOPIC...: the lines it must have, and what they do.
advice()
{
    local drive=$1
    shift
    "$build_dir/ssdprobe" "sim:$drive" --quiet --progress=none \
        --write-budget=64GB \
        --json="report.json" </dev/null >said 2>&1
    check "$drive: what is advised does what it says" \
        python3 look.py report.json "$@"
    cp report.json "$drive.json"
}

advice ssd-a partition ext4 XFS f2fs FAT exFAT writes bursts "files at once" \
    "request size" databases TRIM "sector size" btrfs LUKS LVM swap Ceph
advice usb-unknown-1g partition ext4 f2fs FAT writes "files at once"
advice ssd-c partition ext4 f2fs bursts
"$build_dir/ssdprobe" sim:plain-disk --write-budget=32GiB --quiet --json=plain.json </dev/null \
    >said 2>&1
check "a disk without flash is given no partition" python3 -c '
import json
rows = json.load(open("plain.json"))["advice"]
assert not {"partition", "f2fs", "FAT", "bursts"} & {r["topic"] for r in rows}'
check "it is told that nothing needs to be aligned" python3 -c '
import json
rows = {r["topic"]: r for r in json.load(open("plain.json"))["advice"]}
assert rows["alignment"]["from"] == ["clustered_page", "log_block"]'
check "and neither to return it nor how its flush is" python3 -c '
import json
rows = json.load(open("plain.json"))["advice"]
assert not {"return this drive", "databases"} & {r["topic"] for r in rows}'
"$build_dir/ssdprobe" run capacity,flush sim:fake-64g --quiet \
    --json=fake.json </dev/null >said 2>&1
check "a fake is to be returned, first of all" python3 -c '
import json
row = json.load(open("fake.json"))["advice"][0]
assert row["topic"] == "return this drive" and "8 GiB" in row["text"], row
assert row["from"] == ["capacity_kind", "real_capacity"]'
check "and nothing else is advised of it" python3 -c '
import json
rows = json.load(open("fake.json"))["advice"]
assert [r["topic"] for r in rows] == ["return this drive"], rows'
check "what it gives uses the good part only" python3 -c '
import json, subprocess
row = json.load(open("fake.json"))["advice"][0]
with open("fake", "wb") as file:
    file.truncate(64 << 30)
subprocess.run(row["command"].replace("DEVICE", "fake"), shell=True, check=True,
               capture_output=True)
table = json.loads(subprocess.run(["sfdisk", "--json", "fake"], check=True,
                                  capture_output=True).stdout)
part, = table["partitiontable"]["partitions"]
end = (part["start"] + part["size"]) * 512
assert table["partitiontable"]["label"] == "dos", table
assert 0.99 * (8 << 30) < end <= 8 << 30, table'
"$build_dir/ssdprobe" run flush,trim sim:ssd-a,flush_lies=on,discard=old \
    --quiet --json=lies.json </dev/null >said 2>&1
check "a flush that lies is not to be trusted, nor a discard to erase" \
    python3 -c '
import json
rows = {r["topic"]: r["text"] for r in json.load(open("lies.json"))["advice"]}
assert "returns before" in rows["databases"], rows
assert "may still be readable" in rows["TRIM"], rows'
"$build_dir/ssdprobe" run flush,sync-writes sim:ssd-a --quiet \
    --json=quick.json </dev/null >said 2>&1
"$build_dir/ssdprobe" run flush,sync-writes --quiet --json=stalls.json \
    sim:ssd-a,stall_every_count=25,stall_ns=40ms </dev/null >said 2>&1
check "a database is told by its slow commits, not by the median" python3 -c '
import json
def of(name):
    d = json.load(open(name))
    fua, p99 = (next(f for f in d["findings"] if f["parameter"] == name)
                for name in ("fua_time", "sync_write_p99"))
    assert fua["value"] < 1e6 and p99["requests"] > 1000, (fua, p99)
    return p99["high"], next(a["text"] for a in d["advice"]
                             if a["topic"] == "databases")
p99, text = of("quick.json")
assert p99 < 1e7 and "fast enough" in text, (p99, text)
p99, text = of("stalls.json")
assert p99 > 4e7 and "too slow" in text and "p99" in text, text'
"$build_dir/ssdprobe" run sustained-write sim:usb-tlc --quiet \
    --json=cache.json </dev/null >said 2>&1
check "a cache of flash is not to be overrun, and is given time" python3 -c '
import json
document = json.load(open("cache.json"))
row = next(r for r in document["advice"] if r["topic"] == "long writes")
value = {f["parameter"]: f["value"] for f in document["findings"]}
assert "%d MB" % round(value["fast_cache"] / 1e6) in row["text"], row
assert row["from"][2] == "fast_cache_recovery" and "After a rest" in row["text"], row'
"$build_dir/ssdprobe" run steady-state sim:ssd-c,capacity_bytes=1GiB --quiet \
    --write-budget=8GiB --json=steady.json </dev/null >said 2>&1
"$build_dir/ssdprobe" run throughput,steady-state --quiet --json=rates.json \
    sim:ssd-c,capacity_bytes=1GiB --write-budget=8GiB </dev/null >said 2>&1
check "a cost model has the rates that were found" \
    python3 look.py rates.json io.cost
check "random writes are counted by what lasts" python3 -c '
import json
document = json.load(open("steady.json"))
row = next(r for r in document["advice"] if r["topic"] == "random writes")
value = {f["parameter"]: f["value"] for f in document["findings"]}
rate = 1e9 / value["steady_random_write"]
assert "%.0f random 4 KiB writes" % rate in row["text"], row'
check "and nothing is said of one where there is none" python3 -c '
import json
assert "long writes" not in {
    r["topic"] for r in json.load(open("report.json"))["advice"]}'
check "a drive with pages is not" python3 -c '
import json
rows = json.load(open("report.json"))["advice"]
assert "alignment" not in {r["topic"] for r in rows}'
python3 - <<'END'
import json
document = json.load(open("report.json"))
row = next(r for r in document["advice"] if r["topic"] == "ext4")
row["command"] = row["command"].replace("stripe-width=", "stripe-width=1")
json.dump(document, open("bad.json", "w"))
END
check "a command that is wrong is noticed" bash -c '! python3 look.py bad.json'
for change in 's/--offset [0-9]+/--offset 33000/' 's/(btrfs -n) [0-9]+k/\1 4k/' \
    's/--dataalignment [0-9]+k/--dataalignment 68k/' \
    's/page-cluster=[0-9]/page-cluster=0/' 's/(alloc_size_ssd) [0-9]+/\1 512/' \
    's/rrandiops=[0-9]+/rrandiops=1/'; do
    sed -E "$change" ssd-a.json >bad.json
    check "$change is noticed" bash -c \
        '! cmp -s ssd-a.json bad.json && ! python3 look.py bad.json'
done
summary
