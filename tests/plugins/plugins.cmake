# SPDX-License-Identifier: GPL-3.0-or-later
# Drives for `ssdprobe plugin:FILE.so`: the examples of libssdprobe-dev, one
# whose mapping no emulated drive has (thin_plugin.c), some that do not keep what is
# written (fake_plugin.c), and some that break the contract (bad_plugin.c).
function(test_plugin name source)
  add_library(plugin_${name} MODULE ${source})
  set_target_properties(plugin_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} C_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
  target_compile_definitions(plugin_${name} PRIVATE ${ARGN})
  target_link_libraries(plugin_${name} PRIVATE m)
  add_dependencies(test_plugin plugin_${name})
  add_dependencies(suites_quick plugin_${name})
endfunction()

foreach(suite test_plugin test_probes_trust test_session test_streams)
  target_compile_definitions(${suite} PRIVATE
                             PLUGIN_FOLDER="${CMAKE_BINARY_DIR}/plugins")
endforeach()
test_plugin(disk cmd/package/disk_plugin.c)
test_plugin(thin tests/plugins/thin_plugin.c)
test_plugin(foreign tests/plugins/foreign_plugin.c)
test_plugin(fake tests/plugins/fake_plugin.c)
add_dependencies(test_probes_trust plugin_fake)
add_dependencies(test_streams plugin_foreign)
test_plugin(bad tests/plugins/bad_plugin.c)
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  test_plugin(event cmd/package/event_plugin.cpp)
  target_compile_definitions(test_plugin PRIVATE PLUGIN_EVENTS)
endif()
test_plugin(newer tests/plugins/bad_plugin.c BAD_VERSION=77)
test_plugin(nameless tests/plugins/bad_plugin.c BAD_SYMBOL=another_name)
test_plugin(hollow tests/plugins/bad_plugin.c BAD_IO=NULL)
