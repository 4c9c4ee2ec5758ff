/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_DOCUMENT_H
#define SSDPROBE_REPORT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/infer/finding.h"

/*
 * A report as one list of parts, which is made once (contents.h) and printed in
 * three ways. A part says what it is; how it looks is the printer's.
 */

enum part_kind {
    PART_TITLE,   /* `text` is the name of the drive */
    PART_SECTION, /* `name` is its heading, `id` its anchor; open on a page if
                     it is LOOK_LEAD */
    PART_HEADING, /* within a section */
    PART_TEXT,
    PART_ITEM,    /* a point of a list; `name`, if any, comes before its text */
    PART_TERM,    /* a fact: `name`, and `text` */
    PART_CODE,    /* a line for a shell */
    PART_NAMES,   /* `text`, then parameters, each a link to its finding */
    PART_TABLE,   /* `text` is its caption, for a page */
    PART_FINDING, /* value, confidence, reason and all that is known of it */
    PART_FIGURE   /* `id` is its name, `text` for who cannot see it */
};

enum part_look {
    LOOK_PLAIN,
    LOOK_BANNER, /* the drive is bad: before all else */
    LOOK_LEAD,
    LOOK_SOFT,   /* of less weight */
    LOOK_WARNING /* what makes values doubtful */
};

/* Where a part is printed. */
enum part_place {
    PLACE_BRIEF = 1, /* the last screen of a run, the first of a page */
    PLACE_FULL = 2,  /* the report in full */
    PLACE_PAGE = 4,  /* HTML alone: pictures, and what needs links */
    PLACE_ALL = PLACE_BRIEF | PLACE_FULL | PLACE_PAGE
};

enum { TABLE_COLUMNS_MAX = 8 };

struct table_row {
    const char *cells[TABLE_COLUMNS_MAX]; /* never NULL */
    const struct finding *finding; /* of which the row is; NULL: of none */
    bool heads;                    /* its first cell heads those that follow */
};

struct table {
    const char *columns[TABLE_COLUMNS_MAX]; /* NULL after the last; "" has no
                                             * heading */
    struct table_row *rows;
    size_t rows_count;
};

struct part {
    enum part_kind kind;
    enum part_look look;
    unsigned place; /* of enum part_place */
    const char *id, *name, *text;
    const struct finding *finding;
    struct table table;
};

struct document {
    struct part *parts;
    size_t parts_count;
    unsigned place; /* of parts that are added from now on */
    bool failed;    /* memory was short: what is missing is not known */
    void *memory;   /* what the parts point to */
};

/* Prints what has this place in the form that `style` asks for: for a terminal,
 * or as Markdown. `report` has the device, of which findings say what it
 * declares, and Markdown no serial number; without either NULL. */
struct report;
struct report_style;
void document_print(FILE *out, const struct document *document,
                    const struct report_style *style, enum part_place place,
                    const struct report *report);
void document_markdown(FILE *out, const struct document *document,
                       enum part_place place, const struct report *report);

/* Frees all of its parts, which were printed. 0 or -errno: of a full disk, or
 * -ENOMEM where parts are missing. */
int document_end(FILE *out, struct document *document);

/* Each adds a part and copies its texts. What it returns may be changed until
 * the next part is added; it is never NULL. */
struct part *document_add(struct document *document, enum part_kind kind,
                          enum part_look look, const char *text);
struct part *document_section(struct document *document, const char *id,
                              const char *name);
struct part *document_named(struct document *document, enum part_kind kind,
                            const char *name, const char *text);

/* A row of a table that document_add() returned; never NULL, and empty. */
struct table_row *document_row(struct document *document, struct part *part);

/* How many columns of a table have a heading or a cell. */
size_t table_columns(const struct table *table);

/* The text of PART_NAMES: "Skipped: log_list, wake_time." Returns `text`. */
char *document_names(const struct part *part, char *text, size_t size);

/* A copy, or what printf makes, that lives as long as the document; never NULL.
 */
const char *document_text(struct document *document, const char *text);
const char *document_format(struct document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
