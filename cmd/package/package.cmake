# SPDX-License-Identifier: GPL-3.0-or-later
# `cpack` in the build folder makes two Debian packages: ssdprobe (the programs)
# and libssdprobe-dev (cmd/package/library.cmake).
# Debian's policy: the copyright beside a compressed changelog in each package.
function(package_documents package component)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES cmd/package/debian/copyright
          DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz
          DESTINATION ${folder} COMPONENT ${component})
endfunction()
execute_process(COMMAND ${GZIP} -9nc
                        ${CMAKE_SOURCE_DIR}/cmd/package/debian/changelog
                OUTPUT_FILE ${CMAKE_BINARY_DIR}/changelog.gz)
package_documents(ssdprobe Unspecified)
package_documents(libssdprobe-dev development)

# CPack and `dpkg-buildpackage` make the same packages: what they say of
# themselves stands in debian/control. Stores a field of PACKAGE in `out`, without
# what debhelper fills in; of the description all but its first line.
file(READ cmd/package/debian/control debian_control)
function(debian_field package field out)
  string(REGEX REPLACE ".*\nPackage: ${package}\n" "" text "${debian_control}")
  string(REGEX REPLACE "\n\n.*" "\n" text "${text}")
  if(field STREQUAL "Description")
    string(REGEX REPLACE ".*\nDescription: [^\n]*\n " "" text "${text}")
    string(REPLACE "\n " "\n" text "${text}")
    string(STRIP "${text}" text)
  elseif("\n${text}" MATCHES "\n${field}: ([^\n]*)")
    string(REGEX REPLACE "\\\${[a-z]+:[A-Za-z]+}(, )?" "" text "${CMAKE_MATCH_1}")
  else()
    message(FATAL_ERROR "debian/control: ${package} has no ${field}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# An address that is reserved for documents: whoever distributes the package
# puts in their own, here and in debian/.
set(CPACK_PACKAGE_CONTACT "The ssdprobe authors <ssdprobe@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "find out what is inside a flash drive by timing it")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified development)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# As CPack calls the components.
foreach(pair UNSPECIFIED=ssdprobe DEVELOPMENT=libssdprobe-dev)
  string(REGEX MATCH "(.*)=(.*)" pair ${pair})
  set(component ${CMAKE_MATCH_1})
  set(package ${CMAKE_MATCH_2})
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${package})
  debian_field(${package} Section CPACK_DEBIAN_${component}_PACKAGE_SECTION)
  debian_field(${package} Depends CPACK_DEBIAN_${component}_PACKAGE_DEPENDS)
  debian_field(${package} Recommends
               CPACK_DEBIAN_${component}_PACKAGE_RECOMMENDS)
  debian_field(${package} Description CPACK_COMPONENT_${component}_DESCRIPTION)
endforeach()
debian_field(ssdprobe Suggests CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SHLIBDEPS ON)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmd/package/installed_size.cmake)
include(CPack)
