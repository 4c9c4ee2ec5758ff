/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/json.h"

#include <errno.h>

enum { FORMAT_MAJOR = 1, FORMAT_MINOR = 0 };

struct json_object *common_json_begin(const char *program, int argc,
                                      char *const argv[])
{
    struct json_object *document = json_object_new_object();
    struct json_object *version = json_object_new_array();
    struct json_object *run = json_object_new_object();
    struct json_object *words = json_object_new_array();
    if (!document || !version || !run || !words) {
        json_object_put(words);
        json_object_put(run);
        json_object_put(version);
        json_object_put(document);
        return NULL;
    }
    json_object_array_add(version, json_object_new_int(FORMAT_MAJOR));
    json_object_array_add(version, json_object_new_int(FORMAT_MINOR));
    for (int i = 0; i < argc; i++)
        json_object_array_add(words, json_object_new_string(argv[i]));
    json_object_object_add(run, "version",
                           json_object_new_string(SSDPROBE_VERSION));
    json_object_object_add(run, "argv", words);
    json_object_object_add(run, "exit_status", json_object_new_int(0));
    json_object_object_add(run, "messages", json_object_new_array());
    json_object_object_add(document, "format_version", version);
    json_object_object_add(document, program, run);
    return document;
}

void common_json_status(struct json_object *document, const char *program,
                        int exit_status)
{
    struct json_object *run = json_object_object_get(document, program);
    json_object_object_add(run, "exit_status",
                           json_object_new_int(exit_status));
}

void common_json_message(struct json_object *document, const char *program,
                         const char *severity, const char *text)
{
    struct json_object *run = json_object_object_get(document, program);
    struct json_object *messages = json_object_object_get(run, "messages");
    struct json_object *message = json_object_new_object();
    json_object_object_add(message, "severity",
                           json_object_new_string(severity));
    json_object_object_add(message, "text", json_object_new_string(text));
    json_object_array_add(messages, message);
}

int common_json_print(struct json_object *document, FILE *out)
{
    int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                JSON_C_TO_STRING_NOSLASHESCAPE;
    const char *text = json_object_to_json_string_ext(document, flags);
    if (!text)
        return -ENOMEM;
    errno = 0;
    if (fprintf(out, "%s\n", text) < 0 || fflush(out) != 0)
        return errno ? -errno : -EIO;
    return 0;
}

int common_exit_status(const struct fault *fault)
{
    static const int status[] = {
        [FAULT_NONE] = 0,    [FAULT_USAGE] = 1, [FAULT_OPEN] = 2,
        [FAULT_REFUSED] = 3, [FAULT_IO] = 4,    [FAULT_CONDITIONS] = 6,
        [FAULT_RESTORE] = 7,
    };
    return status[fault->kind];
}
