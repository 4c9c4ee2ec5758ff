/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/document/document.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/visible.h"

/* A piece of memory that is freed with the document. */
struct block {
    struct block *next;
    char bytes[];
};

/* NULL where memory is short. */
static char *take(struct document *document, size_t size)
{
    struct block *block = calloc(1, sizeof(*block) + size);

    if (!block) {
        document->failed = true;
        return NULL;
    }
    block->next = document->memory;
    document->memory = block;
    return block->bytes;
}

const char *document_text(struct document *document, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = size > 1 ? take(document, size) : NULL;

    return copy ? memcpy(copy, text, size) : "";
}

const char *document_format(struct document *document, const char *format, ...)
{
    char text[1400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return document_text(document, text);
}

int document_end(FILE *out, struct document *document)
{
    const bool failed = document->failed;

    for (size_t i = 0; i < document->parts_count; i++)
        free(document->parts[i].table.rows);
    free(document->parts);
    for (struct block *block = document->memory; block;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    *document = (struct document){.parts = NULL};
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return failed ? -ENOMEM : 0;
}

/* Room for one more of `count` items; they grow in powers of two. */
static void *grow(void *items, size_t count, size_t size)
{
    if (count & (count - 1))
        return items;
    return realloc(items, (count ? 2 * count : 1) * size);
}

struct part *document_add(struct document *document, enum part_kind kind,
                          enum part_look look, const char *text)
{
    static _Thread_local struct part lost;
    struct part *parts =
        grow(document->parts, document->parts_count, sizeof(*parts));

    if (!parts) {
        document->failed = true;
        lost = (struct part){.name = "", .text = "", .id = ""};
        return &lost;
    }
    document->parts = parts;
    struct part *part = &parts[document->parts_count++];
    *part = (struct part){.kind = kind,
                          .look = look,
                          .place = document->place,
                          .id = "",
                          .name = "",
                          .text = document_text(document, text)};
    return part;
}

struct part *document_section(struct document *document, const char *id,
                              const char *name)
{
    struct part *part = document_named(document, PART_SECTION, name, "");

    part->id = document_text(document, id);
    return part;
}

struct part *document_named(struct document *document, enum part_kind kind,
                            const char *name, const char *text)
{
    struct part *part = document_add(document, kind, LOOK_PLAIN, text);

    part->name = document_text(document, name);
    return part;
}

struct table_row *document_row(struct document *document, struct part *part)
{
    static const struct table_row empty = {
        .cells = {"", "", "", "", "", "", "", ""}};
    static _Thread_local struct table_row lost;
    struct table *table = &part->table;
    struct table_row *rows =
        grow(table->rows, table->rows_count, sizeof(*rows));

    if (!rows) {
        document->failed = true;
        lost = empty;
        return &lost;
    }
    table->rows = rows;
    rows[table->rows_count] = empty;
    return &rows[table->rows_count++];
}

size_t table_columns(const struct table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++) {
        bool used = table->columns[i] != NULL;
        for (size_t row = 0; row < table->rows_count; row++)
            used |= table->rows[row].cells[i][0] != '\0';
        count = used ? i + 1 : count;
    }
    return count;
}

char *document_names(const struct part *part, char *text, size_t size)
{
    snprintf(text, size, "%s", part->text);
    for (const char *name = part->name; *name; name += strspn(name, " ")) {
        const size_t length = strcspn(name, " ");
        text_add(text, size, "%.*s%s", (int)length, name,
                 name[length] ? ", " : ".");
        name += length;
    }
    return text;
}
