/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/cost_erase.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

enum {
    PAGES_MAX = 1 << 17, /* used up by the newest writes: older writes do not
                            count */
    BLOCK_PAGES_LEAST = 4,
    BLOCKS_LEAST = 4,  /* a block length must fit this often in the writes
                          seen */
    WRITES_LEAST = 16, /* writes of one size, to tell the slow ones */
    HITS_LEAST = 6     /* pairs of slow writes at the distance */
};

/* A write is slow when it takes `slow_least` times the 85th percentile of its
 * size. The slow pages of multi-level cells are more than 15 % of all pages, so
 * they lie below that percentile. Writes that open a block are fewer. */
static const double usual_share = 0.85, slow_least = 1.3;
/* Share of slow writes that are followed by a slow write at the distance, out
 * of those with a judged write there. Noise hides some, so 0.3 suffices. The
 * share must also be 4 times the share of slow writes in general. */
static const double hits_least = 0.3, by_chance_least = 4;
/* A multiple of the block length has fewer pairs than the block length itself,
 * but noise may reverse that: a count of three quarters of the best
 * suffices. */
static const double multiple_least = 0.75;

static struct cost_erase_write *last_of(struct cost_erases *erases)
{
    return &erases->writes[(erases->count - 1) % COST_ERASE_WRITES_MAX];
}

void cost_erases_learn(struct cost_erases *erases, const struct sample *sample)
{
    const float ns = (float)(sample->complete_ns - sample->submit_ns);

    if (sample->operation == OPERATION_WRITE) {
        erases->count++;
        *last_of(erases) =
            (struct cost_erase_write){.offset_bytes = sample->offset_bytes,
                                      .length_bytes = sample->length_bytes,
                                      .write_ns = ns};
    }
    if (sample->operation == OPERATION_FLUSH && erases->is_open)
        last_of(erases)->flush_ns = ns;
    erases->is_open = sample->operation == OPERATION_WRITE;
}

/* ---- which are slow ------------------------------------------------------ */

/* A flushed write of one page. Only such writes are judged. */
struct judged {
    const struct cost_erase_write *write;
    double ns, extra_ns; /* extra: over the median of its size; 0: not slow */
    uint32_t at_page;    /* number of pages used up when it ended */
};

struct look {
    struct judged *judged;
    size_t count, slow_count;
    uint32_t pages; /* used up by all writes */
};

static int compare_judged(const void *a, const void *b)
{
    const struct judged *one = a, *other = b;

    if (one->write->length_bytes != other->write->length_bytes)
        return one->write->length_bytes < other->write->length_bytes ? -1 : 1;
    return (one->ns > other->ns) - (one->ns < other->ns);
}

static uint64_t pages_of(const struct cost_erase_write *write,
                         uint64_t page_bytes)
{
    const uint64_t end = write->offset_bytes + write->length_bytes;

    return (end + page_bytes - 1) / page_bytes -
           write->offset_bytes / page_bytes;
}

/* Counts the pages of the newest writes, and collects those to be judged. */
static void take_writes(const struct cost_erases *erases, uint64_t page_bytes,
                        struct look *look)
{
    const size_t kept = smaller_of(erases->count, COST_ERASE_WRITES_MAX);
    size_t first = erases->count;
    uint64_t pages = 0;

    while (first > erases->count - kept && pages < PAGES_MAX) {
        first--;
        pages += pages_of(&erases->writes[first % COST_ERASE_WRITES_MAX],
                          page_bytes);
    }
    for (size_t i = first + (pages >= PAGES_MAX); i < erases->count; i++) {
        const struct cost_erase_write *write =
            &erases->writes[i % COST_ERASE_WRITES_MAX];
        const uint64_t used = pages_of(write, page_bytes);
        look->pages += (uint32_t)used;
        if (used == 1 && write->flush_ns > 0)
            look->judged[look->count++] = (struct judged){
                .write = write,
                .ns = (double)write->write_ns + (double)write->flush_ns,
                .at_page = look->pages};
    }
}

/* Marks the slow writes; sizes are compared separately. */
static void judge(struct look *look)
{
    struct judged *all = look->judged;
    size_t end;

    qsort(all, look->count, sizeof(*all), compare_judged);
    for (size_t begin = 0; begin < look->count; begin = end) {
        for (end = begin + 1;
             end < look->count &&
             all[end].write->length_bytes == all[begin].write->length_bytes;)
            end++;
        const size_t count = end - begin;
        const double usual_ns = all[begin + count / 2].ns;
        const double most_ns =
            slow_least * all[begin + (size_t)(usual_share * (double)count)].ns;
        for (size_t i = begin; i < end && count >= WRITES_LEAST; i++) {
            all[i].extra_ns = all[i].ns > most_ns ? all[i].ns - usual_ns : 0;
            look->slow_count += all[i].ns > most_ns;
        }
    }
}

/* ---- at which distance --------------------------------------------------- */

/* State of the write that ended at a page. */
enum place { PLACE_UNKNOWN, PLACE_USUAL, PLACE_SLOW };

/* Counts the slow writes with a judged write, slow or not, at the distance. */
static uint32_t count_tried(const struct look *look, const uint8_t places[],
                            uint32_t distance)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i + distance <= look->pages; i++)
        count +=
            places[i] == PLACE_SLOW && places[i + distance] != PLACE_UNKNOWN;
    return count;
}

/* Counts the pairs of slow writes at each distance up to `most` pages. */
static void count_distances(const struct look *look, const uint8_t places[],
                            uint32_t most, uint32_t counts[])
{
    for (size_t a = 0; a < look->count; a++)
        for (size_t b = 0; look->judged[a].extra_ns > 0 && b < look->count;
             b++) {
            const uint32_t from = look->judged[a].at_page;
            const uint32_t to = look->judged[b].at_page;
            if (places[to] == PLACE_SLOW && to > from && to - from <= most)
                counts[to - from]++;
        }
}

/* Returns the shortest distance with nearly the most pairs; 0 when chance may
 * explain them. */
static uint32_t distance_of(const struct look *look, const uint8_t places[],
                            uint32_t counts[], uint32_t most)
{
    const double share = (double)look->slow_count / (double)look->count;
    uint32_t best = 0, distance = BLOCK_PAGES_LEAST;

    count_distances(look, places, most, counts);
    for (uint32_t i = BLOCK_PAGES_LEAST; i <= most; i++)
        best = counts[i] > best ? counts[i] : best;
    if (best < HITS_LEAST)
        return 0;
    while ((double)counts[distance] < multiple_least * (double)best)
        distance++;
    const double tried = (double)count_tried(look, places, distance);
    return (double)counts[distance] >=
                   fmax(hits_least, by_chance_least * share) * tried
               ? distance
               : 0;
}

/* Stores the median extra time of slow writes that are followed by another slow
 * write one block later. */
static void measure(const struct look *look, const uint8_t places[],
                    uint32_t pages, struct cost_erase *erase)
{
    double extra_ns[STATS_MAX];
    size_t count = 0, in_flush = 0;

    for (size_t i = 0; i < look->count && count < STATS_MAX; i++) {
        const struct judged *one = &look->judged[i];
        const uint32_t next = one->at_page + pages;
        if (one->extra_ns <= 0 || next > look->pages ||
            places[next] != PLACE_SLOW)
            continue;
        extra_ns[count++] = one->extra_ns;
        in_flush += one->write->flush_ns > one->write->write_ns;
    }
    stats_sort(extra_ns, count);
    erase->pages = pages;
    erase->extra_ns = stats_median(extra_ns, count);
    erase->in_flush = 2 * in_flush > count;
}

static void find_distance(const struct look *look, struct cost_erase *erase)
{
    const uint32_t most = look->pages / BLOCKS_LEAST;
    uint8_t *places = calloc(look->pages + 1, sizeof(*places));
    uint32_t *counts = calloc(most + 1, sizeof(*counts));

    if (places && counts) {
        for (size_t i = 0; i < look->count; i++)
            places[look->judged[i].at_page] =
                look->judged[i].extra_ns > 0 ? PLACE_SLOW : PLACE_USUAL;
        const uint32_t pages = distance_of(look, places, counts, most);
        if (pages)
            measure(look, places, pages, erase);
    }
    free(places);
    free(counts);
}

void cost_erases_find(const struct cost_erases *erases, uint64_t page_bytes,
                      struct cost_erase *erase)
{
    struct look look = {
        .judged = calloc(COST_ERASE_WRITES_MAX, sizeof(*look.judged))};

    if (!look.judged || !page_bytes) {
        free(look.judged);
        return;
    }
    take_writes(erases, page_bytes, &look);
    judge(&look);
    if (look.slow_count >= HITS_LEAST)
        find_distance(&look, erase);
    free(look.judged);
}
