# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that the scripts of this folder drive; not tests.
add_executable(bench_overhead EXCLUDE_FROM_ALL tests/bench/overhead_read.c)
target_link_libraries(bench_overhead PRIVATE ssd_device)
add_executable(model_cost tests/bench/model_cost.c)
target_link_libraries(model_cost PRIVATE ssd_flash)
