/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/html/svg.h"

/* What must differ between two figures of one page. */
static const char *const shared_ids[] = {"gpPt", "gpDot", "gnuplot_", "textbox",
                                         "greybox"};

static size_t shared_id(const char *text)
{
    for (size_t i = 0; i < sizeof(shared_ids) / sizeof(shared_ids[0]); i++)
        if (strncmp(text, shared_ids[i], strlen(shared_ids[i])) == 0)
            return strlen(shared_ids[i]);
    return 0;
}

static size_t element_length(const char *at, const char *begin, const char *end)
{
    const char *found =
        strncmp(at, begin, strlen(begin)) == 0 ? strstr(at, end) : NULL;

    return found ? (size_t)(found - at) + strlen(end) : 0;
}

/* Does the title belong to a ring, and is what a pointer over it says? */
static bool is_said(const char *title)
{
    static const char ring[] = "stroke='none'>"; /* of gnuplot.c */
    const size_t length = sizeof(ring) - 1;

    return strncmp(title - length, ring, length) == 0;
}

/* What draws nothing: a title that would be read out in place of our text, a
 * filter for boxed labels, of which there are none, a group without members,
 * the space between tags and within "rgb( 11,  79, 138)", and the old name
 * space of links. */
static size_t idle_length(const char *at)
{
    size_t length = element_length(at, "<title>", "</title>");

    if (length && is_said(at))
        return 0;
    if (!length)
        length = element_length(at, "<filter ", "</filter>");
    if (length)
        return length;
    const char *end = strncmp(at, "<g ", 3) == 0 ? strchr(at, '>') : NULL;
    if (end) {
        end += 1 + strspn(end + 1, " \t\n");
        return strncmp(end, "</g>", 4) == 0 ? (size_t)(end - at) + 4 : 0;
    }
    if (strncmp(at, "xlink:href", 10) == 0)
        return strlen("xlink:");
    if (at[0] == ' ' && at[1] == ' ')
        return 1;
    const size_t space = *at == '\n' ? strspn(at, " \t\n") : 0;
    return space && at[space] == '<' && at[-1] == '>' ? space : 0;
}

/* Where a group ends and one with the same attributes begins: up to what is in
 * that. `open` is the tag of the group that ends here, or NULL. */
static size_t same_group_length(const char *at, const char *open)
{
    if (!open || strncmp(at, "</g>", 4) != 0)
        return 0;
    const char *next = at + strlen("</g>");
    for (size_t gap = 1; gap;) {
        gap = idle_length(next);
        gap = gap ? gap : strspn(next, " \t\n");
        next += gap;
    }
    const size_t length = strcspn(open, ">") + 1;
    return strncmp(next, open, length) == 0 ? (size_t)(next - at) + length : 0;
}

/* ---- marks --------------------------------------------------------------- */

struct span {
    const char *text;
    size_t length;
};

/* One point of a series, as gnuplot writes it in a hundred bytes. */
struct mark {
    struct span shape, x, y, scale, colour;
    const char *end; /* behind it and the space that follows */
};

static bool read_mark(const char *at, struct mark *mark)
{
    const struct {
        const char *before, *until;
        struct span *part;
    } parts[] = {
        {"<use xlink:href='#", "'", &mark->shape},
        {"' transform='translate(", ",", &mark->x},
        {",", ")", &mark->y},
        {") scale(", ")", &mark->scale},
        {")' color='", "'", &mark->colour},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const size_t length = strlen(parts[i].before);
        if (strncmp(at, parts[i].before, length) != 0)
            return false;
        at += length;
        *parts[i].part = (struct span){at, strcspn(at, parts[i].until)};
        at += parts[i].part->length;
    }
    if (strncmp(at, "'/>", 3) != 0)
        return false;
    mark->end = at + 3 + strspn(at + 3, " \t\n");
    return true;
}

static bool same(struct span a, struct span b)
{
    return a.length == b.length && strncmp(a.text, b.text, a.length) == 0;
}

static bool same_series(const struct mark *a, const struct mark *b)
{
    return same(a->shape, b->shape) && same(a->scale, b->scale) &&
           same(a->colour, b->colour);
}

/* Points of one series as one line with a marker at each corner: a twelfth of
 * the bytes. Tenths of a pixel are enough. Returns the bytes that were read; 0
 * where there are fewer than two points. */
static size_t put_marks(FILE *out, const char *svg, unsigned number,
                        unsigned *series_count)
{
    struct mark first, mark;

    if (!read_mark(svg, &first) || !read_mark(first.end, &mark) ||
        !same_series(&first, &mark))
        return 0;
    const unsigned series = ++*series_count;
    fprintf(out,
            "<marker id=\"f%u-m%u\" markerUnits=\"userSpaceOnUse\" "
            "overflow=\"visible\"><use href=\"#f%u-%.*s\" "
            "transform=\"scale(%.*s)\" color=\"%.*s\"/></marker>"
            "<polyline fill=\"none\" stroke=\"none\" "
            "style=\"marker:url(#f%u-m%u)\" points=\"",
            number, series, number, (int)first.shape.length, first.shape.text,
            (int)first.scale.length, first.scale.text, (int)first.colour.length,
            first.colour.text, number, series);
    const char *at = svg;
    while (read_mark(at, &mark) && same_series(&first, &mark)) {
        fprintf(out, "%s%.1f,%.1f", at == svg ? "" : " ",
                strtod(mark.x.text, NULL), strtod(mark.y.text, NULL));
        at = mark.end;
    }
    fputs("\"/>", out);
    return (size_t)(at - svg);
}

/* ---- the drawing --------------------------------------------------------- */

void html_svg(FILE *out, const char *svg, unsigned number)
{
    const char *at = strstr(svg, "<svg");
    const char *view = at ? strstr(at, "viewBox") : NULL;
    const char *end = at ? strchr(at, '>') : NULL;
    const char *open = NULL;
    unsigned series_count = 0;

    if (!at || !end || !view || view > end)
        return;
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" focusable=\"false\" ",
          out);
    fwrite(view, 1, strcspn(view, "\n>"), out);
    fputc('>', out);
    for (at = end + 1; *at; at++) {
        size_t length = put_marks(out, at, number, &series_count);
        if (!length)
            length = idle_length(at);
        if (!length)
            length = same_group_length(at, open);
        if (length) {
            at += length - 1;
            continue;
        }
        length = shared_id(at);
        if (length) {
            fprintf(out, "f%u-%.*s", number, (int)length, at);
            at += length - 1;
            continue;
        }
        if (strncmp(at, "<g ", 3) == 0)
            open = at;
        else if (strncmp(at, "</g>", 4) == 0)
            open = NULL;
        fputc(*at, out);
    }
}
