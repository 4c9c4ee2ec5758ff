/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/infer/flashbench_rows.h"

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

/* Cuts the next line off `*rest`; false at the end. */
static bool next_line(char **rest, struct flashbench_line *line)
{
    char *text = *rest;

    if (*text == '\0')
        return false;
    size_t length = strcspn(text, "\n");
    *rest = text + length + (text[length] == '\n');
    text[length] = '\0';
    if (length && text[length - 1] == '\r') /* from Windows, or a forum */
        text[length - 1] = '\0';
    line->text = text;
    line->number++;
    return true;
}

/* What is in front decides: a header of CSV may follow '#' lines alone; a row
 * that was pasted may be anywhere. */
static bool recognise(const char *text, const struct flashbench_csv **form)
{
    bool front = true;

    *form = NULL;
    while (*text) {
        size_t length = strcspn(text, "\r\n");
        char line[256];
        size_t kept = length < sizeof(line) ? length : sizeof(line) - 1;
        memcpy(line, text, kept);
        line[kept] = '\0';
        if (front && line[0] != '#') {
            *form = flashbench_csv_form(line);
            front = false;
        }
        if (*form || flashbench_paste_has_row(line))
            return true;
        text += length;
        text += strspn(text, "\r\n");
    }
    return false;
}

static int read_rows(const char *path, char *text,
                     const struct flashbench_csv *form,
                     struct flashbench *table, struct fault *why)
{
    static const struct flashbench_run nameless;
    struct flashbench_line line = {.path = path, .why = why};
    struct flashbench_paste paste = {0};
    bool header = form != NULL;
    int error = form ? 0 : flashbench_add_run(table, &nameless);

    table->pasted = !form;
    while (!error && next_line(&text, &line)) {
        if (!form)
            error = flashbench_paste_line(&paste, table, &line);
        else if (line.text[0] == '#' || line.text[0] == '\0')
            continue;
        else if (header)
            header = false;
        else
            error = flashbench_csv_line(form, table, &line);
    }
    if (!error && table->runs_count == 0)
        error = FLASHBENCH_REFUSE(&line, "%s", "there are no rows");
    if (error == -ENOMEM)
        fault_set(why, FAULT_OPEN, error, "out of memory");
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
    if (!error && text)
        *is_flashbench = recognise(text, &form);
    if (*is_flashbench)
        error = read_rows(path, text, form, table, why);
    free(text);
    if (error)
        flashbench_free(table);
    return error;
}
