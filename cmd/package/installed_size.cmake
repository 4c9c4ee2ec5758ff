# SPDX-License-Identifier: GPL-3.0-or-later
# After cpack: it counts each link of ssdprobe as a copy of the program. The
# packages are made again with the size that they really have, in KiB.
find_program(DPKG_DEB dpkg-deb)
if(NOT DPKG_DEB)
  return()
endif()
foreach(package ${CPACK_PACKAGE_FILES})
  set(tree ${CPACK_TEMPORARY_DIRECTORY}/installed-size)
  file(REMOVE_RECURSE ${tree})
  execute_process(COMMAND ${DPKG_DEB} -R ${package} ${tree}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND du -k -s --apparent-size --exclude=DEBIAN ${tree}
                  OUTPUT_VARIABLE size COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[0-9]+" size "${size}")
  file(READ ${tree}/DEBIAN/control control)
  string(REGEX REPLACE "Installed-Size: [0-9]+" "Installed-Size: ${size}"
         control "${control}")
  file(WRITE ${tree}/DEBIAN/control "${control}")
  execute_process(COMMAND ${DPKG_DEB} --root-owner-group -b ${tree} ${package}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${tree})
endforeach()
