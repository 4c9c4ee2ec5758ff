/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report_hide.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char instead[] = "...";

void report_secret(struct report_secrets *secrets, const char *text)
{
    if (strlen(text) < sizeof(instead) - 1 ||
        secrets->count == REPORT_SECRETS_MAX)
        return;
    snprintf(secrets->items[secrets->count++], REPORT_SECRET_BYTES, "%s", text);
}

char *report_hide(char *text, const struct report_secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++) {
        const char *secret = secrets->items[i];
        char *at = text;
        while ((at = strstr(at, secret)) != NULL) {
            char *rest = at + strlen(secret);
            memcpy(at, instead, sizeof(instead) - 1);
            at += sizeof(instead) - 1;
            memmove(at, rest, strlen(rest) + 1);
        }
    }
    return text;
}

/* NULL when there is nothing to hide. */
static struct json_object *hidden(struct json_object *text,
                                  const struct report_secrets *secrets)
{
    char *copy = strdup(json_object_get_string(text));
    struct json_object *instead_of = NULL;

    if (copy &&
        strcmp(report_hide(copy, secrets), json_object_get_string(text)) != 0)
        instead_of = json_object_new_string(copy);
    free(copy);
    return instead_of;
}

static void hide_in_array(struct json_object *array,
                          const struct report_secrets *secrets)
{
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        struct json_object *item = json_object_array_get_idx(array, i);
        struct json_object *fresh = json_object_is_type(item, json_type_string)
                                        ? hidden(item, secrets)
                                        : NULL;
        if (fresh)
            json_object_array_put_idx(array, i, fresh);
        else
            report_hide_json(item, secrets);
    }
}

void report_hide_json(struct json_object *document,
                      const struct report_secrets *secrets)
{
    if (json_object_is_type(document, json_type_array))
        hide_in_array(document, secrets);
    if (!json_object_is_type(document, json_type_object))
        return;
    json_object_object_foreach(document, key, member)
    {
        struct json_object *fresh =
            json_object_is_type(member, json_type_string)
                ? hidden(member, secrets)
                : NULL;
        if (fresh) /* an existing key keeps its place, and the walk goes on */
            json_object_object_add(document, key, fresh);
        else
            report_hide_json(member, secrets);
    }
}
