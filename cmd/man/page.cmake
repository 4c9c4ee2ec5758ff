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
# The same in all of them.
string(REPLACE "\n.SH SEE ALSO\n" "\n.SH BUGS
A finding that is stated as sure and is wrong is a bug, and so is an emulated drive
that acts otherwise than its file says.
Send the run directory of a run with
.B \\-\\-no\\-serial
to those from whom the program came.
.SH AUTHORS
The ssdprobe authors.
Free software under the GPL, version 3 or later.
.SH SEE ALSO\n" page "${page}")
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
file(WRITE ${OUTPUT} "${page}")
