# SPDX-License-Identifier: GPL-3.0-or-later
# Fills a template: see manual.cmake.
cmake_minimum_required(VERSION 3.20)
file(READ ${TEMPLATE} page)
foreach(kind options probes keys)
  string(TOUPPER ${kind} mark)
  if(page MATCHES "\n@${mark}@\n")
    execute_process(COMMAND ${PROGRAM} --describe=${kind}
                    OUTPUT_VARIABLE text RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${PROGRAM} --describe=${kind}: ${status}")
    endif()
    string(REPLACE "@${mark}@\n" "${text}" page "${page}")
  endif()
endforeach()
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
file(WRITE ${OUTPUT} "${page}")
