#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_fleet.sh SOURCE_DIR BUILD_DIR: the examples of ssdprobe-fleet(7), taken
# from the page and run on results of emulated drives.
set -u
export LC_ALL=C

source_dir=$(realpath -- "$1")
build_dir=$(realpath -- "$2")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch" || exit
# shellcheck source=tests/checks.sh
source "$source_dir/tests/checks.sh"

# Each example becomes a file of its name: what stands between .nf and .fi behind a
# comment that names it, without the escapes of roff.
awk '/^\.\\" file / { name = $3; gsub(/\\-/, "-", name); next }
    /^\.fi/ { name = "" }
    name != "" { gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print >name }' \
    "$build_dir/man/ssdprobe-fleet.7"
chmod +x all-hosts one-host together drift array.sbatch
check "the page has its examples" test -s drives.tsv -a -s load.py -a \
    -s load.sql -a -s mixed.sql

# An ssh, sudo, srun and parallel that stay here, on emulated drives.
mkdir bin results
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >bin/ssh
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/srun
cat >bin/parallel <<'STUB'
#!/bin/sh
while [ "$1" != ./one-host ]; do shift; done
while read -r host; do "$1" "$host" & done
wait
STUB
# Of the disks of the list each is an emulated drive.
cat >bin/ssdprobe <<STUB
#!/usr/bin/env bash
words=(run basic,read-buffer,sustained-write,capacity)
case \$1 in diff) words=() ;; esac
for word; do
    case \$word in
        *EXAMPLE_1) word=sim:ssd-a ;;
        *EXAMPLE_2) word=sim:fake-64g ;;
        *EXAMPLE_3) word=sim:usb-pny-2g ;;
        --confirm=*) echo "\$word" >>confirmed && continue ;;
    esac
    words+=("\$word")
done
exec "$build_dir/ssdprobe" "\${words[@]}"
STUB
chmod +x bin/*
export PATH=$scratch/bin:$PATH

check "all hosts are probed" ./all-hosts
check "and each drive has a document" test -s results/EX1.json -a \
    -s results/EX2.json -a -s results/EX3.json
check "which was asked for by its serial number" diff <(sort confirmed) \
    <(printf -- '--confirm=EX%s\n' 1 2 3)
mv results/EX3.json beside.json
check "a task of the array probes its line" env SLURM_ARRAY_TASK_ID=3 ./array.sbatch
check "with the same result" diff <(jq .findings beside.json) \
    <(jq .findings results/EX3.json)
"$build_dir/ssdprobe" run read-buffer sim:ssd-d -q --json=results/EX4.json \
    >/dev/null 2>&1 </dev/null
jq '.device.model = "ssd-a"' results/EX4.json >relabelled &&
    mv relabelled results/EX4.json

# What each engine says, a row a line.
check "the findings become a table" python3 load.py
sqlite() { python3 -c 'import sqlite3, sys
for row in sqlite3.connect("fleet.db").execute(open(sys.argv[1]).read()):
    print(*row, sep="|")' "$1"; }
check "the fake is found, and no other" diff <(sqlite fakes.sql) \
    <(echo 'results/EX2.json|fake-64g|wraps')
check "the model that keeps writing fastest is first, a slower one behind it" \
    diff <(sqlite steady.sql | sed 's/\..*//' | grep -v fake) \
    <(printf '%s\n' 'ssd-a|1|83' 'usb-pny-2g|1|11')
check "a label with two insides is found" diff <(sqlite mixed.sql) \
    <(echo 'ssd-a|read_buffer|2')
# DuckDB is not in Debian. Where Python does not have it, it comes from PyPI; it is
# optional, for PyPI may be out of reach.
export PYTHONPATH=$scratch/pypi
for python in python3 /usr/bin/python3; do
    "$python" -c 'import duckdb' 2>/dev/null ||
        timeout 90 "$python" -m pip install -q --retries 0 --timeout 10 \
            --target pypi 'duckdb>=1,<3' >said 2>&1 && break
done
if ! "$python" -c 'import duckdb' 2>>said; then
    echo "skip DuckDB, which is optional: $(tail -n 1 said)"
else
    cat >duck.py <<'END_OF_DUCK'
import duckdb, sys
table = duckdb.connect()
table.execute(open("load.sql").read())
for row in table.execute(open(sys.argv[1]).read()).fetchall():
    print(*row, sep="|")
END_OF_DUCK
    for question in fakes steady mixed; do
        check "DuckDB says the same of $question" \
            diff <("$python" duck.py $question.sql) <(sqlite $question.sql)
    done
    check "and leaves a Parquet file" grep -q PAR1 <(head -c 4 fleet.parquet)
fi

check "a drive beside others is compared" grep -q 'do not disturb' \
    <(./together beside.json results/EX3.json)
check "and what differs is named" grep -q 'too many in parallel' \
    <(./together results/EX1.json results/EX3.json)
./drift EX1 results/EX1.json results/EX3.json >ssdprobe.prom
check "a drift is a status for Prometheus" \
    grep -qx 'ssdprobe_diff_status{drive="EX1"} 8' ssdprobe.prom
check "beside its findings" grep -qE \
    '^ssdprobe_finding\{drive="EX1",parameter="random_read",unit="ns"\} [0-9]+$' \
    ssdprobe.prom
check "and each line is one of a textfile" bash -c \
    '! grep -vE "^[a-z_]+(\{([a-z]+=\"[^\"]*\",?)+\})? [-0-9.e+]+$" ssdprobe.prom'
if python3 -c 'import yaml' 2>/dev/null; then
    check "the playbook is one" python3 -c 'import yaml
play, = yaml.safe_load(open("probe.yml"))
words = play["tasks"][0]["ansible.builtin.command"]["argv"]
assert words[0] == "ssdprobe" and all(isinstance(w, str) for w in words)'
fi

summary
