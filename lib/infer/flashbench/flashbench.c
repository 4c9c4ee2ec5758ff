/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench/flashbench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/infer/flashbench/rows.h"
#include "lib/infer/flashbench/words.h"

enum { FILE_BYTES_MAX = 16 << 20 }; /* a hundred times all ever pasted */

void flashbench_free(struct flashbench *table)
{
    free(table->runs);
    free(table->aligns);
    free(table->speeds);
    memset(table, 0, sizeof(*table));
}

/*
 * The whole file with a final 0, which the caller frees. NULL with 0: it is no
 * file to look into twice (a pipe), too long, not text or not there; whoever
 * reads it next says so.
 */
static int read_file(const char *path, char **text, struct fault *why)
{
    struct stat status;
    FILE *file = NULL;
    int error = 0;

    *text = NULL;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size > FILE_BYTES_MAX)
        return 0;
    file = fopen(path, "rbe");
    if (!file)
        return 0;
    char *bytes = calloc(1, FILE_BYTES_MAX + 1);
    if (!bytes) {
        fclose(file);
        return fault_set(why, FAULT_OPEN, -ENOMEM, "out of memory");
    }
    size_t length = fread(bytes, 1, FILE_BYTES_MAX, file);
    if (ferror(file))
        error = fault_set(why, FAULT_OPEN, -EIO, "%.200s cannot be read: %s.",
                          path, strerror(errno));
    fclose(file);
    if (error || memchr(bytes, '\0', length)) {
        free(bytes);
        return error;
    }
    *text = bytes;
    return 0;
}

/* Makes one line end of "\r\n" and of "\r", in place. */
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

/* Cuts the next line off `*rest`; false at the end. */
static bool next_line(char **rest, struct flashbench_line *line)
{
    char *text = *rest;

    if (*text == '\0')
        return false;
    size_t length = strcspn(text, "\n");
    *rest = text + length + (text[length] == '\n');
    text[length] = '\0';
    line->text = text;
    line->number++;
    return true;
}

/* A header of CSV may follow '#' lines alone. */
static const struct flashbench_csv *form_of(const char *text)
{
    char line[256];

    while (*text == '#' || *text == '\n') {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
    return flashbench_csv_form(line);
}

static int read_csv(const char *path, char *text,
                    const struct flashbench_csv *form, struct flashbench *table,
                    struct fault *why)
{
    struct flashbench_line line = {.path = path, .why = why};
    bool header = true;
    int error = 0;

    while (!error && next_line(&text, &line)) {
        if (line.text[0] == '#' || line.text[0] == '\0')
            continue;
        if (header)
            header = false;
        else
            error = flashbench_csv_line(form, table, &line);
    }
    if (!error && table->runs_count == 0)
        error = FLASHBENCH_REFUSE(&line, "%s", "there are no rows");
    return error;
}

int flashbench_read(const char *path, struct flashbench *table,
                    bool *is_flashbench, struct fault *why)
{
    const struct flashbench_csv *form = NULL;
    char *text = NULL;

    memset(table, 0, sizeof(*table));
    *is_flashbench = false;
    int error = read_file(path, &text, why);
    if (!error && text) {
        unify_line_ends(text);
        form = form_of(text);
        if (!form)
            flashbench_clean(text);
        *is_flashbench = form || flashbench_paste_has_row(text);
    }
    table->pasted = *is_flashbench && !form;
    if (form)
        error = read_csv(path, text, form, table, why);
    else if (*is_flashbench)
        error = flashbench_paste_read(path, text, table, why);
    free(text);
    if (error == -ENOMEM)
        fault_set(why, FAULT_OPEN, error, "out of memory");
    if (error)
        flashbench_free(table);
    return error;
}
