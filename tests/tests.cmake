# SPDX-License-Identifier: GPL-3.0-or-later
# Suites by behaviour: tests/test_*.c are Check programs. tests/test_*.sh are
# scripts (called with the source and the build folder) that end in a line
# 'N passed, N failed'. Each is one ctest entry; suite.sh sees to the count.
enable_testing()
pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)

# ---- Where a suite belongs: its label, quick, all or long --------------------
# `./bootstrap test` runs the quick ones: every suite that is not named here.
# They need no virtual machine, no drive in real time, no linter, no package.
# `./bootstrap test --all` runs these too:
set(all
    # guests
    test_guest_disks test_guest_interlocks test_guest_misbehaving
    test_guest_ublk
    # disks and servers in real time: loop, FUSE, NBD
    test_clients test_controls test_device test_disturbed test_documents
    test_ends test_interlocks test_interlocks_disks test_nbdkit test_road
    test_road_sticks test_serve test_shared test_survey_road
    # kills, linters, packages, valgrind
    test_faults test_quality test_install test_package test_recipes test_speed
    test_valgrind
    # minutes of emulated drives, figures, file systems, PyPI
    test_accuracy test_advice test_experiments test_fleet test_foreign_drives
    test_papers test_plots test_twin test_twin_formats)
# `./bootstrap test --long` runs these too:
set(long fresh_debian fresh_package mutants other_builds)
# These take minutes under the sanitizers: there only with --long.
set(slow test_experiments test_twin)
# Check programs run under the sanitizers. Those that cut their tables short
# there (suite_run.h) run in full in the release build, with --all.
set(short_when_sanitized
    "SUITE_SANITIZED|suite_rows|suite_seeds|__SANITIZE_ADDRESS__")

# Those that take long begin before others.
set(longest test_quality test_faults test_random test_budget test_experiments
    test_rows test_probes_kim test_probes_stick test_plots test_documents
    test_pages test_probes_reads test_session test_cli test_remedies test_twin)

# suites_LABEL builds what the suites of this label and of those before it need.
add_custom_target(suites_quick)
add_custom_target(suites_all)
add_custom_target(suites_long)
add_dependencies(suites_all suites_quick)
add_dependencies(suites_long suites_all)

# Tests are called BUILD.SUITE: run.sh runs those of several builds at once.
get_filename_component(build ${CMAKE_BINARY_DIR} NAME)

# label_of SUITE VARIABLE
function(label_of name variable)
  set(label quick)
  foreach(set all long)
    if(name IN_LIST ${set})
      set(label ${set})
    endif()
  endforeach()
  set(${variable} ${label} PARENT_SCOPE)
endfunction()

function(suite name label)
  set(test ${build}.${name})
  add_test(NAME ${test} COMMAND bash ${CMAKE_SOURCE_DIR}/tests/suite.sh
           ${name} ${CMAKE_BINARY_DIR}/suites ${ARGN})
  # suite.sh stops it long before.
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 7200)
  if(name IN_LIST longest)
    set_tests_properties(${test} PROPERTIES COST 500)
  endif()
endfunction()

file(GLOB programs CONFIGURE_DEPENDS tests/test_*.c)
foreach(source ${programs})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ssd_oracle ssd_study ssd_probes ssd_twin ssd_session
                        ssd_report PkgConfig::CHECK Threads::Threads)
  target_compile_definitions(${name} PRIVATE
                             SOURCE_FOLDER="${CMAKE_SOURCE_DIR}")
  # Check's macros rely on GNU extensions. What a test does itself takes no time,
  # but its compilation does.
  target_compile_options(${name} PRIVATE -Wno-pedantic
                         $<IF:$<BOOL:${SSDPROBE_SANITIZE}>,-O0,-O1>)
  file(STRINGS ${source} short REGEX "${short_when_sanitized}")
  if(SSDPROBE_SANITIZE)
    label_of(${name} label)
    if(name IN_LIST slow)
      set(label long)
    endif()
  elseif(short OR name IN_LIST slow)
    set(label all)
  else()
    continue()
  endif()
  suite(${name} ${label} $<TARGET_FILE:${name}>)
  add_dependencies(suites_${label} ${name})
  # Loop devices are the machine's: one suite at a time.
  file(STRINGS ${source} loop REGEX "device_loop.h")
  if(loop)
    if(label STREQUAL "quick")
      message(FATAL_ERROR "${name} takes a loop device: it is not quick")
    endif()
    set_tests_properties(${build}.${name} PROPERTIES RESOURCE_LOCK loop)
  endif()
endforeach()

# What the guests of tests/guest run beside the programs.
add_executable(guest_flushes tests/guest/flushes.c)
target_link_libraries(guest_flushes PRIVATE ssd_device)
add_executable(guest_nbd tests/guest/nbd.c)
target_link_libraries(guest_nbd PRIVATE Threads::Threads)

# Scripts look at the release build from outside.
file(GLOB scripts CONFIGURE_DEPENDS tests/test_*.sh)
foreach(name ${long})
  list(APPEND scripts ${CMAKE_SOURCE_DIR}/tests/${name}.sh)
endforeach()
if(SSDPROBE_SANITIZE)
  set(scripts)
endif()
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  label_of(${name} label)
  suite(${name} ${label} bash ${script} ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  # What measures on the machine's own clock has it for itself, or comes first, one
  # suite at a time, with fewer others beside it. Guests have a clock of their own,
  # but are large; loop devices are the machine's, and so are drives served on them:
  # one suite at a time.
  file(STRINGS ${script} timed REGEX "^measures_time$")
  file(STRINGS ${script} first REGEX "^comes_first$")
  file(STRINGS ${script} guest REGEX "tests/guest/guest.sh")
  file(STRINGS ${script} served REGEX "serving.sh|tests/road.sh")
  file(STRINGS ${script} loop REGEX "losetup|--via loop")
  if(label STREQUAL "quick" AND (timed OR first OR guest OR served))
    message(FATAL_ERROR "${name} takes a drive in real time: it is not quick")
  endif()
  set(locks)
  set(cost 0)
  if(loop)
    set(locks loop)
    set(cost 600)
  endif()
  if(served)
    set(locks served)
    set(cost 700)
  endif()
  if(guest)
    set(locks guest)
    set(cost 1000)
  endif()
  if(first)
    list(APPEND locks clock)
    set(cost 1100)
    # The first one of all. A later one would wait for two places at once until
    # all others have had theirs.
    if(name STREQUAL "test_disturbed")
      set(cost 1200)
      set_tests_properties(${build}.${name} PROPERTIES PROCESSORS 2)
    endif()
  endif()
  if(timed)
    set_tests_properties(${build}.${name} PROPERTIES RUN_SERIAL TRUE)
  elseif(locks)
    set_tests_properties(${build}.${name} PROPERTIES RESOURCE_LOCK "${locks}"
                         COST ${cost})
  endif()
endforeach()
include(tests/plugins/plugins.cmake)
include(tests/bench/bench.cmake OPTIONAL)

if(NOT SSDPROBE_SANITIZE)
  add_dependencies(suites_quick ssdprobe flashemu manual)
  # test_valgrind runs test_units; packages hold all that is installed.
  add_dependencies(suites_all test_units guest_flushes guest_nbd libssdprobe
                   libssdprobe_shared)
  foreach(program nbdkit-flash-plugin model_cost)
    if(TARGET ${program})
      add_dependencies(suites_all ${program})
    endif()
  endforeach()
endif()
