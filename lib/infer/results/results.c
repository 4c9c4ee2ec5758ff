/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/results/results.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/packed/packed.h"
#include "lib/infer/results/tool.h"

enum {
    FILE_BYTES_MAX = 256 << 20, /* millions of rows of a latency log */
    FOLDER_FILES_MAX = 4096
};

static const struct result_tool *const families[] = {
    tools_fio, tools_capacity, tools_sync, tools_rates, tools_conditions};

/* All of a file with a final 0, which the caller frees. NULL: it cannot be
 * read, or not twice (a pipe), or is longer than any result. */
static char *read_all(const char *path, size_t *length)
{
    struct stat status;
    FILE *file = NULL;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    char *bytes = malloc(FILE_BYTES_MAX + 2);
    if (!bytes || packed_open(path, &file)) {
        free(bytes);
        return NULL;
    }
    *length = fread(bytes, 1, FILE_BYTES_MAX, file);
    const bool is_whole = !ferror(file) && *length < FILE_BYTES_MAX;
    fclose(file);
    if (!is_whole) {
        free(bytes);
        return NULL;
    }
    bytes[*length] = bytes[*length + 1] = '\0';
    return bytes;
}

/* CrystalDiskMark saves UTF-16: what has a place in ASCII is kept, all else
 * becomes '?'. In place. */
static size_t narrow(char *bytes, size_t length)
{
    const unsigned char *from = (const unsigned char *)bytes;
    const bool little = from[0] == 0xff;
    size_t to = 0;

    for (size_t i = 2; i + 1 < length; i += 2) {
        const unsigned low = from[i + !little], high = from[i + little];
        bytes[to++] = high == 0 && low > 0 && low < 128 ? (char)low : '?';
    }
    bytes[to] = '\0';
    return to;
}

/* Line feeds alone: '\r' is how tools show progress, too. */
static void unify_line_ends(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (*text == '\r' && text[1] == '\n')
            continue;
        *to++ = *text == '\r' ? '\n' : *text;
    }
    *to = '\0';
}

/* A document of our own quotes tools, as its findings say what they follow
 * from. */
static bool is_own(const char *text)
{
    static const char begin[] = "\"format_version\"";

    return *text == '{' &&
           strncmp(text + strspn(text, "{ \n"), begin, sizeof(begin) - 1) == 0;
}

static const struct result_tool *tool_of(const char *text)
{
    if (is_own(text))
        return NULL;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (const struct result_tool *tool = families[i]; tool->name; tool++)
            if (tool->is_of(text))
                return tool;
    return NULL;
}

static int read_file(const char *path, struct results *results, bool *is_result,
                     struct fault *why)
{
    const struct result_tool *tool = NULL;
    size_t length = 0;
    char *bytes = read_all(path, &length), *text = bytes;
    int error = 0;

    if (!bytes)
        return 0;
    if (length >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 ||
                        memcmp(bytes, "\xfe\xff", 2) == 0))
        length = narrow(bytes, length);
    else if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    if (!memchr(bytes, '\0', length)) {
        unify_line_ends(text);
        tool = tool_of(text);
    }
    if (tool) {
        const struct result_text source = {path, text, results, why};
        const size_t before = results->points_count + results->notes_count +
                              (results->capacity.kind[0] != '\0');
        *is_result = true;
        error = tool->read(&source);
        if (!error && before == results->points_count + results->notes_count +
                                    (results->capacity.kind[0] != '\0'))
            result_note(results,
                        "%.120s: this is output of %s, but it holds no result: "
                        "it may be cut off, or its columns may be lost",
                        path, tool->name);
    }
    free(bytes);
    if (error == -ENOMEM)
        fault_set(why, FAULT_OPEN, error, "out of memory");
    return error;
}

/* What else is in it is counted. */
static int read_folder(const char *path, struct results *results,
                       bool *is_result, struct fault *why)
{
    struct dirent **entries = NULL;
    int error = 0, others = 0, files = 0;
    const int found = scandir(path, &entries, NULL, alphasort);

    for (int i = 0; i < found; i++) {
        char name[PATH_MAX];
        struct stat status;
        bool is_one = false;
        snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
        free(entries[i]);
        if (error || stat(name, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        error = files++ < FOLDER_FILES_MAX
                    ? read_file(name, results, &is_one, why)
                    : fault_set(why, FAULT_OPEN, -E2BIG,
                                "%.200s has more than the %d files that can be "
                                "read together: give those that matter, by "
                                "their names",
                                path, FOLDER_FILES_MAX);
        *is_result = *is_result || is_one;
        others += !is_one;
    }
    free(entries);
    if (found < 0)
        return fault_set(why, FAULT_OPEN, -errno, "%.200s cannot be read: %s.",
                         path, strerror(errno));
    if (*is_result && others)
        result_note(results,
                    "%d of %d files in %.200s are no results, and were left "
                    "out",
                    others, files, path);
    return error;
}

int results_read(const char *path, struct results *results, bool *is_result,
                 struct fault *why)
{
    struct stat status;

    *is_result = false;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode)
               ? read_folder(path, results, is_result, why)
               : read_file(path, results, is_result, why);
}

void results_free(struct results *results)
{
    free(results->points);
    memset(results, 0, sizeof(*results));
}
