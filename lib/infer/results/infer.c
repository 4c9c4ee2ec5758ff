/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/method/line.h"
#include "lib/infer/results/results.h"
#include "lib/infer/statistics/stats.h"

/*
 * Two runs of one drive differ by so much: the 90th percentile of 25 pairs of
 * runs of one model by iocost (36 models). Sequential writes depend on what was
 * written before.
 */
static const double spread_reads = 0.07, spread_random = 0.04,
                    spread_writes = 0.41, spread_random_writes = 0.1;

/* It was nobody of us who measured: with and without its word that the page
 * cache was not in between. */
static const double confidence_direct = 0.9, confidence_unknown = 0.6,
                    confidence_of_file = 0.75;

/* Kinds of pages, from the times of reads: of 140 drives drawn as they are sold
 * (seeds 31 to 100, 2,000 reads each, realistic noise) 19 had such kinds, and
 * all were named rightly; so were an 860 PRO and a 980 PRO. Most were TLC, as
 * most drives are. */
static const double confidence_pages = 0.75;

/* All of it came back. */
static const double kept_confidence = 0.95;

/* What a page cache answers in no drive reads. */
static const double drive_least_ns = 5000;

/* A depth is enough where it reaches this share of the most. */
static const double plateau_share = 0.9;

/* Times of neighbouring percentiles that are so far apart are of two kinds. */
static const double kinds_apart = 1.5;

/* Those of pages of two kinds in one cell are so far apart; each has its part,
 * as near as tenths of all requests tell. */
static const double pages_apart = 1.05, part_off_most = 0.06,
                    tenth_most = 0.101, last_part_least = 0.08;

/* Queues are called deep from here on. */
static const double deep = 32;

/* A line explains times within this. */
static const double line_most = 0.25;

enum {
    KINDS_MAX = 3,
    PAGES_MAX = 4, /* of a cell */
    LINE_POINTS_MAX = 32,
    LARGE_BYTES = 65536,
    DEPTHS_MAX = 64
};

/* ---- points ---- */

struct wanted {
    bool writes, random, synced;
    double block_least_bytes, block_most_bytes;
    double depth; /* 0: any */
};

static bool fits(const struct result_point *point, const struct wanted *wanted)
{
    return point->writes == wanted->writes && point->random == wanted->random &&
           point->synced == wanted->synced && point->cache != CACHE_USED &&
           point->block_bytes >= wanted->block_least_bytes &&
           point->block_bytes <= wanted->block_most_bytes &&
           (wanted->depth <= 0 || point->depth == wanted->depth) &&
           !(point->depth == 1 && point->mean_ns > 0 &&
             point->mean_ns < drive_least_ns);
}

/* The fastest of all that fit; NULL: none does. */
static const struct result_point *fastest(const struct results *results,
                                          const struct wanted *wanted)
{
    const struct result_point *best = NULL;

    for (size_t i = 0; i < results->points_count; i++) {
        const struct result_point *point = &results->points[i];
        if (fits(point, wanted) &&
            (!best || point->bytes_per_second > best->bytes_per_second))
            best = point;
    }
    return best;
}

static double confidence_of(const struct result_point *point)
{
    return point->cache != CACHE_BYPASSED ? confidence_unknown
           : point->of_file               ? confidence_of_file
                                          : confidence_direct;
}

static const char *cache_words(const struct result_point *point)
{
    return point->cache == CACHE_BYPASSED
               ? ""
               : "; whether the host's page cache was in between it does not "
                 "say";
}

static void state(struct finding *finding, double value, double spread,
                  const struct result_point *point)
{
    const struct interval interval = {value / (1 + spread),
                                      value * (1 + spread)};

    finding_measured(finding, value, &interval, confidence_of(point));
}

/* ---- rates ---- */

static void say_rate(const struct results *results, bool writes,
                     struct findings *findings)
{
    const struct wanted wanted = {.writes = writes,
                                  .block_least_bytes = LARGE_BYTES,
                                  .block_most_bytes = INFINITY};
    const struct result_point *point = fastest(results, &wanted);
    char size[24];

    if (!point)
        return;
    struct finding *finding =
        findings_add(findings, point->tool,
                     writes ? "sequential_write_rate" : "sequential_read_rate");
    state(finding, point->bytes_per_second,
          writes ? spread_writes : spread_reads, point);
    format_bytes((uint64_t)point->block_bytes, size, sizeof(size));
    finding_why(
        finding, "the fastest sequential %s that %s measured, of %s%s%s%s",
        writes ? "writes" : "reads", point->tool, size,
        point->depth > 1 ? ", several at the same time" : "",
        writes
            ? "; earlier writes, which may have filled a cache, are not known"
            : "",
        cache_words(point));
}

/* ---- one request after the other ---- */

/* A range of shares whose times are close together. */
struct kind {
    double from_share, to_share, low_ns, high_ns;
};

/* Between two of them no time lies. Returns how many there are. */
static size_t kinds_of(const struct result_point *point,
                       struct kind kinds[KINDS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < point->shares_count; i++) {
        const struct result_share *at = &point->shares[i];
        if (at->share > 0.99)
            break;
        if (count == 0 || at->ns > kinds_apart * kinds[count - 1].high_ns) {
            if (count == KINDS_MAX)
                break;
            kinds[count++] =
                (struct kind){at->share, at->share, at->ns, at->ns};
        }
        kinds[count - 1].to_share = at->share;
        kinds[count - 1].high_ns = at->ns;
    }
    /* A few slow ones are no kind of their own. */
    while (count > 1 && kinds[count - 1].from_share > 0.9)
        count--;
    return count;
}

static double share_ns(const struct result_point *point, double share)
{
    for (size_t i = 0; i < point->shares_count; i++)
        if (point->shares[i].share >= share - 1e-9)
            return point->shares[i].ns;
    return 0;
}

/* Bits of a cell that explain the parts of all reads: it has as many kinds of
 * pages, each read as often, and the times of some kinds may be the same. 0:
 * none does. */
static size_t bits_of(const double parts[], size_t count)
{
    for (size_t bits = 2; bits <= PAGES_MAX; bits++) {
        bool fits = count > 1 && count <= bits;
        for (size_t i = 0; i < count && fits; i++) {
            const double pages = round(parts[i] * (double)bits);
            fits = pages > 0 &&
                   fabs(parts[i] - pages / (double)bits) <= part_off_most;
        }
        if (fits)
            return bits;
    }
    return 0;
}

/* The parts of the slowest and most common reads, by their times. Returns how
 * many there are; 0: the percentiles do not tell. */
static size_t parts_of(const struct result_point *point,
                       const struct kind *slow, double parts[PAGES_MAX])
{
    double begins[PAGES_MAX + 2], before = 0, before_ns = 0;
    size_t count = 0;

    for (size_t i = 0; i < point->shares_count; i++) {
        const struct result_share *at = &point->shares[i];
        if (at->share > 0.95)
            break;
        if (at->share - before > tenth_most)
            return 0;
        if (at->share >= slow->from_share &&
            (count == 0 || at->ns > pages_apart * before_ns)) {
            if (count > PAGES_MAX)
                return 0;
            begins[count++] = (before + at->share) / 2;
        }
        before = at->share;
        before_ns = at->ns;
    }
    /* A few slow ones are no kind of their own. */
    if (count > 1 && 1 - begins[count - 1] < last_part_least)
        count--;
    if (count == 0 || count > PAGES_MAX || begins[0] > 0.5)
        return 0;
    begins[count] = 1;
    for (size_t i = 0; i < count; i++)
        parts[i] = (begins[i + 1] - begins[i]) / (1 - begins[0]);
    return count;
}

static void add_extra(struct finding *finding, const char *name, double ns)
{
    if (ns > 0)
        finding_extra(finding, name, value_integer((uint64_t)ns));
}

/* "; 30 % take 20.4 to 25.5 us, the others 59.1 to 77.3 us" */
static void say_kinds(const struct kind kinds[], size_t count, char *text,
                      size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && count > 1; i++) {
        char low[24], high[24], share[40];
        const double before = i ? kinds[i - 1].to_share : 0;
        snprintf(share, sizeof(share), i + 1 < count ? "%s %.0f %%" : "%s",
                 i + 1 < count ? (i ? "" : "; about") : " and the others",
                 100 * (kinds[i].to_share - before));
        int more =
            snprintf(text + used, size - used, "%s take %s to %s", share,
                     format_ns((uint64_t)kinds[i].low_ns, low, sizeof(low)),
                     format_ns((uint64_t)kinds[i].high_ns, high, sizeof(high)));
        if (more > 0 && used + (size_t)more < size)
            used += (size_t)more;
    }
}

static void say_pages(const struct result_point *point, const struct kind *slow,
                      struct findings *findings)
{
    static const char *const names[] = {"MLC", "TLC", "QLC"};
    double parts[PAGES_MAX];
    const size_t count = parts_of(point, slow, parts);
    const size_t bits = bits_of(parts, count);
    char low[24], high[24];

    if (bits == 0)
        return;
    struct finding *finding = findings_add(findings, point->tool, "nand_type");
    finding_found(finding, value_text(names[bits - 2]),
                  fmin(confidence_pages, confidence_of(point)));
    format_ns((uint64_t)slow->low_ns, low, sizeof(low));
    format_ns((uint64_t)slow->high_ns, high, sizeof(high));
    finding_why(
        finding,
        "reads of 4 KiB that take %s to %s have %zu kinds of times, as "
        "often as the %zu kinds of pages would have; a cache or fetched "
        "mapping could make such kinds, too",
        low, high, count, bits);
}

static void say_time(const struct results *results, const char *parameter,
                     const struct wanted *wanted, double spread,
                     const char *what, struct findings *findings)
{
    const struct result_point *point = fastest(results, wanted);
    struct kind kinds[KINDS_MAX];
    char text[200], name[24], size[24];

    if (!point || point->mean_ns <= 0)
        return;
    const size_t count = kinds_of(point, kinds);
    struct finding *finding = findings_add(findings, point->tool, parameter);
    state(finding, point->mean_ns, spread, point);
    add_extra(finding, "median", share_ns(point, 0.5));
    add_extra(finding, "p99", share_ns(point, 0.99));
    for (size_t i = 0; i < count && count > 1; i++) {
        snprintf(name, sizeof(name), "mode_%zu", i + 1);
        add_extra(
            finding, name,
            share_ns(point, (kinds[i].from_share + kinds[i].to_share) / 2));
    }
    if (point->requests_count > 0)
        finding_extra(finding, "requests",
                      value_integer((uint64_t)point->requests_count));
    say_kinds(kinds, count, text, sizeof(text));
    format_bytes((uint64_t)point->block_bytes, size, sizeof(size));
    finding_why(finding, "the mean of %s of %s by %s, one at a time%s%s", what,
                point->block_bytes > 0 ? size : "unknown size", point->tool,
                text, cache_words(point));
    if (!wanted->writes && count > 0)
        say_pages(point, &kinds[count - 1], findings);
}

/* ---- many at the same time ---- */

struct depth {
    double depth, rate;
    const struct result_point *point;
};

static int compare_depths(const void *a, const void *b)
{
    const struct depth *x = a, *y = b;

    return (x->depth > y->depth) - (x->depth < y->depth);
}

/* The most at each depth, rising. */
static size_t list_depths(const struct results *results,
                          struct depth depths[DEPTHS_MAX])
{
    const struct wanted wanted = {
        .random = true, .block_least_bytes = 4096, .block_most_bytes = 4096};
    size_t count = 0;

    for (size_t i = 0; i < results->points_count; i++) {
        const struct result_point *point = &results->points[i];
        size_t at = 0;
        if (!fits(point, &wanted) || point->depth < 1)
            continue;
        while (at < count && depths[at].depth != point->depth)
            at++;
        if (at == DEPTHS_MAX)
            continue;
        if (at == count)
            depths[count++] = (struct depth){.depth = point->depth};
        if (point->requests_per_second > depths[at].rate) {
            depths[at].rate = point->requests_per_second;
            depths[at].point = point;
        }
    }
    qsort(depths, count, sizeof(depths[0]), compare_depths);
    return count;
}

static void say_parallelism(const struct depth depths[], size_t count,
                            size_t best, struct findings *findings)
{
    const struct result_point *point = depths[best].point;
    struct finding *finding =
        findings_add(findings, point->tool, "read_parallelism");
    size_t enough = 0;

    while (depths[enough].rate < plateau_share * depths[best].rate)
        enough++;
    const uint64_t depth = (uint64_t)depths[enough].depth;
    const uint64_t before =
        enough ? (uint64_t)depths[enough - 1].depth + 1 : depth;
    if (enough + 1 >= count) {
        finding->low = value_integer(depth);
        finding_why(finding,
                    "random 4 KiB reads at QD %llu are still %.0f %% faster "
                    "than at QD %llu, and no deeper queue was tried",
                    (unsigned long long)depth,
                    100 * (depths[enough].rate / depths[enough - 1].rate - 1),
                    (unsigned long long)depths[enough - 1].depth);
        return;
    }
    finding_found(finding, value_integer(depth), confidence_of(point));
    finding->low = value_integer(before);
    finding_why(finding,
                "QD %llu is the first of the %zu that were tried at which "
                "random 4 KiB reads reach 90 %% of the most, %.0f a second%s; "
                "the host's processors may set that limit",
                (unsigned long long)depth, count, depths[best].rate,
                cache_words(point));
}

static void say_depths(const struct results *results, struct findings *findings)
{
    struct depth depths[DEPTHS_MAX];
    const size_t count = list_depths(results, depths);
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (depths[i].rate > depths[best].rate)
            best = i;
    if (count == 0 || depths[best].depth <= 1)
        return;
    struct finding *finding =
        findings_add(findings, depths[best].point->tool, "random_read_rate");
    /* Where nothing says that a deeper queue gains nothing. */
    if (best + 1 == count && depths[best].depth < deep) {
        finding->low = value_integer((uint64_t)depths[best].rate);
        finding_why(finding,
                    "%.0f random 4 KiB reads a second at QD %.0f by %s, and no "
                    "deeper queue was tried",
                    depths[best].rate, depths[best].depth,
                    depths[best].point->tool);
        return;
    }
    state(finding, depths[best].rate, spread_random, depths[best].point);
    finding_why(finding,
                "random 4 KiB reads at QD %.0f by %s, the most of %zu queue "
                "depth%s%s",
                depths[best].depth, depths[best].point->tool, count,
                count > 1 ? "s" : "", cache_words(depths[best].point));
    if (count >= 3)
        say_parallelism(depths, count, best, findings);
}

/* ---- sizes ---- */

/* The time of a random read of each size, one at a time. */
struct sizes {
    double x[LINE_POINTS_MAX], y[LINE_POINTS_MAX]; /* in 4 KiB; ns */
    size_t count;
    const struct result_point *last;
};

static void list_sizes(const struct results *results, struct sizes *sizes)
{
    sizes->count = 0;
    for (uint64_t bytes = 4096; bytes <= 1 << 20; bytes *= 2) {
        const double size = (double)bytes;
        const struct wanted wanted = {.random = true,
                                      .depth = 1,
                                      .block_least_bytes = size,
                                      .block_most_bytes = size};
        const struct result_point *point = fastest(results, &wanted);
        if (!point || point->mean_ns <= 0)
            continue;
        sizes->x[sizes->count] = size / 4096;
        sizes->y[sizes->count++] = point->mean_ns;
        sizes->last = point;
    }
}

/* How far the times are from a line through all but the first of them; a line
 * that falls, or begins below nothing, explains none of them. */
static double fit_from(const struct sizes *sizes, size_t first,
                       struct line *line)
{
    double off = 0;

    *line = line_fit(sizes->x + first, sizes->y + first, sizes->count - first);
    for (size_t i = first; i < sizes->count; i++)
        off = fmax(off, fabs(sizes->y[i] /
                                 (line->intercept + line->slope * sizes->x[i]) -
                             1));
    return line->slope > 0 && line->intercept > 0 ? off : INFINITY;
}

/* What a request costs, and each 4 KiB of it. Where the smallest size is of
 * another kind (half a page, or a cache), the line may begin at the next. */
static void say_line(const struct results *results, struct findings *findings)
{
    struct sizes sizes;
    struct line line;
    size_t first = 0;
    char size[24], next[24];

    list_sizes(results, &sizes);
    if (sizes.count < 3)
        return;
    double off = fit_from(&sizes, 0, &line);
    if (off > line_most && sizes.count > 3)
        off = fit_from(&sizes, ++first, &line);
    struct finding *cost =
        findings_add(findings, sizes.last->tool, "read_cost_4k");
    struct finding *overhead =
        findings_add(findings, sizes.last->tool, "request_overhead");
    format_bytes((uint64_t)(4096 * sizes.x[first]), size, sizeof(size));
    if (off <= line_most) {
        state(cost, line.slope, fmax(off, spread_random), sizes.last);
        finding_why(cost,
                    "the slope of a line through the times of random reads of "
                    "%zu sizes from %s on, which lie within %.0f %% of it",
                    sizes.count - first, size, 100 * off);
    }
    if (off <= line_most && first == 0) {
        state(overhead, line.intercept, fmax(off, spread_random), sizes.last);
        finding_why(overhead, "where that line begins");
        return;
    }
    format_bytes((uint64_t)(4096 * sizes.x[0]), size, sizeof(size));
    format_bytes((uint64_t)(4096 * sizes.x[1]), next, sizeof(next));
    for (int i = off <= line_most; i < 2; i++)
        finding_why(i ? overhead : cost,
                    "the times of random reads of %zu sizes lie on no line: "
                    "%.0f us of %s, %.0f us of %s, so something other than the "
                    "size changes them, too",
                    sizes.count, sizes.y[0] / 1e3, size, sizes.y[1] / 1e3,
                    next);
}

void results_put_matrix(const struct results *results, FILE *out)
{
    const struct wanted any = {.block_most_bytes = INFINITY};

    for (size_t i = 0; i < results->points_count; i++) {
        const struct result_point *point = &results->points[i];
        struct wanted wanted = any;
        wanted.random = true;
        wanted.writes = point->writes;
        if (fits(point, &wanted) && point->block_bytes > 0 && point->depth >= 1)
            fprintf(out, "results,%zu,matrix,%s,%.0f,%g,%g\n", i,
                    point->writes ? "write" : "read", point->block_bytes,
                    point->depth, point->bytes_per_second);
    }
}

/* ---- capacity ---- */

static void say_capacity(const struct result_capacity *capacity,
                         struct findings *findings)
{
    struct finding *finding;

    if (capacity->kind[0] == '\0' && capacity->bytes_least == 0)
        return;
    finding = findings_add(findings, "capacity", "capacity_kind");
    if (capacity->kind[0] == '\0' && capacity->wrote_all) {
        finding_found(finding, value_text("genuine"), kept_confidence);
        finding_why(finding, "f3write filled all that was free, and all of it "
                             "came back");
        return;
    }
    finding_why(finding, "%s", capacity->why);
    if (capacity->kind[0] == '\0') {
        finding = findings_add(findings, "capacity", "real_capacity");
        finding->low = value_integer(capacity->bytes_least);
        finding_why(finding, "%s", capacity->why);
        return;
    }
    finding_found(finding, value_text(capacity->kind), capacity->confidence);
    if (capacity->bytes == 0)
        return;
    finding = findings_add(findings, "capacity", "real_capacity");
    finding_found(finding, value_integer(capacity->bytes),
                  capacity->bytes_most > capacity->bytes
                      ? confidence_direct
                      : capacity->confidence);
    finding->high = value_integer(capacity->bytes_most);
    finding_why(finding, "%s", capacity->why);
}

void results_infer(const struct results *results, struct findings *findings)
{
    const struct wanted read = {.random = true,
                                .depth = 1,
                                .block_least_bytes = 4096,
                                .block_most_bytes = 4096};
    struct wanted write = read, synced = read;

    findings->count = 0;
    say_capacity(&results->capacity, findings);
    say_rate(results, false, findings);
    say_rate(results, true, findings);
    say_depths(results, findings);
    say_time(results, "random_read", &read, spread_random, "random reads",
             findings);
    write.writes = true;
    say_time(results, "random_write", &write, spread_random_writes,
             "random writes", findings);
    synced = (struct wanted){
        .writes = true, .synced = true, .depth = 1, .block_most_bytes = 8192};
    for (int random = 0; random < 2; random++) {
        synced.random = random;
        if (!findings_get(findings, "fua_time"))
            say_time(results, "fua_time", &synced, spread_random_writes,
                     "synced writes", findings);
    }
    say_line(results, findings);
}
