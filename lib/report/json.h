/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_JSON_H
#define SSDPROBE_REPORT_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members of JSON objects: one at a time, or those of a struct by a table that
 * serves who writes them and who reads them. */

enum json_kind {
    JSON_TEXT,  /* a char array; null where it is empty */
    JSON_COUNT, /* unsigned, of 32 or 64 bits */
    JSON_KNOWN, /* the same; null where it is 0 */
    JSON_FLAG,
    JSON_SECONDS, /* with 3 decimals, and with 9 */
    JSON_NANOSECONDS,
    JSON_EXPECTATION /* a struct cost_expectation */
};

/* A member of a struct; a table of them ends with one without name. */
struct json_field {
    const char *name;
    enum json_kind kind;
    size_t offset, size;
};

/* A new object with these members of a struct. */
struct json_object *json_of(const void *from, const struct json_field fields[]);
void json_write(struct json_object *object, const void *from,
                const struct json_field fields[]);
/* What is not there, or of another type, is 0, or stays as it is if a text. */
void json_read(struct json_object *object, void *to,
               const struct json_field fields[]);

/* What a document keeps of structs: report_json() writes it, report_read()
 * reads it. */
extern const struct json_field json_run[], json_device[], json_declared[],
    json_usb[], json_plan[], json_planned[], json_done[], json_expectation[],
    json_cost[];

/* A text as UTF-8, or null for an empty one. */
struct json_object *json_text(const char *text);
/* With so many decimals at most: json-c's 17 digits are mostly noise. */
struct json_object *json_real(double real, int digits);

void json_add_text(struct json_object *object, const char *key,
                   const char *text);
void json_add_real(struct json_object *object, const char *key, double real,
                   int digits);

/* Members of an object; NULL where there is none of the name. */
struct json_object *json_get(struct json_object *object, const char *key);
void json_get_text(struct json_object *object, const char *key, char *text,
                   size_t size);
uint64_t json_get_count(struct json_object *object, const char *key);
double json_get_real(struct json_object *object, const char *key,
                     double otherwise);

/* The length of an array; 0 for what is none. */
size_t json_length(struct json_object *array);

#endif
