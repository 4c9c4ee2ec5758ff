# SPDX-License-Identifier: GPL-3.0-or-later
# libssdprobe: all layers below cmd/ as one archive with headers and pkg-config,
# for programs that measure or emulate drives themselves. Its names begin with
# ssdprobe_ and flashemu_ (symbols.sh).
option(SSDPROBE_SHARED "Install libssdprobe as a shared library too" OFF)

set(layers)
foreach(layer base flash infer device session report probes)
  list(APPEND layers $<TARGET_OBJECTS:ssd_${layer}>)
endforeach()
add_library(libssdprobe_plain STATIC ${layers})
set_target_properties(libssdprobe_plain PROPERTIES OUTPUT_NAME ssdprobe_plain
                                                   LINKER_LANGUAGE C)
set(archive ${CMAKE_BINARY_DIR}/libssdprobe.a)
set(object ${CMAKE_BINARY_DIR}/libssdprobe.o)
set(names ${CMAKE_BINARY_DIR}/symbols)
add_custom_command(OUTPUT ${archive} ${names}.h ${object}
  COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/symbols.sh ${CMAKE_NM}
          $<TARGET_FILE:ssd_flash> $<TARGET_FILE:libssdprobe_plain> ${names}.map ${names}.h
  COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${names}.map
          $<TARGET_FILE:libssdprobe_plain> ${archive}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object}
          -Wl,--whole-archive ${archive}
  DEPENDS libssdprobe_plain ssd_flash ${CMAKE_CURRENT_LIST_DIR}/symbols.sh
  VERBATIM)
add_custom_target(libssdprobe ALL DEPENDS ${archive})

# Its interface may change from version to version, so before version 1 each has
# a soname of its own.
add_library(libssdprobe_shared SHARED ${object})
set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_link_options(libssdprobe_shared PRIVATE
  LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/libssdprobe.map)
set_target_properties(libssdprobe_shared PROPERTIES
  OUTPUT_NAME ssdprobe LINKER_LANGUAGE C VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/libssdprobe.map)
target_link_libraries(libssdprobe_shared PRIVATE m PkgConfig::INIH
  PkgConfig::URING PkgConfig::UDEV PkgConfig::BLKID PkgConfig::ATASMART
  PkgConfig::JSONC $<TARGET_NAME_IF_EXISTS:PkgConfig::ZSTD>
  $<TARGET_NAME_IF_EXISTS:PkgConfig::ZLIB> ${CMAKE_DL_LIBS})

# From the folder of the .pc file, so that an installed tree may be moved.
file(RELATIVE_PATH PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
if(ZSTD_FOUND)
  set(PC_ZSTD " libzstd")
endif()
if(ZLIB_FOUND)
  string(APPEND PC_ZSTD " zlib")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/libssdprobe.pc.in
               ${CMAKE_BINARY_DIR}/libssdprobe.pc @ONLY)
set(library_component COMPONENT development)
# `cmake --install BUILD --component shared` installs it in any case.
set(unasked EXCLUDE_FROM_ALL)
if(SSDPROBE_SHARED)
  set(unasked)
endif()
install(TARGETS libssdprobe_shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT shared ${unasked})
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ${library_component})
install(FILES ${CMAKE_BINARY_DIR}/libssdprobe.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${library_component})
# Headers include each other from the root of the tree, installed or not.
install(DIRECTORY lib probes
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdprobe ${library_component}
        FILES_MATCHING PATTERN "*.h" PATTERN drives EXCLUDE)
install(FILES ${names}.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdprobe ${library_component})
install(FILES cmd/package/example.c cmd/package/example_probe.c
              cmd/package/disk_plugin.c cmd/package/event_plugin.cpp
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libssdprobe-dev/examples
        ${library_component})
