# SPDX-License-Identifier: GPL-3.0-or-later
# Manual pages and completions, made from the programs' own tables of commands
# and options. A template's line @OPTIONS@, @PROBES@ or @KEYS@ becomes what the
# program prints for --describe=options, probes or keys.
set(manual_outputs)
find_program(GZIP gzip REQUIRED)

function(manual_page page program)
  set(output ${CMAKE_BINARY_DIR}/man/${page})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DTEMPLATE=${CMAKE_SOURCE_DIR}/cmd/man/${page}.in
            -DOUTPUT=${output} -DPROGRAM=$<TARGET_FILE:${program}>
            -DVERSION=${PROJECT_VERSION}
            -P ${CMAKE_SOURCE_DIR}/cmd/man/page.cmake
    COMMAND ${GZIP} -9nkf ${output}
    DEPENDS ${program} ${CMAKE_SOURCE_DIR}/cmd/man/${page}.in
            ${CMAKE_SOURCE_DIR}/cmd/man/page.cmake)
  string(REGEX REPLACE ".*\\." "" section ${page})
  install(FILES ${output}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  set(manual_outputs ${manual_outputs} ${output} PARENT_SCOPE)
endfunction()

# completion PROGRAM SHELL FOLDER FILE
function(completion program shell folder file)
  set(output ${CMAKE_BINARY_DIR}/completions/${shell}/${file})
  get_filename_component(output_folder ${output} DIRECTORY)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${output_folder}
    COMMAND $<TARGET_FILE:${program}> --describe=${shell} > ${output}
    DEPENDS ${program} VERBATIM)
  install(FILES ${output} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  set(manual_outputs ${manual_outputs} ${output} PARENT_SCOPE)
endfunction()

manual_page(ssdprobe.8 ssdprobe)
manual_page(ssdprobe-csv.5 ssdprobe)
manual_page(ssdprobe-fleet.7 ssdprobe)
if(FLASHEMU)
  manual_page(flashemu.1 flashemu)
  manual_page(flashemu-drive.5 flashemu)
endif()
set(SSDPROBE_ZSH zsh/vendor-completions CACHE STRING
    "Where zsh's completions go in share; outside Debian zsh/site-functions")
foreach(program ${shipped})
  completion(${program} bash bash-completion/completions ${program})
  completion(${program} zsh ${SSDPROBE_ZSH} _${program})
  completion(${program} fish fish/vendor_completions.d ${program}.fish)
endforeach()

# A probe's own name has the page of ssdprobe.
foreach(link ${probe_links})
  install(CODE "file(CREATE_LINK ssdprobe.8.gz
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man8/${link}.8.gz\"
    SYMBOLIC)")
endforeach()
add_custom_target(manual ALL DEPENDS ${manual_outputs})
