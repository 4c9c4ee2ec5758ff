#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The findings of three served sticks, on a real block device, as Sun & Zhang found
# them (table 3). What a switch of groups costs is a small part of a request's time:
# it does not show beside other work.
#   test_road_sticks.sh SOURCE_DIR BUILD_DIR
set -u
sources=$(realpath "$1")
# shellcheck source=tests/road.sh
. "$sources/tests/road.sh"
measures_time

# Merges take minutes of a stick's time: they are for the long tests.
unknown=() kingston=() pny=()
if [ -n "${SSDPROBE_TEST_LONG-}" ]; then
    unknown=(log-list "log_list found 3" content "content_dependence found True")
    kingston=(log-list "log_list found 4" content "content_dependence found False")
    pny=("${kingston[@]}")
fi
has usb-unknown-1g 1 inter-request-distance "segment_groups found 4" \
    "${unknown[@]}"
has usb-kingston-1g 1 inter-request-distance "segment_groups found 2" \
    "${kingston[@]}"
has usb-pny-2g 1 inter-request-distance "segment_groups found 2" "${pny[@]}"
summary
