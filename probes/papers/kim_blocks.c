/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Procedures 2 and 3 of Kim et al.: runs of writes over many blocks. */
#include "probes/papers/papers.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* The parameters that the paper gives with its procedures. */
enum {
    BLOCK_FIRST_PAGES = 2,
    BLOCK_FIRST_PAGES_AGAIN = 10, /* for SSD-C of the paper, 2 showed nothing */
    BLOCK_MOST_PAGES = 1024,
    NAND_BLOCKS = 16,
    BLOCK_SIZES_MAX = 16
};

/* State of both procedures: what earlier ones found. */
struct paper_blocks {
    struct study study;
    uint64_t page_bytes, block_bytes; /* 0: not known */
};

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct paper_blocks *state = memory;

    (void)setting;
    state->page_bytes = findings_integer(known, "clustered_page");
    state->block_bytes = findings_integer(known, "clustered_block");
}

static const uint64_t block_total_bytes = 8 * GIB;
/* Least relative gap that a reader of the figure sees. */
static const double gap_least = 0.10;

/* ---- procedure 2 ------------------------------------------------------- */

struct ladder {
    uint64_t sizes[BLOCK_SIZES_MAX];
    size_t count;
};

static struct ladder ladder_from(const struct study *study, uint64_t page_bytes,
                                 uint32_t first_pages)
{
    struct ladder ladder = {.count = 0};
    uint64_t pages = first_pages;

    while (pages <= BLOCK_MOST_PAGES && ladder.count < BLOCK_SIZES_MAX) {
        pages *= 2;
        if (16 * pages * page_bytes > study->setting.region_length_bytes)
            break;
        ladder.sizes[ladder.count++] = pages * page_bytes;
    }
    return ladder;
}

static uint64_t iterations_of(const struct setting *setting,
                              uint64_t size_bytes)
{
    uint64_t total = setting->region_length_bytes;

    return (total < block_total_bytes ? total : block_total_bytes) / size_bytes;
}

/* Writes of one size, in order or at random, after a fill. */
static const struct timing *run_of(struct study *study, uint64_t size_bytes,
                                   bool at_random, uint64_t *iterations)
{
    char phase[LABEL_PHASE_MAX];
    struct random random;

    *iterations = iterations_of(&study->setting, size_bytes);
    snprintf(phase, sizeof(phase), "procedure-2%s-%u", at_random ? "r" : "s",
             (unsigned)(size_bytes / KIB));
    paper_fill(study, phase, CONTENT_ONES);
    const struct timing *found =
        paper_rows(study, phase, "run", 2 * *iterations);
    if (found)
        return found;
    study_random(study, phase, "run", 0, &random);
    for (uint64_t i = 0; i < *iterations; i++) {
        uint64_t place = at_random ? random_below(&random, *iterations) : i;
        paper_ask(
            study,
            paper_step(OPERATION_WRITE,
                       study->setting.region_offset_bytes + place * size_bytes,
                       size_bytes),
            phase, "run");
        paper_ask_flush(study, phase, "run");
    }
    study_leave(study);
}

static double elapsed(const struct timing found[], uint64_t iterations,
                      enum paper_half half)
{
    double sum = 0;

    for (uint64_t i = 0; i < iterations; i++)
        if (paper_in_half(half, (uint32_t)(i & 1)))
            sum += (double)(found[2 * i].ns + found[2 * i + 1].ns);
    return sum;
}

/* Smallest size from which random writes are as fast as sequential ones. 0:
 * they never are, or always are. */
static uint64_t read_closing(const struct ladder *ladder, double gaps[])
{
    size_t first = ladder->count;

    while (first > 0 && gaps[first - 1] < gap_least)
        first--;
    return first > 0 && first < ladder->count ? ladder->sizes[first] : 0;
}

/* What the figure is read as: by all of the measurement, and by each half. */
struct reading {
    uint64_t bytes[3]; /* 0: no size closes the gap */
};

static struct reading block_from(struct study *study, uint64_t page_bytes,
                                 uint32_t first_pages)
{
    struct reading reading;
    struct ladder ladder = ladder_from(study, page_bytes, first_pages);
    double gaps[3][BLOCK_SIZES_MAX];

    for (size_t i = 0; i < ladder.count; i++) {
        uint64_t n;
        const struct timing *sequential =
            run_of(study, ladder.sizes[i], false, &n);
        const struct timing *scattered =
            run_of(study, ladder.sizes[i], true, &n);
        for (int half = PAPER_WHOLE; half <= PAPER_ODD; half++)
            gaps[half][i] = log(elapsed(scattered, n, (enum paper_half)half) /
                                elapsed(sequential, n, (enum paper_half)half));
    }
    for (int half = PAPER_WHOLE; half <= PAPER_ODD; half++)
        reading.bytes[half] = read_closing(&ladder, gaps[half]);
    return reading;
}

/* "from 4 MiB", "nowhere" */
static const char *place_of(uint64_t bytes, char text[32])
{
    snprintf(text, 32, bytes ? "from %s" : "nowhere", TEXT_BYTES(bytes));
    return text;
}

/* The paper reads its figure once: where halves of the measurement read
 * otherwise, all readings are said, and none is stated. */
static void say_readings(struct study *study, struct findings *findings,
                         const struct reading *reading)
{
    char whole[32], even[32], odd[32], reason[200];

    snprintf(
        reason, sizeof(reason),
        "random writes are as fast as sequential ones %s; in half of the data "
        "%s, and in the other %s",
        place_of(reading->bytes[PAPER_WHOLE], whole),
        place_of(reading->bytes[PAPER_EVEN], even),
        place_of(reading->bytes[PAPER_ODD], odd));
    study_say_open(study->probe, findings, reason);
}

static void think_clustered_block(struct study *study,
                                  struct findings *findings)
{
    const struct paper_blocks *state = (const struct paper_blocks *)study;
    const uint64_t page_bytes = state->page_bytes ? state->page_bytes : 4 * KIB;
    struct reading reading = block_from(study, page_bytes, BLOCK_FIRST_PAGES);
    uint64_t bytes = reading.bytes[PAPER_WHOLE];

    if (bytes == 0) {
        reading = block_from(study, page_bytes, BLOCK_FIRST_PAGES_AGAIN);
        bytes = reading.bytes[PAPER_WHOLE];
    }
    if (bytes != reading.bytes[PAPER_EVEN] || bytes != reading.bytes[PAPER_ODD])
        say_readings(study, findings, &reading);
    else if (bytes == 0)
        study_say_open(study->probe, findings,
                       "random writes never become as fast as sequential ones "
                       "from some size on, or are so at every size");
    else
        finding_why(paper_say_size(study, findings, "clustered_block", bytes),
                    "random writes are slower than sequential ones below %s, "
                    "and as fast from there on",
                    study_bytes(study, bytes));
}

static void plan_clustered_block(const struct setting *setting,
                                 struct probe_plan *plan)
{
    const uint64_t runs = 2 * 10; /* sizes from 4 to 2048 pages */
    uint64_t total = iterations_of(setting, 1);

    plan->bytes_written = runs * (setting->region_length_bytes + total);
    plan->bytes_written_max = 2 * plan->bytes_written;
    /* The page is unknown when planning: 16 KiB is expected, and 4 KiB gives
     * the maximum. */
    plan->requests =
        runs * (setting->region_length_bytes / MIB) + 4 * total / (32 * KIB);
    plan->requests_max =
        2 * runs * (setting->region_length_bytes / MIB) + 8 * total / (4 * KIB);
}

const struct probe paper_clustered_block = {
    .name = "clustered-block",
    .question =
        "From which size on are random writes as fast as sequential ones?",
    .answers = {"clustered_block"},
    .plan = plan_clustered_block,
    .begin = begin,
    STUDY_PROBE(struct paper_blocks, .think = think_clustered_block),
};

/* ---- procedure 3 ------------------------------------------------------- */

/* Number of clusters that a reader sees among log costs: peaks of a histogram
 * that hold a tenth each, separated by valleys. */
static size_t read_clusters(const double sorted[], size_t count)
{
    enum { BINS = 400 };
    const double bin_width = 0.03;
    size_t bins[BINS] = {0}, clusters = 0, peak = 0, valley = SIZE_MAX;
    size_t mass = 0;

    for (size_t i = 0; i < count; i++) {
        size_t bin = (size_t)((sorted[i] - sorted[0]) / bin_width);
        bins[bin < BINS ? bin : BINS - 1]++;
    }
    for (size_t i = 0; i < BINS; i++) {
        size_t here = bins[i];
        mass += here;
        if (here < valley)
            valley = here;
        if (peak && here * 4 < peak && mass * 10 >= count) {
            clusters++; /* a peak has just ended */
            peak = mass = 0;
            valley = here;
        } else if (here > peak) {
            peak = here;
        }
    }
    return clusters;
}

static size_t clusters_of(const struct timing found[], size_t pages,
                          enum paper_half half, double scratch[])
{
    size_t n = 0;

    for (size_t i = 0; i < pages; i++)
        if (paper_in_half(half, (uint32_t)(i / (pages / 2 + 1))))
            scratch[n++] =
                log((double)(found[2 * i].ns + found[2 * i + 1].ns) + 1);
    stats_sort(scratch, n);
    return read_clusters(scratch, n);
}

static void think_nand_type(struct study *study, struct findings *findings)
{
    static const char *const names[] = {NULL, "SLC", "MLC", "TLC", "QLC"};
    const char phase[] = "procedure-3";
    const struct paper_blocks *state = (const struct paper_blocks *)study;
    const uint64_t page_bytes = state->page_bytes;
    const uint64_t block_bytes = state->block_bytes;
    size_t pages = (size_t)(NAND_BLOCKS * block_bytes / page_bytes);

    paper_fill(study, phase, CONTENT_ONES);
    const struct timing *found = paper_rows(study, phase, "page", 2 * pages);
    for (size_t i = 0; !found && i < pages; i++) {
        paper_ask(study,
                  paper_step(OPERATION_WRITE,
                             paper_at(study, i * page_bytes, page_bytes),
                             page_bytes),
                  phase, "page");
        paper_ask_flush(study, phase, "page");
    }
    if (!found)
        study_leave(study);
    double *scratch = study_alloc(study, pages * sizeof(*scratch));
    size_t clusters = clusters_of(found, pages, PAPER_WHOLE, scratch);
    bool agree = clusters_of(found, pages, PAPER_EVEN, scratch) == clusters &&
                 clusters_of(found, pages, PAPER_ODD, scratch) == clusters;
    if (!agree || clusters < 1 || clusters > 4) {
        study_say_open(study->probe, findings,
                       agree ? "the costs of page writes form no clear clusters"
                             : paper_halves_disagree);
        return;
    }
    struct finding *finding = paper_add(study, findings, "nand_type");
    finding_found(finding, value_text(names[clusters]), paper_confidence);
    finding_why(finding, "the costs of page writes form %zu cluster%s",
                clusters, clusters == 1 ? "" : "s");
}

const struct probe paper_nand_type = {
    .name = "nand-type",
    .question = "How many different times do the pages of a few blocks take?",
    .answers = {"nand_type"},
    .usual = {.requests = 8192,
              .requests_max = 1000000,
              .bytes_written = NAND_BLOCKS * 4 * MIB,
              .bytes_written_max = NAND_BLOCKS * 64 * MIB},
    .usual_fills = 1,
    .begin = begin,
    STUDY_PROBE(struct paper_blocks, .think = think_nand_type),
};
