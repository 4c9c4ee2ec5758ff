/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench/words.h"

#include <ctype.h>
#include <string.h>

#include "lib/infer/flashbench/rows.h"

/* A tag of HTML is not longer. */
enum { TAG_MAX = 80 };

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

struct spelling {
    const char *text, *meant;
};

/* In UTF-8; the entities of HTML; UTF-8 that was read as Latin-1. */
static const struct spelling spellings[] = {
    {"\302\240", " "},
    {"\342\200\202", " "},
    {"\342\200\203", " "},
    {"\342\200\211", " "},
    {"\342\200\212", " "},
    {"\342\200\257", " "},
    {"\343\200\200", " "},
    {"\342\200\213", ""},
    {"\357\273\277", ""},
    {"\342\200\220", "-"},
    {"\342\200\221", "-"},
    {"\342\200\223", "-"},
    {"\342\200\224", "-"},
    {"\342\210\222", "-"},
    {"\303\202\302\240", " "},
    {"&nbsp;", " "},
    {"&#160;", " "},
    {"&#xa0;", " "},
    {"&#xA0;", " "},
    {"&ensp;", " "},
    {"&emsp;", " "},
    {"&thinsp;", " "},
    {"&#9;", " "},
    {"&lt;", "<"},
    {"&gt;", ">"},
    {"&minus;", "-"},
    {"&ndash;", "-"},
    {"&mdash;", "-"},
    {"|", " "},
    {"\t", " "},
    {"\v", " "},
    {"\f", " "},
};

/* How long a tag is that stands here; 0: none does. */
static size_t tag_length(const char *text)
{
    size_t at = 1;

    if (text[0] != '<' || (!isalpha((unsigned char)text[1]) && text[1] != '/'))
        return 0;
    at += strcspn(text + 1, "<>\r\n");
    return at < TAG_MAX && text[at] == '>' ? at + 1 : 0;
}

static bool ends_line(const char *tag)
{
    static const char *const names[] = {"<br",  "<BR",  "<p",   "</p",
                                        "</tr", "</li", "</div"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(tag, names[i], length) == 0 &&
            strchr(" />", tag[length]) != NULL)
            return true;
    }
    return false;
}

static const struct spelling *spelling_at(const char *text)
{
    if (is_ascii(*text) && !strchr("&|\t\v\f", *text))
        return NULL; /* most are */
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
        if (strncmp(text, spellings[i].text, strlen(spellings[i].text)) == 0)
            return &spellings[i];
    return NULL;
}

void flashbench_clean(char *text)
{
    char *const start = text;
    char *to = text;

    while (*text) {
        size_t tag = tag_length(text);
        const struct spelling *spelling = spelling_at(text);
        /* An entity that was made one of again. */
        if (strncmp(text, "&amp;", 5) == 0) {
            text += 4;
            *text = '&';
        } else if (tag) {
            *to++ = ends_line(text) ? '\r' : ' ';
            text += tag;
        } else if (spelling) {
            size_t length = strlen(spelling->meant);
            text += strlen(spelling->text);
            memcpy(to, spelling->meant, length);
            to += length;
        } else if (*text == '\240' && (to == start || is_ascii(to[-1]))) {
            *to++ = ' '; /* Latin-1 */
            text++;
        } else {
            /* "1,2ms", as where a comma is the decimal mark */
            const bool is_mark = *text == ',' && to > start &&
                                 isdigit((unsigned char)to[-1]) &&
                                 isdigit((unsigned char)text[1]);
            *to++ = is_mark ? '.' : *text;
            text++;
        }
    }
    *to = '\0';
}

/* What mail, forums and lists put in front of a line. */
static bool is_mark(const char *text)
{
    size_t at = 0;

    while (text[at] && (strchr(">*+-#$:.", text[at]) ||
                        strncmp(text + at, "\342\200\242", 3) == 0))
        at += is_ascii(text[at]) ? 1 : 3;
    return text[at] == '\0' && strcmp(text, "--") != 0;
}

static bool is_continued(const char *text)
{
    return text[0] == '\\' && (text[1] == '\n' || text[1] == '\r');
}

static size_t word_length(const char *text)
{
    size_t length = 0;

    while (text[length] && !strchr(" \n\r", text[length]) &&
           !is_continued(text + length))
        length++;
    return length;
}

bool flashbench_next_word(struct flashbench_cursor *cursor,
                          struct flashbench_word *word)
{
    for (;;) {
        const char *at = cursor->at;
        bool goes_on = is_continued(at);
        cursor->at += goes_on;
        if (goes_on || *at == ' ' || *at == '\n' || *at == '\r') {
            cursor->line += *cursor->at == '\n';
            cursor->begins = cursor->begins || (!goes_on && *at != ' ');
            cursor->at++;
            continue;
        }
        if (*at == '\0')
            break;
        size_t length = word_length(at);
        size_t kept =
            length < sizeof(word->text) ? length : sizeof(word->text) - 1;
        memcpy(word->text, at, kept);
        word->text[kept] = '\0';
        word->line = cursor->line;
        word->first = cursor->begins;
        cursor->at += length;
        if (word->first && is_mark(word->text))
            continue;
        cursor->begins = false;
        return true;
    }
    word->text[0] = '\0';
    word->line = cursor->line;
    word->first = true;
    return false;
}

struct unit {
    const char *name;
    double factor;
    enum flashbench_amount amount;
};

static enum flashbench_amount read_unit(const char *text,
                                        const struct unit *unit, double *amount)
{
    for (; unit->name; unit++) {
        if (strcmp(unit->name, text) != 0)
            continue;
        *amount *= unit->factor;
        return unit->amount;
    }
    return *text ? AMOUNT_NONE : AMOUNT_UNITLESS;
}

/* Behind a micro sign: in UTF-8, in Latin-1, as a terminal without any of them
 * puts it, as an entity, and read once or twice as something else. */
static const char *after_micro(const char *text)
{
    while (*text) {
        size_t entity = strspn(text + 1, "#abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789");
        if (!is_ascii(*text) || *text == '?')
            text++;
        else if (*text == '&' && entity && text[1 + entity] == ';')
            text += entity + 2;
        else
            break;
    }
    return text;
}

enum flashbench_amount flashbench_time(const char *word, double *time_ns)
{
    /* A negative time has no room for all of "ns", and may have none for
     * "n". */
    static const struct unit units[] = {
        {"ns", 1, AMOUNT_WHOLE},   {"n", 1, AMOUNT_CUT},
        {"us", 1e3, AMOUNT_WHOLE}, {"u", 1e3, AMOUNT_CUT},
        {"ms", 1e6, AMOUNT_WHOLE}, {"m", 1, AMOUNT_UNITLESS},
        {"s", 1e9, AMOUNT_WHOLE},  {NULL, 0, AMOUNT_NONE},
    };
    const char *end = flashbench_number(word, time_ns);

    if (!end)
        return AMOUNT_NONE;
    const char *behind = after_micro(end);
    if (behind == end)
        return read_unit(end, units, time_ns);
    *time_ns *= 1e3;
    if (*behind == '\0')
        return AMOUNT_CUT;
    return strcmp(behind, "s") == 0 ? AMOUNT_WHOLE : AMOUNT_NONE;
}

enum flashbench_amount flashbench_size(const char *word, double *bytes)
{
    static const struct unit units[] = {
        {"B", 1, AMOUNT_WHOLE},        {"KiB", 0x1p10, AMOUNT_WHOLE},
        {"MiB", 0x1p20, AMOUNT_WHOLE}, {"GiB", 0x1p30, AMOUNT_WHOLE},
        {"Ki", 0x1p10, AMOUNT_CUT},    {"Mi", 0x1p20, AMOUNT_CUT},
        {"Gi", 0x1p30, AMOUNT_CUT},    {NULL, 0, AMOUNT_NONE},
    };
    const char *end;

    /* Marks and line numbers that are glued to it: "*4MiB", "12:4MiB". */
    while (*word && !isalnum((unsigned char)*word))
        word++;
    size_t digits = strspn(word, "0123456789");
    if (digits && word[digits] && strchr(":)", word[digits]))
        word += digits + 1;
    end = flashbench_number(word, bytes);
    return end ? read_unit(end, units, bytes) : AMOUNT_NONE;
}

enum flashbench_amount flashbench_speed(const char *word, double *speed)
{
    static const struct unit units[] = {
        {"B/s", 1, AMOUNT_WHOLE},   {"K/s", 1e3, AMOUNT_WHOLE},
        {"M/s", 1e6, AMOUNT_WHOLE}, {"G/s", 1e9, AMOUNT_WHOLE},
        {"B/", 1, AMOUNT_CUT},      {"K/", 1e3, AMOUNT_CUT},
        {"M/", 1e6, AMOUNT_CUT},    {"G/", 1e9, AMOUNT_CUT},
        {"B", 1, AMOUNT_UNITLESS},  {"K", 1, AMOUNT_UNITLESS},
        {"M", 1, AMOUNT_UNITLESS},  {"G", 1, AMOUNT_UNITLESS},
        {NULL, 0, AMOUNT_NONE},
    };
    const char *end = flashbench_number(word, speed);

    return end ? read_unit(end, units, speed) : AMOUNT_NONE;
}

enum flashbench_amount flashbench_next_amount(struct flashbench_cursor *cursor,
                                              flashbench_reader *reader,
                                              struct flashbench_word *word,
                                              double *amount)
{
    struct flashbench_cursor after = *cursor;
    struct flashbench_word next;
    char both[2 * FLASHBENCH_WORD_MAX];
    double joined;

    if (!flashbench_next_word(&after, word))
        return AMOUNT_NONE;
    enum flashbench_amount result = reader(word->text, amount);
    struct flashbench_cursor behind = after;
    if (result != AMOUNT_NONE && result != AMOUNT_WHOLE &&
        flashbench_next_word(&behind, &next) &&
        (next.first ? reader != flashbench_size
                    : !isdigit((unsigned char)next.text[0]))) {
        size_t length = strlen(word->text);
        memcpy(both, word->text, length);
        memcpy(both + length, next.text, strlen(next.text) + 1);
        if (reader(both, &joined) == AMOUNT_WHOLE) {
            *amount = joined;
            *cursor = behind;
            return AMOUNT_WHOLE;
        }
    }
    if (result == AMOUNT_WHOLE || result == AMOUNT_CUT)
        *cursor = after;
    return result;
}
