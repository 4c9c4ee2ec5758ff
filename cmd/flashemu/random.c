/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flashemu random: a drive file drawn from a seed, with its truth. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/flash/random/draw.h"
#include "lib/oracle/oracle.h"
#include "cmd/common/json.h"
#include "cmd/flashemu/flashemu.h"

/* A drive file's `seed` goes no further. */
static const uint64_t seed_most = UINT64_C(9000000000000000);

static int kinds_fault(const char *kind, struct fault *why)
{
    char names[160] = "";
    const char *name;

    for (size_t i = 0; (name = draw_kind_name(i)) != NULL; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                 name);
    }
    return fault_set(why, FAULT_USAGE, -EINVAL,
                     "--kind=%.60s: expected one of %s", kind, names);
}

static bool is_kind(const char *kind)
{
    const char *name;

    for (size_t i = 0; (name = draw_kind_name(i)) != NULL; i++)
        if (strcmp(name, kind) == 0)
            return true;
    return false;
}

static int read_options(const struct options_given *given, uint64_t *seed,
                        const char **kind, const char **keys, struct fault *why)
{
    const struct option_given *option = options_find(given, OPTION_SEED);

    if (!option)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "'flashemu random' needs --seed=N: the same number "
                         "gives the same drive");
    if (parse_integer(option->value, seed) || *seed > seed_most)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--seed=%.60s: expected a whole number up to %" PRIu64,
                         option->value, seed_most);
    option = options_find(given, OPTION_KIND);
    *kind = option ? option->value : NULL;
    option = options_find(given, OPTION_KEYS);
    *keys = option ? option->value : NULL;
    return *kind && !is_kind(*kind) ? kinds_fault(*kind, why) : 0;
}

int flashemu_random(const struct options_given *given)
{
    static char text[DRAW_TEXT_MAX];
    static struct drive drive;
    struct fault why = {.kind = FAULT_NONE};
    struct json_object *document;
    const char *kind = NULL, *keys = NULL;
    uint64_t seed = 0;

    if (read_options(given, &seed, &kind, &keys, &why) ||
        draw_drive(seed, kind, keys, &drive, &why) ||
        oracle_state(&drive, &why))
        return flashemu_fail(given, &why);
    if (draw_text(&drive, text, sizeof(text)) < 0) {
        fault_set(&why, FAULT_OPEN, -ENOSPC,
                  "the drive file is longer than %d bytes", DRAW_TEXT_MAX);
        return flashemu_fail(given, &why);
    }
    if (!options_find(given, OPTION_JSON)) {
        fputs(text, stdout);
        return flashemu_finish_text();
    }
    document = flashemu_json(given);
    if (document) {
        json_object_object_add(document, "seed", json_object_new_uint64(seed));
        json_object_object_add(document, "name",
                               json_object_new_string(drive.name));
        json_object_object_add(document, "drive_file",
                               json_object_new_string(text));
    }
    return flashemu_print(given, document);
}
