# SPDX-License-Identifier: GPL-3.0-or-later
# Suites by behaviour: tests/test_*.c are Check programs, tests/*.sh are scripts
# that end in a line 'N passed, N failed'. Each is one ctest entry.
enable_testing()
pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)

file(GLOB suites CONFIGURE_DEPENDS tests/test_*.c)
foreach(source ${suites})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ssd_probes ssd_session ssd_report
                        PkgConfig::CHECK Threads::Threads)
  target_compile_definitions(${name} PRIVATE
                             SOURCE_FOLDER="${CMAKE_SOURCE_DIR}")
  # Check's macros rely on GNU extensions.
  target_compile_options(${name} PRIVATE -Wno-pedantic)
  add_test(NAME ${name} COMMAND ${name})
endforeach()

file(GLOB scripts CONFIGURE_DEPENDS tests/test_*.sh)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME ${name}
           COMMAND bash ${script} ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  # Scripts share loop devices and the processor: one at a time.
  set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
endforeach()
