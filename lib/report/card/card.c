/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/card/card.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/report/summary.h"

/* Hues of plots/common.gp; each against white has 4.5:1 or more, but for the
 * fills, which only repeat what is written. */
#define INK "#30363d"
#define SOFT "#59636e"
#define DARK "#0b4f8a"
#define ACCENT "#a3195b"
#define WASH "#eef3f8"
#define RED "#b3151d"

const char report_card_alternative[] =
    "A drawing of the drive: an erase unit with its write units, the open "
    "units, the buffers, the groups and the rates. All of it is in the table.";

enum { MARGIN = 24, TEXT_MAX = 160, UNITS_DRAWN = 16 };

/* A fact: a frame with its label above its value. The place is that of the wide
 * card; the narrow one has two in a row, below the flash. */
struct box {
    const char *parameter, *label;
    const char *absent; /* what that means to a reader */
    double x, y;
};
static const double box_width = 166, box_height = 48;
enum { NARROW_TOP = 324, NARROW_ROW = 64, NARROW_COLUMN = 174 };

static const struct box boxes[] = {
    {"write_buffer", "write buffer", "none", 392, 88},
    {"fua_time", "synced 4 KiB write", "-", 570, 88},
    {"fast_cache", "SLC cache", "none", 392, 148},
    {"nand_type", "flash type", "-", 570, 148},
    {"parallel_units", "parallel units", "one", 392, 208},
    {"read_parallelism", "useful queue depth", "1", 570, 208},
    {"sequential_read_rate", "sequential read", "-", 24, 332},
    {"sequential_write_rate", "sequential write", "-", 206, 332},
    {"sustained_write_rate", "write past SLC cache", "-", 388, 332},
    {"random_read_rate", "random read", "-", 570, 332},
};
enum { BOXES = sizeof(boxes) / sizeof(boxes[0]) };

struct card {
    FILE *out;
    const struct findings *findings;
    enum card_shape shape;
};

/* What of the drawing is in sight. Narrow margins leave the text its size. */
static const struct {
    int left, width, height, legend;
} sights[] = {
    [CARD_WIDE] = {0, 760, 430, 409}, [CARD_NARROW] = {14, 360, 690, 662}};

/* ---- the pen ------------------------------------------------------------- */

static void text_at(FILE *out, double x, double y, unsigned size,
                    const char *look, const char *text)
{
    fprintf(out, "<text x=\"%g\" y=\"%g\" font-size=\"%u\" %s>", x, y, size,
            look);
    report_markup(out, text, " ");
    fputs("</text>\n", out);
}

static void frame(FILE *out, double x, double y, double width, double height,
                  const char *look)
{
    fprintf(out,
            "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"4\" "
            "%s/>\n",
            x, y, width, height, look);
}

/* ---- facts --------------------------------------------------------------- */

static bool is_said(const struct finding *finding)
{
    return finding && !finding_assumed(finding) &&
           (finding->verdict == VERDICT_FOUND ||
            finding->verdict == VERDICT_ABSENT);
}

/* The outline says how sure it is, beside the words. */
static const char *outline(const struct finding *finding)
{
    if (!is_said(finding))
        return "fill=\"none\" stroke=\"" SOFT "\" stroke-dasharray=\"1 4\"";
    return finding->confidence < report_sure
               ? "fill=\"" WASH "\" stroke=\"" DARK
                 "\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\""
               : "fill=\"" WASH "\" stroke=\"" DARK "\" stroke-width=\"1.5\"";
}

/* "255 KiB", "SLC (75 %)", "none", "not known", "not asked". */
static const char *words_of(const struct finding *finding, const char *absent,
                            char text[TEXT_MAX])
{
    char amount[96];

    if (!finding || finding->verdict == VERDICT_SKIPPED)
        return "not asked";
    if (finding_assumed(finding))
        return "not measured";
    if (finding->verdict == VERDICT_INCONCLUSIVE)
        return "not known";
    report_amount(&finding->value, report_unit(finding), false, amount,
                  sizeof(amount));
    if (finding->verdict == VERDICT_ABSENT)
        snprintf(amount, sizeof(amount), "%s", absent);
    else if (!amount[0]) /* an end of the interval alone */
        report_interval(finding, false, amount, sizeof(amount));
    snprintf(text, TEXT_MAX, "%s", amount);
    if (finding->confidence < report_sure)
        snprintf(text, TEXT_MAX, "%s (%d %%)", amount,
                 (int)floor(finding->confidence * 100 + 1e-9));
    return text;
}

static const char *look_of(const struct finding *finding)
{
    return is_said(finding) ? "font-weight=\"700\" fill=\"" INK "\""
                            : "fill=\"" SOFT "\"";
}

static double number_of(const struct finding *finding)
{
    return is_said(finding) && finding->verdict != VERDICT_ABSENT
               ? value_number(&finding->value)
               : 0;
}

/* The length of its bar: its share of the fastest of the rates in bytes. */
static double share_of_fastest(const struct card *card,
                               const struct finding *finding)
{
    double most = 0;

    if (!finding || strcmp(finding->unit, "bytes_per_second") != 0)
        return 0;
    for (size_t i = 0; i < BOXES; i++) {
        const struct finding *other =
            findings_get(card->findings, boxes[i].parameter);
        if (other && strcmp(other->unit, finding->unit) == 0)
            most = fmax(most, number_of(other));
    }
    return most > 0 ? number_of(finding) / most : 0;
}

static void put_box(const struct card *card, const struct box *box)
{
    const struct finding *finding =
        findings_get(card->findings, box->parameter);
    const double share = share_of_fastest(card, finding);
    const size_t at = (size_t)(box - boxes);
    double x = box->x, y = box->y;
    char text[TEXT_MAX];

    if (card->shape == CARD_NARROW) {
        const size_t row = at / 2;
        x = MARGIN + NARROW_COLUMN * (double)(at % 2);
        y = NARROW_TOP + NARROW_ROW * (double)row;
    }
    frame(card->out, x, y, box_width, box_height, outline(finding));
    text_at(card->out, x + 10, y + 18, 12, "fill=\"" SOFT "\"", box->label);
    text_at(card->out, x + 10, y + 38, 15, look_of(finding),
            words_of(finding, box->absent, text));
    if (share > 0)
        frame(card->out, x, y + box_height + 4, box_width * share, 5,
              "fill=\"" DARK "\"");
}

/* ---- the flash ----------------------------------------------------------- */

/* One erase unit, its first write unit marked. As many cells as there are
 * write units, but no more than the eye can tell apart. */
static void put_cells(const struct card *card, double units_count)
{
    const double x = MARGIN, y = 88, width = 340, height = 120;
    const unsigned columns = units_count < 16 ? (unsigned)units_count : 16;
    const unsigned rows =
        columns ? (unsigned)fmin(ceil(units_count / columns), 6) : 0;

    for (unsigned i = 0; i < rows * columns; i++) {
        const double step_x = (width - 12) / columns;
        const double step_y = (height - 12) / rows;
        const unsigned row = i / columns;
        frame(card->out, x + 6 + step_x * (i % columns) + 1.5,
              y + 6 + step_y * row + 1.5, step_x - 3, step_y - 3,
              i == 0 ? "fill=\"" ACCENT "\"" : "fill=\"#c3d5e6\"");
    }
}

static void put_erase_unit(const struct card *card)
{
    const struct finding *page = findings_get(card->findings, "clustered_page");
    const struct finding *block = report_erase_unit(card->findings);
    const double page_bytes = number_of(page), block_bytes = number_of(block);
    const bool both = page_bytes > 0 && block_bytes >= page_bytes;
    char words[TEXT_MAX], line[2 * TEXT_MAX];

    if (!block)
        block = findings_get(card->findings, "clustered_block");
    frame(card->out, MARGIN, 88, 340, 120, outline(block));
    if (both)
        put_cells(card, block_bytes / page_bytes);
    snprintf(line, sizeof(line), "erase unit: %s",
             block_bytes > 0 || !is_said(block) ? words_of(block, "", words)
                                                : "not known");
    if (both)
        snprintf(line + strlen(line), sizeof(line) - strlen(line),
                 ", %.0f write units", floor(block_bytes / page_bytes));
    text_at(card->out, MARGIN, 226, 14, look_of(block), line);
    snprintf(line, sizeof(line), "write unit: %s",
             words_of(page, "none", words));
    if (both)
        frame(card->out, MARGIN, 235, 12, 12, "fill=\"" ACCENT "\"");
    text_at(card->out, both ? MARGIN + 20 : MARGIN, 246, 14, look_of(page),
            line);
}

static void put_open_units(const struct card *card)
{
    const struct finding *list = findings_get(card->findings, "log_list");
    const double count = number_of(list);
    const unsigned drawn = (unsigned)fmin(count, UNITS_DRAWN);
    char words[TEXT_MAX], line[TEXT_MAX + 16];

    snprintf(line, sizeof(line), "open units: %s",
             words_of(list, "no limit seen", words));
    text_at(card->out, MARGIN, 276, 14, look_of(list), line);
    for (unsigned i = 0; i < drawn; i++)
        frame(card->out, MARGIN + 21.0 * i, 284, 17, 17, outline(list));
    if (count > UNITS_DRAWN)
        text_at(card->out, MARGIN + 21.0 * UNITS_DRAWN, 299, 14,
                "fill=\"" SOFT "\"", "...");
}

/* ---- the rest ------------------------------------------------------------ */

/* A bad drive comes first: "FAKE: sold as 64 GiB, holds 8 GiB". */
static void put_banner(const struct card *card, const struct report *report)
{
    const int left = sights[card->shape].left,
              width = sights[card->shape].width;
    char banner[REPORT_BANNER_BYTES];

    if (!report_banner(report, false, banner)[0])
        return;
    banner[strcspn(banner, ";.")] = '\0';
    frame(card->out, left, 0, width, 20, "fill=\"" RED "\"");
    text_at(card->out, MARGIN, 15, 14, "font-weight=\"700\" fill=\"#fff\"",
            banner);
}

/* On the narrow card a long name has smaller letters, and the grade a line of
 * its own. */
static void put_head(const struct card *card, const struct report *report)
{
    FILE *out = card->out;
    const bool narrow = card->shape == CARD_NARROW;
    const struct device_info *device = report->device;
    const enum condition_grade grade =
        report->conditions ? conditions_grade(report->conditions)
                           : CONDITION_GREEN;
    const char *name =
        device && device->model[0] ? device->model : "A recording";
    char size[32] = "", line[TEXT_MAX];

    text_at(out, MARGIN, 40, narrow && strlen(name) > 24 ? 14 : 22,
            "font-weight=\"700\" fill=\"" INK "\"", name);
    if (device && device->capacity_bytes)
        format_capacity(device->capacity_bytes, size, sizeof(size));
    snprintf(line, sizeof(line), "%s%s%s%s%.10s", size,
             size[0] && device->bus[0] ? ", " : "", device ? device->bus : "",
             report->run && report->run->started[0] ? ", measured " : "",
             report->run ? report->run->started : "");
    text_at(out, MARGIN, 64, 14, "fill=\"" SOFT "\"", line);
    if (grade == CONDITION_GREEN)
        return;
    snprintf(line, sizeof(line), "conditions: %s", condition_grade_name(grade));
    text_at(out, narrow ? 364 : 736, narrow ? 18 : 40, 15,
            "text-anchor=\"end\" font-weight=\"700\" fill=\"" RED "\"", line);
}

int report_card(FILE *out, const struct report *report, enum card_shape shape)
{
    static const struct findings none;
    const struct card card = {out, report->findings ? report->findings : &none,
                              shape};
    const int width = sights[shape].width, height = sights[shape].height;

    errno = 0;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
            "height=\"%d\" viewBox=\"%d 0 %d %d\" font-family=\"sans-serif\">\n"
            "<rect x=\"%d\" width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, sights[shape].left, width, height,
            sights[shape].left, width, height);
    put_banner(&card, report);
    put_head(&card, report);
    put_erase_unit(&card);
    put_open_units(&card);
    for (size_t i = 0; i < BOXES; i++)
        put_box(&card, &boxes[i]);
    text_at(out, MARGIN, sights[shape].legend, 12, "fill=\"" SOFT "\"",
            "Found by timing requests. Solid: 99 % confidence or more.");
    text_at(out, MARGIN, sights[shape].legend + 16, 12, "fill=\"" SOFT "\"",
            "Dashed: less, with its confidence. Dotted: not known.");
    fputs("</svg>\n", out);
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}
