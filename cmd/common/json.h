/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_COMMON_JSON_H
#define SSDPROBE_CMD_COMMON_JSON_H

#include <stdio.h>

#include <json-c/json.h>

#include "lib/base/fault.h"

/*
 * What every JSON document of both programs begins with:
 *   { "format_version": [1, 0],
 *     PROGRAM: { "version", "argv", "exit_status", "messages": [] } }
 * The caller adds its own members and owns the object (json_object_put).
 * NULL: out of memory.
 */
struct json_object *common_json_begin(const char *program, int argc,
                                      char *const argv[]);

/* Sets "exit_status". */
void common_json_status(struct json_object *document, const char *program,
                        int exit_status);

/* Adds { "severity", "text" } to "messages". */
void common_json_message(struct json_object *document, const char *program,
                         const char *severity, const char *text);

/* One document on `out`, with a newline, flushed. 0, or -errno. */
int common_json_print(struct json_object *document, FILE *out);

/* The exit status a fault stands for (README.md); 0 for FAULT_NONE. */
int common_exit_status(const struct fault *fault);

#endif
