# SPDX-License-Identifier: GPL-3.0-or-later
# Each probe is a program of its own name: a link ssdprobe-<probe> beside
# ssdprobe. One probe, one stem: probes/write_buffer/write_buffer.c says
# "write-buffer". A file that does not say its own name is part of a probe.
file(GLOB probe_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/probes/*/*.c)
set(probe_links)
foreach(source ${probe_sources})
  get_filename_component(stem ${source} NAME_WE)
  string(REPLACE "_" "-" name ${stem})
  file(STRINGS ${source} found REGEX "\\.name *= *\"${name}\"")
  if(found)
    list(APPEND probe_links ssdprobe-${name})
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endforeach()

foreach(link ${probe_links})
  add_custom_command(TARGET ssdprobe POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink ssdprobe
            $<TARGET_FILE_DIR:ssdprobe>/${link})
  install(FILES ${CMAKE_BINARY_DIR}/${link}
          DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
