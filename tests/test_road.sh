#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The findings of a served ssd-a (five times in a row with the long tests) and of
# ssd-c, on a real block device: large parts of a request's time, which show beside
# other work.
#   test_road.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
# shellcheck source=tests/road.sh
. "$sources/tests/road.sh"
comes_first

# The exact size of a large buffer takes minutes on a machine that is busy: it is
# for the long tests.
runs=1 ssd_c=()
if [ -n "${SSDPROBE_TEST_LONG-}" ]; then
    runs=5
    ssd_c=(read-buffer "read_buffer found 3145728")
fi
has ssd-a "$runs" clustered-page "clustered_page found 16384" \
    read-buffer "read_buffer found 262144" \
    write-buffer "write_buffer found 261120"
has ssd-c 1 clustered-page "clustered_page found 4096" \
    write-buffer "write_buffer found 114688" "${ssd_c[@]}"
summary
