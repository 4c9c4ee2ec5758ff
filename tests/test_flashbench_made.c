/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cards that nobody has measured, made from what is known of such cards: erase
 * units of powers of two and three times that, pages, open units from 1 to 20,
 * noise, odd alignments, and shapes that have no unit. The rules must hold for
 * them as for the recordings, none of which they were made after. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/flashbench/flashbench.h"
#include "lib/infer/parameter.h"
#include "tests/suite_run.h"

enum { CARDS = 3000, ROWS_MAX = 4096, REPEATS = 3 };

static struct flashbench_align aligns[ROWS_MAX];
static struct flashbench_speed speeds[ROWS_MAX];
static struct flashbench_run runs[1];
static struct flashbench table;
static struct findings findings;

/* How often the rules were right, wrong, silent. */
struct tally {
    size_t right, wrong, silent;
};

static void begin(void)
{
    table = (struct flashbench){
        .runs = runs, .runs_count = 1, .aligns = aligns, .speeds = speeds};
}

static double between(struct random *random, double least, double most)
{
    return least + (most - least) * random_unit(random);
}

static uint64_t pick(struct random *random, uint64_t least, uint64_t most)
{
    return least + random_below(random, most - least + 1);
}

static void count(struct tally *tally, const char *parameter, uint64_t truth)
{
    const struct finding *finding = findings_get(&findings, parameter);

    ck_assert_ptr_nonnull(finding);
    if (finding->verdict != VERDICT_FOUND)
        tally->silent++;
    else if (truth == 0 || (uint64_t)finding->low.integer > truth ||
             (finding->high.kind == VALUE_INTEGER &&
              (uint64_t)finding->high.integer < truth))
        tally->wrong++;
    else
        tally->right++;
}

static void expect(const char *what, const struct tally *tally,
                   double wrong_most, double silent_most)
{
    const double all = (double)(tally->right + tally->wrong + tally->silent);

    ck_assert_msg((double)tally->wrong <= wrong_most * all &&
                      (double)tally->silent <= silent_most * all,
                  "%s: %zu right, %zu wrong, %zu silent", what, tally->right,
                  tally->wrong, tally->silent);
}

/* ---- flashbench -a ------------------------------------------------------- */

enum shape {
    PLAIN,     /* flat between its steps */
    ODD_EDGE,  /* the last alignment below the unit costs up to half as much */
    ODD_ONE,   /* one alignment meets something else by chance */
    SLOPING,   /* each alignment costs a little more than the last */
    TWO_STEPS, /* as high a one below the unit */
    STEPLESS,  /* no unit shows */
    WANDERING, /* nor here, but alignments differ, neighbours alike */
    SHAPES
};

struct card {
    enum shape shape;
    uint64_t unit_bytes, page_bytes; /* page 0: none shows */
    double unit_ns, page_ns, base_ns, noise_ns, read_ns;
    uint64_t odd_one, second_bytes;
    double odd_part; /* of what the unit costs */
    double chip_ns;  /* what 1 GiB and more costs more */
    double plane_ns; /* half a page; what it costs */
    uint64_t least_bytes;
    double rough[64]; /* what an alignment costs more in every repeat */
};

static struct card draw_card(struct random *random, enum shape shape,
                             uint64_t factor)
{
    struct card card = {.shape = shape, .least_bytes = 2 * KIB};

    card.unit_bytes = factor * (512 * KIB << random_below(random, 6));
    card.page_bytes =
        random_below(random, 4) ? 4 * KIB << random_below(random, 4) : 0;
    card.read_ns = between(random, 300e3, 1500e3);
    card.unit_ns = between(random, 0.08, 0.4) * card.read_ns;
    card.page_ns =
        card.page_bytes ? between(random, 0.05, 0.25) * card.read_ns : 0;
    card.base_ns = between(random, -0.02, 0.1) * card.read_ns;
    card.noise_ns = card.unit_ns / between(random, 15, 60);
    card.odd_one = UINT64_C(4096) << random_below(random, 16);
    /* On real cards alignments that ought to cost alike differ by a tenth. */
    const double roughness = between(random, 0, 0.08);
    for (size_t i = 0; i < sizeof(card.rough) / sizeof(card.rough[0]); i++)
        card.rough[i] = roughness * card.unit_ns * random_normal(random);
    for (size_t i = 1; i < sizeof(card.rough) / sizeof(card.rough[0]); i++)
        if (shape == WANDERING)
            card.rough[i] =
                card.rough[i - 1] + card.unit_ns / 2 * random_normal(random);
    card.odd_part = between(random, 0.2, 1.2);
    card.second_bytes = card.unit_bytes / 4;
    if (shape == ODD_EDGE) {
        card.odd_one = card.unit_bytes / 2;
        card.odd_part = between(random, 0.1, 0.4);
    }
    return card;
}

static double extra_of(const struct card *card, uint64_t align_bytes)
{
    double extra_ns = card->base_ns;

    if (card->shape == WANDERING || align_bytes % card->unit_bytes == 0)
        extra_ns += card->rough[(size_t)log2((double)align_bytes)];

    if (card->page_bytes && align_bytes % card->page_bytes == 0)
        extra_ns += card->page_ns;
    else if (card->page_bytes && align_bytes % (card->page_bytes / 2) == 0)
        extra_ns += card->plane_ns;
    if (align_bytes % GIB == 0)
        extra_ns += card->chip_ns;
    if (card->shape != STEPLESS && card->shape != SLOPING &&
        card->shape != WANDERING && align_bytes % card->unit_bytes == 0)
        extra_ns += card->unit_ns;
    if (card->shape == TWO_STEPS && align_bytes % card->second_bytes == 0)
        extra_ns += card->unit_ns;
    if (card->shape == SLOPING)
        extra_ns += card->unit_ns / 6 * log2((double)align_bytes / 4096);
    if ((card->shape == ODD_ONE || card->shape == ODD_EDGE) &&
        align_bytes == card->odd_one)
        extra_ns += card->odd_part * card->unit_ns;
    return extra_ns;
}

static void list_aligns(struct random *random, const struct card *card,
                        uint64_t factor)
{
    const uint64_t most = GIB << random_below(random, 4);

    for (uint64_t repeat = 1; repeat <= REPEATS; repeat++)
        for (uint64_t bytes = most; bytes >= card->least_bytes; bytes /= 2)
            aligns[table.aligns_count++] = (struct flashbench_align){
                .align_bytes = factor * bytes,
                .repeat = repeat,
                .read_ns = card->read_ns,
                .extra_ns = extra_of(card, factor * bytes) +
                            card->noise_ns * random_normal(random)};
}

/* `factor` 3: a card with units of three planes, and a listing for it too. */
static struct tally tally_units(enum shape shape, uint64_t factor)
{
    struct tally tally = {0, 0, 0};
    struct random random;

    random_seed(&random, 100 + shape);
    for (int i = 0; i < CARDS; i++) {
        const struct card card = draw_card(&random, shape, factor);
        const bool shows = shape <= ODD_ONE;
        begin();
        list_aligns(&random, &card, 1);
        if (factor > 1)
            list_aligns(&random, &card, factor);
        flashbench_infer(&table, 0, &findings);
        count(&tally, "read_boundary", shows ? card.unit_bytes : 0);
    }
    return tally;
}

START_TEST(units_of_any_size_are_found)
{
    const struct tally plain = tally_units(PLAIN, 1);
    const struct tally three = tally_units(PLAIN, 3);
    const struct tally edge = tally_units(ODD_EDGE, 1);
    const struct tally odd = tally_units(ODD_ONE, 1);

    expect("plain", &plain, 0.005, 0.1);
    expect("three planes", &three, 0.005, 0.1);
    expect("an odd edge", &edge, 0.005, 0.3);
    /* Just below the unit it cannot be told from the unit. */
    expect("an odd alignment", &odd, 0.05, 0.3);
}
END_TEST

START_TEST(shapes_without_a_unit_are_given_none)
{
    const struct tally flat = tally_units(STEPLESS, 1);
    const struct tally sloping = tally_units(SLOPING, 1);
    const struct tally wandering = tally_units(WANDERING, 1);
    const struct tally two = tally_units(TWO_STEPS, 1);

    expect("flat", &flat, 0.005, 1);
    expect("sloping", &sloping, 0.005, 1);
    expect("wandering", &wandering, 0.05, 1);
    expect("two steps", &two, 0.005, 1);
}
END_TEST

/* As plain to the eye: a step at the unit, with noise of 1 to 5 % of a read, an
 * odd row, another step from 1 GiB on, and small alignments that are
 * missing. */
static struct card draw_chips(struct random *random)
{
    struct card card = draw_card(random, PLAIN, 1);

    card.unit_bytes = MIB << random_below(random, 5);
    card.unit_ns = between(random, 0.2, 0.6) * card.read_ns;
    card.noise_ns = between(random, 0.01, 0.05) * card.read_ns;
    card.chip_ns = between(random, -1, 1.5) * card.unit_ns;
    card.least_bytes = (2 * KIB) << random_below(random, 6);
    return card;
}

START_TEST(steps_at_large_alignments_are_no_units)
{
    struct tally tally = {0, 0, 0};
    struct random random;

    random_seed(&random, 150);
    for (int i = 0; i < CARDS; i++) {
        const struct card card = draw_chips(&random);
        begin();
        list_aligns(&random, &card, 1);
        struct flashbench_align *odd =
            &aligns[random_below(&random, table.aligns_count)];
        odd->extra_ns += between(&random, -1, 1) * card.unit_ns;
        flashbench_infer(&table, 0, &findings);
        count(&tally, "read_boundary", card.unit_bytes);
    }
    expect("steps from 1 GiB on", &tally, 0.005, 0.1);
}
END_TEST

static const struct finding *page_of(struct random *random,
                                     const struct card *card)
{
    begin();
    list_aligns(random, card, 1);
    flashbench_infer(&table, 0, &findings);
    return findings_get(&findings, "read_page");
}

/* Half a page costs a quarter to three quarters of the page: no one says which
 * of the two it is. */
START_TEST(two_sizes_of_page_that_nearly_tie_are_an_interval)
{
    size_t intervals_count = 0;
    struct random random;

    random_seed(&random, 151);
    for (int i = 0; i < CARDS; i++) {
        struct card card = draw_card(&random, PLAIN, 1);
        card.page_bytes = 8 * KIB << random_below(&random, 2);
        card.page_ns = between(&random, 0.1, 0.3) * card.read_ns;
        card.plane_ns = between(&random, 0.35, 0.65) * card.page_ns;
        card.noise_ns = card.page_ns / 50;
        const struct finding *page = page_of(&random, &card);
        if (page->verdict != VERDICT_FOUND)
            continue;
        ck_assert_int_le(page->low.integer, (int64_t)card.page_bytes / 2);
        ck_assert_int_eq(page->high.integer, (int64_t)card.page_bytes);
        intervals_count++;
    }
    ck_assert_uint_gt(intervals_count, CARDS * 9 / 10);
}
END_TEST

/* The first alignment may cost less than the others by chance, or for
 * planes. */
START_TEST(a_list_that_begins_above_the_page_shows_none)
{
    struct random random;

    random_seed(&random, 152);
    for (int i = 0; i < CARDS; i++) {
        struct card card = draw_card(&random, PLAIN, 1);
        card.page_bytes = 32 * KIB;
        card.page_ns = between(&random, 0.2, 0.4) * card.read_ns;
        card.plane_ns = between(&random, 0.4, 0.8) * card.page_ns;
        card.base_ns = fmax(card.base_ns, 0);
        card.least_bytes = 16 * KIB;
        const struct finding *page = page_of(&random, &card);
        ck_assert_msg(page->verdict != VERDICT_FOUND, "%s", page->why);
    }
}
END_TEST

/* ---- flashbench --open-au ------------------------------------------------ */

struct writer {
    uint64_t open_units, unit_bytes, most_units;
    double full, switch_cost, noise;
    double
        fatigue; /* logarithm; what each unit more costs: there is no limit */
    bool half_slow; /* one unit too many is slow half of the time */
    uint64_t first_units, least_bytes; /* where the listing begins and ends */
    double alone;        /* how many times as fast one unit alone is written */
    double page_seconds; /* a write takes no less */
};

static struct writer draw_writer(struct random *random, uint64_t factor)
{
    struct writer writer = {.open_units = pick(random, 1, 20),
                            .unit_bytes =
                                factor * (512 * KIB << random_below(random, 5)),
                            .full = between(random, 3e6, 40e6),
                            .switch_cost = between(random, 0.5, 2),
                            .noise = between(random, 0.01, 0.15),
                            .half_slow = random_below(random, 8) == 0};

    writer.most_units = pick(random, 3, 24);
    writer.first_units = 1;
    writer.least_bytes = 16 * KIB;
    writer.alone = 1;
    return writer;
}

/* Logarithm of the speed: of a write and what a switch copies beside it. */
static double speed_of(const struct writer *writer, uint64_t write_bytes,
                       uint64_t units, struct random *random)
{
    const bool first_too_many = units == writer->open_units + 1;
    double slow = units > writer->open_units ? 1 : 0;
    double seconds = (double)write_bytes / writer->full + 300e-6;

    if (first_too_many && writer->half_slow)
        slow = 0.5;
    if (write_bytes < writer->unit_bytes)
        seconds += slow * writer->switch_cost *
                   (double)(writer->unit_bytes - write_bytes) / writer->full;
    seconds = fmax(seconds, writer->page_seconds);
    if (units == 1)
        seconds /= writer->alone;
    /* Now and then the card does something else meanwhile. */
    if (random_below(random, 60) == 0)
        seconds *= between(random, 1, 3);
    return log((double)write_bytes / seconds) -
           writer->fatigue * (double)units +
           writer->noise * random_normal(random);
}

static void list_speeds(struct random *random, const struct writer *writer)
{
    for (uint64_t units = writer->first_units; units <= writer->most_units;
         units++)
        for (uint64_t bytes = writer->unit_bytes; bytes >= writer->least_bytes;
             bytes /= 2)
            speeds[table.speeds_count++] = (struct flashbench_speed){
                .write_bytes = bytes,
                .units_count = units,
                .bytes_per_second =
                    exp(speed_of(writer, bytes, units, random))};
}

/* Where the limit was not tried, it must at least not be claimed. */
static void count_writer(struct tally *tally, const struct writer *writer)
{
    const struct finding *finding =
        findings_get(&findings, "open_units_linear");
    const bool reached = writer->open_units < writer->most_units;

    if (reached) {
        count(tally, "open_units_linear", writer->open_units);
        /* A bound that holds is no answer where there is one to be had. */
        if (finding->verdict == VERDICT_FOUND &&
            finding->high.kind == VALUE_NONE)
            tally->wrong++;
    } else if (finding->verdict != VERDICT_FOUND)
        tally->silent++;
    else if (finding->high.kind == VALUE_NONE &&
             finding->low.integer == (int64_t)writer->most_units)
        tally->right++;
    else
        tally->wrong++;
}

START_TEST(open_units_from_1_to_20_are_found)
{
    for (uint64_t factor = 1; factor <= 3; factor += 2) {
        struct tally tally = {0, 0, 0};
        struct random random;
        random_seed(&random, 200 + factor);
        for (int i = 0; i < CARDS; i++) {
            const struct writer writer = draw_writer(&random, factor);
            begin();
            list_speeds(&random, &writer);
            flashbench_infer(&table, 0, &findings);
            count_writer(&tally, &writer);
        }
        expect(factor == 1 ? "powers of two" : "three planes", &tally, 0.01,
               0.15);
    }
}
END_TEST

START_TEST(a_gradual_decline_is_no_limit)
{
    struct tally tally = {0, 0, 0};
    struct random random;

    random_seed(&random, 300);
    for (int i = 0; i < CARDS; i++) {
        struct writer writer = draw_writer(&random, 1);
        writer.fatigue = between(&random, 0.02, 0.3);
        writer.open_units = UINT64_MAX - 1;
        begin();
        list_speeds(&random, &writer);
        flashbench_infer(&table, 0, &findings);
        const struct finding *finding =
            findings_get(&findings, "open_units_linear");
        const bool limit = finding->verdict == VERDICT_FOUND &&
                           finding->high.kind != VALUE_NONE;
        *(limit ? &tally.wrong : &tally.right) += 1;
    }
    expect("gradual", &tally, 0.03, 0);
}
END_TEST

/* Cards as people list them: one unit alone takes a faster path, small writes
 * cost a page, and the numbers that were tried are all within the limit, all
 * beyond it, or on both sides. */
static struct writer draw_listed(struct random *random, bool begins_beyond,
                                 bool ends_within)
{
    struct writer writer = draw_writer(random, 1);

    writer.unit_bytes = MIB << random_below(random, 4);
    writer.noise = between(random, 0.01, 0.05);
    writer.open_units = pick(random, ends_within ? 2 : 1, 10);
    writer.least_bytes = (4 * KIB) << random_below(random, 4);
    writer.alone = random_below(random, 2) ? between(random, 1, 4) : 1;
    writer.page_seconds =
        between(random, 0, 0.04) * (double)writer.unit_bytes / writer.full;
    writer.first_units =
        begins_beyond ? writer.open_units + pick(random, 1, 3) : 1;
    writer.most_units =
        ends_within ? pick(random, 2, writer.open_units)
                    : (begins_beyond ? writer.first_units : writer.open_units) +
                          pick(random, 1, 5);
    if (!begins_beyond && !ends_within && writer.open_units > 1)
        writer.first_units = pick(random, 1, writer.open_units);
    return writer;
}

/* `alone`: one unit alone may be written on a faster path. */
static struct tally tally_listed(bool begins_beyond, bool ends_within,
                                 bool alone)
{
    struct tally tally = {0, 0, 0};
    struct random random;

    random_seed(&random, begins_beyond ? 400 : ends_within ? 401 : 402);
    for (int i = 0; i < CARDS; i++) {
        struct writer writer = draw_listed(&random, begins_beyond, ends_within);
        if (!alone)
            writer.alone = 1;
        begin();
        list_speeds(&random, &writer);
        flashbench_infer(&table, 0, &findings);
        if (begins_beyond) /* anything that is said is wrong */
            count(&tally, "open_units_linear", 0);
        else
            count_writer(&tally, &writer);
    }
    return tally;
}

START_TEST(a_list_says_no_more_than_it_shows)
{
    const struct tally both = tally_listed(false, false, true);
    const struct tally within = tally_listed(false, true, false);
    const struct tally alone = tally_listed(false, true, true);
    const struct tally beyond = tally_listed(true, false, true);

    expect("lists with the limit in them", &both, 0.01, 0.15);
    expect("lists that end below the limit", &within, 0.01, 0.15);
    /* A limit of one unit and a faster path for one look alike. */
    expect("the same, one unit alone being faster", &alone, 0.01, 0.5);
    expect("lists that begin above the limit", &beyond, 0.01, 1);
}
END_TEST

/* Lists in which no number of units collapses, and yet none is a bound. The
 * speeds are in MB/s, of units of 4 MiB and sizes halved from there. */
static const struct unbounded {
    const char *words;
    uint64_t first_units, last_units;
    uint64_t slow_from_units; /* from there on writes take twice as long */
    uint64_t slow_most_bytes; /* of at most so many bytes */
    uint64_t cut_bytes;       /* the last listing ends before this size */
} unbounded[] = {
    {"2.0 times as long", 1, 7, 3, 4 * MIB, 0},
    {"be a limit between", 1, 3, 3, 4 * MIB, 0},
    {"longer, at 3 write sizes", 1, 6, 4, 64 * KIB, 0},
    {"2 write sizes are missing", 1, 4, 99, 0, 32 * KIB},
    {"smallest tried is 6", 6, 6, 99, 0, 0},
    {"smallest tried is 5", 5, 8, 1, 4 * MIB, 0},
    {"only one unit was written", 1, 1, 99, 0, 0},
};

static void list_unbounded(const struct unbounded *list)
{
    begin();
    for (uint64_t units = list->first_units; units <= list->last_units; units++)
        for (uint64_t bytes = 4 * MIB; bytes >= 16 * KIB; bytes /= 2) {
            const bool slow = units >= list->slow_from_units &&
                              bytes <= list->slow_most_bytes;
            if (units == list->last_units && bytes <= list->cut_bytes)
                continue;
            speeds[table.speeds_count++] =
                (struct flashbench_speed){.write_bytes = bytes,
                                          .units_count = units,
                                          .bytes_per_second = slow ? 5e6 : 1e7};
        }
    flashbench_infer(&table, 0, &findings);
}

START_TEST(what_was_not_seen_to_collapse_is_no_bound)
{
    list_unbounded(&unbounded[_i]);
    const struct finding *finding =
        findings_get(&findings, "open_units_linear");
    ck_assert_msg(finding->verdict == VERDICT_INCONCLUSIVE, "%s", finding->why);
    ck_assert_msg(strstr(finding->why, unbounded[_i].words), "%s",
                  finding->why);
}
END_TEST

START_TEST(a_last_listing_as_fast_as_the_first_is_a_bound)
{
    list_unbounded(&(struct unbounded){"", 1, 5, 99, 0, 0});
    const struct finding *finding =
        findings_get(&findings, "open_units_linear");
    ck_assert_int_eq(finding->verdict, VERDICT_FOUND);
    ck_assert_int_eq(finding->low.integer, 5);
    ck_assert_int_eq(finding->high.kind, VALUE_NONE);
    ck_assert_ptr_nonnull(strstr(finding->why, "at least as many"));
}
END_TEST

/* Pages whose step is 4 to 6 % of a read: what else costs as much is not told
 * by the rows. Of those that are claimed, as many are right as is claimed. */
START_TEST(a_small_step_is_a_page_with_less_confidence)
{
    struct tally weak = {0, 0, 0}, sure = {0, 0, 0};
    struct random random;

    random_seed(&random, 153);
    for (int i = 0; i < CARDS; i++) {
        struct card card = draw_card(&random, STEPLESS, 1);
        card.page_bytes = 8 * KIB << random_below(&random, 2);
        card.page_ns = between(&random, 0.04, 0.06) * card.read_ns;
        card.noise_ns = card.page_ns / between(&random, 4, 40);
        const struct finding *page = page_of(&random, &card);
        const bool is_sure = page->confidence > 0.8;
        count(is_sure ? &sure : &weak, "read_page", card.page_bytes);
    }
    ck_assert_uint_eq(sure.right + sure.wrong, 0);
    ck_assert_uint_gt(weak.right, CARDS / 2);
    ck_assert_uint_le(weak.wrong * 5, weak.right + weak.wrong);
}
END_TEST

/* What the levels from 2 KiB to 32 KiB cost, in parts of what larger ones do.
 * The first to cost something and the first to cost all may be the page. */
static const struct part_levels {
    double parts[5];
    uint64_t low_bytes, high_bytes;
} part_levels[] = {
    {{0, 0.45, 0.55, 1, 1}, 4 * KIB, 16 * KIB},
    {{0, 0.70, 0.70, 1, 1}, 4 * KIB, 16 * KIB},
    /* What 8 KiB do not cost is no page of 4 KiB. */
    {{0, 0.80, 0.70, 1, 1}, 16 * KIB, 16 * KIB},
    {{0, 0, 0.5, 1, 1}, 8 * KIB, 16 * KIB},
    {{0, 0.5, 0.5, 0.5, 1}, 4 * KIB, 32 * KIB},
    {{0, 0, 0, 1, 1}, 16 * KIB, 16 * KIB},
    {{0, 1, 1, 1, 1}, 4 * KIB, 4 * KIB},
};

START_TEST(all_levels_around_it_place_a_page)
{
    const struct part_levels *levels = &part_levels[_i];
    struct random random;

    random_seed(&random, 154);
    begin();
    for (uint64_t repeat = 1; repeat <= REPEATS; repeat++)
        for (uint64_t bytes = 2 * KIB, at = 0; bytes <= GIB; bytes *= 2, at++)
            aligns[table.aligns_count++] = (struct flashbench_align){
                .align_bytes = bytes,
                .repeat = repeat,
                .read_ns = 1e6,
                .extra_ns = 2e5 * (at < 5 ? levels->parts[at] : 1) +
                            4e3 * random_normal(&random)};
    flashbench_infer(&table, 0, &findings);
    const struct finding *page = findings_get(&findings, "read_page");
    ck_assert_msg(page->verdict == VERDICT_FOUND, "%s", page->why);
    ck_assert_uint_eq((uint64_t)page->low.integer, levels->low_bytes);
    ck_assert_uint_eq((uint64_t)page->high.integer, levels->high_bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flashbench_made");
    TCase *cases = tcase_create("made");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, units_of_any_size_are_found);
    tcase_add_test(cases, shapes_without_a_unit_are_given_none);
    tcase_add_test(cases, steps_at_large_alignments_are_no_units);
    tcase_add_test(cases, two_sizes_of_page_that_nearly_tie_are_an_interval);
    tcase_add_test(cases, a_list_that_begins_above_the_page_shows_none);
    tcase_add_test(cases, open_units_from_1_to_20_are_found);
    tcase_add_test(cases, a_gradual_decline_is_no_limit);
    tcase_add_test(cases, a_list_says_no_more_than_it_shows);
    tcase_add_loop_test(cases, what_was_not_seen_to_collapse_is_no_bound, 0,
                        sizeof(unbounded) / sizeof(unbounded[0]));
    tcase_add_test(cases, a_last_listing_as_fast_as_the_first_is_a_bound);
    tcase_add_test(cases, a_small_step_is_a_page_with_less_confidence);
    tcase_add_loop_test(cases, all_levels_around_it_place_a_page, 0,
                        sizeof(part_levels) / sizeof(part_levels[0]));
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
