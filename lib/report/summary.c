/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/base/visible.h"
#include "lib/infer/whole_verdict.h"
#include "lib/infer/parameter.h"

const double report_sure = 0.99;
/* What is as likely wrong as right tells a reader nothing. */
static const double even = 0.5;
/* A wider interval is shown in place of the value: its middle says too much. */
static const double interval_wide = 1.12;

struct sentence {
    const struct findings *findings;
    char *text;
    bool plain_bytes;
};

#define add(sentence, ...)                                                     \
    text_add((sentence)->text, REPORT_SUMMARY_BYTES, __VA_ARGS__)

/* NULL: not found, not measured, or too doubtful to be said. */
static const struct finding *said_in(const struct findings *findings,
                                     const char *parameter)
{
    const struct finding *finding = findings_get(findings, parameter);

    return finding && finding->verdict == VERDICT_FOUND &&
                   !finding_assumed(finding) && finding->confidence > even
               ? finding
               : NULL;
}

static const struct finding *said_of(const struct sentence *sentence,
                                     const char *parameter)
{
    return said_in(sentence->findings, parameter);
}

static bool is_sure(const struct finding *finding)
{
    return finding->confidence >= report_sure;
}

/* Before what is stated: "", "probably ", "perhaps ". */
static const char *probably(const struct finding *finding)
{
    static const char *const words[] = {"probably ", "perhaps "};

    return is_sure(finding) ? ""
                            : words[!report_is_probable(finding->confidence)];
}

/* " (75 %)" of what is not sure; whole percents, rounded down. */
static const char *how_sure(const struct finding *finding, char text[16])
{
    text[0] = '\0';
    if (!is_sure(finding))
        snprintf(text, 16, " (%d %%)",
                 (int)floor(finding->confidence * 100 + 1e-9));
    return text;
}

/* "110 MB/s", "90 MB/s to 140 MB/s", "at least 2". */
static const char *amount_of(const struct sentence *sentence,
                             const struct finding *finding, char text[160])
{
    const double low = value_number(&finding->low);
    const double high = value_number(&finding->high);
    char ends[2][64];

    const bool none = finding->value.kind == VALUE_NONE;

    if (none && (low <= 0 || high <= 0))
        return report_interval(finding, sentence->plain_bytes, text, 160);
    if (!none && (low <= 0 || high <= low * interval_wide))
        return report_amount(&finding->value, report_unit(finding),
                             sentence->plain_bytes, text, 160);
    report_amount(&finding->low, report_unit(finding), sentence->plain_bytes,
                  ends[0], sizeof(ends[0]));
    report_amount(&finding->high, report_unit(finding), sentence->plain_bytes,
                  ends[1], sizeof(ends[1]));
    snprintf(text, 160, "%s to %s", ends[0], ends[1]);
    return text;
}

static const struct finding *less_sure(const struct finding *a,
                                       const struct finding *b)
{
    return a->confidence < b->confidence ? a : b;
}

/* Both sizes in one system of units: of 1024 where what it says is whole. */
static const char *size_text(const struct sentence *sentence, uint64_t bytes,
                             bool binary, char text[64])
{
    if (sentence->plain_bytes)
        snprintf(text, 64, "%" PRIu64 " B", bytes);
    else if (binary)
        format_bytes(bytes, text, 64);
    else
        format_capacity(bytes, text, 64);
    return text;
}

char *report_banner(const struct report *report, bool plain_bytes,
                    char text[REPORT_BANNER_BYTES])
{
    const struct whole_verdict verdict = whole_verdict(report->findings);
    const uint64_t says = report->device ? report->device->capacity_bytes : 0;
    const struct sentence sentence = {report->findings, text, plain_bytes};
    const bool binary = says % GIB == 0;
    char declared[64] = "", holds[64] = "less than that", sure[24] = "";

    text[0] = '\0';
    if (verdict.confidence < report_sure)
        snprintf(sure, sizeof(sure), "%s (%d %%) ",
                 report_likely(verdict.confidence),
                 (int)floor(verdict.confidence * 100 + 1e-9));
    if (verdict.state == DRIVE_BROKEN && verdict.bad_places)
        snprintf(
            text, REPORT_BANNER_BYTES,
            "BROKEN: %s%llu place%s of it lose%s data. Copy what you need, "
            "and replace it.",
            sure, (unsigned long long)verdict.bad_places,
            verdict.bad_places == 1 ? "" : "s",
            verdict.bad_places == 1 ? "s" : "");
    else if (verdict.state == DRIVE_BROKEN)
        snprintf(text, REPORT_BANNER_BYTES,
                 "BROKEN: %sit keeps nothing that is written to it. Replace "
                 "it.",
                 sure);
    if (verdict.state != DRIVE_FAKE)
        return text;
    if (says)
        snprintf(declared, sizeof(declared), "sold as %s, ",
                 size_text(&sentence, says, binary, holds));
    if (verdict.holds_bytes)
        size_text(&sentence, verdict.holds_bytes, binary, holds);
    else
        snprintf(holds, sizeof(holds), "less than it says");
    snprintf(text, REPORT_BANNER_BYTES,
             "FAKE: %s%s%s%s; what is written beyond %s. Return it.", declared,
             sure, says ? "holds " : "it holds ", holds,
             verdict.overwrites ? "overwrites the rest" : "is lost");
    return text;
}

/* What its bus makes of it: "an NVMe drive". */
static const char *kind_of(const struct device_info *device)
{
    static const struct {
        const char *bus, *kind;
    } kinds[] = {{"nvme", "NVMe drive"}, {"usb", "USB drive"},
                 {"mmc", "memory card"}, {"sd", "memory card"},
                 {"ata", "SATA drive"},  {"sata", "SATA drive"}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (device && strcmp(device->bus, kinds[i].bus) == 0)
            return kinds[i].kind;
    return "drive";
}

/* "A 34.4 GB NVMe drive (emulated)." A bad one is no drive of its size. */
static void add_drive(struct sentence *sentence,
                      const struct device_info *device)
{
    const struct whole_verdict verdict = whole_verdict(sentence->findings);
    const bool bad =
        verdict.state == DRIVE_FAKE || verdict.state == DRIVE_BROKEN;
    const uint64_t bytes = device && !bad ? device->capacity_bytes : 0;
    const char *kind = kind_of(device);
    char size[64] = "";

    if (bytes)
        size_text(sentence, bytes, false, size);
    /* An 8 GB, an 80 GB, an 18 GB drive. */
    const bool vowel = bytes ? size[0] == '8' || strncmp(size, "11 ", 3) == 0 ||
                                   strncmp(size, "18 ", 3) == 0
                             : kind[0] == 'N';
    add(sentence, "A%s %s%s%s%s", vowel ? "n" : "", size, bytes ? " " : "",
        kind, device && device->virtual_clock ? " (emulated)" : "");
    if (verdict.state == DRIVE_OK && verdict.confidence >= report_sure)
        add(sentence, ", genuine");
    else if (verdict.state == DRIVE_OK)
        add(sentence, ", %s genuine (%d %%)", report_likely(verdict.confidence),
            (int)floor(verdict.confidence * 100 + 1e-9));
    add(sentence, ".");
}

const struct finding *report_erase_unit(const struct findings *findings)
{
    const struct finding *block = said_in(findings, "clustered_block");
    const struct finding *unit = said_in(findings, "read_boundary");

    if (block && unit &&
        value_number(&block->value) != value_number(&unit->value))
        return NULL;
    if (block && unit)
        return block->confidence > unit->confidence ? block : unit;
    return block ? block : unit;
}

/* ---- how fast ------------------------------------------------------------ */

/* "and probably 253k IOPS (QD 32, 95 %)" */
static void add_iops(struct sentence *sentence, const char *before)
{
    const struct finding *rate = said_of(sentence, "random_read_rate");
    const struct finding *depth = said_of(sentence, "read_parallelism");
    char amount[160], queue[48] = "", sure[24] = "";

    if (!rate)
        return;
    const struct finding *least = depth ? less_sure(rate, depth) : rate;
    if (depth)
        report_depth(depth, queue, sizeof(queue));
    if (!is_sure(least))
        snprintf(sure, sizeof(sure), "%s%d %%", depth ? ", " : "",
                 (int)floor(least->confidence * 100 + 1e-9));
    add(sentence, "%s%s%s", before, probably(least),
        amount_of(sentence, rate, amount));
    if (queue[0] || sure[0])
        add(sentence, " (%s%s)", queue, sure);
}

/* "reads 110 MB/s (95 %)" */
static bool add_clause(struct sentence *sentence, const char *verb,
                       const char *parameter)
{
    const struct finding *finding = said_of(sentence, parameter);
    char amount[160], sure[16];

    if (!finding)
        return false;
    add(sentence, "%s%s %s%s", probably(finding), verb,
        amount_of(sentence, finding, amount), how_sure(finding, sure));
    return true;
}

static void add_reads(struct sentence *sentence)
{
    const bool rate = add_clause(sentence, "reads", "sequential_read_rate");

    if (rate)
        add_iops(sentence, " and ");
    else if (said_of(sentence, "random_read_rate"))
        add_iops(sentence, "reads ");
    else
        add_clause(sentence, "a random 4 KiB read takes", "random_read");
}

/* "writes 3.2 GB/s for the first 1.5 GB, then 0.5 GB/s": a rate that does not
 * last is not the drive's. */
static void add_writes(struct sentence *sentence, const char *before)
{
    const struct finding *cache = said_of(sentence, "fast_cache");
    const struct finding *fast = said_of(sentence, "fast_write_rate");
    const struct finding *slow = said_of(sentence, "sustained_write_rate");
    char amounts[2][160], size[160], sure[16];

    if (!slow && !fast && !said_of(sentence, "sequential_write_rate"))
        return;
    add(sentence, "%s", before);
    if (!cache || !fast || value_number(&cache->value) <= 0) {
        add_clause(sentence, "writes",
                   slow ? "sustained_write_rate" : "sequential_write_rate");
        return;
    }
    const struct finding *least = less_sure(cache, fast);
    if (slow)
        least = less_sure(least, slow);
    add(sentence, "%swrites %s for the first %s", probably(least),
        amount_of(sentence, fast, amounts[0]),
        amount_of(sentence, cache, size));
    if (slow)
        add(sentence, ", then %s", amount_of(sentence, slow, amounts[1]));
    add(sentence, "%s", how_sure(least, sure));
}

/* A write that a database waits for. */
static void add_synced(struct sentence *sentence)
{
    const struct finding *p99 = said_of(sentence, "sync_write_p99");
    const struct finding *fua =
        p99 ? p99 : said_of(sentence, "fua_time"); /* as tools record it */
    const struct finding *honest = said_of(sentence, "flush_honesty");
    char time[160], sure[16];

    if (honest && honest->value.kind == VALUE_TEXT &&
        strcmp(honest->value.text, "free") == 0) {
        add(sentence, " A flush %sreturns before the data is in flash%s.",
            probably(honest), how_sure(honest, sure));
        return;
    }
    if (!fua || value_number(&fua->high) <= 0)
        return;
    const double p99_ns = report_extra(fua, "p99");
    if (!p99 && p99_ns > 0)
        format_ns((uint64_t)p99_ns, time, sizeof(time));
    else
        amount_of(sentence, fua, time);
    add(sentence, " Synced 4 KiB writes: %s%s%s%s.",
        p99 || p99_ns > 0 ? "p99 " : "", probably(fua), time,
        how_sure(fua, sure));
}

static void capital(char *text)
{
    if (*text >= 'a' && *text <= 'z')
        *text = (char)(*text - 'a' + 'A');
}

/* "Reads ...; writes .... Synced 4 KiB writes: p99 0.9 ms." */
static void add_speed(struct sentence *sentence)
{
    const size_t begin = strlen(sentence->text);

    add_reads(sentence);
    const bool reads = strlen(sentence->text) > begin;
    add_writes(sentence, reads ? "; " : "");
    if (strlen(sentence->text) > begin) {
        capital(sentence->text + begin);
        add(sentence, ".");
    }
    add_synced(sentence);
}

/* ---- what is inside ------------------------------------------------------ */

struct inside {
    const struct finding *finding;
    const char *label; /* before a size; after a count */
};

/* "erase unit 192 MiB", "32 parallel units (95 %)": those that are stated with
 * this word, behind it and `before`. Is there any? */
static bool add_parts(struct sentence *sentence, const struct inside parts[],
                      size_t count, const char *word, const char *before)
{
    bool any = false;
    char amount[160], confidence[16];

    for (size_t i = 0; i < count; i++) {
        const struct finding *finding = parts[i].finding;
        if (!finding || strcmp(probably(finding), word) != 0)
            continue;
        if (!any)
            add(sentence, "%s%s", before, word);
        const bool counts = parts[i].label[0] == ' ';
        const bool one = fabs(value_number(&finding->value) - 1) < even;
        add(sentence, "%s%s%s%s%s%s", any ? ", " : "",
            counts ? "" : parts[i].label, amount_of(sentence, finding, amount),
            counts ? parts[i].label : "", counts && !one ? "s" : "",
            how_sure(finding, confidence));
        any = true;
    }
    return any;
}

/* "Write unit 16 KiB; probably 32 dies (95 %); perhaps TLC (85 %)." */
static void add_inside(struct sentence *sentence)
{
    const struct inside parts[] = {
        {said_of(sentence, "nand_type"), ""},
        {said_of(sentence, "clustered_page"), "write unit "},
        {report_erase_unit(sentence->findings), "erase unit "},
        {said_of(sentence, "log_list"), " open unit"},
        {said_of(sentence, "parallel_units"), " parallel unit"},
        {said_of(sentence, "write_buffer"), "write buffer "}};
    enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
    const size_t begin = strlen(sentence->text);
    bool any = add_parts(sentence, parts, PARTS, "", "");

    any =
        add_parts(sentence, parts, PARTS, "probably ", any ? "; " : "") || any;
    add_parts(sentence, parts, PARTS, "perhaps ", any ? "; " : "");
    if (strlen(sentence->text) == begin)
        return;
    capital(sentence->text + begin);
    add(sentence, ".");
}

size_t report_sentences(const struct report *report, bool plain_bytes,
                        char texts[REPORT_SENTENCES][REPORT_SUMMARY_BYTES])
{
    static void (*const makers[])(struct sentence *) = {add_speed, add_inside};
    size_t count = 0;

    if (!report->findings || report->findings->count == 0)
        return 0;
    struct sentence first = {report->findings, texts[count], plain_bytes};
    texts[count++][0] = '\0';
    add_drive(&first, report->device);
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        struct sentence sentence = {report->findings, texts[count],
                                    plain_bytes};
        texts[count][0] = '\0';
        makers[i](&sentence);
        if (texts[count][0] == ' ')
            memmove(texts[count], texts[count] + 1, strlen(texts[count]));
        count += texts[count][0] != '\0';
    }
    const enum drive_state state = whole_verdict(report->findings).state;
    if (state != DRIVE_FAKE && state != DRIVE_BROKEN && report->conditions &&
        conditions_grade(report->conditions) == CONDITION_RED)
        snprintf(texts[count++], REPORT_SUMMARY_BYTES,
                 "Conditions were red: times and rates may be wrong.");
    return count;
}

char *report_summary(const struct report *report, bool plain_bytes,
                     char text[REPORT_SUMMARY_BYTES])
{
    char texts[REPORT_SENTENCES][REPORT_SUMMARY_BYTES];
    char banner[REPORT_BANNER_BYTES];
    const size_t count = report_sentences(report, plain_bytes, texts);
    struct sentence all = {report->findings, text, plain_bytes};

    text[0] = '\0';
    if (count == 0)
        return text;
    if (report_banner(report, plain_bytes, banner)[0])
        add(&all, "%s ", banner);
    for (size_t i = 0; i < count; i++)
        add(&all, "%s%s", i ? " " : "", texts[i]);
    return text;
}

static bool is_open(const struct findings *findings, const char *parameter)
{
    const struct finding *finding = findings_get(findings, parameter);

    return finding && finding->verdict == VERDICT_INCONCLUSIVE;
}

/* Does another finding answer the same question, or say that it is open? */
static bool is_said_elsewhere(const struct findings *findings,
                              const struct finding *finding)
{
    static const char by_writes[] = "clustered_block",
                      by_reads[] = "read_boundary";
    const bool reads = strcmp(finding->parameter, by_reads) == 0;

    if (finding->verdict != VERDICT_INCONCLUSIVE ||
        (!reads && strcmp(finding->parameter, by_writes) != 0))
        return false;
    return report_erase_unit(findings) ||
           (reads && is_open(findings, by_writes));
}

/* The finding whose value would help this one, by its own words; NULL: none of
 * those that are open. */
static const struct finding *waits_for(const struct findings *findings,
                                       const struct finding *finding)
{
    static const char words[] = "--assume=";
    const char *at = strstr(finding->why, words);
    char name[sizeof(finding->parameter)];

    if (!at)
        return NULL;
    at += strlen(words);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "="), at);
    const struct finding *cause = findings_get(findings, name);
    return is_open(findings, name) && cause != finding &&
                   !is_said_elsewhere(findings, cause)
               ? cause
               : NULL;
}

/* By which of them an open finding stands in the list. */
static const struct finding *first_of_reason(const struct findings *findings,
                                             const struct finding *finding)
{
    const struct finding *cause = waits_for(findings, finding);

    if (cause && !waits_for(findings, cause))
        finding = cause;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].verdict == VERDICT_INCONCLUSIVE &&
            !is_said_elsewhere(findings, &findings->items[i]) &&
            strcmp(findings->items[i].why, finding->why) == 0)
            return &findings->items[i];
    return finding;
}

size_t report_of_verdict(const struct findings *findings, enum verdict verdict,
                         const struct finding *named[FINDINGS_MAX],
                         size_t with_it[FINDINGS_MAX])
{
    const bool folds = verdict == VERDICT_INCONCLUSIVE;
    const struct finding *first[FINDINGS_MAX];
    size_t of_reason[FINDINGS_MAX] = {0}, count = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        first[i] = NULL;
        if (finding->verdict != verdict || is_said_elsewhere(findings, finding))
            continue;
        first[i] = folds ? first_of_reason(findings, finding) : finding;
        of_reason[first[i] - findings->items]++;
    }
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (!first[i])
            continue;
        const size_t others = of_reason[first[i] - findings->items] - 1;
        if (others > 1 && first[i] != finding)
            continue;
        with_it[count] = others > 1 ? others : 0;
        named[count++] = finding;
    }
    return count;
}

size_t report_order(const struct findings *findings,
                    const struct finding *ordered[FINDINGS_MAX])
{
    size_t count = 0;

    for (int group = 0; group < PARAMETER_GROUPS; group++)
        for (size_t i = 0; i < findings->count; i++)
            if ((int)parameter_group(findings->items[i].parameter) == group)
                ordered[count++] = &findings->items[i];
    return count;
}

/* Those of one group, by verdict. */
static void fill_group(const struct findings *findings,
                       enum parameter_group which, struct report_group *group)
{
    group->name = parameter_group_name(which);
    group->count = 0;
    for (enum verdict v = VERDICT_FOUND; v < VERDICT_SKIPPED; v++)
        for (size_t i = 0; i < findings->count; i++) {
            const struct finding *finding = &findings->items[i];
            if (finding->verdict == v &&
                parameter_group(finding->parameter) == which)
                group->items[group->count++] = finding;
        }
}

size_t report_groups(const struct findings *findings,
                     struct report_group groups[PARAMETER_GROUPS])
{
    size_t count = 0;

    for (int i = 0; i < PARAMETER_GROUPS; i++) {
        fill_group(findings, (enum parameter_group)i, &groups[count]);
        count += groups[count].count > 0;
    }
    return count;
}
