# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Part of test_quality.sh: what clang, cppcheck and shellcheck say.

check_format()
{
    sources "$1" | (cd -- "$1" &&
        xargs -r clang-format --dry-run -Werror 2>&1)
}

break_format()
{
    only_bad_file <<<'int  bad( void ){return 0;}'
}

# The tree becomes one file, for checks that take long.
only_bad_file()
{
    rm -rf lib probes cmd tests
    mkdir -p lib/base probes cmd tests
    cat >lib/base/bad.c
    printf '[{"directory": "%s", "file": "lib/base/bad.c", %s}]\n' "$PWD" \
        '"command": "cc -std=c11 -c lib/base/bad.c"' >compile_commands.json
}

# How far the analyzer follows a function. With the long tests all the way, which
# takes forty times as long.
check_tidy()
{
    local database=$build_dir nodes=1000
    [[ -z ${SSDPROBE_TEST_LONG-} ]] || nodes=225000
    [[ ! -e $1/compile_commands.json ]] || database=$1
    sources "$1" lib probes cmd | grep '\.c$' |
        (cd -- "$1" && xargs -r -P 2 -n 3 \
            clang-tidy --quiet -p "$database" \
            --extra-arg=-Xclang --extra-arg=-analyzer-config \
            --extra-arg=-Xclang "--extra-arg=max-nodes=$nodes" 2>/dev/null) |
        grep -E ': (error|warning): ' | sort -u
}

break_tidy()
{
    only_bad_file <<'END'
int bad(int one, int two);

int bad(int one, int two)
{
    return one == two && one == two;
}
END
}

# What the compiler clang warns of, by the options of the build, is a mistake too.
break_clang()
{
    only_bad_file <<'END'
unsigned char bad(void);

unsigned char bad(void)
{
    return 300;
}
END
}

# Suppressed: what it gets wrong, and others here see better (the analyzer,
# valgrind, the sanitizers): ownership that is returned ('-errno or fd', mmap), an
# fd of -1 for mmap, results through pointers; readdir on a stream of one's own.
check_cppcheck()
{
    (cd -- "$1" && cppcheck --quiet -j 2 --std=c11 --library=posix \
        --enable=warning,performance,portability --inline-suppr \
        --suppress={missingInclude,missingIncludeSystem} \
        --suppress={unmatchedSuppression,readdirCalled,legacyUninitvar,uninitvar} \
        --suppress={resourceLeak,memleak,invalidFunctionArg} \
        --template='{file}:{line}: {id}: {message}' -I . \
        lib probes cmd 2>&1 | sort -u)
}

break_cppcheck()
{
    only_bad_file <<'END'
int bad(void)
{
    int items[2] = { 1, 2 };
    return items[2];
}
END
}

check_scripts()
{
    (cd -- "$1" &&
        shellcheck -x -a --severity=warning -f gcc bootstrap .ci/run \
            tests/*.sh tests/guest/*.sh tests/guest/init)
}

break_scripts()
{
    rm -f tests/*.sh tests/guest/*.sh
    echo 'if true; then' | tee tests/bad.sh >tests/guest/bad.sh
}
