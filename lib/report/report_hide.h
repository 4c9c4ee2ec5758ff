/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_HIDE_H
#define SSDPROBE_REPORT_REPORT_HIDE_H

#include <stddef.h>

struct json_object;

/* Texts that nobody is to see: a serial number, a path that holds one. */
enum { REPORT_SECRETS_MAX = 8, REPORT_SECRET_BYTES = 128 };

struct report_secrets {
    char items[REPORT_SECRETS_MAX][REPORT_SECRET_BYTES];
    size_t count;
};

/* Adds one; what is shorter than three letters would hit too much, and is not
 * taken. A text that does not fit hides its beginning. */
void report_secret(struct report_secrets *secrets, const char *text);

/* Puts "..." wherever `text` holds a secret. Returns `text`. */
char *report_hide(char *text, const struct report_secrets *secrets);

/* The same in every text of a document. */
void report_hide_json(struct json_object *document,
                      const struct report_secrets *secrets);

#endif
