# SPDX-License-Identifier: GPL-3.0-or-later
# flashemu, and its drives behind NBD. Systems that are too small for them, or
# lack FUSE, set FLASHEMU=OFF: ssdprobe needs neither.
pkg_check_modules(FUSE3 REQUIRED IMPORTED_TARGET fuse3)

file(GLOB_RECURSE flashemu_sources CONFIGURE_DEPENDS
     cmd/flashemu/*.c cmd/common/*.c)
add_executable(flashemu ${flashemu_sources})
target_link_libraries(flashemu PRIVATE ssd_oracle ssd_study ssd_device
                      PkgConfig::FUSE3 PkgConfig::URING PkgConfig::JSONC
                      Threads::Threads)

# Where nbdkit's headers are: package nbdkit-plugin-dev. nbdkit brings the
# functions that the plugin calls.
find_path(NBDKIT_INCLUDE nbdkit-plugin.h)
if(NBDKIT_INCLUDE)
  add_library(nbdkit-flash-plugin MODULE cmd/nbdkit/flash.c
              cmd/flashemu/live/contents.c cmd/flashemu/live/live.c
              cmd/flashemu/live/live_shared.c cmd/flashemu/live/pace.c)
  set_target_properties(nbdkit-flash-plugin PROPERTIES
                        PREFIX "" C_VISIBILITY_PRESET hidden)
  target_link_libraries(nbdkit-flash-plugin PRIVATE ssd_flash Threads::Threads)
  install(TARGETS nbdkit-flash-plugin
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/nbdkit/plugins)
endif()
