# SPDX-License-Identifier: GPL-3.0-or-later
# Suites by behaviour: tests/test_*.c are Check programs, tests/test_*.sh are
# scripts (called with the source and the build folder) that end in a line
# 'N passed, N failed'. Each is one ctest entry; suite.sh sees to the count.
enable_testing()
pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)

# Tests are called BUILD.SUITE, for run.sh runs those of several builds at once.
get_filename_component(build ${CMAKE_BINARY_DIR} NAME)
# Those that take long begin before others.
set(longest test_quality test_faults test_random test_budget test_experiments
    test_rows test_probes_kim test_probes_stick test_plots test_documents
    test_pages test_probes_reads test_session)

# Under the sanitizers these only repeat, on more drives, what test_session,
# test_study and the suites of the model run there already: with the long tests.
set(repeat test_budget test_experiments test_probes_kim test_probes_stick
    test_probes_reads test_probes_trust test_random test_rows test_hot_cold
    test_steady_state test_sustained_write test_throughput test_twin)

# What the suites run that are not with the long tests.
add_custom_target(suites)

function(suite name label)
  set(test ${build}.${name})
  if(build STREQUAL "debug" AND name IN_LIST repeat)
    set(label long)
  endif()
  add_test(NAME ${test} COMMAND bash ${CMAKE_SOURCE_DIR}/tests/suite.sh
           ${name} ${CMAKE_BINARY_DIR}/suites ${ARGN})
  # suite.sh stops it long before.
  set_tests_properties(${test} PROPERTIES LABELS ${build}-${label}
                       TIMEOUT 7200)
  if(name IN_LIST longest)
    set_tests_properties(${test} PROPERTIES COST 500)
  endif()
endfunction()

file(GLOB programs CONFIGURE_DEPENDS tests/test_*.c)
foreach(source ${programs})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ssd_study ssd_probes ssd_twin ssd_session
                        ssd_report PkgConfig::CHECK Threads::Threads)
  target_compile_definitions(${name} PRIVATE
                             SOURCE_FOLDER="${CMAKE_SOURCE_DIR}")
  # Check's macros rely on GNU extensions. What a test does itself takes no time,
  # but its compilation does.
  target_compile_options(${name} PRIVATE -Wno-pedantic
                         $<IF:$<BOOL:${SSDPROBE_SANITIZE}>,-O0,-O1>)
  suite(${name} check $<TARGET_FILE:${name}>)
  if(NOT (build STREQUAL "debug" AND name IN_LIST repeat))
    add_dependencies(suites ${name})
  endif()
  # Loop devices are the machine's: one suite at a time.
  file(STRINGS ${source} loop REGEX "device_loop.h")
  if(loop)
    set_tests_properties(${build}.${name} PROPERTIES RESOURCE_LOCK loop)
  endif()
endforeach()

# What the guests of tests/guest run beside the programs.
add_executable(guest_flushes tests/guest/flushes.c)
target_link_libraries(guest_flushes PRIVATE ssd_device)
add_executable(guest_nbd tests/guest/nbd.c)
target_link_libraries(guest_nbd PRIVATE Threads::Threads)

file(GLOB scripts CONFIGURE_DEPENDS tests/test_*.sh)
foreach(script ${scripts} ${CMAKE_SOURCE_DIR}/tests/fresh_debian.sh
               ${CMAKE_SOURCE_DIR}/tests/fresh_package.sh
               ${CMAKE_SOURCE_DIR}/tests/other_builds.sh
               ${CMAKE_SOURCE_DIR}/tests/mutants.sh)
  get_filename_component(name ${script} NAME_WE)
  set(label script)
  if(NOT name MATCHES "^test_")
    set(label long)
  endif()
  suite(${name} ${label} bash ${script} ${CMAKE_SOURCE_DIR}
        ${CMAKE_BINARY_DIR})
  # What measures on the machine's own clock has it for itself, or comes first, one
  # suite at a time, with fewer others beside it. Guests have a clock of their own,
  # but are large; loop devices are the machine's, and so are drives served on them:
  # one suite at a time.
  file(STRINGS ${script} timed REGEX "^measures_time$")
  file(STRINGS ${script} first REGEX "^comes_first$")
  file(STRINGS ${script} guest REGEX "tests/guest/guest.sh")
  file(STRINGS ${script} served REGEX "serving.sh|tests/road.sh")
  file(STRINGS ${script} loop REGEX "losetup|--via loop")
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
