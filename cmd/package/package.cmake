# SPDX-License-Identifier: GPL-3.0-or-later
# `cpack` in the build folder makes two Debian packages: ssdprobe (the programs)
# and libssdprobe-dev (cmd/package/library.cmake).
# Debian's policy: the copyright beside a compressed changelog in each package.
function(package_documents package component)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES cmd/package/copyright
          DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz
          DESTINATION ${folder} COMPONENT ${component})
endfunction()
execute_process(COMMAND ${GZIP} -9nc ${CMAKE_SOURCE_DIR}/cmd/package/changelog
                OUTPUT_FILE ${CMAKE_BINARY_DIR}/changelog.gz)
package_documents(ssdprobe Unspecified)
package_documents(libssdprobe-dev development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# An address that is reserved for documents: whoever distributes the package
# puts in their own, here and in the changelog.
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

set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME ssdprobe)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS
    "librsvg2-bin, hdparm, fuse3, nbdkit, bash-completion")
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION
"ssdprobe times reads, writes and cache flushes of an SSD, a USB stick or a
memory card, and infers its pages, blocks, cells, buffers and mapping. Each
answer has an interval, a confidence and a reason, or is an honest absent or
inconclusive.
.
flashemu emulates drives whose insides are known: in virtual time, behind a
block device, and over traces.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libssdprobe-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "liburing-dev, libudev-dev, libblkid-dev, libatasmart-dev, libjson-c-dev, libinih-dev, libc6-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "pkgconf")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"This package is for programs that probe or emulate flash drives themselves: the
layers below ssdprobe and flashemu as a static library with headers: timed
direct I/O, inference, sessions, reports, and the emulated flash drive.")
include(CPack)
