#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/run.sh BUILD_ROOT quick|all|long: the suites of that label and of those
# before it (tests.cmake), through ctest. Each has a line that says how many are
# done and how long the rest takes. The last line has the sum. What did not run is
# no failed test, and yet the run fails.
set -u

build_root=$1
case $2 in
    quick) labels='^quick$' ;;
    all) labels='^(quick|all)$' ;;
    long) labels='^(quick|all|long)$' ;;
    *)
        echo "run.sh: no label '$2'"
        exit 1
        ;;
esac
# The line 'NAME SECONDS' says what a suite took when it last ran. The line
# 'run WALL SUM' says what a whole run took, and all its suites in sum.
times=$build_root/suite-times
tail_lines=40 fail_lines=8 fail_lines_max=100
total_passed=0 total_failed=0

# excerpt LOG: what failed, and the end of the log; no line twice.
excerpt()
{
    awk -v after="$fail_lines" -v most="$fail_lines_max" -v end="$tail_lines" '
        { line[NR] = $0 }
        /^FAIL/ { until = NR + after }
        NR <= until { shown[NR] }
        END {
            for (i = NR - end; i > 0; i--)
                if (i in shown && ++count > most) delete shown[i]
            for (i = 1; i <= NR; i++) {
                if (!(i in shown) && i <= NR - end) continue
                if (i > last + 1) print "..."
                print line[i]
                last = i
            }
        }' "$1" | sed 's/^/    | /'
}

# left: 'about 9 minutes left', from the times of the last run; nothing where
# none of those that are left has run before.
left()
{
    awk -v names="${!waiting[*]}" '
        $1 == "run" { wall = $2; sum = $3; next }
        { seconds[$1] = $2; known += $2; count++ }
        END {
            left = split(names, name, " ")
            for (i = 1; i <= left; i++)
                # One that is new takes as long as others.
                rest += name[i] in seconds ? seconds[name[i]] : known / count
            if (left == 0 || count == 0 || sum == 0) exit
            minutes = int(rest * wall / sum / 60 + 0.5)
            if (minutes == 0) print ", less than a minute left"
            else printf ", about %d minute%s left\n", minutes,
                minutes == 1 ? "" : "s"
        }' "$times" 2>/dev/null
}

# report BUILD NAME: one line; what failed and the end of the log when it did.
report()
{
    local folder=$build_root/$1/suites passed=0 failed=0 seconds processor why text
    unset "waiting[$1.$2]"
    if [[ -r $folder/$2.result ]]; then
        read -r passed failed seconds processor why <"$folder/$2.result"
        ((total_passed += passed, total_failed += failed))
        took[$1.$2]=$seconds
        [[ $why == '-' ]] && why='' || why=": $why"
        printf -v text '%5d passed, %d failed, %d s, %d s of processor%s' \
            "$passed" "$failed" "$seconds" "$processor" "$why"
    else
        text='      not run'
        not_run+=("$1.$2")
    fi
    printf '%-8s %-28s %s (%d of %d%s)\n' "$1" "$2" "$text" \
        "$((suites - ${#waiting[@]}))" "$suites" "$(left)"
    if ((failed > 0)) && [[ -r $folder/$2.log ]]; then
        excerpt "$folder/$2.log"
        broken+=("$1 $2: $(grep -m1 -E '^FAIL|:[FE]:' "$folder/$2.log" ||
            tail -n1 "$folder/$2.log")")
    fi
}

# Keeps the times for the next run. What did not run keeps its old one.
remember()
{
    local name seconds rest sum=0 whole=''
    for name in "${!took[@]}"; do
        ((sum += took[$name]))
    done
    ((${#not_run[@]} > 0)) || whole="$SECONDS $sum"
    if [[ -r $times ]]; then
        while read -r name seconds rest; do
            if [[ $name == run ]]; then
                whole=${whole:-$seconds $rest}
            else
                took[$name]=${took[$name]-$seconds}
            fi
        done <"$times"
    fi
    {
        [[ -z $whole ]] || echo "run $whole"
        for name in "${!took[@]}"; do
            echo "$name ${took[$name]}"
        done
    } >"$times"
}

# Suites of both builds at once, so that no processor waits for the other build.
printf 'subdirs(release debug)\n' >"$build_root/CTestTestfile.cmake"
rm -rf -- "$build_root"/{release,debug}/suites
ctest=(ctest --test-dir "$build_root" -L "$labels")
declare -A waiting=() took=()
not_run=() broken=()
while read -r name; do
    waiting[$name]=1
done < <("${ctest[@]}" -N | sed -n 's/^ *Test *#[0-9]*: //p')
suites=${#waiting[@]} known="${!waiting[*]}"

# Some wait for drives more than they compute: two more than processors. What
# measures time takes precedence over the rest (comes_first).
while read -r line; do
    if [[ $line =~ Test\ +\#[0-9]+:\ ([a-z]+)\.([a-z0-9_]+)\ .*\ sec ]]; then
        report "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    fi
done < <("${ctest[@]}" -j"$(($(nproc) + 2))" 2>&1)
for name in "${!waiting[@]}"; do
    report "${name%%.*}" "${name#*.}"
done
remember
for build in release debug; do
    if [[ " $known" != *" $build."* ]]; then
        echo "$build: there is no suite"
        ((total_failed += 1))
    fi
done
if ((${#not_run[@]} > 0)); then
    echo "not run, so this is no success: ${not_run[*]}"
fi

# Again at the end: who keeps only the last lines must see what failed.
((${#broken[@]} == 0)) || printf 'failed: %s\n' "${broken[@]}"
printf '%d passed, %d failed\n' "$total_passed" "$total_failed"
((total_failed == 0 && ${#not_run[@]} == 0))
