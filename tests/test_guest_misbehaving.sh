#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/test_guest_misbehaving.sh SOURCE_DIR BUILD_DIR: the cases of
# guest/misbehaving.cases, in guests.
exec bash "$1/tests/guest/guest.sh" "$1" "$2" "$1/tests/guest/misbehaving.cases"
