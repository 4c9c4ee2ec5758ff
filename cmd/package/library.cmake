# SPDX-License-Identifier: GPL-3.0-or-later
# libssdprobe: all layers below cmd/ as one archive with headers and pkg-config,
# for programs that measure or emulate drives themselves. Static only: its
# interface may still change from version to version, and a shared library
# would promise that it does not.
add_library(libssdprobe STATIC
  $<TARGET_OBJECTS:ssd_base> $<TARGET_OBJECTS:ssd_flash>
  $<TARGET_OBJECTS:ssd_infer> $<TARGET_OBJECTS:ssd_device>
  $<TARGET_OBJECTS:ssd_session> $<TARGET_OBJECTS:ssd_report>
  $<TARGET_OBJECTS:ssd_probes>)
set_target_properties(libssdprobe PROPERTIES OUTPUT_NAME ssdprobe
                                             LINKER_LANGUAGE C)

# From the folder of the .pc file, so that an installed tree may be moved.
file(RELATIVE_PATH PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/libssdprobe.pc.in
               ${CMAKE_BINARY_DIR}/libssdprobe.pc @ONLY)
set(library_component COMPONENT development)
install(TARGETS libssdprobe
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${library_component})
install(FILES ${CMAKE_BINARY_DIR}/libssdprobe.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${library_component})
# Headers include each other from the root of the tree, installed or not.
install(DIRECTORY lib probes
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdprobe ${library_component}
        FILES_MATCHING PATTERN "*.h" PATTERN drives EXCLUDE)
install(FILES cmd/package/example.c cmd/package/example_probe.c
              cmd/package/disk_plugin.c
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libssdprobe-dev/examples
        ${library_component})
